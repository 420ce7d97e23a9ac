// SPDX-License-Identifier: Apache-2.0
/**
 * Static pods that had not started yet when the baseline was taken: nobody knows whether they would
 * have, so a config under which they do not start has lost nothing, and shows nothing.
 */
import t from 'tap'
import { A, B, C, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { staticPods } from '../evidence/samples.ts'
import { SmallWorld } from './small-world.ts'

const ETCD = { hash: 'h1', name: 'kube-system/etcd-node-1', isRunning: true, startedAtMs: 1000 }

/** A is last-known-good, and B is wanted so long after kubelet was started again. */
async function changedSoonAfter(startUs: number, runs: (world: SmallWorld) => boolean): Promise<SmallWorld> {
  const world = new SmallWorld()
  world.evidence.answer('static-pods', () => staticPods([ETCD], { etcd: 'd' }))
  world.want(A)
  await world.run(15 * MINUTE_US)
  t.same(world.record('last-known-good'), A)
  world.evidence.answer('static-pods', () => staticPods(runs(world) ? [ETCD] : [], { etcd: 'd' }))
  world.unit.restartByHand()
  await world.run(startUs)
  world.want(B)
  return world
}

const isOn = (world: SmallWorld, ...texts: string[]) => texts.includes(world.startedWith ?? '')
const never = () => false

t.test('a config under which they do not start is held, and condemned for nothing', async (t) => {
  const world = await changedSoonAfter(20 * SECOND_US, never)
  const wait = await world.run(30 * MINUTE_US)
  t.equal(world.startedWith, textOf(B))
  t.same(world.record('last-known-good'), A)
  t.equal(world.records.verdicts().size, 0)
  t.match(wait, { phase: 'in-trial', detail: /static-pods says no, .*not known/ })
  t.match(world.evidence.asked.at(-1)?.about.manifests, ['/etc/kubernetes/manifests/etcd.yaml'])
  world.evidence.answer('static-pods', () => staticPods([ETCD], { etcd: 'd' }))
  await world.run(5 * MINUTE_US)
  t.same(world.record('last-known-good'), B, 'until they run')
})

t.test('also through a reboot, and where it replaces a config on trial', async (t) => {
  const world = await changedSoonAfter(20 * SECOND_US, never)
  await world.run(MINUTE_US)
  world.reboot()
  await world.run(2 * MINUTE_US)
  world.want(C)
  await world.run(30 * MINUTE_US)
  t.equal(world.startedWith, textOf(C))
  t.same(world.record('last-known-good'), A)
})

t.test('one that did not run for long under what had been promoted is known not to run', async (t) => {
  const world = await changedSoonAfter(6 * MINUTE_US, never)
  await world.run(MINUTE_US)
  world.want(C)
  await world.run(15 * MINUTE_US)
  t.same(world.record('last-known-good'), C, 'also by what replaces a config on trial')
})

t.test('what explains that it does not run holds nothing', async (t) => {
  const explained = {
    'its manifest was changed': staticPods([], { etcd: 'd2' }),
    'its manifest was removed': staticPods([], {}),
    'its containers end by themselves': staticPods([{ ...ETCD, isRunning: false, isHeld: true }], { etcd: 'd' }),
  }
  for (const [what, seen] of Object.entries(explained)) {
    const world = await changedSoonAfter(20 * SECOND_US, never)
    await world.run(MINUTE_US)
    world.evidence.answer('static-pods', () => seen)
    await world.run(15 * MINUTE_US)
    t.same(world.record('last-known-good'), B, what)
  }
})

t.test('one that starts under the config is no longer open', async (t) => {
  const world = await changedSoonAfter(20 * SECOND_US, (each) => isOn(each, textOf(B)))
  await world.run(15 * MINUTE_US)
  t.same(world.record('last-known-good'), B)
})
