// SPDX-License-Identifier: Apache-2.0
/**
 * Proofs that a config failed, and things that prove nothing. A crash loop may be slower than a
 * trial.
 */
import t from 'tap'
import { A, B, HOUR_US, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { proven, rollbacks } from './promoted-world.ts'
import { CRASHES, SmallWorld } from './small-world.ts'

t.test('a boot in the middle of a fallback proves nothing', async (t) => {
  for (const how of ['boot', 'operator'] as const) {
    const world = new SmallWorld()
    world.want(A)
    await world.run(15 * MINUTE_US)
    // B never proved itself.
    world.behave(B, CRASHES)
    world.want(B)
    while (rollbacks(world) === 0 || (await world.running()) !== textOf(A)) await world.run(SECOND_US)
    world.behave(B, { healthyAfterUs: 2 * SECOND_US })
    if (how === 'boot') world.reboot()
    else world.unit.restartByHand()
    await world.run(5 * MINUTE_US)
    t.match([...world.records.verdicts().values()], [{ state: 'provisional' }], how)
    await world.run(30 * MINUTE_US)
    t.equal(await world.running(), textOf(B), how)
    t.same(world.record('last-known-good'), B)
  }
})

t.test('a boot long after the fallback proved itself does not reopen the verdict', async (t) => {
  const world = new SmallWorld()
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.behave(B, CRASHES)
  world.want(B)
  await world.run(10 * MINUTE_US)
  world.reboot()
  await world.run(8 * HOUR_US)
  t.match([...world.records.verdicts().values()], [{ state: 'confirmed' }])
  t.equal(await world.running(), textOf(A))
})

t.test('an exit every 11 minutes is a crash loop, however well kubelet is in between', async (t) => {
  const world = await proven()
  world.behave(B, { healthyAfterUs: 2 * SECOND_US, exitsAfterUs: 11 * MINUTE_US })
  world.unit.restartByHand()
  await world.run(56 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  t.match(await world.run(SECOND_US), { phase: 'settled', detail: /kubelet exited 5 times within 24 hours/ })
  await world.run(60 * MINUTE_US)
  t.match(world.history.at(-2), { kind: 'rolled-back', why: 'kubelet exited 10 or more times within 24 hours' })
  t.equal(await world.running(), textOf(A))
})

t.test('a new agent still counts exits 11 minutes apart as a crash loop', async (t) => {
  const world = await proven()
  world.behave(B, { healthyAfterUs: 2 * SECOND_US, exitsAfterUs: 11 * MINUTE_US })
  world.unit.restartByHand()
  for (let count = 0; count < 12; count += 1) {
    await world.run(11 * MINUTE_US)
    world.restartAgent()
  }
  t.ok(world.history.some(({ kind }) => kind === 'rolled-back'))
})
