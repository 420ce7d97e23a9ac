// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { ROLLOUT_ANNOTATION } from '../../src/decision/channels.ts'
import { ROLLOUT_PLAN_ANNOTATION } from '../../src/rollout/plan.ts'
import { MINUTE_US, SECOND_US } from '../decision/snapshots.ts'
import { type FleetNode, FleetWorld, RECORD } from './fleet-world.ts'
import { CRASHES } from './small-world.ts'

t.setTimeout(240_000)

/** Nodes that all run a first content, from before there was a rollout. */
async function settledFleet(count: number): Promise<FleetWorld> {
  const fleet = new FleetWorld(count)
  fleet.edit('first', {})
  await fleet.run(3 * MINUTE_US)
  fleet.api.put(RECORD, {})
  return fleet
}

function hasStarted({ world }: FleetNode, text: string): boolean {
  return world.history.some(({ kind, to }) => {
    if (kind !== 'restarting' || to === undefined || to === 'local') return false
    return world.checkpoints.data(to.uid, to.resourceVersion)?.kubelet === text
  })
}

const startsOf = (fleet: FleetWorld, text: string) => fleet.nodes.filter((node) => hasStarted(node, text))
const waitsOf = (fleet: FleetWorld) => fleet.nodes.map(({ world }) => world.steps.at(-1))
const allRun = (fleet: FleetWorld, text: string) => async () => (await fleet.running()).every((running) => running === text)

t.test('what is staged stays staged', async (t) => {
  for (const [what, spoil, detail] of [
    ['the record is missing', (fleet: FleetWorld) => fleet.api.remove(RECORD), /the record kube-system\/fleet-rollout does not exist/],
    [
      'the record may not be read',
      (fleet: FleetWorld) => {
        fleet.api.faultOf = ({ path }) => (path.endsWith(RECORD) || path.endsWith('/configmaps') ? 403 : undefined)
      },
      /the record kube-system\/fleet-rollout (cannot be read \(forbidden\)|may not be read)/,
    ],
    ['the record is of another version', (fleet: FleetWorld) => void fleet.api.put(RECORD, { state: '2 what ever' }), /reads version 1/],
    [
      'the record is larger than a record may be',
      (fleet: FleetWorld) => void fleet.api.put(RECORD, { filler: 'x'.repeat(7000) }),
      /larger than 6144 bytes/,
    ],
  ] as const) {
    await t.test(what, async (t) => {
      const fleet = await settledFleet(2)
      spoil(fleet)
      fleet.edit('second')
      await fleet.run(10 * MINUTE_US)
      t.same(await fleet.running(), ['first', 'first'], 'nobody goes, and nobody goes local')
      for (const step of waitsOf(fleet)) t.match(step, { kind: 'wait', phase: 'rollout', detail })
      await fleet.stop()
    })
  }

  await t.test('the annotation is removed: also of an agent that was restarted, until it says off', async (t) => {
    const fleet = await settledFleet(2)
    fleet.edit('second')
    t.ok(await fleet.until(allRun(fleet, 'second'), 60 * MINUTE_US))
    fleet.edit('third', {})
    await fleet.run(MINUTE_US)
    for (const node of fleet.nodes) fleet.restartAgent(node)
    await fleet.run(5 * MINUTE_US)
    t.same(await fleet.running(), ['second', 'second'])
    for (const step of waitsOf(fleet))
      t.match(step, {
        phase: 'rollout',
        detail: /its annotation kubelet-cfg-agent.io\/rollout is missing: .*, or to off to end the rollout/,
      })
    fleet.edit('third', { [ROLLOUT_ANNOTATION]: 'off' })
    t.ok(await fleet.until(allRun(fleet, 'third'), 5 * MINUTE_US))
    await fleet.stop()
  })

  await t.test('what the node remembers of it is damaged, and the API server is away', async (t) => {
    const fleet = await settledFleet(1)
    fleet.api.remove(RECORD)
    fleet.edit('second')
    await fleet.run(2 * MINUTE_US)
    for (const node of fleet.nodes) {
      node.world.disk.plant('/state/meta/rollouts', 'torn')
      node.world.desired = { kind: 'unknown', detail: 'not asked yet' }
    }
    fleet.api.faultOf = () => 503
    for (const node of fleet.nodes) fleet.restartAgent(node)
    await fleet.run(10 * MINUTE_US)
    t.same(await fleet.running(), ['first'])
    for (const node of fleet.nodes) fleet.restartAgent(node)
    await fleet.run(10 * MINUTE_US)
    t.same(await fleet.running(), ['first'], 'also another agent')
    fleet.api.faultOf = () => undefined
    await fleet.run(10 * MINUTE_US)
    t.same(await fleet.running(), ['first'], 'its record is missing')
    fleet.api.put(RECORD, {})
    t.ok(await fleet.until(allRun(fleet, 'second'), 60 * MINUTE_US))
    await fleet.stop()
  })

  await t.test('the record is deleted in mid-rollout and made again: the node whose content failed says so again', async (t) => {
    const fleet = await settledFleet(2)
    for (const { world } of fleet.nodes) world.behaveWith('bad', CRASHES)
    fleet.edit('bad')
    t.ok(await fleet.until(() => / veto /.test(Object.values(fleet.record() ?? {}).join()), 20 * MINUTE_US))
    fleet.api.remove(RECORD)
    await fleet.run(MINUTE_US)
    fleet.api.put(RECORD, {})
    await fleet.run(10 * MINUTE_US)
    t.match(Object.values(fleet.record() ?? {}).join(), / veto crash-loop/)
    t.equal(startsOf(fleet, 'bad').length, 1)
    await fleet.stop()
  })
})

