// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { type GuardVerdict, type Limit, type NodeSight, parseLimit, RolloutGuard, showLimit } from '../../src/rollout/guard.ts'
import { MINUTE_US } from '../../src/values/durations.ts'

const NONE: Limit = { kind: 'nodes', most: 0 }
const sight = (name: string, fields: Partial<NodeSight> = {}): NodeSight => ({
  name,
  uid: `uid-of-${name}`,
  ready: true,
  content: 'waiting',
  failed: false,
  leaving: false,
  ...fields,
})
const started = (name: string, fields: Partial<NodeSight> = {}) => sight(name, { content: 'started', ...fields })
const show = ({ hurt }: GuardVerdict) => hurt.map(({ node, how }) => `${node} ${how}`)

/** Nodes that waited, all but the last two of which have started. */
function guardOf(count: number): RolloutGuard {
  const guard = new RolloutGuard()
  const names = Array.from({ length: count }, (_, index) => `n${index + 1}`)
  guard.list(
    names.map((name) => sight(name)),
    true,
  )
  for (const name of names.slice(0, -2)) guard.see(started(name))
  return guard
}

t.test('a node that started it is hurt once it is not Ready for two minutes', async (t) => {
  const guard = guardOf(5)
  guard.see(started('n1', { ready: false }))
  guard.pass(2 * MINUTE_US - 1)
  t.same(guard.verdict(NONE), { started: 3, hurt: [], exceeds: false })
  guard.pass(1)
  t.same(guard.verdict(NONE), { started: 3, hurt: [{ node: 'n1', how: 'not ready' }], exceeds: true })
  guard.see(started('n1'))
  t.equal(guard.verdict(NONE).exceeds, false, 'it is back')
  guard.see(started('n1', { ready: false }))
  guard.pass(MINUTE_US)
  t.equal(guard.verdict(NONE).exceeds, false, 'and the two minutes begin anew')
})

t.test('a node that waits, that was not Ready before, or of which that is not known, is not hurt by it', async (t) => {
  const guard = guardOf(5)
  guard.see(sight('n4', { ready: false }))
  guard.see(sight('n5', { ready: false }))
  guard.see(started('n5', { ready: false }))
  guard.see(started('n6', { ready: false }))
  guard.see(sight('n7', { ready: undefined }))
  guard.see(started('n7', { ready: false, failed: true }))
  guard.see(sight('n8', { content: 'other' }))
  guard.see(sight('n8', { content: 'other', ready: false }))
  guard.pass(10 * MINUTE_US)
  t.same(guard.verdict(NONE), { started: 3, hurt: [], exceeds: false })
  guard.see(started('n6'))
  t.equal(guard.verdict(NONE).started, 4, 'Ready with it: so it was')
  guard.see(started('n5'))
  guard.see(started('n5', { ready: false }))
  guard.pass(10 * MINUTE_US)
  t.same(show(guard.verdict(NONE)), [], 'n5 was not Ready before it started')
})

t.test('what the record says counts before the Node says it', async (t) => {
  const guard = guardOf(5)
  guard.see(sight('n9', { content: undefined }))
  guard.tellStarted(['n4', 'n9', 'nobody'])
  guard.see(sight('n4', { ready: false }))
  guard.see(sight('n9', { ready: false, content: undefined }))
  guard.pass(2 * MINUTE_US)
  t.same(show(guard.verdict(NONE)), ['n4 not ready', 'n9 not ready'])
})

t.test('a node that went back has started it all the same, and one with another config has left', async (t) => {
  const guard = guardOf(5)
  guard.see(started('n1', { failed: true }))
  guard.see(sight('n2', { ready: false }))
  guard.see(sight('n3', { ready: false, content: 'other' }))
  guard.pass(2 * MINUTE_US)
  t.same(show(guard.verdict(NONE)), ['n1 failed', 'n2 not ready'])
})

t.test('a node that is gone counts, unless somebody has taken it away', async (t) => {
  const guard = guardOf(6)
  guard.remove('n1')
  guard.see(started('n2', { leaving: true }))
  guard.remove('n2')
  t.same(guard.verdict(NONE), { started: 3, hurt: [{ node: 'n1', how: 'gone' }], exceeds: true })
  guard.see(started('n3', { ready: false }))
  guard.pass(2 * MINUTE_US)
  guard.see(started('n3', { ready: false, leaving: true }))
  guard.remove('n3')
  t.same(show(guard.verdict(NONE)), ['n1 gone', 'n3 not ready'], 'it was hurt before somebody took it away')
  guard.see(sight('n1', { uid: 'new' }))
  t.same(show(guard.verdict(NONE)), ['n3 not ready'], 'there is a node of this name again')
})

