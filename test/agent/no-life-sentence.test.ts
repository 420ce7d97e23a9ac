// SPDX-License-Identifier: Apache-2.0
/** No config is condemned for good for a short fault of the node. */
import t from 'tap'
import { A, B, HOUR_US, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { promote, promoted, proven, rollbacks } from './promoted-world.ts'
import { CRASHES, SmallWorld, WELL } from './small-world.ts'

t.test('a fault of the node of 40 s costs a proven config nothing', async (t) => {
  const world = await proven()
  world.nodeFault = true
  world.unit.kill()
  await world.run(40 * SECOND_US)
  world.nodeFault = false
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  t.equal(rollbacks(world), 0)
  t.same([...world.records.verdicts()], [])
})

t.test('a stall of 61 s restarts it, and condemns nothing', async (t) => {
  const world = await proven()
  const before = world.restartsAskedAtUs.length
  world.hangs = true
  while (world.restartsAskedAtUs.length === before) await world.run(SECOND_US)
  world.hangs = false
  await world.run(5 * MINUTE_US)
  t.equal(world.restartsAskedAtUs.length, before + 1)
  t.equal(rollbacks(world), 0)
  t.equal(await world.running(), textOf(B))
})

t.test('a start that takes longer than the deadline after a boot condemns nothing', async (t) => {
  const world = await proven()
  world.behave(B, { healthyAfterUs: 130 * SECOND_US })
  world.reboot()
  // Of its next start.
  world.behave(B, { healthyAfterUs: 2 * SECOND_US })
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  t.equal(rollbacks(world), 0)
})

t.test('a longer fault leads to the fallback, and back to the config', async (t) => {
  const world = await proven()
  world.behave(B, CRASHES)
  world.unit.kill()
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(A), 'last-known-good itself has failed')
  const wait = await world.run(SECOND_US)
  t.match(wait, { phase: 'fallen-back', detail: /b.* is tried again \(1 of 3\) when kubelet has been healthy for 10m/ })
  world.behave(B, { healthyAfterUs: 2 * SECOND_US })
  await world.run(12 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  await world.run(20 * MINUTE_US)
  t.equal((await world.run(SECOND_US)).phase, 'settled')
  t.same(world.record('last-known-good'), B)
  world.unit.restartByHand()
  t.equal((await world.run(MINUTE_US)).phase, 'settled', 'the trial that it passed again is not forgotten at the next start')
})

t.test('one that keeps failing is tried again three times, at growing intervals, and then condemned', async (t) => {
  const world = await proven()
  world.behave(B, CRASHES)
  world.unit.kill()
  await world.run(8.5 * HOUR_US)
  t.match([...world.records.verdicts().values()], [{ state: 'confirmed', retrials: 3 }])
  t.equal(rollbacks(world), 4)
  const asked = world.restartsAskedAtUs.length
  await world.run(8 * HOUR_US)
  t.equal(world.restartsAskedAtUs.length, asked)
})

t.test('a config that fails again each time it has passed its trial is condemned in the end', async (t) => {
  const world = await proven()
  world.behave(B, { healthyAfterUs: 2 * SECOND_US, unhealthyAfterUs: 20 * MINUTE_US })
  world.unit.restartByHand()
  await world.run(10 * HOUR_US)
  t.match([...world.records.verdicts().values()], [{ state: 'confirmed', retrials: 3 }])
  t.equal(await world.running(), textOf(A))
})

t.test('a config with which the runtime falls silent for a moment at each start is left all the same', async (t) => {
  const world = new SmallWorld()
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.behave(B, { exitsAfterUs: 5 * SECOND_US })
  world.want(B)
  let invocationId = ''
  let sinceUs = 0
  for (const endUs = world.nowUs + 20 * MINUTE_US; world.nowUs < endUs; await world.run(SECOND_US)) {
    const seen = await world.unit.observe()
    if (seen.kind === 'known' && seen.invocationId !== invocationId) {
      invocationId = seen.invocationId
      sinceUs = world.nowUs
    }
    const ageUs = world.nowUs - sinceUs
    world.runtimeUp = world.startedWith !== textOf(B) || ageUs < SECOND_US || ageUs >= 8 * SECOND_US
  }
  t.equal(await world.running(), textOf(A))
})

const FULL = 'Failed to run kubelet: mkdir /var/lib/kubelet/plugins: no space left on device'

for (const [what, behaviour, words] of [
  ['a disk that is full for a moment', { exitsAfterUs: SECOND_US }, FULL],
  ['a kernel that ends what needs memory', { healthyAfterUs: SECOND_US, exitsAfterUs: 30 * SECOND_US, killedBy: 'SIGKILL' }, undefined],
] as const) {
  t.test(`${what} does not condemn a config on its first trial for good`, async (t) => {
    const world = await promoted(A)
    world.behave(B, behaviour)
    world.lastWords = () => words
    world.want(B)
    while (rollbacks(world) === 0) await world.run(SECOND_US)
    world.behave(B, WELL)
    await world.run(HOUR_US)
    t.same(world.record('last-known-good'), B)
  })
}

t.test('however long systemd waits to restart kubelet, a proven config is started once more at once', async (t) => {
  const world = await promote(new SmallWorld({ restartUs: 900 * SECOND_US }), A, B)
  world.behave(B, CRASHES)
  world.unit.kill()
  const before = world.restartsAskedAtUs.length
  while (!world.steps.some(({ kind }) => kind === 'try-again')) await world.run(SECOND_US)
  t.equal(world.restartsAskedAtUs.length, before + 1)
})
