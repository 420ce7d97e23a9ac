// SPDX-License-Identifier: Apache-2.0
/**
 * A record of a source that means local is an empty file. So is what a disk may leave of any other
 * record, after a power loss or a restore: unknown never means local.
 */
import t from 'tap'
import type { SourceName } from '../../src/decision/records.ts'
import { A, B, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { runsAndStaysOn } from './promoted-world.ts'
import { CRASHES, LOCAL_TEXT, SmallWorld } from './small-world.ts'

const NO_ANSWER = { kind: 'unknown', detail: 'the API server does not answer' } as const
const MARKER = '/state/meta/local'

/** B is promoted and runs, A is previous, and the API server is away. */
async function settledOnB(): Promise<SmallWorld> {
  const world = new SmallWorld()
  world.policy = { ...world.policy, trialUs: 2 * MINUTE_US }
  for (const source of [A, B]) {
    world.want(source)
    await world.run(5 * MINUTE_US)
  }
  world.desired = NO_ANSWER
  return world
}

function empty(world: SmallWorld, ...names: readonly SourceName[]): void {
  for (const name of names) world.disk.plant(`/state/meta/${name}`, '')
  world.reboot()
}

t.test('assigned is empty: kubelet goes on until the cluster says what it wants', async (t) => {
  const world = await settledOnB()
  const restarts = world.restartsAskedAtUs.length
  empty(world, 'assigned')
  t.match(await world.run(30 * MINUTE_US), { phase: 'unknown', detail: /meta\/assigned was damaged or lost/ })
  t.match(world.snapshots.at(-1)?.assigned, { kind: 'damaged', detail: /meta\/assigned is empty/ })
  t.equal(await world.running(), textOf(B))
  t.equal(world.restartsAskedAtUs.length, restarts)

  world.want(B)
  await world.run(MINUTE_US)
  t.same(world.record('assigned'), B)
  t.equal(world.restartsAskedAtUs.length, restarts)

  empty(world, 'assigned')
  world.want('local')
  await world.run(MINUTE_US)
  t.equal(await world.running(), 'local', 'which may be local')
  world.desired = NO_ANSWER
  world.reboot()
  t.match(await world.run(MINUTE_US), { phase: 'settled' })
  t.match(world.snapshots.at(-1)?.assigned, { kind: 'source', source: 'local' })
})

t.test('a fallback is empty: it counts as damaged, and no checkpoint is removed', async (t) => {
  for (const names of [['last-known-good'], ['previous'], ['last-known-good', 'previous', 'assigned']] as const) {
    const world = await settledOnB()
    const restarts = world.restartsAskedAtUs.length
    empty(world, ...names)
    await world.pass()
    const damaged = names.filter((name) => name !== 'assigned')
    t.same(world.snapshots.at(-1)?.damagedFallbacks, damaged)
    await world.run(10 * MINUTE_US)
    t.equal(await world.running(), textOf(B))
    t.equal(world.restartsAskedAtUs.length, restarts)
    t.equal(world.checkpoints.list().length, 2)
  }
})

t.test('file: the config in place is empty: kubelet gets it again, and local stays what it was', async (t) => {
  const world = new SmallWorld({ activation: 'file' })
  world.behaveWith('', CRASHES)
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.desired = NO_ANSWER
  world.disk.plant(world.placePath, '')
  world.advance(5 * SECOND_US)
  world.reboot()
  await world.run(5 * MINUTE_US)
  await runsAndStaysOn(t, world, A)
  world.want('local')
  await world.run(5 * MINUTE_US)
  t.equal(world.disk.read(world.placePath).toString(), LOCAL_TEXT)
  t.ok(world.unit.healthy)
})

t.test('local that the agent recorded is followed, whatever follows', async (t) => {
  const world = await settledOnB()
  world.systemctl = () => ({ ok: false, detail: 'refused' })
  world.want('local')
  await world.run(SECOND_US)
  t.equal(await world.running(), textOf(B), 'which runs until it can be restarted')
  world.desired = NO_ANSWER
  world.systemctl = undefined
  world.restartAgent()
  await world.run(2 * MINUTE_US)
  t.equal(await world.running(), 'local')
})

t.test('a fallback that was local all along is no damage', async (t) => {
  const world = new SmallWorld()
  world.want(A)
  await world.run(MINUTE_US)
  t.equal(world.snapshots.at(-1)?.damagedFallbacks, undefined)
  t.same(JSON.parse(world.disk.read(MARKER).toString()), { local: ['last-known-good'] })
})

t.test('of an agent that wrote no marker', async (t) => {
  const upgraded = async (): Promise<SmallWorld> => {
    const world = new SmallWorld()
    world.policy = { ...world.policy, trialUs: 2 * MINUTE_US }
    world.want(A)
    await world.run(5 * MINUTE_US)
    world.desired = NO_ANSWER
    world.disk.unlink(MARKER)
    return world
  }

  t.test('an empty fallback counts as local, and is marked from the first write on', async (t) => {
    const world = await upgraded()
    world.restartAgent()
    await world.run(MINUTE_US)
    t.equal(world.snapshots.at(-1)?.damagedFallbacks, undefined)
    world.want(B)
    await world.run(MINUTE_US)
    t.same(JSON.parse(world.disk.read(MARKER).toString()), { local: ['previous'] })
  })

  t.test('an empty assigned is damage where kubelet uses a checkpoint, and local where it does not', async (t) => {
    const world = await upgraded()
    empty(world, 'assigned')
    t.match(await world.run(MINUTE_US), { phase: 'unknown' })
    world.want('local')
    await world.run(MINUTE_US)
    world.desired = NO_ANSWER
    world.disk.unlink(MARKER)
    world.reboot()
    t.match(await world.run(MINUTE_US), { phase: 'settled' })
    t.match(world.snapshots.at(-1)?.assigned, { kind: 'source', source: 'local' })
  })

  t.test('that was here since: what the marker says is of before', async (t) => {
    const world = await upgraded()
    world.disk.plant(MARKER, '{"local":["assigned","last-known-good"]}')
    world.restartAgent()
    await world.run(MINUTE_US)
    t.equal(world.snapshots.at(-1)?.damagedFallbacks, undefined, 'previous is local')
  })

  t.test('a marker that is damaged confirms nothing', async (t) => {
    const world = await upgraded()
    world.disk.plant(MARKER, '')
    world.restartAgent()
    await world.run(MINUTE_US)
    t.same(world.snapshots.at(-1)?.damagedFallbacks, ['previous'])
  })
})