t.test('another uid is another machine', async (t) => {
  const guard = guardOf(5)
  guard.see(started('n1', { ready: false }))
  guard.pass(MINUTE_US)
  guard.see(started('n1', { uid: 'new', ready: false }))
  guard.pass(MINUTE_US)
  t.same(guard.verdict(NONE), { started: 2, hurt: [], exceeds: false })
})

t.test('as many may be gone as go without the content', async (t) => {
  const guard = new RolloutGuard()
  const names = Array.from({ length: 100 }, (_, index) => `n${index}`)
  for (const name of names) guard.see(sight(name))
  for (const name of names.slice(0, 50)) guard.see(started(name))
  for (const name of ['n1', 'n2', 'n97', 'n98', 'n99']) guard.remove(name)
  // 3 of the 100 that waited: 1.5 of 50.
  t.equal(guard.verdict(NONE).exceeds, true)
  t.equal(guard.verdict({ kind: 'nodes', most: 1 }).exceeds, false)
  guard.remove('n96')
  t.same(show(guard.verdict(NONE)), ['n1 gone', 'n2 gone'])
  t.equal(guard.verdict(NONE).exceeds, false)
})

t.test('a gap makes unknown what was not seen, and a look without one keeps the clock', async (t) => {
  const guard = guardOf(5)
  guard.see(started('n1', { ready: false }))
  guard.pass(MINUTE_US)
  const now = [started('n1', { ready: false }), started('n2'), started('n3'), started('n4', { ready: false }), sight('n5')]
  guard.list(now, true)
  guard.pass(MINUTE_US)
  t.same(guard.verdict(NONE), { started: 3, hurt: [], exceeds: false })
  guard.list(now, false)
  guard.pass(MINUTE_US)
  t.same(show(guard.verdict(NONE)), ['n1 not ready'], 'whether n4 was Ready before is not known')
  guard.list(now.slice(1), false)
  t.same(show(guard.verdict(NONE)), ['n1 not ready'], 'and then it was gone')
})

t.test('a finished rollout is over when its last nodes have started, and had the time to be hurt', async (t) => {
  const guard = guardOf(4)
  guard.pass(100 * MINUTE_US)
  t.equal(guard.isOver(0), false, 'it is not finished')
  guard.finish()
  guard.pass(4 * MINUTE_US)
  t.equal(guard.isOver(5 * MINUTE_US), false)
  guard.see(started('n3'))
  guard.see(started('n4'))
  guard.pass(4 * MINUTE_US - 1)
  t.equal(guard.isOver(5 * MINUTE_US), false)
  guard.see(started('n4', { ready: false }))
  guard.pass(1)
  t.equal(guard.isOver(5 * MINUTE_US), false, 'n4 may be hurt')
  guard.pass(2 * MINUTE_US)
  t.equal(guard.isOver(5 * MINUTE_US), true, 'it is')
  guard.see(sight('n5'))
  t.equal(guard.isOver(5 * MINUTE_US), true, 'a node that never starts is not waited for without end')
})

t.test('limits', async (t) => {
  t.same(parseLimit('2%'), { kind: 'share', percent: 2 })
  t.same(parseLimit('0.5%'), { kind: 'share', percent: 0.5 })
  t.same(parseLimit('3'), { kind: 'nodes', most: 3 })
  for (const text of ['', '%', '-1', '1.5', '101%', '2 %', '1e3', 'all']) t.equal(parseLimit(text), undefined, text)
  for (const text of ['2%', '0.5%', '3', '0', '100%']) {
    const limit = parseLimit(text)
    t.equal(limit && showLimit(limit), text)
  }
  const guard = guardOf(102)
  for (const name of ['n1', 'n2']) guard.see(started(name, { failed: true }))
  t.equal(guard.verdict({ kind: 'share', percent: 2 }).exceeds, false, 'two of a hundred')
  guard.see(started('n3', { failed: true }))
  t.equal(guard.verdict({ kind: 'share', percent: 2 }).exceeds, true)
})

