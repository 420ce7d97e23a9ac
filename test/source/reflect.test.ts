// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import {
  afterRead,
  afterWatch,
  INITIAL,
  type Next,
  type NextRequest,
  nextRequest,
  type ReflectState,
  type RequestFailure,
} from '../../src/source/reflect.ts'

const MINUTE = 60_000
const refused = (status: number, retryAfterMs?: number): RequestFailure => ({
  kind: 'refused',
  status,
  reason: '',
  detail: '',
  retryAfterMs,
})
const FORBIDDEN = refused(403)
const BROKEN = { kind: 'unreachable', detail: 'reset' } as const
const timing = (nowMs = 0, chance = 0.5) => ({ nowMs, random: () => chance })
const read = (state: ReflectState, nowMs = 0) => afterRead(state, { kind: 'read', resourceVersion: '7' }, timing(nowMs))
const watched = (state: ReflectState, end: RequestFailure | 'ended', livedMs: number, nowMs = 0) =>
  afterWatch(state, { end: end === 'ended' ? { kind: 'ended' } : end, resourceVersion: '9', livedMs }, timing(nowMs))
const steady = read(INITIAL).state

t.test('list, then watch from there at once, for five to ten minutes', (t) => {
  t.same(nextRequest(INITIAL, timing()), { kind: 'list' })
  const next = read(INITIAL)
  t.match(next, { waitMs: 0, immediate: true })
  t.same(nextRequest(next.state, timing(0, 0)), { kind: 'watch', resourceVersion: '7', timeoutSeconds: 300 })
  t.same(nextRequest(next.state, timing(0, 1)), { kind: 'watch', resourceVersion: '7', timeoutSeconds: 600 })
  t.end()
})

t.test('after a regular end, the watch continues from its last resourceVersion', (t) => {
  const next = watched(steady, 'ended', 5 * MINUTE)
  t.match(nextRequest(next.state, timing()), { kind: 'watch', resourceVersion: '9' })
  t.equal(next.waitMs, 0)
  t.ok(watched(steady, 'ended', 50).waitMs > 0, 'but not at once after a very short watch')
  t.end()
})

t.test('a watch that worked and breaks goes on from its last resourceVersion, and the resync comes sooner', (t) => {
  for (const chance of [0, 0.5, 0.999]) {
    const broken = afterWatch(steady, { end: BROKEN, resourceVersion: '9', livedMs: MINUTE }, timing(0, chance))
    t.match(nextRequest(broken.state, timing()), { kind: 'watch', resourceVersion: '9' })
    t.equal(broken.waitMs, chance * 10_000, 'spread over the agents of a fleet')
    t.same(nextRequest(broken.state, timing(5 * MINUTE)), { kind: 'list' })
    t.equal(nextRequest(broken.state, timing(MINUTE / 4)).kind, 'watch')
  }
  t.end()
})

t.test('while the server restarts, the watch is asked for again, and the object is read after a minute and a half', (t) => {
  for (const end of [BROKEN, refused(500), refused(503)]) {
    let next = watched(steady, BROKEN, MINUTE)
    const waits = []
    while (nextRequest(next.state, timing()).kind === 'watch') {
      waits.push(next.waitMs)
      next = watched(next.state, end, 0)
    }
    t.same(waits, [5000, 15_000, 30_000, 45_000])
    t.same(nextRequest(next.state, timing()), { kind: 'list' })
    t.match(nextRequest(watched(next.state, BROKEN, MINUTE).state, timing()), { kind: 'watch' }, 'unless it worked')
  }
  t.end()
})

/** Arrivals in the second with the most of them. */
function peak(arrivalsMs: readonly number[]): number {
  const seconds = new Map<number, number>()
  for (const atMs of arrivalsMs) seconds.set(Math.floor(atMs / 1000), (seconds.get(Math.floor(atMs / 1000)) ?? 0) + 1)
  return Math.max(...seconds.values())
}

