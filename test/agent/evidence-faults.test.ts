// SPDX-License-Identifier: Apache-2.0
/**
 * Faults of the node and of the API server that are no config's fault, as the evidence shows them.
 */
import t from 'tap'
import type { Verdict } from '../../src/decision/verdict.ts'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import { A, B, MINUTE_US, SECOND_US, textOf, UPGRADED_KUBELET } from '../decision/snapshots.ts'
import { ETCD, node, serving, staticPods, unreachable } from '../evidence/samples.ts'
import { ANSWERS_WELL } from './fake-evidence.ts'
import { CRASHES, SmallWorld } from './small-world.ts'

async function promotedOnA(): Promise<SmallWorld> {
  const world = new SmallWorld()
  world.want(A)
  await world.run(12 * MINUTE_US)
  return world
}

function verdictOn(world: SmallWorld, wanted: ConfigSource): Verdict | undefined {
  return [...world.records.verdicts().values()].find(({ source }) => source === wanted || describe(source) === describe(wanted))
}
const describe = (source: ConfigSource) => (source === 'local' ? source : textOf(source))

t.test('an API server that is away when a trial begins condemns nothing', async (t) => {
  const world = await promotedOnA()
  world.evidence.canWrite = false
  for (const question of ['node', 'lease', 'pods'] as const) world.evidence.answer(question, () => unreachable(question))
  world.want(B)
  await world.run(5 * MINUTE_US)
  world.evidence.canWrite = true
  for (const question of ['node', 'lease', 'pods'] as const) world.evidence.answer(question, ANSWERS_WELL[question])
  await world.run(20 * MINUTE_US)
  t.equal(world.records.verdicts().size, 0)
  t.same(world.record('last-known-good'), B)
})

t.test('a client certificate that nobody takes any more condemns no config', async (t) => {
  const unauthorized = { kind: 'refused', detail: 'the API server answers 401 Unauthorized', isUnauthorized: true } as const
  const world = await promotedOnA()
  world.want(B)
  await world.run(5 * MINUTE_US)
  const restarts = world.restartsAskedAtUs.length
  world.evidence.canWrite = false
  world.evidence.answer('serving', () => serving(401))
  for (const question of ['node', 'lease', 'pods'] as const) world.evidence.answer(question, () => ({ question, answer: unauthorized }))
  await world.run(30 * MINUTE_US)
  t.equal(world.records.verdicts().size, 0)
  t.equal(world.restartsAskedAtUs.length, restarts)
})

t.test('a kubelet that is upgraded on disk in the middle of a trial is judged as it runs', async (t) => {
  const world = await promotedOnA()
  world.want(B)
  await world.run(MINUTE_US)
  world.kubeletIdentity = UPGRADED_KUBELET
  world.evidence.answer('serving', (nowUs) => (world.startedWith === textOf(B) ? serving(401) : ANSWERS_WELL.serving(nowUs)))
  await world.run(4 * MINUTE_US)
  t.match(verdictOn(world, B), { evidence: 'serving' })
})

