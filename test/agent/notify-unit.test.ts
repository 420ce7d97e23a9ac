// SPDX-License-Identifier: Apache-2.0
/**
 * A unit of Type=notify is starting until kubelet says that it is ready, which one that hangs never
 * does.
 */
import t from 'tap'
import { A, B, C, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { NEVER_HEALTHY, SmallWorld } from './small-world.ts'

async function promoted(): Promise<SmallWorld> {
  const world = new SmallWorld({ notify: true })
  world.want(A)
  await world.run(15 * MINUTE_US)
  return world
}

t.test('a good config is promoted', async (t) => {
  const world = await promoted()
  t.equal(await world.running(), textOf(A))
  t.same(world.record('last-known-good'), A)
})

t.test('a kubelet that never gets ready is left after the start deadline', async (t) => {
  const world = await promoted()
  world.behave(B, NEVER_HEALTHY)
  world.want(B)
  await world.run(world.policy.startDeadlineUs + 10 * SECOND_US)
  t.equal(await world.running(), textOf(A))
  t.ok(world.unit.healthy)
})

t.test('a kubelet that never gets ready does not hold up its fix', async (t) => {
  const world = await promoted()
  world.behave(B, NEVER_HEALTHY)
  world.want(B)
  await world.run(70 * SECOND_US)
  world.want(C)
  await world.run(30 * SECOND_US)
  t.equal(await world.running(), textOf(C))
})

t.test('a kubelet that is about to get ready is not restarted', async (t) => {
  const world = await promoted()
  world.behave(B, { healthyAfterUs: 50 * SECOND_US })
  world.want(B)
  await world.run(20 * SECOND_US)
  const before = world.restartsAskedAtUs.length
  world.want(C)
  await world.run(20 * SECOND_US)
  t.equal(world.restartsAskedAtUs.length, before, 'not in the middle of its start')
  await world.run(30 * SECOND_US)
  t.equal(await world.running(), textOf(C))
})
