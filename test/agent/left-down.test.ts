// SPDX-License-Identifier: Apache-2.0
/**
 * A kubelet that is down and that nobody stopped is started again. One that a person may have
 * stopped is not. Systemd often shows the same of both.
 */
import t from 'tap'
import { listOfBoot } from '../../src/decision/records.ts'
import { A, B, HOUR_US, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { CRASHES, SmallWorld } from './small-world.ts'

type Options = ConstructorParameters<typeof SmallWorld>[0]

async function promoted(options: Options = {}): Promise<SmallWorld> {
  const world = new SmallWorld(options)
  world.want(A)
  await world.run(15 * MINUTE_US)
  return world
}

/** A unit that kubelet requires fails for so long. */
async function breakDependency(world: SmallWorld, us: number): Promise<void> {
  world.unit.dependencyFails = true
  await world.run(us)
  world.unit.dependencyFails = false
}

/** A person stops kubelet while systemd starts it, on behalf of the agent. */
function stopDuringCommand(world: SmallWorld): void {
  world.systemctl = () => {
    world.unit.stop()
    return { ok: true }
  }
}

t.test("the agent's own restart comes to nothing for a unit that kubelet requires", async (t) => {
  for (const downUs of [MINUTE_US, 20 * MINUTE_US]) {
    const world = await promoted()
    world.want(B)
    await breakDependency(world, downUs)
    t.equal(await world.running(), undefined)
    t.match(world.steps.at(-1), { kind: 'wait', phase: 'restarting', detail: /^a unit that kubelet requires failed/ })
    const asked = world.restartsAskedAtUs.length
    await world.run(5 * MINUTE_US + SECOND_US)
    t.equal(await world.running(), textOf(B))
    t.ok(asked <= 5 + downUs / (4 * MINUTE_US), `pauses grow: ${asked} in ${downUs / MINUTE_US} min`)
    t.equal(world.records.verdicts().size, 0, 'no config is blamed')
    await world.run(15 * MINUTE_US)
    t.strictSame(world.record('last-known-good'), B)
  }
})

t.test('a start that failed so, and that systemctl did not report as requested, is not requested without a pause', async (t) => {
  const world = await promoted()
  world.want(B)
  world.unit.dependencyFails = true
  world.systemctl = () => {
    void world.unit.restart('other')
    return { ok: false, detail: 'systemctl restart: timed out after 10 s', mayBeTaken: true }
  }
  await world.run(10 * MINUTE_US)
  const pauses = world.restartsAskedAtUs.slice(2).map((atUs, index) => atUs - (world.restartsAskedAtUs[index + 1] ?? 0))
  t.ok(pauses.length > 2)
  t.ok(
    pauses.every((us) => us >= MINUTE_US),
    `${pauses}`,
  )
})

t.test('also of a unit that is disabled and was started by something else, but of none that is masked', async (t) => {
  for (const [barred, runs] of [
    ['disabled', textOf(B)],
    ['masked', undefined],
  ] as const) {
    const world = await promoted()
    world.want(B)
    world.unit.dependencyFails = true
    await world.until('restart')
    world.unit.barred = barred
    await world.run(MINUTE_US)
    world.unit.dependencyFails = false
    await world.run(5 * MINUTE_US + SECOND_US)
    t.equal(await world.running(), runs, barred)
  }
})

/** A unit that kubelet requires fails at the agent's restart. Another agent comes after that. */
async function foundByAnother(to: typeof B | 'local', meanwhile: (world: SmallWorld) => void = () => {}): Promise<string | undefined> {
  const world = await promoted()
  world.want(to)
  world.unit.dependencyFails = true
  await world.until('restart')
  world.advance(MINUTE_US)
  meanwhile(world)
  world.restartAgent()
  world.unit.dependencyFails = false
  await world.run(30 * SECOND_US)
  return world.running()
}

t.test('an agent that was not there finds it in the journal', async (t) => {
  t.equal(await foundByAnother(B), textOf(B))
})

t.test('also one that has lost /run, whatever the restart was into', async (t) => {
  for (const to of [B, 'local'] as const) {
    t.equal(await foundByAnother(to, (world) => world.forgetRun()), to === 'local' ? 'local' : textOf(B))
  }
})

t.test('but not where a person stopped kubelet since, or ended the start, or there was a boot', async (t) => {
  const stories: Readonly<Record<string, (world: SmallWorld) => Promise<void>>> = {
    stopped: async (world) => {
      world.unit.dependencyFails = true
      await world.until('restart')
      world.unit.dependencyFails = false
      await world.run(MINUTE_US)
      world.unit.stop()
    },
    canceled: async (world) => {
      stopDuringCommand(world)
      await world.until('restart')
      world.systemctl = undefined
    },
    booted: async (world) => {
      await world.run(MINUTE_US)
      world.reboot()
      world.unit.stop()
    },
  }
  for (const [what, happens] of Object.entries(stories)) {
    const world = await promoted()
    world.want(B)
    await happens(world)
    world.forgetRun()
    world.restartAgent()
    const { phase } = await world.run(10 * MINUTE_US)
    t.equal(phase, 'kubelet-stopped', what)
    t.equal(await world.running(), undefined, what)
  }
})

t.test('without a journal nothing tells, and the message says how to start it', async (t) => {
  const world = await promoted()
  world.hasJournal = false
  world.want(B)
  await breakDependency(world, MINUTE_US)
  const { phase, detail } = await world.run(HOUR_US)
  t.equal(phase, 'kubelet-stopped')
  t.match(detail, /^kubelet is stopped; systemctl start kubelet\.service starts it with kube-system\/b:kubelet@1$/)
})

t.test('a fallback too, and a config that was left in a crash loop', async (t) => {
  const world = await promoted()
  world.behave(B, {})
  world.want(B)
  while (world.startedWith !== textOf(B)) await world.run(SECOND_US)
  await breakDependency(world, 5 * MINUTE_US)
  await world.run(6 * MINUTE_US)
  t.equal(await world.running(), textOf(A))

  for (const keepsQueued of [false, true]) {
    const crashing = await promoted({ keepsQueued })
    crashing.behave(B, CRASHES)
    crashing.want(B)
    while (crashing.startedWith !== textOf(B)) await crashing.run(SECOND_US)
    await breakDependency(crashing, 12 * SECOND_US)
    t.equal(await crashing.running(), undefined)
    await crashing.run(3 * MINUTE_US)
    t.equal(await crashing.running(), textOf(A), `left queued: ${keepsQueued}`)
    t.equal(crashing.records.verdicts().size, 1)
  }
})

t.test('exits count where each automatic restart comes to nothing', async (t) => {
  for (const keepsQueued of [false, true]) {
    const world = await promoted({ keepsQueued })
    world.behave(B, CRASHES)
    world.want(B)
    // Only what the agent starts is started.
    const failing = () => {
      world.unit.dependencyFails = world.unit.state === 'auto-restart'
    }
    for (let seconds = 0; (seconds < 5 * 60 && world.startedWith !== textOf(A)) || seconds < 20; seconds += 1) {
      failing()
      await world.run(SECOND_US)
    }
    world.unit.dependencyFails = false
    await world.run(MINUTE_US)
    t.equal(await world.running(), textOf(A), `left queued: ${keepsQueued}`)
  }
})

t.test('a kubelet that ends without an error under Restart=on-failure', async (t) => {
  const once = await promoted({ restart: 'on-failure' })
  const before = once.restartsAskedAtUs.length
  once.unit.endCleanly()
  await once.run(10 * SECOND_US)
  t.equal(await once.running(), textOf(A))
  t.equal(once.restartsAskedAtUs.length, before + 1)
  t.equal(once.records.verdicts().size, 0)

  const again = await promoted({ restart: 'on-failure' })
  again.behave(B, { exitsAfterUs: SECOND_US, exitsCleanly: true })
  again.want(B)
  await again.run(5 * MINUTE_US)
  t.equal(await again.running(), textOf(A))
  t.match([...again.records.verdicts().values()][0]?.detail, /kubelet exited [23] times/)
})

t.test('also where it ends between the look at it and the restart, which then starts nothing', async (t) => {
  const world = await promoted({ restart: 'on-failure' })
  world.want(B)
  await world.until('activate')
  world.advance(20_000)
  world.unit.endCleanly()
  world.advance(20_000)
  await world.run(3 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
})

t.test('how long the agent waits before it starts it again is held against no config', async (t) => {
  const world = await promoted({ restart: 'on-failure' })
  world.unit.dependencyFails = true
  world.unit.endCleanly()
  await world.run(10 * MINUTE_US)
  world.unit.dependencyFails = false
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  world.unit.endCleanly()
  await world.run(6 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  t.equal(world.records.verdicts().size, 0)
  t.notOk(
    world.snapshots.some(({ health }) => health?.triedAgainUs !== undefined),
    'not even tried once more',
  )
})

t.test('a unit that it was bound to ended', async (t) => {
  const world = await promoted()
  world.unit.endWith('containerd.service')
  await world.run(30 * SECOND_US)
  t.equal(await world.running(), textOf(A))
})

t.test('what a person stopped stays stopped, whenever that was', async (t) => {
  const later = async (world: SmallWorld, what: string) => {
    const { phase } = await world.run(HOUR_US)
    t.equal(phase, 'kubelet-stopped', what)
    t.equal(await world.running(), undefined, what)
  }
  const stopped = await promoted({ restart: 'on-failure' })
  stopped.unit.stop()
  await later(stopped, 'while it ran')

  const during = await promoted()
  stopDuringCommand(during)
  during.want(B)
  await later(during, "during the agent's restart")

  const waiting = await promoted()
  waiting.behave(B, CRASHES)
  waiting.want(B)
  while (waiting.unit.state !== 'auto-restart') await waiting.run(SECOND_US / 2)
  waiting.unit.stop()
  await later(waiting, 'while it waited for its automatic restart')

  const cancelled = await promoted({ restart: 'on-failure' })
  stopDuringCommand(cancelled)
  cancelled.unit.endCleanly()
  await later(cancelled, 'while the agent started it again')

  for (const barred of ['masked', 'disabled'] as const) {
    const world = await promoted({ restart: 'on-failure' })
    world.unit.barred = barred
    world.unit.endCleanly()
    await later(world, barred)
  }
})

t.test("with nothing assigned it is the administrator's, but for what the agent began", async (t) => {
  const own = new SmallWorld({ restart: 'on-failure' })
  await own.run(MINUTE_US)
  own.unit.endCleanly()
  const { phase, detail } = await own.run(HOUR_US)
  t.equal(phase, 'kubelet-stopped')
  t.match(detail, /^kubelet ended without an error, and nothing starts it again; systemctl start kubelet\.service starts it/)
  t.equal(own.restartsAskedAtUs.length, 0)

  const returning = await promoted()
  returning.want('local')
  await breakDependency(returning, MINUTE_US)
  t.equal(await returning.running(), undefined)
  await returning.run(2 * MINUTE_US)
  t.equal(await returning.running(), 'local')
})

t.test('while the node is paused nothing starts it', async (t) => {
  const world = await promoted({ restart: 'on-failure' })
  world.requests = { ...world.requests, hold: 'paused' }
  world.unit.endCleanly()
  await world.run(HOUR_US)
  t.equal(await world.running(), undefined)
  world.requests = { ...world.requests, hold: 'none' }
  await world.run(MINUTE_US)
  t.equal(await world.running(), textOf(A))
  t.equal(listOfBoot(world.runtime.get('restarts') ?? [], { bootId: 'boot-1' }).at(-1)?.failed, true)
})