t.test('a claim holds, whatever happens between it and the start', async (t) => {
  const hasClaim = (fleet: FleetWorld) => () => / claim /.test(Object.values(fleet.record() ?? {}).join())

  await t.test('its answer is lost', async (t) => {
    const fleet = await settledFleet(2)
    let lost = 0
    fleet.api.faultOf = ({ method }) => (method === 'PATCH' && lost++ < 2 ? 'lost' : undefined)
    fleet.edit('second')
    t.ok(await fleet.until(allRun(fleet, 'second'), 60 * MINUTE_US))
    t.equal(startsOf(fleet, 'second').length, 2)
    await fleet.stop()
  })

  await t.test('the agent restarts, and the API server is away for a while', async (t) => {
    const fleet = await settledFleet(2)
    fleet.edit('second')
    t.ok(await fleet.until(hasClaim(fleet), 5 * MINUTE_US))
    fleet.api.faultOf = () => 'down'
    fleet.api.endWatches()
    for (const node of fleet.nodes) fleet.restartAgent(node)
    await fleet.run(5 * MINUTE_US)
    t.ok(startsOf(fleet, 'second').length <= 1)
    fleet.api.faultOf = () => undefined
    t.ok(await fleet.until(allRun(fleet, 'second'), 60 * MINUTE_US))
    await fleet.stop()
  })
})

t.test('writes that are refused are tried again, more and more seldom, and the node says why it waits', async (t) => {
  const fleet = await settledFleet(2)
  fleet.api.faultOf = ({ method }) => (method === 'PATCH' ? 403 : undefined)
  fleet.edit('second')
  await fleet.run(10 * MINUTE_US)
  t.same(await fleet.running(), ['first', 'first'])
  t.match(waitsOf(fleet)[0], {
    phase: 'rollout',
    detail: /the record kube-system\/fleet-rollout could not be written \(begin\): 403 Forbidden.*grant patch of it/,
  })
  const tries = fleet.api.requests.filter((one) => one.startsWith('node-1 PATCH')).length
  t.ok(tries > 3 && tries < 40, `${tries} times in ten minutes`)
  fleet.api.faultOf = () => undefined
  t.ok(await fleet.until(allRun(fleet, 'second'), 60 * MINUTE_US))
  await fleet.stop()
})

