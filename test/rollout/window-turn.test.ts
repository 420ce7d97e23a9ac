// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { decideRollout } from '../../src/rollout/decide.ts'
import { placeOf } from '../../src/rollout/order.ts'
import { DEFAULT_PLAN, parsePlan } from '../../src/rollout/plan.ts'
import { readTimeZone } from '../../src/rollout/time-zone.ts'
import type { RolloutTime } from '../../src/rollout/view.ts'
import { findWindow, untilLastTurnUs } from '../../src/rollout/window-turn.ts'
import { MINUTE_US } from '../../src/values/durations.ts'
import { HASH, OTHER_HASH, type Scene, START_US, sceneView, state, uidWithShare } from './views.ts'

const NIGHT = 'windows: [Mon-Sun 22:00-05:00]'
const DAY_MS = 86_400_000
const MONDAY = Date.UTC(2026, 10, 30)
const at = (hour: number, minute = 0): RolloutTime => ({ nowMs: MONDAY + hour * 3_600_000 + minute * 60_000 })
const decide = (scene: Scene) => decideRollout(sceneView({ plan: NIGHT, ...scene }))
const FREE = uidWithShare(0.002, 0.006)
const SHUT = /; its windows are closed; the next one opens on Mon 2026-11-30 22:00 \(UTC\)$/

/** When it starts, or claims, in minutes from the opening of the window. */
function minutesAfterOpening(scene: Scene, hour: number, opening = 22): number | string {
  const forMinutes = scene.forMinutes ?? 60
  const { turn } = decide({ ...scene, time: at(hour) })
  return turn.kind === 'wait-until' ? (turn.atUs - START_US) / MINUTE_US - forMinutes - (opening - hour) * 60 : turn.kind
}

t.test('claims, begins and nodes that need no claim wait for a window, and say when one opens', async (t) => {
  const scenes: readonly Scene[] = [
    { data: {} },
    { data: { state: state(3, 4, OTHER_HASH) } },
    { data: { state: state(3, 1) } },
    { data: { state: state(3, 1) }, node: { controlPlane: true } },
    { data: { state: state(3, 2) }, node: { uid: FREE } },
    { data: { state: state(3, 5) } },
    { data: { state: state(3, 2) }, node: { promoted: true } },
    { data: { state: state(3, 5) }, excluded: 'me' },
    { data: { state: state(3, 5) }, node: { arrival: 'joined' } },
  ]
  for (const scene of scenes) {
    const shut = decide({ ...scene, time: at(12) })
    t.match(shut, { turn: { kind: 'wait-until', detail: SHUT }, write: undefined, follow: true })
    const open = decide({ ...scene, time: at(23) })
    t.ok(open.turn.kind === 'go' || open.write !== undefined, JSON.stringify(scene))
    t.notMatch(open.turn.detail, /windows/)
  }
})

t.test('in how long the last nodes start a finished rollout', async (t) => {
  const minutes = (time: RolloutTime | undefined, text = NIGHT): number | undefined => {
    const parsed = parsePlan(text)
    if (!parsed.ok) throw new Error(parsed.problem)
    const us = untilLastTurnUs(parsed.plan, findWindow(parsed.plan, HASH, time, START_US), START_US)
    return us === undefined ? undefined : us / MINUTE_US
  }
  t.equal(minutes(undefined, 'spread: 30m'), 30)
  t.equal(minutes(at(12), `${NIGHT}, spread: 30m`), 630)
  t.equal(minutes(at(12), `${NIGHT}, spread: 9h`), 17 * 60, 'the spread is at most the length of the window')
  t.equal(minutes(at(23), `${NIGHT}, spread: 30m`), 30)
  t.equal(minutes(at(4, 45), `${NIGHT}, spread: 30m`), undefined, 'some of them start in the next window')
  t.equal(minutes(at(5), `${NIGHT}, spread: 30m`), 17 * 60 + 30)
  t.equal(minutes(at(12), `${NIGHT}, now: ${HASH}`), 2)
  t.equal(minutes(undefined), undefined, 'the time is not known')
})

t.test('proofs, advances, vetoes and a node with its own claim wait for none', async (t) => {
  const time = at(12)
  const claimed = { data: { state: state(3, 1), 'node.me': '3 1 claim 900' }, time }
  t.match(decide(claimed).turn, { kind: 'go' })
  t.same(decide({ ...claimed, node: { runs: true, proven: true } }).write?.data, { 'node.me': '3 1 proof' })
  t.equal(decide({ data: { state: state(3, 0), 'node.a': '3 0 proof' }, time }).write?.kind, 'advance')
  const verdict = { reason: 'kubelet exited 5 times', retry: 0 }
  t.equal(decide({ data: { state: state(3, 2) }, node: { verdict }, time }).write?.kind, 'veto')
  t.equal(decide({ data: {}, node: { verdict }, time }).write?.kind, 'begin', 'a begin with a veto starts nothing')
  t.match(decide({ data: { state: state(3, 2), 'node.a': '3 1 veto no' }, time }).turn, { kind: 'halted' })
})

