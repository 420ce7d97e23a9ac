// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { ROLLOUT_OFF } from '../../src/decision/staging.ts'
import { NoRolloutRecord } from '../../src/source/rollout/rollout-worker.ts'
import { A, MINUTE_US, textOf } from '../decision/snapshots.ts'
import { refused } from '../evidence/samples.ts'
import { ANSWERS_WELL } from './fake-evidence.ts'
import { FleetWorld, RECORD } from './fleet-world.ts'
import { CRASHES, SmallWorld } from './small-world.ts'

t.setTimeout(240_000)

/** Nodes that all run a first content, which reached them in a rollout. */
async function settledFleet(count: number): Promise<FleetWorld> {
  const fleet = new FleetWorld(count)
  fleet.api.put(RECORD, {})
  fleet.edit('first')
  await fleet.until(async () => (await fleet.running()).every((text) => text === 'first'), 60 * MINUTE_US)
  await fleet.run(3 * MINUTE_US)
  return fleet
}

const startsOf = (fleet: FleetWorld, text: string) =>
  fleet.nodes.filter(({ world }) =>
    world.history.some(
      ({ kind, to }) =>
        kind === 'restarting' && to !== 'local' && to !== undefined && world.checkpoints.data(to.uid, to.resourceVersion)?.kubelet === text,
    ),
  )

t.test('a good content goes from one node to all of them, each with a word in the record or free', async (t) => {
  const fleet = await settledFleet(3)
  t.same(await fleet.running(), ['first', 'first', 'first'])
  fleet.edit('second')
  t.ok(await fleet.until(() => startsOf(fleet, 'second').length === 1, 5 * MINUTE_US), 'one node starts it')
  t.match(Object.values(fleet.record() ?? {}).join(), / claim /, 'and has said so')
  await fleet.run(MINUTE_US / 2)
  t.equal(startsOf(fleet, 'second').length, 1, 'and the others wait for its proof')
  t.ok(await fleet.until(async () => (await fleet.running()).every((text) => text === 'second'), 60 * MINUTE_US), 'then all run it')
  t.ok(fleet.api.requests.filter((one) => one.includes(' PATCH ')).length < 20, 'with few writes')
  await fleet.stop()
})

t.test('a content that fails everywhere is started by one node, and the fix goes to all', async (t) => {
  const fleet = await settledFleet(3)
  for (const { world } of fleet.nodes) world.behaveWith('bad', CRASHES)
  fleet.edit('bad')
  await fleet.run(30 * MINUTE_US)
  t.equal(startsOf(fleet, 'bad').length, 1)
  t.same(await fleet.running(), ['first', 'first', 'first'])
  t.match(Object.values(fleet.record() ?? {}).join(), / veto crash-loop/)
  const waiting = fleet.nodes.find((node) => !startsOf(fleet, 'bad').includes(node))
  t.match(waiting?.world.steps.at(-1), {
    kind: 'wait',
    phase: 'rollout',
    detail: /^the rollout of kube-system\/.* is halted: it failed on node-.*; fix the config, or set "retry: 1"/,
  })
  fleet.edit('fixed')
  t.ok(await fleet.until(async () => (await fleet.running()).every((text) => text === 'fixed'), 60 * MINUTE_US))
  await fleet.stop()
})

t.test('an assignment from a directory that has a rollout waits, and says why', async (t) => {
  const world = new SmallWorld()
  world.rollout = new NoRolloutRecord()
  world.restartAgent()
  const wantWith = (record: string) => {
    world.want(A)
    const { desired } = world
    if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
    world.desired = { ...desired, object: { ...desired.object, rollout: { record, plan: undefined } } }
  }
  wantWith(RECORD)
  t.match(await world.run(MINUTE_US), { kind: 'wait', phase: 'rollout', detail: /needs an API server.*to `off`/ })
  wantWith(ROLLOUT_OFF)
  await world.run(MINUTE_US)
  t.equal(await world.running(), textOf(A))
})

t.test('a node that cannot read its evidence does not start as a witness', async (t) => {
  const fleet = await settledFleet(3)
  const [first, ...others] = fleet.nodes
  if (first === undefined) throw new Error('there are three')
  first.world.evidence.answer('pods', () => refused('pods'))
  for (const { world } of others) world.evidence.isMute = true
  fleet.edit('second')
  await fleet.run(10 * MINUTE_US)
  t.same(startsOf(fleet, 'second').length, 0, 'nobody could prove it')
  t.match(first.world.steps.at(-1), { kind: 'wait', phase: 'rollout', detail: /could not prove it: pods/ })
  first.world.evidence.answer('pods', ANSWERS_WELL.pods)
  t.ok(await fleet.until(() => startsOf(fleet, 'second').includes(first), 15 * MINUTE_US), 'it asks again from time to time')
  for (const { world } of others) world.evidence.isMute = false
  t.ok(await fleet.until(async () => (await fleet.running()).every((text) => text === 'second'), 60 * MINUTE_US), 'then all run it')
  await fleet.stop()
})
