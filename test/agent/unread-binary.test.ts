// SPDX-License-Identifier: Apache-2.0
/** The disk does not return kubelet's binary, as after a boot: kubelet goes by a stand-in name. */
import t from 'tap'
import { A, B, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { CRASHES, SmallWorld } from './small-world.ts'

/** The name that kubelet's binary has until the disk returns it. */
function lose(world: SmallWorld): void {
  world.kubeletIdentity = 'stand-in'
  world.isKubeletUnread = true
}

/** A has been promoted, and B has failed. */
async function fallenBack(): Promise<SmallWorld> {
  const world = new SmallWorld()
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.behave(B, CRASHES)
  world.want(B)
  await world.run(20 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  return world
}

t.test('what failed on any kubelet is not set free', async (t) => {
  const world = await fallenBack()
  const { kubeletIdentity } = world
  const asked = world.restartsAskedAtUs.length
  lose(world)
  await world.run(10 * MINUTE_US)
  Object.assign(world, { kubeletIdentity, isKubeletUnread: false })
  await world.run(10 * MINUTE_US)
  t.equal(world.restartsAskedAtUs.length, asked)
  t.equal(world.records.verdicts().size, 1)
})

t.test('what failed on an earlier kubelet and has passed its trial since stays', async (t) => {
  const world = await fallenBack()
  world.kubeletIdentity = 'next'
  world.behave(B, { healthyAfterUs: SECOND_US })
  await world.run(30 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  t.strictSame(world.record('last-known-good'), B)
  const asked = world.restartsAskedAtUs.length
  lose(world)
  await world.run(10 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  t.equal(world.restartsAskedAtUs.length, asked)
})