/** @returns when client-go has found a server again */
function clientGoMs(outageMs: number, random: () => number): number {
  // NewExponentialBackoffManager(800ms, 30s, 2min, 2.0, 1.0), in its tools/cache/reflector.go
  let [atMs, delayMs] = [0, 800]
  do {
    atMs += delayMs * (1 + random())
    delayMs = Math.min(30_000, delayMs * 2)
  } while (atMs < outageMs)
  return atMs
}

/** @returns when a watch of the agent has found a server again, and its request there */
function agentMs(outageMs: number, random: () => number): { readonly atMs: number; readonly kind: NextRequest['kind'] } {
  let next = afterWatch(steady, { end: BROKEN, resourceVersion: '9', livedMs: MINUTE }, { nowMs: 0, random })
  for (let atMs = next.waitMs; ; atMs += next.waitMs) {
    const at = { nowMs: atMs, random }
    const { kind } = nextRequest(next.state, at)
    if (atMs >= outageMs) return { atMs, kind }
    next =
      kind === 'watch' ? afterWatch(next.state, { end: BROKEN, resourceVersion: '9', livedMs: 0 }, at) : afterRead(next.state, BROKEN, at)
  }
}

t.test('after a restart of the API server, a fleet asks for less at once than reflectors of client-go do', (t) => {
  let seed = 1
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  // A server that was away for long remembers nothing from before: it refuses the watch, and is
  // asked for a list and another watch.
  for (const { outageMs, remembers } of [
    { outageMs: 0, remembers: true },
    { outageMs: 3000, remembers: true },
    { outageMs: 10_000, remembers: true },
    { outageMs: 10_000, remembers: false },
    { outageMs: 30_000, remembers: false },
    { outageMs: 120_000, remembers: false },
    { outageMs: 600_000, remembers: false },
  ]) {
    const requests = (atMs: number, isWatch: boolean) => Array(isWatch ? (remembers ? 1 : 3) : 2).fill(atMs)
    const nodes = Array.from({ length: 2000 }, () => agentMs(outageMs, random))
    const ours = peak(nodes.flatMap(({ atMs, kind }) => requests(atMs, kind === 'watch')))
    const theirs = peak(nodes.flatMap(() => requests(clientGoMs(outageMs, random), true)))
    t.ok(ours < theirs, `outage of ${outageMs} ms: ${ours} in the worst second, ${theirs} of client-go`)
  }
  t.end()
})

t.test('where the owner asks for it, a watch that breaks is followed by a read', (t) => {
  const broken = afterWatch(steady, { end: BROKEN, resourceVersion: '9', livedMs: MINUTE }, timing(), { first: 'read', withinMs: 8000 })
  t.same(nextRequest(broken.state, timing()), { kind: 'list' })
  t.equal(broken.waitMs, 4000)
  t.end()
})

t.test('a watch that an overloaded server refuses is asked for again, as late as the server says, and the resync comes sooner', (t) => {
  for (const livedMs of [0, MINUTE]) {
    const next = afterWatch(steady, { end: refused(429, 90_000), resourceVersion: '9', livedMs }, timing(0, 0.5))
    t.ok(next.waitMs >= 90_000 && next.waitMs <= 108_000, `${next.waitMs} ms`)
    t.match(nextRequest(next.state, timing(MINUTE)), { kind: 'watch', resourceVersion: '9' })
    t.same(nextRequest(next.state, timing(5 * MINUTE)), { kind: 'list' })
  }
  let state = steady
  for (let i = 0; i < 10; i++) state = watched(state, refused(429), 0).state
  t.same([state.failures, nextRequest(state, timing()).kind], [10, 'watch'], 'ever more slowly')
  const record = afterWatch(steady, { end: refused(429), resourceVersion: '9', livedMs: MINUTE }, timing(), { first: 'read', withinMs: 0 })
  t.same(nextRequest(record.state, timing()), { kind: 'list' }, 'unless its owner has to know of a restore of etcd')
  t.end()
})

t.test('a watch that cannot go on, or whose resourceVersion has expired, is followed by a read', (t) => {
  const malformed: RequestFailure = { kind: 'malformed', detail: '' }
  const behind: RequestFailure = { kind: 'behind', detail: '' }
  for (const end of [malformed, behind, refused(410), refused(401), refused(404)])
    t.same(nextRequest(watched(steady, end, MINUTE).state, timing()), { kind: 'list' })
  t.end()
})

