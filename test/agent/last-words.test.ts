// SPDX-License-Identifier: Apache-2.0
/**
 * A verdict names its cause: what kubelet said before it exited. The same words twice are a crash
 * loop.
 */
import t from 'tap'
import { A, B, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { CRASHES, SmallWorld } from './small-world.ts'

const PANIC = 'panic: unrecognized feature gate: Nope'

/** A is promoted. B crashes kubelet, and kubelet says this before each exit. */
async function crashing(words: (start: number) => string | undefined, restartUs = 10 * SECOND_US): Promise<SmallWorld> {
  const world = new SmallWorld({ restartUs })
  world.want(A)
  await world.run(15 * MINUTE_US)
  const starts = new Map<string, number>()
  world.lastWords = (id) => words(starts.get(id) ?? starts.set(id, starts.size).size - 1)
  world.behave(B, CRASHES)
  world.want(B)
  return world
}

async function untilRolledBack(world: SmallWorld): Promise<{ readonly why: string; readonly seconds: number }> {
  const fromUs = world.nowUs
  for (;;) {
    const rolledBack = world.history.find(({ kind }) => kind === 'rolled-back')
    if (rolledBack !== undefined) return { why: rolledBack.why, seconds: Math.round((world.nowUs - fromUs) / SECOND_US) }
    if (world.nowUs - fromUs > 10 * MINUTE_US) throw new Error('it was never rolled back')
    await world.run(SECOND_US)
  }
}

t.test('the same last words twice are a crash loop, and name its cause everywhere', async (t) => {
  const world = await crashing((start) => `${PANIC} 0xc00037${start} after 1.${start}s`)
  const { why, seconds } = await untilRolledBack(world)
  t.match(why, /^kubelet exited 2 times: panic: unrecognized feature gate: Nope 0xc000371 after 1\.1s$/)
  t.ok(seconds < 20, `${seconds} s`)
  t.match([...world.records.verdicts().values()], [{ reason: 'crash-loop', detail: why }])
  await world.run(10 * SECOND_US)
  t.equal(await world.running(), textOf(A))
})

t.test('a kubelet that takes 6 s to die is healthy again with last-known-good 30 s after the change', async (t) => {
  const world = await crashing(() => PANIC)
  world.behave(B, { exitsAfterUs: 6 * SECOND_US })
  const fromUs = world.nowUs
  await untilRolledBack(world)
  while (!world.unit.healthy && world.nowUs - fromUs < MINUTE_US) await world.run(SECOND_US)
  t.equal(await world.running(), textOf(A))
  t.ok(world.nowUs - fromUs <= 30 * SECOND_US, `${(world.nowUs - fromUs) / SECOND_US} s`)
})

t.test('they are one, too, where systemd waits for longer than a minute in between', async (t) => {
  const { why, seconds } = await untilRolledBack(await crashing(() => PANIC, 3 * MINUTE_US))
  t.equal(why, `kubelet exited 2 times: ${PANIC}`)
  t.ok(seconds < 200, `${seconds} s`)
})

t.test('other words each time: the limit of exits decides, and the verdict has the last ones', async (t) => {
  const world = await crashing((start) => `panic: ${['one', 'two', 'three'][start]}`)
  t.equal((await untilRolledBack(world)).why, 'kubelet exited 3 times: panic: three')
})

t.test('where the journal cannot be read, verdicts are as they were', async (t) => {
  const world = await crashing(() => undefined)
  t.equal((await untilRolledBack(world)).why, 'kubelet exited 3 times')
})

t.test('against a runtime that does not answer, kubelet exits with the same words and no config is condemned', async (t) => {
  const world = await crashing(() => 'failed to run Kubelet: context deadline exceeded')
  world.runtimeUp = false
  await world.run(5 * MINUTE_US)
  t.notOk(world.history.some(({ kind }) => kind === 'rolled-back'))
})

t.test('exits long after their starts are no crash loop of two', async (t) => {
  const world = await crashing(() => PANIC)
  world.behave(B, { healthyAfterUs: 2 * SECOND_US, exitsAfterUs: 61 * SECOND_US })
  await world.run(150 * SECOND_US)
  t.notOk(world.history.some(({ kind }) => kind === 'rolled-back'))
})

t.test('the journal is asked after an exit, and never on a settled node', async (t) => {
  const world = await crashing(() => PANIC)
  t.same(world.heard, [])
  await untilRolledBack(world)
  await world.run(30 * MINUTE_US)
  t.equal(world.heard.length, 2, 'once for each exit')
})

t.test('words that reach the journal late are asked for again', async (t) => {
  const world = await crashing(() => undefined)
  let calls = 0
  world.lastWords = () => (++calls % 2 === 0 ? PANIC : undefined)
  t.equal((await untilRolledBack(world)).why, `kubelet exited 2 times: ${PANIC}`)
})

t.test('a kubelet that a signal ends says nothing of why: the limit of exits decides, and names the signal', async (t) => {
  const world = await crashing(() => 'the same line at each start')
  world.behave(B, { exitsAfterUs: 0.4 * SECOND_US, killedBy: 'SIGSEGV' })
  t.equal((await untilRolledBack(world)).why, 'kubelet exited 3 times, killed by SIGSEGV: the same line at each start')
})
