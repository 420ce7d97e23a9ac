// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { paceBy, Waker } from '../../src/agent/waker.ts'
import { contentHash } from '../../src/checkpoint/content.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { nextStep } from '../../src/decision/rules.ts'
import { spreadDelayUs } from '../../src/decision/wait.ts'
import { describeCondition } from '../../src/report/condition.ts'
import { NO_DEADLINES } from '../../src/report/deadlines.ts'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import { A, A_EDITED, B, C, dataOf, keyOf, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { promote, promoted, runsAndStaysOn, wantPaused } from './promoted-world.ts'
import { CRASHES, NEVER_HEALTHY, SmallWorld, WELL } from './small-world.ts'

/** A node on which these were promoted, one after the other. */
function told(world: SmallWorld): string[] {
  const name = (source: ConfigSource | undefined) => (source === undefined ? '?' : source === 'local' ? 'local' : textOf(source))
  return world.history.map(({ kind, from, to }) => `${kind} ${name(from)} -> ${name(to)}`)
}

t.test('a good config is assigned, runs, passes its trial and is promoted', async (t) => {
  const world = await promoted(A)
  t.same(told(world), ['assigned local -> a@1', 'restarting local -> a@1', 'promoted local -> a@1'])
  await runsAndStaysOn(t, world, A)
  t.same(world.record('last-known-good'), A)
  t.equal(world.restartsAskedAtUs.length, 1)
})

t.test('the way back to local says what it leaves, though no record names it any more', async (t) => {
  const world = await promoted(A)
  world.want('local')
  await world.run(MINUTE_US)
  await runsAndStaysOn(t, world, 'local')
  t.same(told(world).slice(3), ['assigned a@1 -> local', 'restarting a@1 -> local'])
})

t.test('when the ConfigMap that a selector chose is deleted, kubelet is restarted at this node’s turn and not at once', async (t) => {
  const world = new SmallWorld()
  world.policy = { ...world.policy, spreadUs: 2 * MINUTE_US }
  const channelState = (channel: 'selector' | undefined) => ({ channel, paused: undefined, problem: undefined, nodeHash: 'unchanged' })
  world.want(A)
  world.desired = { ...world.desired, channelState: channelState('selector') }
  await world.run(15 * MINUTE_US)
  const turnUs = spreadDelayUs('node-1', 'local', world.policy.spreadUs)
  world.desired = { kind: 'local', channelState: channelState(undefined) }
  await world.run(turnUs - 5 * SECOND_US)
  await runsAndStaysOn(t, world, A)
  t.match(world.steps.at(-1), { kind: 'wait', phase: 'spread' })
  await world.run(MINUTE_US)
  await runsAndStaysOn(t, world, 'local')
})

t.test('a crash loop ends on last-known-good within 90 s and is never promoted', async (t) => {
  const world = await promoted(A)
  world.behave(B, CRASHES)
  world.want(B)
  await world.run(90 * SECOND_US)
  await runsAndStaysOn(t, world, A)
  await world.run(30 * MINUTE_US)
  t.same(world.record('last-known-good'), A)
  t.same(told(world).slice(3), ['assigned a@1 -> b@1', 'restarting a@1 -> b@1', 'rolled-back b@1 -> a@1', 'restarting b@1 -> a@1'])
})

t.test('a config on which kubelet never gets healthy is left after the start deadline', async (t) => {
  const world = await promoted(A)
  world.behave(B, NEVER_HEALTHY)
  world.want(B)
  await world.run(world.policy.startDeadlineUs + 10 * SECOND_US)
  await runsAndStaysOn(t, world, A)
})

t.test('an edit of metadata moves every record and restarts nothing', async (t) => {
  const world = await promoted(A)
  world.want(A_EDITED, dataOf(A))
  await world.run(MINUTE_US)
  t.same(world.record('assigned'), A_EDITED)
  t.same(world.record('last-known-good'), A_EDITED)
  t.equal(world.restartsAskedAtUs.length, 1)
})

t.test('while paused nothing restarts kubelet; then it goes on', async (t) => {
  const world = await promoted(A)
  world.requests = { ...world.requests, hold: 'paused' }
  world.want(B)
  t.equal((await world.run(MINUTE_US)).phase, 'paused')
  t.equal(world.restartsAskedAtUs.length, 1)
  world.requests = { ...world.requests, hold: 'none' }
  await world.run(MINUTE_US)
  await runsAndStaysOn(t, world, B)
})

t.test('a pause of the cluster holds where its record is damaged and the API server is away', async (t) => {
  const world = await promoted(A)
  wantPaused(world, B, 'Node')
  await world.run(MINUTE_US)
  world.disk.plant('/state/meta/heard', 'torn')
  world.desired = { kind: 'unknown', detail: 'not asked yet' }
  for (let agents = 0; agents < 2; agents += 1) {
    world.restartAgent()
    await world.run(10 * MINUTE_US)
    await runsAndStaysOn(t, world, A)
  }
  wantPaused(world, B, undefined)
  await world.run(MINUTE_US)
  await runsAndStaysOn(t, world, B)
})

t.test('a kubelet that a person stopped stays stopped, and starts with what is wanted by then', async (t) => {
  const world = await promoted(A)
  world.unit.stop()
  world.want(B)
  t.equal((await world.run(10 * MINUTE_US)).phase, 'kubelet-stopped')
  t.equal(await world.running(), undefined)
  world.unit.start()
  await world.run(MINUTE_US)
  await runsAndStaysOn(t, world, B)
})

t.test('a new agent goes on where the old one was, at every step', async (t) => {
  const world = await promoted(A)
  world.behave(B, CRASHES)
  world.want(B)
  for (let seconds = 0; seconds < 90; seconds += 1) {
    await world.pass()
    world.restartAgent()
    world.advance(SECOND_US)
  }
  await world.run(10 * MINUTE_US)
  await runsAndStaysOn(t, world, A)
})

t.test('when everything fails the node rests, and when kubelet is well again what is wanted is tried again', async (t) => {
  const world = await promoted(C, A)
  for (const source of [A, C, 'local'] as const) world.behave(source, CRASHES)
  world.unit.kill()
  t.equal((await world.run(15 * MINUTE_US)).phase, 'node-at-fault')
  const asked = world.restartsAskedAtUs.length
  await world.run(10 * MINUTE_US)
  t.equal(world.restartsAskedAtUs.length, asked, 'no more restarts')
  await world.run(60 * MINUTE_US)
  const more = world.restartsAskedAtUs.length - asked
  t.ok(more > 0 && more <= 2 * 3, `all three are tried again, but not within half an hour: ${more} restarts`)
  for (const source of [A, C, 'local'] as const) world.behave(source, WELL)
  t.equal((await world.run(30 * MINUTE_US)).phase, 'settled')
  await runsAndStaysOn(t, world, A)
})

t.test('a last-known-good that went bad while the node was at fault is left, too', async (t) => {
  const world = await promoted(A)
  for (const source of [A, 'local'] as const) world.behave(source, CRASHES)
  world.unit.kill()
  t.equal((await world.run(20 * MINUTE_US)).phase, 'node-at-fault')
  world.behave('local', WELL)
  t.equal((await world.run(60 * MINUTE_US)).phase, 'fallen-back')
  await runsAndStaysOn(t, world, 'local')
})

t.test('what happened while the node was at fault is not held against the config that comes out of it', async (t) => {
  const world = await promoted(A)
  world.behave(B, CRASHES)
  world.want(B)
  await world.run(30 * MINUTE_US)
  for (const source of [A, 'local'] as const) world.behave(source, CRASHES)
  world.unit.kill()
  t.equal((await world.run(10 * MINUTE_US)).phase, 'node-at-fault')
  for (const source of [A, 'local'] as const) world.behave(source, WELL)
  await world.run(30 * MINUTE_US)
  await runsAndStaysOn(t, world, A)
})

t.test('exits during a pause are the person’s, and not the config’s', async (t) => {
  const world = await promoted(A)
  world.requests = { ...world.requests, hold: 'paused' }
  for (let count = 0; count < world.policy.crashLimit + 1; count += 1) {
    world.unit.kill()
    await world.run(30 * SECOND_US)
  }
  world.requests = { ...world.requests, hold: 'none' }
  await world.run(MINUTE_US)
  await runsAndStaysOn(t, world, A)
})

t.test('a crash loop during a pause is reported as long as it lasts, and rolled back once the pause ends', async (t) => {
  const world = await promoted(A)
  world.behave(B, CRASHES)
  world.want(B)
  await world.run(5 * SECOND_US)
  world.requests = { ...world.requests, hold: 'paused' }
  await world.run(5 * MINUTE_US)
  const seen = world.snapshots.length
  await world.run(5 * MINUTE_US)
  const reasons = new Set(
    world.snapshots.slice(seen).flatMap((snapshot) => {
      const step = nextStep(snapshot)
      return step.kind === 'wait' ? [describeCondition(snapshot, step, NO_DEADLINES).reason] : []
    }),
  )
  t.same([...reasons], ['Unhealthy'])
  world.requests = { ...world.requests, hold: 'none' }
  await world.run(5 * MINUTE_US)
  t.equal(world.runtime.get('health')?.pausedExits, undefined)
  await runsAndStaysOn(t, world, A)
})

t.test('a restart that was asked for long ago does not make another one needless', async (t) => {
  const world = await promoted(A)
  world.unit.stop()
  await world.run(MINUTE_US)
  world.behave(B, NEVER_HEALTHY)
  world.want(B)
  await world.run(MINUTE_US)
  world.unit.start()
  t.equal((await world.run(10 * MINUTE_US)).phase, 'fallen-back')
  await runsAndStaysOn(t, world, A)
})

t.test('a config that is tried again is restarted into, although it was asked for before', async (t) => {
  const world = await promoted(A)
  // Too short-lived to be seen: kubelet goes back to A by systemd's own restart.
  world.behave(B, { exitsAfterUs: 1 })
  world.want(B)
  await world.run(10 * MINUTE_US)
  world.behave(B, WELL)
  world.requests = { ...world.requests, retry: true }
  await world.run(10 * MINUTE_US)
  await runsAndStaysOn(t, world, B)
})

t.test('systemd gave up on a config that was never seen running: kubelet is started on the fallback', async (t) => {
  const world = await promote(new SmallWorld({ restartUs: 1000, startLimit: { burst: 3, intervalUs: 10 * SECOND_US } }), A)
  world.behave(B, { exitsAfterUs: 1 })
  world.want(B)
  await world.until('restart')
  world.advance(SECOND_US)
  await world.run(10 * MINUTE_US)
  await runsAndStaysOn(t, world, A)
})

t.test('a runtime outage that made systemd give kubelet up condemns nothing', async (t) => {
  const world = await promote(new SmallWorld({ restartUs: SECOND_US, startLimit: { burst: 3, intervalUs: 10 * SECOND_US } }), A)
  world.runtimeUp = false
  world.unit.kill()
  await world.run(5 * MINUTE_US)
  world.runtimeUp = true
  await world.run(10 * MINUTE_US)
  await runsAndStaysOn(t, world, A)
  t.notOk(
    told(world).some((line) => line.startsWith('rolled-back')),
    'no rollback',
  )
})

t.test('starts of somebody else that reach the start limit of the unit condemn nothing', async (t) => {
  const world = await promote(new SmallWorld({ startLimit: { burst: 3, intervalUs: 10 * SECOND_US } }), A)
  world.want(B)
  await world.run(2 * MINUTE_US)
  for (let start = 1; start <= 4; start += 1) {
    world.unit.restartByHand()
    world.advance(0.1 * SECOND_US)
  }
  t.match(await world.unit.observe(), { activity: 'failed', summary: 'failed (start-limit-hit)', nRestarts: 0 })
  await world.run(10 * SECOND_US)
  await runsAndStaysOn(t, world, B)
  await world.run(15 * MINUTE_US)
  await runsAndStaysOn(t, world, B)
  t.same(told(world).slice(3), ['assigned a@1 -> b@1', 'restarting a@1 -> b@1', 'restarting b@1 -> b@1', 'promoted a@1 -> b@1'])
})

t.test('an exit that a whole trial has outlived is not held against a config whose start is refused', async (t) => {
  const world = await promote(new SmallWorld({ startLimit: { burst: 3, intervalUs: 10 * SECOND_US } }), A)
  world.unit.kill()
  await world.run(30 * MINUTE_US)
  for (let round = 1; round <= 2; round += 1) {
    for (let start = 1; start <= 4; start += 1) {
      world.unit.restartByHand()
      world.advance(0.1 * SECOND_US)
    }
    t.match(await world.unit.observe(), { activity: 'failed', summary: 'failed (start-limit-hit)' })
    await world.run(60 * MINUTE_US)
    await runsAndStaysOn(t, world, A)
  }
  t.notOk(told(world).some((line) => line.startsWith('rolled-back')))
  t.equal(world.records.verdicts().size, 0)
})

t.test('a kubelet that exited before its start was refused has failed', async (t) => {
  const world = await promote(new SmallWorld({ restartUs: 1000, startLimit: { burst: 3, intervalUs: 10 * SECOND_US } }), A)
  world.behave(B, { healthyAfterUs: 2 * SECOND_US, exitsAfterUs: 20 * SECOND_US })
  world.want(B)
  await world.run(25 * SECOND_US)
  world.behave(B, WELL)
  for (let start = 1; start <= 4; start += 1) {
    world.unit.restartByHand()
    world.advance(0.1 * SECOND_US)
  }
  t.match(await world.unit.observe(), { activity: 'failed', summary: 'failed (start-limit-hit)' })
  await world.run(5 * MINUTE_US)
  await runsAndStaysOn(t, world, A)
})

t.test('an upgrade after which systemd gives kubelet up between two looks is rolled back', async (t) => {
  const world = await promote(new SmallWorld({ restartUs: 1000, startLimit: { burst: 3, intervalUs: 10 * SECOND_US } }), A)
  world.behave(A, { exitsAfterUs: 1 })
  world.kubeletIdentity = 'kubelet-v2'
  world.unit.restartByHand()
  world.advance(5 * SECOND_US)
  await world.run(10 * MINUTE_US)
  await runsAndStaysOn(t, world, 'local')
})

t.test('a kubelet that is upgraded tries the promoted config anew, and keeps it after the trial', async (t) => {
  const world = await promoted(A)
  const promotions = () => told(world).filter((line) => line.startsWith('promoted')).length
  const before = promotions()
  world.kubeletIdentity = 'kubelet-v2'
  world.unit.restartByHand()
  t.match(await world.run(5 * MINUTE_US), { phase: 'in-trial' })
  const restarts = world.restartsAskedAtUs.length
  t.match(await world.run(10 * MINUTE_US), { phase: 'settled' })
  t.same([world.record('last-known-good'), world.restartsAskedAtUs.length], [A, restarts])
  t.equal(promotions(), before, 'it is last-known-good already')
})

t.test('a promoted config that the upgraded kubelet refuses is rolled back, and runs again on the old kubelet', async (t) => {
  const world = await promoted(A, B)
  t.same([world.record('last-known-good'), world.record('previous')], [B, A])
  world.behave(B, CRASHES)
  world.kubeletIdentity = 'kubelet-v2'
  world.unit.restartByHand()
  await world.run(20 * MINUTE_US)
  await runsAndStaysOn(t, world, A)
  t.ok(
    told(world).some((line) => line.startsWith('rolled-back')),
    'the history says so',
  )
  world.behave(B, WELL)
  world.kubeletIdentity = 'kubelet-v1'
  world.unit.restartByHand()
  await world.run(20 * MINUTE_US)
  await runsAndStaysOn(t, world, B)
})

t.test('a config that comes back after local is tried like a new one', async (t) => {
  const world = await promoted(A, 'local')
  world.want(A)
  await world.run(5 * SECOND_US)
  t.equal(world.record('last-known-good'), 'local', 'not promoted before its trial')
  await world.run(15 * MINUTE_US)
  t.same(world.record('last-known-good'), A)
})

t.test('local config that failed once is no fault of the node when nothing else is wanted', async (t) => {
  const world = new SmallWorld()
  for (const source of ['local', A] as const) world.behave(source, CRASHES)
  await promote(world, A, B)
  world.behave('local', WELL)
  world.want('local')
  t.equal((await world.run(20 * MINUTE_US)).phase, 'settled')
  await runsAndStaysOn(t, world, 'local')
})

t.test('on a full disk', async (t) => {
  t.test('a crash loop still ends on last-known-good', async (t) => {
    const world = await promoted(A)
    world.behave(B, CRASHES)
    world.want(B)
    await world.until('restart')
    world.disk.full = true
    await world.run(90 * SECOND_US)
    await runsAndStaysOn(t, world, A)
  })

  t.test('a trial that is over waits to be written down, and keeps nobody busy', async (t) => {
    const world = await promoted(A)
    world.want(B)
    await world.run(5 * MINUTE_US)
    world.disk.full = true
    await world.run(30 * MINUTE_US)
    t.same(world.record('last-known-good'), A)
    world.disk.full = false
    await world.run(2 * MINUTE_US)
    t.same(world.record('last-known-good'), B)
  })

  t.test('two steps that fail do not take turns for ever', async (t) => {
    const world = await promoted(A)
    world.kubeletIdentity = 'kubelet-v2'
    world.unit.restartByHand()
    await world.run(5 * MINUTE_US)
    world.disk.full = true
    world.want(B)
    await world.run(30 * MINUTE_US)
    world.disk.full = false
    await world.run(15 * MINUTE_US)
    t.same(world.record('last-known-good'), B)
  })

  t.test('the same version with other content leaves kubelet alone', async (t) => {
    const world = await promoted(A)
    world.disk.full = true
    world.want(A, { kubelet: 'other bytes' })
    await world.run(10 * MINUTE_US)
    t.equal(world.restartsAskedAtUs.length, 1)
    await runsAndStaysOn(t, world, A)
  })

  t.test('a crash loop ends although what is wanted instead cannot be activated', async (t) => {
    const world = await promoted(A)
    world.behave(B, CRASHES)
    world.want(B)
    await world.run(2 * SECOND_US)
    world.want(C)
    await world.until('assign')
    world.disk.full = true
    await world.run(3 * MINUTE_US)
    await runsAndStaysOn(t, world, A)
  })
})

t.test('a crash loop ends although preflight cannot be carried out', async (t) => {
  const world = await promoted(A)
  world.behave(B, CRASHES)
  world.want(B)
  await world.until('restart')
  world.restartAgent()
  world.preflight = () => {
    throw new Error('no sandbox today')
  }
  await world.run(3 * MINUTE_US)
  await runsAndStaysOn(t, world, A)
})

t.test('a check that fails in the background is carried out less and less often, up to a minute apart', async (t) => {
  const world = await promoted(A)
  const begunAtUs: number[] = []
  const isUnderWay = () => world.nowUs - (begunAtUs.at(-1) ?? Number.NEGATIVE_INFINITY) < 2e6
  Object.defineProperty(world, 'judging', { get: () => new Set(isUnderWay() ? [keyOf(B)] : []) })
  let fails = false
  world.preflight = () => {
    fails = !fails
    if (!fails) throw new Error('no sandbox today')
    begunAtUs.push(world.nowUs)
    return { kind: 'pending' }
  }
  world.want(B)
  await world.run(10 * MINUTE_US)
  const pausesUs = begunAtUs.slice(1).map((atUs, index) => atUs - (begunAtUs[index] ?? 0))
  t.ok(pausesUs.length >= 10 && pausesUs.length <= 20, `${pausesUs.length} times in ten minutes`)
  t.ok((pausesUs.at(-1) ?? 0) >= MINUTE_US)
  t.equal(world.log.said.filter((line) => line.includes('preflight failed')).length, 1)
})

t.test('a restart that systemd does not take is asked for again, but not all the time', async (t) => {
  const world = await promoted(A)
  world.systemctl = () => ({ ok: false, detail: 'Failed to connect to bus' })
  world.want(B)
  await world.run(5 * MINUTE_US)
  const asked = world.restartsAskedAtUs.length - 1
  t.ok(asked >= 2 && asked <= 6, `${asked} times in five minutes`)
  world.systemctl = undefined
  await world.run(5 * MINUTE_US)
  await runsAndStaysOn(t, world, B)
})

t.test('a start that is cut off each time after the reset is asked for again, but not all the time', async (t) => {
  const world = await promote(new SmallWorld({ restartUs: 1000, startLimit: { burst: 3, intervalUs: 10 * SECOND_US } }), A)
  world.behave(B, { exitsAfterUs: 1 })
  world.want(B)
  await world.until('restart')
  world.advance(SECOND_US)
  world.systemctl = () => {
    world.unit.resetFailed()
    return undefined
  }
  const before = world.restartsAskedAtUs.length
  await world.run(10 * SECOND_US)
  const asked = world.restartsAskedAtUs.length - before
  t.ok(asked >= 5 && asked <= 11, `${asked} times in ten seconds`)
  world.systemctl = undefined
  await world.run(10 * MINUTE_US)
  await runsAndStaysOn(t, world, A)
})

t.test('what cannot be read changes nothing', async (t) => {
  const world = await promoted(A)
  world.records.read = () => {
    throw new Error('too many open files')
  }
  const wait = await world.run(MINUTE_US)
  t.match(wait, { phase: 'unknown', detail: 'too many open files' })
  t.equal(world.log.said.filter((line) => line.includes('cannot be read')).length, 1, 'said once')
})

t.test('a pass that could not read the disk leaves nothing of what it saw of kubelet', async (t) => {
  const world = await promoted(A)
  world.want(B)
  world.disk.readFaultOf = (path) => (path.includes('/meta/') ? 'EIO' : undefined)
  t.match(await world.pass(), { kind: 'wait', phase: 'unknown', detail: /EIO/ })
  world.disk.readFaultOf = undefined
  world.unit.stop()
  t.match(await world.settle(), { phase: 'restarting', detail: /is deactivating/ })
  t.equal(world.restartsAskedAtUs.length, 1)
})

t.test('a failure of the disk that passes costs no fallback', async (t) => {
  const world = await promoted(A, B)
  world.disk.readFaultOf = (path) => (path.includes('/checkpoints/') || path.includes('/meta/') ? 'EIO' : undefined)
  const wait = await world.run(20 * SECOND_US)
  t.match(wait, { phase: 'unknown', detail: /EIO/ })
  world.disk.readFaultOf = undefined
  await world.run(MINUTE_US)
  t.same([world.record('assigned'), world.record('last-known-good'), world.record('previous')], [B, B, A])
  t.equal(world.restartsAskedAtUs.length, 2)
})

for (const activation of ['file', 'drop-in'] as const) {
  t.test(`after a boot, the disk does not return what is in place (${activation}): kubelet is not taken for local`, async (t) => {
    const world = await promote(new SmallWorld({ activation }), A)
    world.reboot()
    const restarts = world.restartsAskedAtUs.length
    const seen = world.snapshots.length
    const { placePath } = world
    world.disk.readFaultOf = (path) => (path === placePath ? 'EIO' : undefined)
    await world.run(10 * SECOND_US)
    world.disk.readFaultOf = undefined
    await world.run(15 * MINUTE_US)
    const running = world.snapshots.slice(seen).flatMap((snapshot) => (snapshot.running.kind === 'known' ? [snapshot.running.content] : []))
    t.same([...new Set(running)], [contentHash(dataOf(A), A.kubeletConfigKey)])
    t.equal(world.restartsAskedAtUs.length, restarts)
  })
}

t.test('a fallback that stays unreadable blinds nobody, and is not written off', async (t) => {
  const world = await promoted(A)
  world.disk.readFaultOf = (path) => (path.endsWith(`/${A.uid}/${A.resourceVersion}`) ? 'EIO' : undefined)
  world.behave(B, CRASHES)
  world.want(B)
  await world.run(3 * MINUTE_US)
  await runsAndStaysOn(t, world, 'local')
  t.same(world.record('last-known-good'), A)
  world.disk.readFaultOf = undefined
  await world.run(MINUTE_US)
  await runsAndStaysOn(t, world, A)
})

t.test('a last-known-good that a newer agent wrote gives way to what runs and has passed its trial, and to nothing else', async (t) => {
  for (const hasPassed of [true, false]) {
    const world = await promoted(A)
    world.policy = { ...world.policy, keepCheckpoints: 0 }
    const path = '/state/meta/last-known-good'
    const newer = `${world.disk.read(path).toString()}    variant: arm64\n`
    world.disk.plant(path, newer)
    if (!hasPassed) new DurableFiles(world.disk).removeTree('/state/meta/proven')
    world.behave(B, CRASHES)
    world.want(B)
    await world.run(15 * MINUTE_US)
    await runsAndStaysOn(t, world, hasPassed ? A : 'local')
    if (hasPassed) t.same(world.record('last-known-good'), A)
    else t.equal(world.disk.read(path).toString(), newer)
    t.ok(world.checkpoints.content(A))
    world.want(C)
    await world.run(15 * MINUTE_US)
    t.same(world.record('last-known-good'), C)
    t.equal(world.checkpoints.content(A) !== undefined, hasPassed, 'the checkpoint of A')
  }
})

t.test('a file that stays unreadable keeps no other config from being used', async (t) => {
  const world = await promoted(A)
  const path = world.checkpoints.path(A)
  world.disk.readFaultOf = (each, kind) => (each === path && kind === 'read' ? 'EIO' : undefined)
  world.want(B)
  await world.run(2 * MINUTE_US)
  await runsAndStaysOn(t, world, B)
})

t.test('Waker', async (t) => {
  const clock = { now: () => ({ bootId: 'b', monotonicUs: 0, wallMs: 0 }) }
  t.test('a wake while nobody sleeps is remembered, once', async () => {
    const waker = new Waker()
    waker.wake()
    waker.wake()
    await waker.sleepUntil(Number.POSITIVE_INFINITY, clock, new AbortController().signal)
  })
  t.test('a wake ends the sleep', async () => {
    const waker = new Waker()
    const slept = waker.sleepUntil(Number.POSITIVE_INFINITY, clock, new AbortController().signal)
    waker.wake()
    await slept
  })
  t.test('so do the time and the end of the agent', async () => {
    const waker = new Waker()
    await waker.sleepUntil(1000, clock, new AbortController().signal)
    const end = new AbortController()
    const slept = waker.sleepUntil(Number.POSITIVE_INFINITY, clock, end.signal)
    end.abort()
    await slept
    await waker.sleepUntil(Number.POSITIVE_INFINITY, clock, end.signal)
  })
})

t.test('a retry that is due in years does not come at once', async (t) => {
  const { sleep } = paceBy({ now: () => ({ bootId: 'b', monotonicUs: 0, wallMs: 0 }) })
  const end = new AbortController()
  const { signal } = end
  const first = await Promise.race([sleep(2 ** 40, signal).then(() => 'years'), sleep(20, signal).then(() => '20 ms')])
  t.equal(first, '20 ms')
  end.abort()
})

t.test('of a kubelet that has settled, systemd is asked once a minute', async (t) => {
  const world = await promoted(A)
  const before = world.looksAtSystemd
  await world.run(10 * MINUTE_US)
  const asked = world.looksAtSystemd - before
  t.ok(9 <= asked && asked <= 11, `${asked} times in 10 minutes`)
})

t.test('systemd is asked at once when a settled kubelet is another process', async (t) => {
  const world = await promoted(A)
  world.unit.kill()
  world.advance(12 * SECOND_US)
  const before = world.looksAtSystemd
  await world.settle()
  t.equal(world.looksAtSystemd - before, 1)
  t.match(world.runtime.get('health'), { exits: 1 })
})

t.test('systemd is asked at every look while kubelet is ill', async (t) => {
  const world = new SmallWorld()
  world.behave(A, { healthyAfterUs: 0, unhealthyAfterUs: 30 * MINUTE_US })
  await promote(world, A)
  for (let look = 0; world.runtime.get('health')?.unhealthySinceUs === undefined && look < 200; look += 1) await world.run(10 * SECOND_US)
  const before = world.looksAtSystemd
  await world.run(10 * SECOND_US)
  t.ok(world.looksAtSystemd - before >= 9)
})

t.test('systemd is asked again before a restart that has waited for longer than a moment', async (t) => {
  const world = await promoted(A)
  world.evidence.answersAfterUs = SECOND_US
  world.want(B)
  const before = world.looksAtSystemd
  await world.until('activate')
  await world.settle()
  world.advance(SECOND_US)
  await world.until('restart')
  t.equal(world.looksAtSystemd, before + 2)
})

t.test('systemd is asked again after kubelet was started once more with what failed', async (t) => {
  const world = await promoted(A)
  world.hangs = true
  for (let look = 0; look < 200; look += 1) {
    const step = await world.pass()
    if (step.kind === 'try-again') break
    if (step.kind === 'wait') world.advance(SECOND_US)
  }
  t.match(world.steps.at(-1), { kind: 'try-again' })
  const before = world.looksAtSystemd
  await world.pass()
  t.equal(world.looksAtSystemd, before + 1)
})

t.test('a settled node is not looked at twice before a restart', async (t) => {
  const world = await promoted(A)
  world.want(B)
  const before = world.healthProbes
  await world.until('restart')
  t.equal(world.healthProbes - before, 3, 'for the assignment, for preflight, and before kubelet gets the config')
})

t.test('nothing is done to kubelet on the word of a glance; what is wanted is written down and judged on it', async (t) => {
  const world = await promoted(A)
  world.want(B)
  const before = world.looksAtSystemd
  await world.until('preflight')
  t.same(world.record('assigned'), B)
  t.equal(world.looksAtSystemd, before)
  await world.until('restart')
  // Before kubelet's next start changes. Its state before the restart was recorded within a moment.
  t.equal(world.looksAtSystemd, before + 1)
  await world.run(5 * SECOND_US)
  await runsAndStaysOn(t, world, B)
})

t.test('a step that never has an effect is left alone for longer and longer', async (t) => {
  const world = new SmallWorld()
  await world.run(MINUTE_US)
  const { put } = world.records
  world.records.put = (name, value) => {
    if (name !== 'assigned') put.call(world.records, name, value)
  }
  world.want(A)
  const wantedUs = world.nowUs
  const waits: number[] = []
  for (let pass = 0; pass < 1500 && waits.length < 8; pass += 1) {
    const step = await world.pass()
    if (step.kind !== 'wait') continue
    waits.push(Math.round((step.untilUs - world.nowUs) / SECOND_US))
    world.advance(step.untilUs - world.nowUs)
  }
  const bursts = world.steps.length / 100
  t.match(world.snapshots.at(-1)?.troubles, [{ step: 'assign', detail: /100 times in a row without an effect/ }])
  t.ok(bursts < 8, `${bursts} bursts in ${(world.nowUs - wantedUs) / SECOND_US} s`)
  t.ok(world.nowUs - wantedUs > 20 * SECOND_US, `${waits}`)
})