t.test('a new node that joins a finished rollout runs nothing yet, and waits for no window', async (t) => {
  t.equal(decide({ data: { state: state(3, 5) }, node: { arrival: 'joined', young: true }, time: at(12) }).turn.kind, 'go')
})

t.test('until the API server has told the time, and the time zone is known, nobody starts', async (t) => {
  const data = { state: state(3, 1) }
  t.match(decide({ data }).turn, { kind: 'wait', detail: /the API server has not told the time yet$/ })
  const berlin = `${NIGHT}, timeZone: Europe/Berlin`
  t.match(decide({ data, plan: berlin, time: at(23) }).turn, { kind: 'wait', detail: /has not read the time zone Europe\/Berlin yet$/ })
  const failed = { ...at(23), zone: { ok: false, timeZone: 'Europe/Berlin', detail: 'there is no time zone Europe/Berlin' } } as const
  t.match(decide({ data, plan: berlin, time: failed }).turn, { kind: 'wait', detail: /there is no time zone Europe\/Berlin$/ })
  const offsets = readTimeZone('Europe/Berlin', MONDAY - 10 * DAY_MS, MONDAY + 20 * DAY_MS)
  t.ok(offsets)
  const known = (hour: number): RolloutTime => ({ ...at(hour), zone: offsets && { ok: true, offsets } })
  t.match(decide({ data, plan: berlin, time: known(20) }).turn, { kind: 'wait-until', detail: /Mon 2026-11-30 22:00 \(Europe\/Berlin\)$/ })
  t.equal(decide({ data, plan: berlin, time: known(21) }).turn.kind, 'wait-until', 'the delay of a claim')
  t.ok(decide({ data, plan: berlin, time: known(22) }).write)
  t.match(decide({ data, plan: berlin.replace('Berlin', 'Paris'), time: known(22) }).turn, { kind: 'wait', detail: /Europe\/Paris yet$/ })
  t.equal(decide({ data: { state: state(3, 2) }, node: { uid: FREE } }).turn.kind, 'wait')
})

t.test('now: lets one content through, and no other', async (t) => {
  const scene = { data: { state: state(3, 1) }, time: at(12) }
  t.ok(decide({ ...scene, plan: `${NIGHT}, now: ${HASH}` }).write)
  t.ok(decide({ ...scene, plan: `${NIGHT}, now: ${HASH.slice(0, 12)}` }).write)
  t.equal(decide({ ...scene, plan: `${NIGHT}, now: ${OTHER_HASH}` }).write, undefined)
  t.ok(decide({ data: scene.data, plan: `${NIGHT}, now: ${HASH}` }).write, 'whatever the time is')
})

t.test('nodes claim one after another from the opening, however long they have waited', async (t) => {
  const delays = [0.1, 0.3, 0.7].map((share) =>
    minutesAfterOpening({ data: { state: state(3, 1) }, node: { uid: uidWithShare(share, share + 0.01) } }, 12),
  )
  for (const [index, share] of [0.1, 0.3, 0.7].entries())
    t.equal(Math.round(Number(delays[index]) * 20), Math.round(share * 10), String(share))
  const during = { data: { state: state(3, 1) }, node: { uid: uidWithShare(0.7, 0.71) }, forMinutes: 600 }
  t.equal(decide({ ...during, time: at(22, 0) }).write, undefined)
  t.ok(decide({ ...during, time: at(22, 1) }).write)
})

t.test('a claim after an opening or a rest does not put the others back', async (t) => {
  const data = { state: state(3, 1), 'node.a': '3 1 claim 900' }
  const scene: Scene = { was: { state: state(3, 1) }, data, node: { uid: uidWithShare(0.7, 0.71) } }
  const claimed = { ...scene, forMinutes: 10 / 60 }
  const after = (seconds: number): RolloutTime => ({ nowMs: at(22).nowMs + seconds * 1000 })
  t.ok(decide({ ...claimed, time: after(22) }).write, 'the other claimed 12 seconds after the opening')
  t.equal(decide({ ...claimed, time: after(20) }).write, undefined)
  t.equal(decide({ ...claimed, time: after(200) }).write, undefined, 'a place that became free late')
  t.ok(decide({ ...claimed, plan: 'rest: 119m' }).write, 'and here a minute after the rest')
  t.equal(decide({ ...claimed, plan: 'rest: 118m' }).write, undefined)
})

