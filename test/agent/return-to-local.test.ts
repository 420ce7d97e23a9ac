// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { PreflightResult } from '../../src/decision/verdict.ts'
import { describeCondition } from '../../src/report/condition.ts'
import { describeStatus } from '../../src/report/status.ts'
import { A, B, C, MINUTE_US, SECOND_US, UPGRADED_KUBELET } from '../decision/snapshots.ts'
import { CRASHES, LOCAL_TEXT, SmallWorld, WELL } from './small-world.ts'

const KINDS = ['env', 'file', 'drop-in'] as const
const TRIAL_US = 3 * MINUTE_US
const LOCAL_PATH = '/var/lib/kubelet/config.yaml'
const refused = (detail = 'unrecognized feature gate: Gone'): PreflightResult => ({ kind: 'refused', reason: 'validate', detail })

/** Preflight refuses these texts. */
function refuse(world: SmallWorld, ...texts: string[]): void {
  world.preflight = (data) =>
    Object.values(data).some((text) => texts.includes(text)) ? refused() : { kind: 'accepted', remarks: [], drain: [] }
}

async function promoted(options: ConstructorParameters<typeof SmallWorld>[0] = {}): Promise<SmallWorld> {
  const world = new SmallWorld(options)
  world.policy = { ...world.policy, trialUs: 2 * MINUTE_US }
  await world.run(MINUTE_US)
  world.want(A)
  await world.run(TRIAL_US)
  t.same(world.record('last-known-good'), A)
  return world
}

function shown(world: SmallWorld) {
  const snapshot = world.snapshots.at(-1)
  const step = world.steps.at(-1)
  if (snapshot === undefined || step?.kind !== 'wait') throw new Error('the agent does not wait')
  const condition = describeCondition(snapshot, step, { trial: undefined, waitUntilMs: undefined })
  return { condition, status: describeStatus(snapshot, step.phase), wait: step }
}

/** The agent's files in the directories of kubelet. */
function staged({ disk }: SmallWorld): readonly string[] {
  const directories = ['/var/lib/kubelet', '/etc/kubelet.conf.d'].filter((path) => disk.stat(path) !== undefined)
  return directories.flatMap((path) => disk.list(path)).filter((name) => name.startsWith('.'))
}

const restarts = (world: SmallWorld) => world.restartsAskedAtUs.length

for (const activation of KINDS) {
  t.test(`${activation}: a local config that is refused costs no restart, and what ran goes on`, async (t) => {
    const world = await promoted({ activation })
    refuse(world, LOCAL_TEXT)
    const before = [restarts(world), await world.running()]
    world.want('local')
    await world.run(6 * MINUTE_US)
    t.same([restarts(world), await world.running()], before)
    const { condition, status, wait } = shown(world)
    t.equal(wait.phase, 'refused')
    t.match(condition, {
      status: 'False',
      reason: 'Refused',
      message: /^local was refused before a restart, .* runs: .*feature gate: Gone/,
    })
    t.match(status, {
      active: A,
      assigned: 'local',
      lastKnownGood: 'local',
      error: 'failed to validate config, see Kubelet log for details',
    })
    t.same([world.record('assigned'), world.record('last-known-good'), world.record('previous')], ['local', 'local', 'local'])
    t.match(world.records.get('left'), { sources: [A] })

    t.test('it takes what is corrected', async (t) => {
      world.editLocal('a corrected local config')
      await world.run(2 * MINUTE_US)
      t.equal(restarts(world), (before[0] as number) + 1)
      t.match(shown(world).condition, { status: 'True', reason: 'Local' })
      await world.run(TRIAL_US)
      t.match(world.records.get('left'), { sources: [] }, 'local is the administrator’s again')
      t.same(staged(world), [], 'nothing of the agent stays beside the files of kubelet')
    })
  })

  t.test(`${activation}: kubelet fails with local after our restart: the node goes back`, async (t) => {
    const world = await promoted({ activation })
    const [count, ran] = [restarts(world), await world.running()]
    world.behave('local', CRASHES)
    world.want('local')
    await world.run(5 * MINUTE_US)
    t.equal(await world.running(), ran)
    t.equal(restarts(world), count + 2, 'there and back')
    const { condition, status } = shown(world)
    t.match(condition, { status: 'False', reason: 'RolledBack', message: /^local failed, .* runs: kubelet exited/ })
    t.match(status, { active: A, assigned: 'local', lastKnownGood: 'local', error: /crash-looped; rolled back to what ran before/ })
    await world.run(13 * MINUTE_US)
    t.equal(restarts(world), count + 2, 'it is not tried again while it stays the same')
    t.equal(await world.running(), ran)

    t.test('another kubelet takes it', async () => {
      world.behave('local', WELL)
      world.kubeletIdentity = 'upgraded'
      await world.run(5 * MINUTE_US)
      t.equal(await world.running(), 'local')
      t.match(shown(world).condition, { status: 'True', reason: 'Local' })
    })
  })
}

