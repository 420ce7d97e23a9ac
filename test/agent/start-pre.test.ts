// SPDX-License-Identifier: Apache-2.0
/**
 * What kubelet's unit runs before kubelet (`ExecStartPre=`) fails, as iptables does on EKS while
 * something holds its lock: systemd shows exits of the unit, and kubelet was never executed.
 */
import t from 'tap'
import { nextStep } from '../../src/decision/rules.ts'
import { describeCondition } from '../../src/report/condition.ts'
import { NO_DEADLINES } from '../../src/report/deadlines.ts'
import { A, B, HOUR_US, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { promote, rollbacks } from './promoted-world.ts'
import { SmallWorld, WELL } from './small-world.ts'

/** `ExecStartPre=` takes so long, and fails for this time after the agent's restart. */
async function restartInto(takesUs: number, failsForUs: number, options: { restartUs?: number; behaviour?: object } = {}) {
  const world = await promote(new SmallWorld({ restart: 'on-failure', restartUs: options.restartUs ?? 5 * SECOND_US }), A)
  world.behave(B, options.behaviour ?? WELL)
  world.want(B)
  const untilUs = () => (world.restartsAskedAtUs.at(-1) ?? world.nowUs) + failsForUs
  let endUs: number | undefined
  world.unit.startPre = () => {
    endUs ??= untilUs()
    return { takesUs, fails: world.nowUs < endUs }
  }
  await world.until('restart')
  return world
}

function messageOf({ snapshots }: SmallWorld): string | undefined {
  const [snapshot] = snapshots.slice(-1)
  const step = snapshot && nextStep(snapshot)
  return snapshot && step?.kind === 'wait' ? describeCondition(snapshot, step, NO_DEADLINES).message : undefined
}

async function lookEach(world: SmallWorld, us: number, times: number): Promise<void> {
  for (let look = 0; look < times; look += 1) {
    world.advance(us)
    await world.settle()
  }
}

const verdictsOf = (world: SmallWorld) => [...world.records.verdicts().values()]

t.test('a config that kubelet was not executed with is charged no exit', async (t) => {
  for (const seconds of [12, 30, 60, 100]) {
    const world = await restartInto(5 * SECOND_US, seconds * SECOND_US)
    await world.run(30 * MINUTE_US)
    t.equal(await world.running(), textOf(B), `${seconds} s`)
    t.same([rollbacks(world), verdictsOf(world), world.record('last-known-good')], [0, [], B])
  }
})

t.test('no more is one whose restarts come too fast to be seen', async (t) => {
  const world = await restartInto(0.02 * SECOND_US, 60 * SECOND_US, { restartUs: 0.1 * SECOND_US })
  await world.run(30 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  t.same(verdictsOf(world), [])
})

t.test('nor is one for starts that are seen only before they fail', async (t) => {
  for (const seconds of [2, 5, 20]) {
    const world = await restartInto(seconds * SECOND_US, 80 * SECOND_US, { restartUs: 0.1 * SECOND_US })
    await world.run(30 * MINUTE_US)
    t.same([await world.running(), verdictsOf(world)], [textOf(B), []], `${seconds} s`)
  }
})

t.test('it is left at the start deadline, in doubt, and tried again', async (t) => {
  // One that fails at once spends its time between two starts.
  for (const takesUs of [0.01 * SECOND_US, 5 * SECOND_US, 90 * SECOND_US]) {
    const world = await restartInto(takesUs, 200 * SECOND_US, { restartUs: 10 * SECOND_US })
    await world.run(1.2 * MINUTE_US)
    t.match(
      messageOf(world),
      /^kubelet cannot start, since systemd does not execute it: what its unit needs or runs before it, such as ExecStartPre=, fails or hangs; desired: .*b/,
    )
    await world.run(3 * MINUTE_US)
    t.match(verdictsOf(world), [
      { state: 'provisional', reason: 'start-deadline', doubtful: true, detail: /^kubelet was not healthy for 12\d s/ },
    ])
    await world.run(2 * MINUTE_US)
    t.equal(await world.running(), textOf(A))
    t.match(
      messageOf(world),
      /b.* failed, .*a.* runs: kubelet was not healthy for 12\d s, since systemd does not execute it: what its unit needs or runs before it, such as ExecStartPre=/,
    )
    await world.run(HOUR_US)
    t.equal(await world.running(), textOf(B))
    t.same(world.record('last-known-good'), B)
  }
})

t.test('it is left, however late the looks come', async (t) => {
  for (const seconds of [61, 70, 200]) {
    const world = await restartInto(5 * SECOND_US, HOUR_US, { restartUs: 10 * SECOND_US })
    await lookEach(world, seconds * SECOND_US, 7)
    t.match(verdictsOf(world), [{ reason: 'start-deadline', doubtful: true }], `each ${seconds} s`)
  }
})

t.test('so is one that exits after it, about as soon', async (t) => {
  for (const seconds of [61, 70, 200]) {
    const world = await restartInto(5 * SECOND_US, 0, { restartUs: 10 * SECOND_US, behaviour: { exitsAfterUs: 0.2 * SECOND_US } })
    await lookEach(world, seconds * SECOND_US, 7)
    t.equal(verdictsOf(world).length, 1, `each ${seconds} s`)
  }
})

t.test('it is left, however often somebody restarts kubelet', async (t) => {
  const world = await restartInto(SECOND_US, HOUR_US, { restartUs: 10 * SECOND_US })
  for (let restarts = 0; restarts < 3; restarts += 1) {
    await world.run(50 * SECOND_US)
    world.unit.restartByHand()
  }
  t.match(verdictsOf(world), [{ reason: 'start-deadline', doubtful: true }])
})

t.test('where it fails with every config, the node is at fault, and no config is condemned', async (t) => {
  const world = await restartInto(0.01 * SECOND_US, 4 * HOUR_US)
  await world.run(HOUR_US)
  t.match(messageOf(world), /ExecStartPre=/)
  await world.run(3 * HOUR_US)
  t.same(
    verdictsOf(world).filter(({ state }) => state === 'confirmed'),
    [],
  )
  await world.run(12 * HOUR_US)
  t.equal(await world.running(), textOf(B))
})

t.test('a unit that systemd gives up for it is in doubt', async (t) => {
  const world = await promote(new SmallWorld({ startLimit: { burst: 3, intervalUs: HOUR_US } }), A)
  world.unit.startPre = () => ({ takesUs: SECOND_US, fails: true })
  world.want(B)
  await world.run(30 * SECOND_US)
  world.unit.startPre = () => undefined
  await world.run(MINUTE_US)
  const detail = /^systemd gave kubelet up: failed \(.*\), since systemd does not execute it: /
  t.match(verdictsOf(world), [{ reason: 'crash-loop', doubtful: true, detail }])
})

t.test('the time before its execution is none of the config', async (t) => {
  const world = await restartInto(5 * SECOND_US, 100 * SECOND_US, { behaviour: { healthyAfterUs: 60 * SECOND_US } })
  await world.run(30 * MINUTE_US)
  t.equal(rollbacks(world), 0)
  t.equal(await world.running(), textOf(B))
})

t.test('exits of kubelet itself count, whatever is between them', async (t) => {
  const world = await restartInto(5 * SECOND_US, 0, { behaviour: { exitsAfterUs: 0.4 * SECOND_US } })
  await world.run(40 * SECOND_US)
  t.match(verdictsOf(world), [{ reason: 'crash-loop', detail: 'kubelet exited 3 times' }])
  const [verdict] = verdictsOf(world)
  t.equal(verdict?.doubtful, undefined)
})

t.test('a kubelet that is not executed is named in a pause, and with nothing assigned', async (t) => {
  const paused = await promote(new SmallWorld(), A)
  paused.requests = { ...paused.requests, hold: 'paused' }
  const local = new SmallWorld()
  for (const world of [paused, local]) {
    await world.run(MINUTE_US)
    world.unit.startPre = () => ({ takesUs: SECOND_US, fails: true })
    world.unit.kill()
    await world.run(5 * MINUTE_US)
    t.match(
      messageOf(world),
      /^kubelet cannot start, since systemd does not execute it: what its unit needs or runs before it, such as ExecStartPre=, fails or hangs/,
    )
    t.same(verdictsOf(world), [])
  }
})