type Happening =
  | { readonly kind: 'see'; readonly sight: NodeSight }
  | { readonly kind: 'remove' | 'tell'; readonly name: string }
  | { readonly kind: 'pass'; readonly us: number }

const RUNS = { numRuns: 1000 }
const NAMES = ['a', 'b', 'c']
const names = fc.constantFrom(...NAMES)
const happenings: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('see' as const),
      sight: fc.record({
        name: names,
        uid: fc.constant('1'),
        ready: fc.constantFrom(true, true, false, undefined),
        content: fc.constantFrom('started' as const, 'waiting' as const, 'waiting' as const, 'other' as const, undefined),
        failed: fc.boolean(),
        leaving: fc.boolean(),
      }),
    }),
  },
  fc.record({ kind: fc.constantFrom('remove' as const, 'tell' as const), name: names }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), us: fc.constantFrom(1, MINUTE_US, 2 * MINUTE_US) }) },
)

function play(all: readonly Happening[]): RolloutGuard {
  const guard = new RolloutGuard()
  for (const each of all) take(guard, each)
  return guard
}

function take(guard: RolloutGuard, each: Happening): void {
  if (each.kind === 'see') guard.see(each.sight)
  else if (each.kind === 'pass') guard.pass(each.us)
  else if (each.kind === 'remove') guard.remove(each.name)
  else guard.tellStarted([each.name])
}

const concerns = (name: string) => (each: Happening) => each.kind === 'pass' || (each.kind === 'see' ? each.sight.name : each.name) === name

t.test('each node is judged by itself', async () => {
  fc.assert(
    fc.property(fc.array(happenings, { maxLength: 60 }), (all) => {
      const together = show(play(all).verdict(NONE))
      const alone = NAMES.flatMap((name) => show(play(all.filter(concerns(name))).verdict(NONE)))
      return together.join() === alone.join()
    }),
    RUNS,
  )
})

t.test('nobody is hurt who was never seen Ready, or never started', async () => {
  fc.assert(
    fc.property(fc.array(happenings, { maxLength: 60 }), (all) =>
      play(all)
        .verdict(NONE)
        .hurt.every(({ node, how }) => {
          const own = all.filter(concerns(node))
          const sights = own.flatMap((each) => (each.kind === 'see' ? [each.sight] : []))
          const started = sights.some(({ content }) => content === 'started') || own.some(({ kind }) => kind === 'tell')
          const cause = {
            'not ready': () => sights.some(({ ready }) => ready === false),
            failed: () => sights.some(({ failed }) => failed),
          }
          return (
            started &&
            sights.some(({ ready }) => ready === true) &&
            (how === 'gone' ? own.some(({ kind }) => kind === 'remove') : cause[how]())
          )
        }),
    ),
    RUNS,
  )
})

t.test('time without contact, and looks that say nothing new, hurt nobody', async () => {
  fc.assert(
    fc.property(fc.array(happenings, { maxLength: 60 }), fc.boolean(), (all, isGap) => {
      const plain = new RolloutGuard()
      const interrupted = new RolloutGuard()
      const last = new Map<string, NodeSight>()
      for (const each of all) {
        take(plain, each)
        take(interrupted, each)
        if (each.kind === 'see') last.set(each.sight.name, each.sight)
        if (each.kind === 'remove') last.delete(each.name)
        interrupted.list([...last.values()], isGap)
      }
      const [without, withLooks] = [show(plain.verdict(NONE)), show(interrupted.verdict(NONE))]
      const isSame = without.join() === withLooks.join()
      return isGap ? withLooks.filter((each) => each.endsWith('not ready')).every((each) => without.includes(each)) : isSame
    }),
    RUNS,
  )
})

t.test('a higher limit never halts what a lower one does not', async () => {
  fc.assert(
    fc.property(fc.array(happenings, { maxLength: 60 }), fc.nat({ max: 3 }), fc.nat({ max: 3 }), (all, a, b) => {
      const guard = play(all)
      const exceeds = (most: number) => guard.verdict({ kind: 'nodes', most }).exceeds
      return exceeds(Math.min(a, b)) || !exceeds(Math.max(a, b))
    }),
    RUNS,
  )
})