t.test('local is tried again when its file changes', async (t) => {
  const world = await promoted()
  world.behave('local', CRASHES)
  world.want('local')
  await world.run(5 * MINUTE_US)
  const count = restarts(world)
  world.editLocal('another local config')
  await world.run(5 * MINUTE_US)
  t.equal(restarts(world), count + 2, 'there and back once more')
  world.behave('local', WELL)
  world.editLocal('a good local config')
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), 'local')
})

t.test('local is tried again where the container runtime may be why kubelet failed with it', async (t) => {
  const world = await promoted()
  world.runtimeUp = false
  world.unit.kill()
  world.want('local')
  await world.run(13 * MINUTE_US)
  t.equal(world.history.filter(({ kind }) => kind === 'rolled-back').length, 1, 'the runtime excuses kubelet for ten minutes')
  world.runtimeUp = true
  await world.run(5 * MINUTE_US)
  t.match(shown(world).wait, { phase: 'fallen-back', detail: /local is tried again \(1 of 3\)/ })
  await world.run(10 * MINUTE_US)
  t.equal(await world.running(), 'local')
  await world.run(TRIAL_US)
  t.match(world.records.get('left'), { sources: [] }, 'local is the administrator’s again')
})

t.test('a refused local is still the last fallback of a kubelet that fails', async (t) => {
  const world = await promoted()
  refuse(world, LOCAL_TEXT)
  world.want('local')
  await world.run(MINUTE_US)
  world.behave(A, CRASHES)
  world.unit.kill()
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), 'local')
  await world.run(6 * MINUTE_US)
  t.equal(await world.running(), 'local', 'and stays where it is healthy')
})

t.test('a kubelet that fails already gets local without preflight', async (t) => {
  const world = await promoted()
  refuse(world, LOCAL_TEXT)
  world.behave(A, CRASHES)
  world.unit.kill()
  await world.run(5 * SECOND_US)
  world.want('local')
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), 'local')
})

t.test('where preflight cannot judge it is asked for 10 minutes, and then local goes', async (t) => {
  const world = await promoted()
  const count = restarts(world)
  world.preflight = () => {
    throw new Error('the helper does not start')
  }
  world.want('local')
  await world.run(9 * MINUTE_US)
  t.equal(restarts(world), count)
  t.match(shown(world).condition, { reason: 'InternalError', message: /the helper does not start/ })
  await world.run(3 * MINUTE_US)
  t.equal(await world.running(), 'local')
})

t.test('a local config that is not there is refused', async (t) => {
  const gone = await promoted()
  gone.disk.unlink(LOCAL_PATH)
  gone.want('local')
  await gone.run(6 * MINUTE_US)
  t.match(shown(gone).condition, { reason: 'Refused', message: /config\.yaml does not exist/ })
})

