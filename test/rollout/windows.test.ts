// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { readTimeZone } from '../../src/rollout/time-zone.ts'
import { DAY_MS, describeTime, listSkipped, parseWindow, type Window, windowAt, type ZoneOffsets } from '../../src/rollout/windows.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
/** In which clocks change by an hour, by half an hour, at midnight, and never. */
const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Havana', 'Asia/Beirut', 'Asia/Kathmandu', 'UTC']

function windowsOf(...texts: readonly string[]): readonly Window[] {
  return texts.map((text) => {
    const window = parseWindow(text)
    if (window === undefined) throw new Error(`${text} is no window`)
    return window
  })
}

function zoneAround(timeZone: string, ms: number): ZoneOffsets {
  const zone = readTimeZone(timeZone, ms - 10 * DAY_MS, ms + 20 * DAY_MS)
  if (zone === undefined) throw new Error(`there is no time zone ${timeZone}`)
  return zone
}

/** When it is open around a time, in UTC, as "2027-03-27T21:00 2027-03-28T03:00". */
function openings(text: string, timeZone: string, from: string, count = 1): readonly string[] {
  const found: string[] = []
  const stamp = (ms: number) => new Date(ms).toISOString().slice(0, 16)
  for (let ms = Date.parse(from); found.length < count; ) {
    const zone = zoneAround(timeZone, ms)
    const window = windowAt(windowsOf(...text.split(', ')), zone, ms)
    const span = window.kind === 'open' ? window : window.kind === 'closed' ? window.next : undefined
    if (span === undefined) return [...found, window.kind]
    found.push(`${stamp(span.opensMs)} ${stamp(span.closesMs)}`)
    ms = span.closesMs
  }
  return found
}

t.test('a window opens on its days, and closes on the next where it passes midnight', async (t) => {
  t.same(openings('Mon-Fri 22:00-05:00', 'UTC', '2026-11-30T12:00Z', 2), [
    '2026-11-30T22:00 2026-12-01T05:00',
    '2026-12-01T22:00 2026-12-02T05:00',
  ])
  t.same(openings('Fri 22:00-05:00', 'UTC', '2026-12-05T04:59Z', 2), [
    '2026-12-04T22:00 2026-12-05T05:00',
    '2026-12-11T22:00 2026-12-12T05:00',
  ])
  t.same(openings('Sat-Mon 10:00-12:00', 'UTC', '2026-12-05T12:00Z', 3), [
    '2026-12-06T10:00 2026-12-06T12:00',
    '2026-12-07T10:00 2026-12-07T12:00',
    '2026-12-12T10:00 2026-12-12T12:00',
  ])
})

t.test('windows that touch are one, as over a week end', async (t) => {
  const text = 'Mon-Fri 22:00-05:00, Sat-Sun 00:00-24:00'
  t.same(openings(text, 'UTC', '2026-12-05T12:00Z'), ['2026-12-04T22:00 2026-12-07T00:00'])
  t.same(openings('Sat-Sun 00:00-24:00', 'Europe/Berlin', '2026-12-02T12:00Z'), ['2026-12-04T23:00 2026-12-06T23:00'])
})

t.test('over a change of the clocks, a night is an hour shorter or longer', async (t) => {
  t.same(openings('Sat 22:00-05:00', 'Europe/Berlin', '2027-03-27T12:00Z'), ['2027-03-27T21:00 2027-03-28T03:00'])
  t.same(openings('Sat 22:00-05:00', 'Europe/Berlin', '2026-10-24T12:00Z'), ['2026-10-24T20:00 2026-10-25T04:00'])
})

t.test('what lies in the hour that is skipped does not open that night, and is listed', async (t) => {
  t.same(openings('Sun 02:00-03:00', 'Europe/Berlin', '2027-03-27T12:00Z'), ['2027-04-04T00:00 2027-04-04T01:00'])
  t.same(openings('Sun 02:30-04:00', 'Europe/Berlin', '2027-03-27T12:00Z'), ['2027-03-28T01:00 2027-03-28T02:00'])
  const zone = readTimeZone('Europe/Berlin', Date.UTC(2026, 10, 29), Date.UTC(2027, 11, 1))
  t.ok(zone)
  const skipped = zone && listSkipped(windowsOf('Mon-Sun 02:15-02:45', 'Mon-Fri 02:00-03:00', 'Sun 01:30-02:30'), zone)
  t.same(skipped, ['Mon-Sun 02:15-02:45 on Sun 2027-03-28'])
})

t.test('what lies in the hour that comes twice opens twice', async (t) => {
  t.same(openings('Sun 02:15-02:45', 'Europe/Berlin', '2026-10-24T12:00Z', 2), [
    '2026-10-25T00:15 2026-10-25T00:45',
    '2026-10-25T01:15 2026-10-25T01:45',
  ])
})

t.test('outside of what is known of the time zone, nothing is known', async (t) => {
  const now = Date.UTC(2026, 10, 30)
  t.same(windowAt(windowsOf('Mon-Sun 00:00-24:00'), zoneAround('Europe/Berlin', now), now + 21 * DAY_MS), { kind: 'unknown' })
})