t.test('a static pod that broke long before a fallback is not held against it', async (t) => {
  const world = await promotedOnA()
  let there = [ETCD]
  world.evidence.answer('static-pods', () => staticPods(there, { etcd: 'd2' }))
  world.want(B)
  await world.run(12 * MINUTE_US)
  t.same(world.record('last-known-good'), B)
  there = []
  world.behave(B, CRASHES)
  world.unit.kill()
  await world.run(8 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  t.equal(verdictOn(world, A), undefined)
})

t.test('a fallback that does not bring a static pod back is not condemned for good', async (t) => {
  const world = await promotedOnA()
  let there = [ETCD]
  world.evidence.answer('static-pods', () => staticPods(there, { etcd: 'd2' }))
  world.want(B)
  await world.until('restart')
  // A fault of the node: it is not Ready, whatever kubelet runs.
  world.evidence.answer('node', () => node('False'))
  while (verdictOn(world, B) === undefined || (await world.running()) !== textOf(A)) await world.run(10 * SECOND_US)
  there = []
  while (verdictOn(world, A) === undefined) await world.run(10 * SECOND_US)
  t.match(verdictOn(world, A), { state: 'provisional', evidence: 'static-pods', damage: 'transient' })
})

t.test('a fallback that fails by evidence is judged anew after it was started once more', async (t) => {
  const world = await promotedOnA()
  world.evidence.answer('static-pods', () => staticPods([ETCD], { etcd: 'd2' }))
  world.want(B)
  await world.until('restart')
  world.evidence.answer('node', () => node('False'))
  while (verdictOn(world, B) === undefined || (await world.running()) !== textOf(A)) await world.run(10 * SECOND_US)
  world.evidence.answer('static-pods', () => staticPods([], { etcd: 'd2' }))
  const before = world.restartsAskedAtUs.length
  while (verdictOn(world, A) === undefined) await world.run(SECOND_US)
  const [again = 0, next] = world.restartsAskedAtUs.slice(before)
  t.ok(next !== undefined && next - again > 2 * MINUTE_US, `${((next ?? 0) - again) / SECOND_US} s later`)
})

t.test('static pods that another kubelet does not run condemn no config for good', async (t) => {
  const world = await promotedOnA()
  let there = [ETCD]
  world.evidence.answer('static-pods', () => staticPods(there, { etcd: 'd2' }))
  // Its package was upgraded, and nobody has restarted it since.
  world.kubeletIdentity = UPGRADED_KUBELET
  world.want(B)
  await world.until('restart')
  there = []
  while (verdictOn(world, B) === undefined) await world.run(10 * SECOND_US)
  t.match(verdictOn(world, B), { state: 'provisional', evidence: 'static-pods', damage: 'transient', doubtful: true })
  there = [ETCD]
  await world.run(40 * MINUTE_US)
  t.same(world.record('last-known-good'), B, 'it was tried again')
})

t.test('what a person broke and mended in a pause condemns no config when the pause ends', async (t) => {
  for (const isMended of [true, false]) {
    const world = await promotedOnA()
    world.want(B)
    await world.run(2 * MINUTE_US)
    world.requests = { ...world.requests, hold: 'paused' }
    world.evidence.answer('node', () => node('False'))
    await world.run(10 * MINUTE_US)
    if (isMended) world.evidence.answer('node', ANSWERS_WELL.node)
    await world.run(MINUTE_US)
    const asked = world.evidence.asked.length
    world.requests = { ...world.requests, hold: 'none' }
    await world.run(10 * SECOND_US)
    t.match(world.evidence.asked.slice(asked), [{ question: 'node' }], 'it is asked for once more, and for nothing else')
    await world.run(20 * SECOND_US)
    t.equal(verdictOn(world, B)?.evidence, isMended ? undefined : 'ready')
    await world.run(10 * MINUTE_US)
    t.same(world.record('last-known-good'), isMended ? B : A)
  }
})

t.test('what cannot be read any more after it was wrong lets no trial pass, and condemns nothing', async (t) => {
  const isB = (world: SmallWorld) => world.startedWith === textOf(B)
  const faults: Readonly<Record<string, (world: SmallWorld) => { readonly end: () => void }>> = {
    'the Node is not Ready, and then the API server is away': (world) => {
      const sinceUs = world.nowUs + 2 * MINUTE_US
      world.evidence.answer('node', (nowUs) => (isB(world) && nowUs > sinceUs ? node('False') : ANSWERS_WELL.node(nowUs)))
      return { end: () => world.evidence.answer('node', () => unreachable('node')) }
    },
    'a static pod is missing, and then the runtime lists none': (world) => {
      world.evidence.answer('static-pods', () => staticPods(isB(world) ? [] : [ETCD], { etcd: 'd' }))
      const nothing = { question: 'static-pods', answer: { kind: 'not-asked', detail: 'the runtime lists no pods' } } as const
      return { end: () => world.evidence.answer('static-pods', () => nothing) }
    },
  }
  for (const [what, begin] of Object.entries(faults)) {
    const world = new SmallWorld()
    world.evidence.answer('static-pods', () => staticPods([ETCD], { etcd: 'd' }))
    world.want(A)
    await world.run(12 * MINUTE_US)
    const { end } = begin(world)
    world.want(B)
    await world.run(what.includes('Node') ? 7 * MINUTE_US : MINUTE_US)
    end()
    await world.run(30 * MINUTE_US)
    t.same(world.record('last-known-good'), A, what)
    t.equal(verdictOn(world, B), undefined)
    world.evidence.answer('node', ANSWERS_WELL.node)
    world.evidence.answer('static-pods', () => staticPods([ETCD], { etcd: 'd' }))
    await world.run(10 * MINUTE_US)
    t.same(world.record('last-known-good'), B, 'once it is well')
  }
})