t.test('an operator forces a local config that is refused, and the node goes back where it fails', async (t) => {
  const world = await promoted()
  const ran = await world.running()
  refuse(world, LOCAL_TEXT)
  world.requests = { ...world.requests, hold: 'local' }
  await world.run(MINUTE_US)
  t.equal(await world.running(), ran, 'not without force')
  world.behave('local', CRASHES)
  const before = restarts(world)
  world.requests = { ...world.requests, force: true }
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), ran)
  t.equal(restarts(world), before + 2, 'there and back')
})

for (const activation of KINDS)
  t.test(`${activation}: a kubelet that is about to start is not started with a local config that is refused`, async (t) => {
    for (const stop of [
      (world: SmallWorld) => world.reboot(),
      (world: SmallWorld) => world.unit.kill(),
      (world: SmallWorld) => {
        world.kubeletIdentity = UPGRADED_KUBELET
        world.reboot()
      },
    ]) {
      const world = await promoted({ activation })
      await world.run(5 * MINUTE_US)
      const [ran, count] = [await world.running(), restarts(world)]
      refuse(world, LOCAL_TEXT)
      world.behave('local', CRASHES)
      stop(world)
      world.want('local')
      await world.run(5 * MINUTE_US)
      t.same([await world.running(), restarts(world)], [ran, count])
      t.equal(shown(world).wait.phase, 'refused')
    }
  })

t.test('a kubelet that crashes with all that there is returns to local too, which is checked once', async (t) => {
  const world = await promoted()
  for (const source of [A, 'local'] as const) world.behave(source, CRASHES)
  world.unit.restartByHand()
  const isAtFault = () => world.records.verdicts().size === 2
  for (let seconds = 0; seconds < 600 && (!isAtFault() || (await world.running()) !== undefined); seconds += 1) await world.run(SECOND_US)
  world.want('local')
  await world.run(MINUTE_US)
  t.same(world.record('assigned'), 'local')
  t.equal(world.startedWith, 'local')
})

t.test('a node without a local config waits for one', async (t) => {
  for (const activation of KINDS) {
    const world = new SmallWorld({ activation })
    await world.run(MINUTE_US)
    world.disk.unlink(LOCAL_PATH)
    world.unit.kill()
    const wait = await world.run(10 * MINUTE_US)
    t.equal(wait.phase, activation === 'file' ? 'unknown' : 'settled')
    const { troubles } = world.snapshots.at(-1) ?? {}
    if (activation === 'file') t.match(troubles, [{ step: 'activate', detail: /config\.yaml does not exist/ }])
    t.ok(world.steps.length < 400, `${activation}: ${world.steps.length} steps`)
    world.editLocal('a local config')
    await world.run(10 * MINUTE_US)
    t.match(await world.run(SECOND_US), { phase: 'settled' }, activation)
  }
})

t.test('a reset does not restart kubelet without limit for a local config that keeps changing and failing', async (t) => {
  const world = await promoted()
  world.behave('local', CRASHES)
  world.requests = { ...world.requests, hold: 'local' }
  await world.run(5 * MINUTE_US)
  const count = restarts(world)
  for (let edit = 0; edit < 18; edit += 1) {
    world.editLocal(`a local config # rendered again: ${edit}`)
    world.behave('local', CRASHES)
    await world.run(3 * MINUTE_US)
  }
  t.ok(restarts(world) <= count + 2 * world.policy.restartsPerHour, `${restarts(world) - count} restarts in 54 minutes, there and back`)

  t.test('one that is corrected is taken, and the next reset is exempt again', async (t) => {
    world.behave('local', WELL)
    world.editLocal('a good local config')
    for (let waited = 0; waited < 12 && (await world.running()) !== 'local'; waited += 1) await world.run(6 * MINUTE_US)
    t.equal(await world.running(), 'local')
    await world.run(TRIAL_US)
    t.match(world.records.get('left'), { sources: [] })
    t.equal(world.snapshots.at(-1)?.suspendedVerdicts.size, 0)
  })
})