t.test('a time zone that does not exist has no offsets', async (t) => {
  t.equal(readTimeZone('Europe/Atlantis', 0, DAY_MS), undefined)
})

t.test('a time is told by the clocks of the time zone', async (t) => {
  const ms = Date.UTC(2027, 2, 28, 1, 30)
  t.equal(describeTime(ms, zoneAround('Europe/Berlin', ms)), 'Sun 2027-03-28 03:30 (Europe/Berlin)')
})

const anyTime = fc.integer({ min: 0, max: 24 * 60 - 1 })
const clock = (minute: number) => `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
const anyWindow = fc
  .tuple(fc.nat({ max: 6 }), fc.option(fc.nat({ max: 6 })), anyTime, fc.oneof(anyTime, fc.constant(24 * 60)))
  .filter(([, , opens, closes]) => opens !== closes)
  .map(([first, last, opens, closes]) => ({
    text: `${DAYS[first]}${last === null ? '' : `-${DAYS[last]}`} ${clock(opens)}-${clock(closes)}`,
    days: Array.from({ length: (((last ?? first) - first + 7) % 7) + 1 }, (_, index) => (first + index) % 7),
    opens,
    closes,
  }))

t.test('a window is open exactly while the clocks of the time zone show a time within it', async () => {
  const changes = [
    Date.UTC(2027, 2, 28, 1),
    Date.UTC(2026, 9, 25, 1),
    Date.UTC(2027, 2, 14, 7),
    Date.UTC(2026, 10, 1, 6),
    Date.UTC(2027, 3, 3, 15),
  ]
  const anyMs = fc.oneof(
    fc.integer({ min: Date.UTC(2026, 0, 1) / MINUTE_MS, max: Date.UTC(2028, 0, 1) / MINUTE_MS }).map((minute) => minute * MINUTE_MS),
    fc.tuple(fc.constantFrom(...changes), fc.integer({ min: -300, max: 300 })).map(([ms, minutes]) => ms + minutes * MINUTE_MS),
  )
  fc.assert(
    fc.property(fc.array(anyWindow, { minLength: 1, maxLength: 4 }), fc.constantFrom(...ZONES), anyMs, (windows, timeZone, ms) => {
      const shown = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
      const part = Object.fromEntries(shown.formatToParts(ms).map(({ type, value }) => [type, value]))
      const today = DAYS.indexOf(part.weekday ?? '')
      const minute = Number(part.hour) * 60 + Number(part.minute)
      const expected = windows.some(({ days, opens, closes }) => {
        const [sameDay, dayBefore] = [days.includes(today), days.includes((today + 6) % 7)]
        if (closes > opens) return sameDay && minute >= opens && minute < closes
        return (sameDay && minute >= opens) || (dayBefore && minute < closes)
      })
      const window = windowAt(windowsOf(...windows.map(({ text }) => text)), zoneAround(timeZone, ms), ms)
      return (window.kind === 'open') === expected && (window.kind !== 'open' || (window.opensMs <= ms && ms < window.closesMs))
    }),
    { numRuns: 1500 },
  )
})

t.test('the next opening is open, and a moment before it is not', async () => {
  const anyMs = fc
    .integer({ min: Date.UTC(2026, 9, 20) / MINUTE_MS, max: Date.UTC(2026, 10, 5) / MINUTE_MS })
    .map((minute) => minute * MINUTE_MS)
  fc.assert(
    fc.property(fc.array(anyWindow, { minLength: 1, maxLength: 3 }), fc.constantFrom(...ZONES), anyMs, (windows, timeZone, ms) => {
      const [parsed, zone] = [windowsOf(...windows.map(({ text }) => text)), zoneAround(timeZone, ms)]
      const window = windowAt(parsed, zone, ms)
      const isEndless = window.kind === 'open' && window.closesMs - ms > 14 * DAY_MS
      if (window.kind === 'open') return isEndless || windowAt(parsed, zone, window.closesMs).kind === 'closed'
      if (window.kind !== 'closed' || window.next === undefined) return false
      const { opensMs } = window.next
      const between = ms + Math.floor((opensMs - ms) / 2)
      const isShut = [opensMs - 1, between].every((at) => at < ms || windowAt(parsed, zone, at).kind === 'closed')
      return isShut && windowAt(parsed, zone, opensMs).kind === 'open' && opensMs - ms <= 8 * DAY_MS + 2 * HOUR_MS
    }),
    { numRuns: 600 },
  )
})

t.test('what is no window is none', async (t) => {
  for (const text of [
    '',
    'Mon',
    '22:00-05:00',
    'mon 22:00-05:00',
    'Mon 22:00-22:00',
    'Mon 24:00-05:00',
    'Mon 22:60-05:00',
    'Mon 2:00-5:00',
    'Mon-Fri  22:00-05:00',
    'Mon,Tue 01:00-02:00',
    'Mon 00:00-24:01',
    'witnesses: 5',
  ])
    t.equal(parseWindow(text), undefined, text)
})