t.test('a resync reads again after 15 to 30 minutes, whatever the watch receives', (t) => {
  for (const chance of [0, 0.5, 0.999]) {
    const { state } = afterRead(INITIAL, { kind: 'read', resourceVersion: '7' }, timing(0, chance))
    t.equal(nextRequest(state, timing(14 * MINUTE, 0)).kind, 'watch')
    t.same(nextRequest(state, timing(30 * MINUTE, 0)), { kind: 'list' })
    const request = nextRequest(state, timing(14 * MINUTE, 0))
    t.ok(request.kind === 'watch' && 14 * MINUTE + request.timeoutSeconds * 1000 <= 31 * MINUTE, 'a watch does not outlast the resync')
  }
  t.end()
})

t.test('list forbidden: get; get forbidden too: reported after some tries, and retried forever', (t) => {
  let next: Next = { state: INITIAL, waitMs: 0, immediate: false, report: undefined }
  const requests: string[] = []
  const reports: unknown[] = []
  for (let i = 0; i < 6; i++) {
    requests.push(nextRequest(next.state, timing()).kind)
    next = afterRead(next.state, FORBIDDEN, timing())
    reports.push(next.report)
  }
  t.same(requests, ['list', 'get', 'list', 'get', 'list', 'get'])
  t.same(reports, [undefined, undefined, undefined, 'forbidden', 'forbidden', 'forbidden'])
  const { state } = read(afterRead(INITIAL, FORBIDDEN, timing()).state)
  t.same(nextRequest({ ...state, resourceVersion: undefined }, timing()), { kind: 'get' }, 'the verb that works is kept')
  t.end()
})

t.test('why a read failed is told, with whether there was an answer at all', (t) => {
  const reported = (end: RequestFailure) => afterRead(INITIAL, end, timing()).report
  t.equal(reported(BROKEN), 'unreachable')
  t.equal(reported({ ...BROKEN, reason: 'too-long' }), 'too-long')
  t.equal(reported({ ...BROKEN, reason: 'kubeconfig' }), 'kubeconfig')
  t.equal(reported({ kind: 'malformed', detail: '' }), 'unreachable')
  t.equal(reported(refused(500)), 'unreachable')
  t.equal(reported(refused(401)), 'unauthenticated')
  t.end()
})

t.test('list forbidden and the resourceVersion expired: the watch starts without a resourceVersion', (t) => {
  const got = read(afterRead(INITIAL, FORBIDDEN, timing()).state).state
  t.match(nextRequest(got, timing()), { kind: 'watch', resourceVersion: '7' })
  const expired = watched(got, refused(410), 0).state
  t.same(nextRequest(expired, timing()), { kind: 'get' }, 'the object may have been deleted meanwhile')
  const again = read(expired).state
  t.match(nextRequest(again, timing()), { kind: 'watch', resourceVersion: '' })
  t.match(nextRequest(watched(again, 'ended', MINUTE).state, timing()), { kind: 'watch', resourceVersion: '9' })
  t.end()
})

t.test('a watch without a resourceVersion that is refused or breaks follows a read again', (t) => {
  const got = read(afterRead(INITIAL, FORBIDDEN, timing()).state).state
  const again = read(watched(got, refused(410), 0).state).state
  for (const end of [refused(429, 90_000), BROKEN])
    for (const livedMs of [0, MINUTE]) {
      const next = afterWatch(again, { end, resourceVersion: '', livedMs }, timing())
      t.same(nextRequest(next.state, timing()), { kind: 'get' }, 'no watch from there tells that the object was deleted meanwhile')
      t.match(nextRequest(read(next.state).state, timing()), { kind: 'watch', resourceVersion: '' })
    }
  t.ok(afterWatch(again, { end: refused(429, 90_000), resourceVersion: '', livedMs: 0 }, timing()).waitMs >= 90_000)
  t.end()
})

