// SPDX-License-Identifier: Apache-2.0
/** Faults that overlap with a fallback. They leave no good config condemned. */
import t from 'tap'
import { A, B, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { CRASHES, SmallWorld, WELL } from './small-world.ts'

async function promotedOnA(): Promise<SmallWorld> {
  const world = new SmallWorld()
  world.want(A)
  await world.run(12 * MINUTE_US)
  return world
}

t.test('a boot between the failure and the fallback proves nothing', async (t) => {
  const world = await promotedOnA()
  world.nodeFault = true
  world.want(B)
  while (!world.steps.some(({ kind }) => kind === 'condemn')) if ((await world.pass()).kind === 'wait') world.advance(SECOND_US)
  world.nodeFault = false
  world.reboot()
  await world.run(15 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  await world.run(12 * MINUTE_US)
  t.same(world.record('last-known-good'), B)
})

t.test('a fault of the node that lasts through the fallback condemns neither for good', async (t) => {
  const world = await promotedOnA()
  world.want(B)
  await world.run(12 * MINUTE_US)
  for (const source of [A, B]) world.behave(source, CRASHES)
  world.unit.kill()
  while ((await world.running()) !== 'local') await world.run(SECOND_US)
  for (const source of [A, B]) world.behave(source, WELL)
  await world.run(15 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  t.same(
    [...world.records.verdicts().values()].map(({ state, suspended }) => [state, suspended]),
    [['provisional', true]],
  )
})
