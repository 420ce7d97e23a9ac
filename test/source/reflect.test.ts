import fc from 'fast-check'
import t from 'tap'
import {
  type Ask,
  afterRead,
  afterWatch,
  INITIAL,
  type Next,
  nextAsk,
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
const BROKEN: RequestFailure = { kind: 'unreachable', detail: 'reset' }
const dice = (nowMs = 0, chance = 0.5) => ({ nowMs, random: () => chance })
const read = (state: ReflectState, nowMs = 0) => afterRead(state, { kind: 'read', resourceVersion: '7' }, dice(nowMs))
const watched = (state: ReflectState, end: RequestFailure | 'ended', livedMs: number, nowMs = 0) =>
  afterWatch(state, { end: end === 'ended' ? { kind: 'ended' } : end, resourceVersion: '9', livedMs }, dice(nowMs))
const steady = read(INITIAL).state

t.test('list, then watch from there at once, for five to ten minutes', (t) => {
  t.same(nextAsk(INITIAL, dice()), { kind: 'list' })
  const next = read(INITIAL)
  t.match(next, { waitMs: 0, adjoining: true })
  t.same(nextAsk(next.state, dice(0, 0)), { kind: 'watch', resourceVersion: '7', timeoutSeconds: 300 })
  t.same(nextAsk(next.state, dice(0, 1)), { kind: 'watch', resourceVersion: '7', timeoutSeconds: 600 })
  t.end()
})

t.test('a watch that ends in good order goes on from where it was', (t) => {
  const next = watched(steady, 'ended', 5 * MINUTE)
  t.match(nextAsk(next.state, dice()), { kind: 'watch', resourceVersion: '9' })
  t.equal(next.waitMs, 0)
  t.ok(watched(steady, 'ended', 50).waitMs > 0, 'but not at once if it was very short')
  t.end()
})

t.test('a watch that breaks, or whose version is gone, is followed by a read', (t) => {
  for (const end of [BROKEN, refused(410), refused(500), refused(401), refused(404)])
    t.same(nextAsk(watched(steady, end, MINUTE).state, dice()), { kind: 'list' })
  t.end()
})

t.test('it is read again after 15 to 30 minutes, whatever the watch says', (t) => {
  for (const chance of [0, 0.5, 0.999]) {
    const { state } = afterRead(INITIAL, { kind: 'read', resourceVersion: '7' }, dice(0, chance))
    t.equal(nextAsk(state, dice(14 * MINUTE, 0)).kind, 'watch')
    t.same(nextAsk(state, dice(30 * MINUTE, 0)), { kind: 'list' })
    const ask = nextAsk(state, dice(14 * MINUTE, 0))
    t.ok(ask.kind === 'watch' && 14 * MINUTE + ask.timeoutSeconds * 1000 <= 31 * MINUTE, 'a watch does not outlast it')
  }
  t.end()
})

t.test('list forbidden: get; get forbidden too: said after some tries, and never given up', (t) => {
  let next: Next = { state: INITIAL, waitMs: 0, adjoining: false, report: undefined }
  const asked: string[] = []
  const reports: unknown[] = []
  for (let i = 0; i < 6; i++) {
    asked.push(nextAsk(next.state, dice()).kind)
    next = afterRead(next.state, FORBIDDEN, dice())
    reports.push(next.report)
  }
  t.same(asked, ['list', 'get', 'list', 'get', 'list', 'get'])
  t.same(reports, [undefined, undefined, undefined, 'forbidden', 'forbidden', 'forbidden'])
  const { state } = read(afterRead(INITIAL, FORBIDDEN, dice()).state)
  t.same(nextAsk({ ...state, resourceVersion: undefined }, dice()), { kind: 'get' }, 'what works is kept')
  t.end()
})

t.test('list forbidden, and an object older than what the server remembers: watched from whatever is there', (t) => {
  const got = read(afterRead(INITIAL, FORBIDDEN, dice()).state).state
  t.match(nextAsk(got, dice()), { kind: 'watch', resourceVersion: '7' })
  const expired = watched(got, refused(410), 0).state
  t.same(nextAsk(expired, dice()), { kind: 'get' }, 'it may have been deleted meanwhile')
  const anew = read(expired).state
  t.match(nextAsk(anew, dice()), { kind: 'watch', resourceVersion: '' })
  t.match(nextAsk(watched(anew, 'ended', MINUTE).state, dice()), { kind: 'watch', resourceVersion: '9' })
  t.end()
})

t.test('that is no outage: after one it is found out as fast as without', (t) => {
  let state = afterRead(INITIAL, FORBIDDEN, dice()).state
  for (let i = 0; i < 8; i++) state = afterRead(state, BROKEN, dice()).state
  const expired = watched(read(state).state, refused(410), 0)
  t.ok(expired.waitMs <= 2000, `${expired.waitMs} ms`)
  t.ok(watched(read(expired.state).state, refused(410), 0).waitMs > 2000, 'once: a server that says so again is left alone')
  t.end()
})

t.test('watch forbidden: tried three times, then polled about every minute, then tried again', (t) => {
  let state = steady
  for (let i = 0; i < 2; i++) {
    state = watched(state, FORBIDDEN, 0).state
    t.match(nextAsk(state, dice()), { kind: 'watch', resourceVersion: '9' })
  }
  state = watched(state, FORBIDDEN, 0).state
  t.same(nextAsk(state, dice()), { kind: 'list' })
  const polled = read(state, MINUTE)
  t.ok(polled.waitMs >= 45_000 && polled.waitMs <= 75_000)
  t.same(nextAsk(polled.state, dice(2 * MINUTE)), { kind: 'list' })
  const later = read(polled.state, 21 * MINUTE)
  t.equal(nextAsk(later.state, dice(21 * MINUTE)).kind, 'watch')
  t.equal(nextAsk(watched(later.state, FORBIDDEN, 0, 21 * MINUTE).state, dice(21 * MINUTE)).kind, 'list', 'one refusal is enough now')
  const granted = watched(later.state, 'ended', 5 * MINUTE, 26 * MINUTE).state
  t.equal(nextAsk(granted, dice(26 * MINUTE)).kind, 'watch')
  t.end()
})

t.test('Retry-After is honoured, and not by everyone in the same instant', (t) => {
  t.equal(afterRead(INITIAL, refused(429, 90_000), dice(0, 0)).waitMs, 90_000)
  t.equal(afterRead(INITIAL, refused(503, 90_000), dice(0, 1)).waitMs, 108_000)
  t.equal(afterRead(INITIAL, refused(429, 1e12), dice(0, 0)).waitMs, 60 * MINUTE, 'but within reason')
  t.end()
})

t.test('a list that works does not end a row of failures of the watch', (t) => {
  let { state } = read(INITIAL)
  for (let i = 0; i < 10; i++) state = read(watched(state, BROKEN, 0).state).state
  t.equal(state.failures, 10)
  t.notOk(read(state).adjoining, 'and its watch keeps its distance')
  t.equal(watched(state, BROKEN, MINUTE).state.failures, 1, 'a watch that lived does')
  t.end()
})

const failure = fc.oneof(
  fc.constant(BROKEN),
  fc
    .record({ status: fc.constantFrom(400, 401, 403, 404, 409, 410, 429, 500, 503), retryAfterMs: fc.constantFrom(undefined, 500, 5000) })
    .map(({ status, retryAfterMs }) => refused(status, retryAfterMs)),
)

t.test('under any failures: pauses of at most a minute, or as asked, spread from nothing; and any answer is read in the end', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(failure, fc.nat(20_000)), { maxLength: 40 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (steps, chance) => {
        let next: Next = { state: INITIAL, waitMs: 0, adjoining: false, report: undefined }
        let nowMs = 0
        const take = (ask: Ask, end: RequestFailure, livedMs: number): Next =>
          ask.kind === 'watch'
            ? afterWatch(next.state, { end, resourceVersion: '1', livedMs }, dice(nowMs, chance))
            : afterRead(next.state, end, dice(nowMs, chance))
        for (const [end, livedMs] of steps) {
          next = take(nextAsk(next.state, dice(nowMs, chance)), end, livedMs)
          const asked = end.kind === 'refused' ? (end.retryAfterMs ?? 0) * 1.2 : 0
          if (next.waitMs > Math.max(60_000, asked) || next.adjoining) return false
          nowMs += next.waitMs + livedMs
        }
        const ask = nextAsk(next.state, dice(nowMs, chance))
        return (
          ask.kind === 'watch' || nextAsk(read(next.state, nowMs).state, dice(nowMs)).kind === (next.state.polling ? ask.kind : 'watch')
        )
      },
    ),
  )
  t.end()
})