t.test('an expired resourceVersion after an outage does not add to the backoff', (t) => {
  let state = afterRead(INITIAL, FORBIDDEN, timing()).state
  for (let i = 0; i < 8; i++) state = afterRead(state, BROKEN, timing()).state
  const expired = watched(read(state).state, refused(410), 0)
  t.ok(expired.waitMs <= 2000, `${expired.waitMs} ms`)
  t.ok(watched(read(expired.state).state, refused(410), 0).waitMs > 2000, 'only once: a second 410 does')
  t.end()
})

t.test('watch forbidden: three tries, then polling about every minute, then another try', (t) => {
  let state = steady
  for (let i = 0; i < 2; i++) {
    state = watched(state, FORBIDDEN, 0).state
    t.match(nextRequest(state, timing()), { kind: 'watch', resourceVersion: '9' })
  }
  state = watched(state, FORBIDDEN, 0).state
  t.same(nextRequest(state, timing()), { kind: 'list' })
  const polled = read(state, MINUTE)
  t.ok(polled.waitMs >= 45_000 && polled.waitMs <= 75_000)
  t.same(nextRequest(polled.state, timing(2 * MINUTE)), { kind: 'list' })
  const later = read(polled.state, 21 * MINUTE)
  t.equal(nextRequest(later.state, timing(21 * MINUTE)).kind, 'watch')
  t.equal(
    nextRequest(watched(later.state, FORBIDDEN, 0, 21 * MINUTE).state, timing(21 * MINUTE)).kind,
    'list',
    'a single 403 returns to polling',
  )
  const granted = watched(later.state, 'ended', 5 * MINUTE, 26 * MINUTE).state
  t.equal(nextRequest(granted, timing(26 * MINUTE)).kind, 'watch')
  t.end()
})

t.test('Retry-After is honoured, with jitter', (t) => {
  t.equal(afterRead(INITIAL, refused(429, 90_000), timing(0, 0)).waitMs, 90_000)
  t.equal(afterRead(INITIAL, refused(503, 90_000), timing(0, 1)).waitMs, 108_000)
  t.end()
})

t.test('a list that works does not reset the failures of the watch', (t) => {
  let { state } = read(INITIAL)
  for (let i = 0; i < 10; i++) state = read(watched(state, BROKEN, 0).state).state
  t.equal(state.failures, 10)
  t.notOk(read(state).immediate, 'and its watch waits its turn')
  t.equal(watched(state, BROKEN, MINUTE).state.failures, 1, 'a watch that lasted does')
  t.end()
})

const failure = fc.oneof(
  fc.constant(BROKEN),
  fc
    .record({ status: fc.constantFrom(400, 401, 403, 404, 409, 410, 429, 500, 503), retryAfterMs: fc.constantFrom(undefined, 500, 5000) })
    .map(({ status, retryAfterMs }) => refused(status, retryAfterMs)),
)

t.test('under any failures: waits of at most a minute or Retry-After; a success always leads back to a watch or a poll', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(failure, fc.nat(20_000)), { maxLength: 40 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (steps, chance) => {
        let next: Next = { state: INITIAL, waitMs: 0, immediate: false, report: undefined }
        let nowMs = 0
        const take = (request: NextRequest, end: RequestFailure, livedMs: number): Next =>
          request.kind === 'watch'
            ? afterWatch(next.state, { end, resourceVersion: '1', livedMs }, timing(nowMs, chance))
            : afterRead(next.state, end, timing(nowMs, chance))
        for (const [end, livedMs] of steps) {
          next = take(nextRequest(next.state, timing(nowMs, chance)), end, livedMs)
          const retryAfterMs = end.kind === 'refused' ? (end.retryAfterMs ?? 0) * 1.2 : 0
          if (next.waitMs > Math.max(60_000, retryAfterMs) || next.immediate) return false
          nowMs += next.waitMs + livedMs
        }
        const last = nextRequest(next.state, timing(nowMs, chance))
        const afterNext = nextRequest(read(next.state, nowMs).state, timing(nowMs)).kind
        return last.kind === 'watch' || afterNext === (next.state.polling ? last.kind : 'watch')
      },
    ),
  )
  t.end()
})