t.test('the spread counts from the opening, and leaves a tenth of the window to what a start takes', async (t) => {
  const spread = placeOf({ uid: FREE }, HASH, DEFAULT_PLAN).spread
  const free = (plan: string, forMinutes = 60): Scene => ({ data: { state: state(3, 2) }, node: { uid: FREE }, plan, forMinutes })
  const near = (actual: number | string, expected: number) => t.ok(Math.abs(Number(actual) - expected) < 0.001, `${actual} and ${expected}`)
  near(minutesAfterOpening(free(`${NIGHT}, spread: 10m`), 12), spread * 10)
  near(minutesAfterOpening(free('windows: [Mon-Sun 22:00-24:00], spread: 6h'), 12), spread * 108)
  const late = free('windows: [Mon-Sun 22:00-24:00], spread: 6h', 0)
  near(minutesAfterOpening(late, 23, 23), spread * 108)
})

t.test('whatever edit lets nodes go that waited, they start spread, and claim one after another', async (t) => {
  const night = `${NIGHT}, spread: 6h`
  const edits: readonly (readonly [before: string, plan: string, hour?: number])[] = [
    [night, `${night}, now: ${HASH}`],
    [night, 'spread: 6h'],
    [night, 'windows: [Mon-Sun 09:00-24:00], spread: 6h'],
    [`${night}, timeZone: Europe/Berln`, 'windows: [Mon-Sun 09:00-24:00], spread: 6h'],
    ['windows: [Mon-Sun 22:00-05:00], spread: six hours', 'windows: [Mon-Sun 09:00-24:00], spread: 6h'],
    ['rest: 24h, spread: 6h', 'rest: 1h, spread: 6h'],
    ['spread: 24h', 'spread: 6h'],
  ]
  for (const [planBefore, plan] of edits) {
    const scene: Scene = { planBefore, plan, forMinutes: 300, time: at(15), node: { uid: uidWithShare(0.7, 0.71) } }
    const free = decide({ ...scene, data: { state: state(3, 5) } }).turn
    const spread = placeOf({ uid: uidWithShare(0.7, 0.71) }, HASH, DEFAULT_PLAN).spread
    t.equal(free.kind === 'wait-until' && free.atUs - START_US, 300 * MINUTE_US + Math.floor(spread * 360 * MINUTE_US), plan)
    const claims = decide({ ...scene, data: { state: state(3, 1) } }).turn
    const delayUs = claims.kind === 'wait-until' ? claims.atUs - START_US - 300 * MINUTE_US : 0
    t.ok(delayUs > 0.35 * MINUTE_US && delayUs < 0.36 * MINUTE_US, `${plan}: ${delayUs}`)
    const data = { state: state(3, 1) }
    t.equal(decide({ ...scene, data, node: { controlPlane: true } }).write, undefined, plan)
  }
  const same = { planBefore: night, plan: `${night}, maxVetoes: 2`, time: at(23), data: { state: state(3, 1) } }
  t.ok(decide(same).write, 'another edit delays nothing')
})

t.test('a stage that opens at the end of a window starts no more nodes there than its spread allows', async (t) => {
  const plan = 'windows: [Mon-Sun 22:00-24:00], spread: 1h'
  const uids = Array.from({ length: 600 }, (_, index) => `uid-${index}`)
  const startsAt = (uid: string, minute: number) =>
    decide({ data: { state: state(3, 5) }, node: { uid }, plan, forMinutes: minute, time: at(23, 55 + minute) }).turn.kind === 'go'
  const inFiveMinutes = uids.filter((uid) => startsAt(uid, 4)).length
  t.ok(inFiveMinutes > 20 && inFiveMinutes < 70, `${inFiveMinutes} of 600 start in the last minutes`)
})

t.test('a node that is let go starts in the window of that time, or else in the next one', async () => {
  const minutes = fc.integer({ min: 0, max: 3 * 24 * 60 })
  fc.assert(
    fc.property(fc.string(), minutes, minutes, fc.integer({ min: 0, max: 1440 }), (uid, letGoAt, more, spread) => {
      const plan = `windows: [Mon-Sun 22:00-24:00], spread: ${spread}m`
      const nowMs = MONDAY + (letGoAt + more) * 60_000
      const { turn } = decide({ data: { state: state(3, 5) }, node: { uid }, plan, forMinutes: more, time: { nowMs } })
      const startMs = turn.kind === 'wait-until' ? nowMs + (turn.atUs - START_US - more * MINUTE_US) / 1000 : nowMs
      const letGoMs = MONDAY + letGoAt * 60_000
      const hasOpened = letGoMs > opensMs(letGoMs)
      const isOpen = startMs % DAY_MS >= 22 * 3_600_000 - 1
      // What lies behind the end of this window is decided anew in the next one.
      const isBehind = nowMs < closesMs(letGoMs) && hasOpened && startMs >= closesMs(letGoMs)
      const latestMs = closesMs(letGoMs) + (hasOpened ? DAY_MS : 0)
      const isInTime = startMs <= latestMs || nowMs >= latestMs
      return turn.kind === 'go' ? isOpen : turn.kind === 'wait-until' && (isOpen || isBehind) && isInTime
    }),
    { numRuns: 500 },
  )
})

function opensMs(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS + 22 * 3_600_000
}

function closesMs(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS + DAY_MS
}
