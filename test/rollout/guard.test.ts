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
  leaving: undefined,
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
  guard.pass(2 * MINUTE_US)
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

t.test('a restart before the agent tells of the start is none of being unready', async (t) => {
  for (const [minutes, count] of [
    [1, 1],
    [2, 0],
  ] as const) {
    for (const tell of [(guard: RolloutGuard) => guard.see(started('n5')), (guard: RolloutGuard) => guard.tellStarted(['n5'])]) {
      const guard = guardOf(2)
      guard.see(sight('n5'))
      guard.see(sight('n5', { ready: false }))
      guard.see(sight('n5', { ready: false }))
      guard.pass(minutes * MINUTE_US)
      tell(guard)
      guard.see(started('n5', { ready: false }))
      guard.pass(10 * MINUTE_US)
      t.match(guard.verdict(NONE), { started: count, hurt: { length: count } }, `${minutes} min`)
    }
  }
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
  guard.see(started('n2', { leaving: 'cordoned' }))
  guard.remove('n2')
  t.same(guard.verdict(NONE), { started: 3, hurt: [{ node: 'n1', how: 'gone' }], exceeds: true })
  guard.see(started('n3', { ready: false }))
  guard.pass(2 * MINUTE_US)
  guard.see(started('n3', { ready: false, leaving: 'marked' }))
  guard.remove('n3')
  t.same(show(guard.verdict(NONE)), ['n1 gone', 'n3 not ready'], 'it was hurt before somebody took it away')
  guard.see(sight('n1', { uid: 'new' }))
  t.same(show(guard.verdict(NONE)), ['n3 not ready'], 'there is a node of this name again')
})

t.test('a node that an autoscaler marks is stopped by it, unless it was unready before', async (t) => {
  const guard = guardOf(6)
  guard.see(started('n1', { leaving: 'marked' }))
  guard.see(started('n1', { leaving: 'marked', ready: false }))
  guard.see(started('n2', { leaving: 'cordoned', ready: false }))
  guard.see(started('n3', { ready: false }))
  guard.see(started('n3', { leaving: 'marked', ready: false }))
  guard.see(started('n4', { leaving: 'marked', ready: false }))
  guard.pass(2 * MINUTE_US)
  t.same(show(guard.verdict(NONE)), ['n2 not ready', 'n3 not ready'])
  guard.remove('n1')
  guard.see(started('n4', { ready: false }))
  t.same(show(guard.verdict(NONE)), ['n2 not ready', 'n3 not ready', 'n4 not ready'], 'n4 is not marked any more')
})

t.test('a machine of the same name does not make good for the one that was hurt', async (t) => {
  const guard = guardOf(6)
  guard.see(started('n1', { failed: true }))
  guard.see(started('n2', { ready: false }))
  guard.pass(2 * MINUTE_US)
  const renewed = { uid: 'new' }
  guard.see(sight('n1', renewed))
  guard.remove('n2')
  guard.see(started('n2', renewed))
  guard.see(sight('n3', renewed))
  t.same(guard.verdict(NONE).started, 3)
  t.same(show(guard.verdict(NONE)), ['n1 failed', 'n2 not ready'])
  guard.tellStarted(['n3'])
  t.equal(guard.verdict(NONE).started, 3, 'the record may name the machine before')
  guard.see(started('n2', { ...renewed, failed: true }))
  guard.remove('n2')
  t.same(show(guard.verdict(NONE)), ['n1 failed', 'n2 not ready'], 'a name counts once')
})

t.test('a node that an administrator excludes counts for nothing', async (t) => {
  const guard = guardOf(5)
  guard.see(started('n1', { failed: true }))
  guard.remove('n2')
  t.same(guard.verdict(NONE, ['n1', 'n2']), { started: 1, hurt: [], exceeds: false })
})

t.test('another uid is another machine', async (t) => {
  const guard = guardOf(5)
  guard.see(started('n1', { ready: false }))
  guard.pass(MINUTE_US)
  guard.see(started('n1', { uid: 'new', ready: false }))
  guard.pass(MINUTE_US)
  t.same(guard.verdict(NONE), { started: 2, hurt: [], exceeds: false })
})

t.test('as many may be gone as go without the content in the same time', async (t) => {
  const guard = new RolloutGuard()
  const names = Array.from({ length: 100 }, (_, index) => `n${index}`)
  for (const name of names) guard.see(sight(name))
  guard.pass(MINUTE_US)
  for (const name of names.slice(0, 50)) guard.see(started(name))
  guard.pass(2 * MINUTE_US)
  for (const name of ['n1', 'n2', 'n96', 'n97', 'n98', 'n99']) guard.remove(name)
  // 4 in 200 minutes of nodes that waited: 2 in the 100 of those that started it.
  t.same(guard.verdict(NONE), {
    started: 50,
    hurt: [
      { node: 'n1', how: 'gone' },
      { node: 'n2', how: 'gone' },
    ],
    exceeds: false,
  })
  guard.remove('n3')
  t.equal(guard.verdict(NONE).exceeds, true)
  t.equal(guard.verdict({ kind: 'nodes', most: 1 }).exceeds, false)
})