t.test('what is assigned again while it goes on is promoted again, without a restart', async (t) => {
  const world = await promoted()
  refuse(world, LOCAL_TEXT)
  world.want('local')
  await world.run(5 * MINUTE_US)
  const count = restarts(world)
  world.want(A)
  await world.run(TRIAL_US)
  t.equal(restarts(world), count)
  t.same(world.record('last-known-good'), A)
  t.match(world.records.get('left'), { sources: [] })
})

for (const how of ['refused', 'failed'] as const) {
  t.test(`what is assigned after local was ${how} falls back to what still ran`, async (t) => {
    const world = await promoted()
    const ran = await world.running()
    world.behave('local', CRASHES)
    if (how === 'refused') refuse(world, LOCAL_TEXT)
    world.want('local')
    await world.run(5 * MINUTE_US)
    t.equal(await world.running(), ran)
    world.behave(B, CRASHES)
    world.want(B)
    await world.run(5 * MINUTE_US)
    t.equal(await world.running(), ran)
    const { condition, status, wait } = shown(world)
    t.equal(wait.phase, 'fallen-back')
    t.match(condition, { status: 'False', reason: 'RolledBack', message: /failed, .* runs: kubelet exited/ })
    t.match(status, { active: A, assigned: B, lastKnownGood: 'local', error: /crash-looped; rolled back to what ran before/ })
    const condemned = [...world.records.verdicts().values()].filter(({ reason }) => reason === 'crash-loop')
    t.same(new Set(condemned.map(({ source }) => source)), new Set(how === 'failed' ? ['local', B] : [B]))

    t.test('until something passes its trial', async (t) => {
      world.want(C)
      await world.run(TRIAL_US)
      t.same(world.record('last-known-good'), C)
      t.match(world.records.get('left'), { sources: [] })
    })
  })
}

t.test('with nothing assigned and no restart of ours, local stays the administrator’s', async (t) => {
  const world = new SmallWorld()
  await world.run(6 * MINUTE_US)
  world.behave('local', CRASHES)
  world.unit.kill()
  await world.run(6 * MINUTE_US)
  t.equal(restarts(world), 0)
  const returned = await promoted()
  returned.want('local')
  await returned.run(TRIAL_US)
  const count = restarts(returned)
  returned.behave('local', CRASHES)
  returned.unit.kill()
  await returned.run(6 * MINUTE_US)
  t.equal(restarts(returned), count)
})

t.test('neither a reboot nor the loss of /run between our restart and the failure leaves kubelet dead', async (t) => {
  for (const happens of ['reboot', 'run', 'agent'] as const) {
    const world = await promoted()
    const ran = await world.running()
    world.behave('local', { healthyAfterUs: SECOND_US, exitsAfterUs: 100 * SECOND_US })
    world.want('local')
    await world.run(20 * SECOND_US)
    t.equal(await world.running(), 'local')
    world.behave('local', CRASHES)
    if (happens === 'reboot') world.reboot()
    else {
      if (happens === 'run') world.forgetRun()
      world.restartAgent()
      world.unit.kill()
    }
    await world.run(5 * MINUTE_US)
    t.equal(await world.running(), ran, happens)
  }
})

t.test('a unit that systemd gave up with local is brought back after the loss of /run', async (t) => {
  const world = await promoted({ startLimit: { burst: 2, intervalUs: MINUTE_US } })
  const ran = await world.running()
  world.behave('local', CRASHES)
  world.want('local')
  await world.until('restart')
  world.advance(40 * SECOND_US)
  world.forgetRun()
  world.restartAgent()
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), ran)
})

t.test('a config on trial goes on, and what it would fall back to is kept with it', async (t) => {
  const world = await promoted()
  refuse(world, LOCAL_TEXT)
  world.want(B)
  await world.run(MINUTE_US)
  world.want('local')
  await world.run(TRIAL_US)
  t.match(world.records.get('left'), { sources: [B, A] })
  t.same(world.record('last-known-good'), 'local', 'it is not promoted')
  world.behave(B, CRASHES)
  world.unit.kill()
  await world.run(5 * MINUTE_US)
  t.match(shown(world).status, { active: A, assigned: 'local' })
})
