// SPDX-License-Identifier: Apache-2.0
/**
 * Crash loops that are slower than a trial, of configs that the operator changes before each has
 * exited often enough.
 */
import t from 'tap'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import { A, B, C, HOUR_US, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { SmallWorld } from './small-world.ts'

function exitsEach(minutes: number) {
  return { healthyAfterUs: 2 * SECOND_US, exitsAfterUs: minutes * MINUTE_US }
}

/** C is last-known-good. */
async function settledOnC(): Promise<SmallWorld> {
  const world = new SmallWorld()
  world.want(C)
  await world.run(15 * MINUTE_US)
  return world
}

async function runInTurn(world: SmallWorld, ...sources: readonly ConfigSource[]): Promise<void> {
  for (const source of sources) {
    world.want(source)
    await world.run(HOUR_US)
  }
}

t.test('last-known-good does not move between two of them', async (t) => {
  const world = await settledOnC()
  // Twice in each hour.
  for (const source of [A, B]) world.behave(source, exitsEach(21))
  await runInTurn(world, A, B, A, B, A, B)
  t.same(world.record('last-known-good'), B)
  t.match(await world.run(SECOND_US), { phase: 'settled', detail: /kubelet exited 6 times within 24 hours/ })
  const promotions = () => world.history.filter(({ kind }) => kind === 'promoted').length
  const before = promotions()
  world.want(A)
  await world.run(15 * MINUTE_US)
  t.match(await world.run(SECOND_US), { phase: 'in-trial', detail: /is over, but shows nothing/ })
  await runInTurn(world, B, A)
  t.equal(promotions(), before)
  t.same(world.record('last-known-good'), B)
})

t.test('the time in which another config runs does not count', async (t) => {
  const world = await settledOnC()
  world.behave(A, exitsEach(45))
  await runInTurn(world, A, C, A)
  const [first, second] = world.runtime.get('health')?.recentExits ?? []
  t.equal(Math.round((first?.awayUs ?? 0) / HOUR_US), 1)
  t.equal(second?.awayUs, undefined)
})

t.test('one that failed is not acquitted by another one that is healthy for a minute', async (t) => {
  const world = await settledOnC()
  world.behave(A, exitsEach(11))
  world.want(A)
  while (world.records.verdicts().size === 0) await world.run(MINUTE_US)
  world.want(B)
  await world.run(20 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  t.match([...world.records.verdicts().values()], [{ source: A, reason: 'crash-loop', recurring: true }])

  t.test('and its next trial shows nothing', async (t) => {
    world.want(A)
    await world.run(HOUR_US)
    t.equal(await world.running(), textOf(A))
    t.same(world.record('last-known-good'), B)
  })
})

t.test('a fast crash loop that is over holds up no trial', async (t) => {
  const world = await settledOnC()
  world.nodeFault = true
  world.want(A)
  await world.run(5 * MINUTE_US)
  world.nodeFault = false
  await world.run(2 * HOUR_US)
  t.equal(await world.running(), textOf(A))
  t.same(world.record('last-known-good'), A)
})