t.test('on a full disk, a config that had proved itself is left all the same, and is marked once there is space', async (t) => {
  const proved = (node: FleetNode): readonly boolean[] => {
    const stagings = node.world.records.get('stagings') ?? []
    return stagings === 'damaged' ? [] : stagings.flatMap(({ contents }) => contents.at(-1)?.proved ?? [])
  }
  const open = async () => {
    const fleet = await settledFleet(1)
    fleet.edit('second')
    const [node] = fleet.nodes
    if (node === undefined) throw new Error('no node')
    t.ok(await fleet.until(() => proved(node).includes(true), 20 * MINUTE_US))
    await fleet.run(3 * MINUTE_US)
    node.world.disk.full = true
    return { fleet, node, world: node.world }
  }

  await t.test('it fails', async (t) => {
    const { fleet, node, world } = await open()
    world.behaveWith('second', CRASHES)
    world.unit.kill()
    t.ok(await fleet.until(async () => (await world.running()) === 'first' && world.unit.healthy, 10 * MINUTE_US))
    t.match(world.log.said.join('\n'), /config failed, rolling back from/)
    world.disk.full = false
    await fleet.run(5 * MINUTE_US)
    t.same(proved(node), [false])
    await fleet.stop()
  })

  await t.test('an operator requests the rollback on the node', async (t) => {
    const { fleet, node, world } = await open()
    const { assignedContent: content = '' } = world.snapshots.at(-1) ?? {}
    world.requests = { ...world.requests, rollback: { content } }
    t.ok(await fleet.until(async () => (await world.running()) === 'first' && world.unit.healthy, 5 * MINUTE_US))
    t.match(world.log.said.join('\n'), /rolling back from .* as requested on the node/)
    t.equal(world.requests.rollback, undefined)
    world.disk.full = false
    await fleet.run(5 * MINUTE_US)
    t.same(proved(node), [false])
    await fleet.stop()
  })
})

t.test('without a turn', async (t) => {
  await t.test('what runs fails while its successor waits: the node falls back', async (t) => {
    const fleet = await settledFleet(1)
    const [node] = fleet.nodes
    if (node === undefined) throw new Error('no node')
    fleet.api.remove(RECORD)
    fleet.edit('second')
    await fleet.run(MINUTE_US)
    node.world.behaveWith('first', CRASHES)
    node.world.unit.kill()
    t.ok(await fleet.until(async () => (await node.world.running()) === 'local' && node.world.unit.healthy, 30 * MINUTE_US))
    t.notOk(hasStarted(node, 'second'), 'to what has proved itself, and not to what waits')
    await fleet.stop()
  })

  await t.test('an operator who requests a retry on the node', async (t) => {
    const fleet = await settledFleet(2)
    for (const { world } of fleet.nodes) world.behaveWith('bad', CRASHES)
    fleet.edit('bad')
    t.ok(await fleet.until(() => / veto /.test(Object.values(fleet.record() ?? {}).join()), 20 * MINUTE_US))
    const [failed] = startsOf(fleet, 'bad')
    if (failed === undefined) throw new Error('no node has started it')
    failed.world.behaveWith('bad', { healthyAfterUs: SECOND_US })
    failed.world.requests = { ...failed.world.requests, retry: true }
    t.ok(await fleet.until(async () => (await failed.world.running()) === 'bad', 5 * MINUTE_US))
    t.equal(startsOf(fleet, 'bad').length, 1, 'the other nodes still wait')
    await fleet.stop()
  })

  await t.test('a reset on the node', async (t) => {
    const fleet = await settledFleet(2)
    fleet.api.remove(RECORD)
    fleet.edit('second')
    await fleet.run(MINUTE_US)
    const [node] = fleet.nodes
    if (node === undefined) throw new Error('no node')
    node.world.requests = { ...node.world.requests, hold: 'local' }
    t.ok(await fleet.until(async () => (await node.world.running()) === 'local', MINUTE_US))
    await fleet.stop()
  })
})

t.test('retry, raised in the plan, lifts the verdict and begins a generation', async (t) => {
  const fleet = await settledFleet(2)
  for (const { world } of fleet.nodes) world.behaveWith('late', CRASHES)
  fleet.edit('late')
  t.ok(await fleet.until(() => / veto /.test(Object.values(fleet.record() ?? {}).join()), 20 * MINUTE_US))
  for (const { world } of fleet.nodes) world.behaveWith('late', { healthyAfterUs: SECOND_US })
  fleet.edit('late', { [ROLLOUT_ANNOTATION]: RECORD, [ROLLOUT_PLAN_ANNOTATION]: 'spread: 10s, retry: 1' })
  t.ok(await fleet.until(allRun(fleet, 'late'), 60 * MINUTE_US))
  t.match(fleet.record()?.state, /^1 2 /)
  await fleet.stop()
})