t.test('nodes that leave as ever halt no rollout, in its middle and after its last start', async (t) => {
  const guard = new RolloutGuard()
  const limit: Limit = { kind: 'share', percent: 2 }
  const names = Array.from({ length: 1000 }, (_, index) => `n${index}`)
  for (const name of names) guard.see(sight(name))
  for (const name of names.slice(0, 500)) guard.see(started(name))
  guard.pass(60 * MINUTE_US)
  for (const name of [...names.slice(0, 50), ...names.slice(500, 550)]) guard.remove(name)
  t.equal(guard.verdict(limit).exceeds, false, 'a tenth of each half')
  for (const name of names.slice(550)) guard.see(started(name))
  guard.pass(60 * MINUTE_US)
  for (const name of [...names.slice(50, 95), ...names.slice(550, 595)]) guard.remove(name)
  t.equal(guard.verdict(limit).exceeds, false, 'nobody waits any more, and a tenth goes as before')
  for (const name of names.slice(600, 650)) guard.remove(name)
  t.equal(guard.verdict(limit).exceeds, true)
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

t.test('a node that went while nobody looked may have been taken away', async (t) => {
  const guard = guardOf(5)
  guard.see(started('n1', { failed: true }))
  guard.see(started('n4'))
  guard.list([sight('n3', { uid: 'new' }), started('n4')], true)
  t.same(guard.verdict(NONE), { started: 2, hurt: [{ node: 'n1', how: 'failed' }], exceeds: true })
  guard.list([], false)
  t.same(show(guard.verdict(NONE)), ['n1 failed', 'n4 gone'])
})

t.test('a finished rollout is over when its last nodes have started, and had the time to be hurt', async (t) => {
  const guard = guardOf(4)
  guard.pass(100 * MINUTE_US)
  t.equal(guard.ending(), 'under way', 'it is not finished')
  guard.finish(5 * MINUTE_US)
  guard.pass(4 * MINUTE_US)
  guard.see(started('n3'))
  guard.see(started('n4'))
  guard.pass(4 * MINUTE_US - 1)
  t.equal(guard.ending(), 'under way')
  guard.see(started('n4', { ready: false }))
  guard.pass(1)
  t.equal(guard.ending(), 'settling', 'n4 may be hurt')
  t.equal(guard.ending(['n4']), 'over', 'n4 does not count')
  guard.see(started('n4', { ready: false, leaving: 'marked' }))
  t.equal(guard.ending(), 'settling', 'it was unready before it was marked')
  guard.pass(2 * MINUTE_US)
  t.equal(guard.ending(), 'over', 'it is')
})

t.test('a rollout is over also where nodes wait, join, or are unready now and then', async (t) => {
  const guard = guardOf(4)
  guard.finish(5 * MINUTE_US)
  guard.see(started('n3'))
  guard.pass(9 * MINUTE_US - 1)
  t.equal(guard.ending(), 'under way', 'n4 may start')
  t.equal(guard.ending(['n4']), 'over')
  guard.finish(5 * MINUTE_US)
  guard.pass(1)
  t.equal(guard.ending(), 'over', 'a node that never starts is not waited for without end')
  guard.see(started('n4'))
  guard.see(started('n5'))
  t.equal(guard.ending(), 'over', 'a node that joins a finished rollout does not prolong it')
  guard.see(started('n1', { ready: false }))
  t.equal(guard.ending(), 'settling')
  guard.pass(MINUTE_US)
  guard.list([started('n1'), started('n2', { ready: false }), started('n3')], false)
  guard.pass(2 * MINUTE_US - 1)
  guard.see(started('n1', { ready: false }))
  t.equal(guard.ending(), 'settling', 'the list has shown that n2 is unready')
  guard.pass(1)
  t.equal(guard.ending(), 'over', 'n1 is so later')
})

t.test('a finished rollout whose nodes wait for a window is not over before it has been open', async (t) => {
  const guard = guardOf(4)
  guard.finish(undefined)
  guard.pass(60 * MINUTE_US)
  t.equal(guard.ending(), 'under way')
  guard.finish(60 * MINUTE_US)
  guard.pass(30 * MINUTE_US)
  guard.finish(undefined)
  guard.pass(34 * MINUTE_US - 1)
  t.equal(guard.ending(), 'under way')
  guard.pass(1)
  t.equal(guard.ending(), 'over')
  guard.hold()
  t.equal(guard.ending(), 'under way', 'it is paused')
  guard.finish(2 * MINUTE_US)
  guard.pass(6 * MINUTE_US - 1)
  t.equal(guard.ending(), 'under way', 'the spread begins anew')
  const all = guardOf(4)
  all.finish(undefined)
  for (const name of ['n3', 'n4']) all.see(started(name))
  all.pass(4 * MINUTE_US)
  t.equal(all.ending(), 'over', 'nobody waits')
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
        leaving: fc.constantFrom(undefined, 'cordoned' as const, 'marked' as const),
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
