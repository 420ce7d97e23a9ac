// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { KubeAnswer, KubeApi } from '../../../src/ports/kube-api.ts'
import { parsePlan } from '../../../src/rollout/plan.ts'
import { answerTimeZone } from '../../../src/rollout/time-zone.ts'
import type { ZoneAnswer } from '../../../src/rollout/view.ts'
import { findWindow } from '../../../src/rollout/window-turn.ts'
import { RolloutClock } from '../../../src/source/rollout/rollout-time.ts'

const MONDAY = Date.UTC(2026, 10, 30, 12)
const DAY_US = 86_400e6
const NIGHT = 'windows: [Mon-Sun 22:00-05:00], timeZone: Europe/Berlin'

function setup(answerOf: (timeZone: string) => ZoneAnswer | undefined = () => undefined) {
  let monotonicUs = 5e6
  let changes = 0
  const asked: string[] = []
  const time = new RolloutClock({
    clock: { now: () => ({ bootId: 'boot-1', monotonicUs, wallMs: 0 }) },
    askTimeZone: async (timeZone, fromMs, untilMs) => {
      asked.push(timeZone)
      if (timeZone === 'Europe/Nowhere') throw new Error('the helper ended')
      return answerOf(timeZone) ?? answerTimeZone(timeZone, fromMs, untilMs)
    },
    onChange: () => {
      changes += 1
    },
  })
  const hear = async (answer: KubeAnswer) => {
    const api: KubeApi = { request: async () => answer, watch: async () => ({ kind: 'ended', detail: '' }) }
    await time.listenTo(api).request({ method: 'GET', path: '/' })
  }
  const openWatch = async (serverMs: number | undefined) => {
    let opened = 0
    const api: KubeApi = {
      request: async () => ({ kind: 'unreachable', detail: '' }),
      watch: async (request) => {
        request.onOpen?.(serverMs)
        return { kind: 'ended', detail: '' }
      },
    }
    const { signal } = new AbortController()
    const onOpen = () => {
      opened += 1
    }
    await time.listenTo(api).watch({ path: '/', query: {}, inactivityMs: 1, signal, onOpen, onEvent: () => {} })
    return opened
  }
  const at = async (plan: string) => {
    const known = time.timeFor(parsePlan(plan), monotonicUs)
    await new Promise((resolve) => setImmediate(resolve))
    return known
  }
  return { time, asked, hear, openWatch, at, pass: (us: number) => (monotonicUs += us), changes: () => changes }
}

const answerAt = (serverMs: number): KubeAnswer => ({ kind: 'ok', object: {}, serverMs })

t.test('the time is unknown until an answer tells it, and goes on with the monotonic clock', async (t) => {
  const { hear, at, pass } = setup()
  t.equal(await at(''), undefined)
  await hear({ kind: 'unreachable', detail: 'down' })
  await hear({ kind: 'ok', object: {} })
  t.equal(await at(''), undefined, 'an answer without a time says nothing')
  await hear(answerAt(MONDAY))
  pass(90e6)
  t.equal((await at(''))?.nowMs, MONDAY + 90_000)
})

t.test('answers that say the same second change nothing, and a clock that was set does', async (t) => {
  const { hear, at, pass } = setup()
  await hear(answerAt(MONDAY))
  pass(900_000)
  await hear(answerAt(MONDAY))
  t.equal((await at(''))?.nowMs, MONDAY + 900)
  await hear(answerAt(MONDAY + 60_000))
  t.equal((await at(''))?.nowMs, MONDAY + 60_000)
})

t.test('a watch that is opened tells the time too: a node that waits asks for nothing else', async (t) => {
  const { hear, openWatch, at } = setup()
  await hear(answerAt(MONDAY - 3_600_000))
  t.equal(await openWatch(MONDAY), 1, 'and who opened it learns of that')
  t.equal((await at(''))?.nowMs, MONDAY)
  await openWatch(undefined)
  t.equal((await at(''))?.nowMs, MONDAY)
})

t.test('an opening stays at the same microsecond, whenever one looks', async (t) => {
  const { time, hear, pass } = setup()
  await hear(answerAt(MONDAY + 377))
  const parsed = parsePlan('windows: [Mon-Sun 22:00-05:00]')
  const openings = new Set<number>()
  for (let look = 0; look < 200; look += 1) {
    const nowUs = pass(30_000_017)
    const seen = time.timeFor(parsed, nowUs)
    // The clock goes on while it is decided.
    pass(13)
    const window = parsed.ok ? findWindow(parsed.plan, '', seen, nowUs) : undefined
    if (window?.kind === 'closed') openings.add(window.opensUs)
  }
  t.same([...openings], [5e6 + (10 * 3_600_000 - 377) * 1000])
})

t.test('the helper is asked once for the time zone, and only if a plan needs it', async (t) => {
  const { hear, at, asked, pass, changes } = setup()
  await hear(answerAt(MONDAY))
  for (const plan of ['', 'timeZone: Europe/Berlin', 'windows: [Mon-Sun 22:00-05:00]', 'windows: none']) await at(plan)
  t.same(asked, [])
  t.equal((await at(NIGHT))?.zone, undefined, 'it does not wait for the helper')
  t.match((await at(NIGHT))?.zone, { ok: true, offsets: { timeZone: 'Europe/Berlin' } })
  t.same([asked, changes()], [['Europe/Berlin'], 1])
  pass(13 * DAY_US)
  await at(NIGHT)
  t.equal(asked.length, 1)
  pass(2 * DAY_US)
  await at(NIGHT)
  t.equal(asked.length, 2, 'before what is known has an end')
  await at(NIGHT.replace('Berlin', 'Paris'))
  t.same(asked.at(-1), 'Europe/Paris')
})

t.test('what cannot be read is told, and asked for again after a minute', async (t) => {
  for (const [name, detail] of [
    ['Nowhere', /^the time zone Europe\/Nowhere cannot be read: the helper ended$/],
    ['Atlantis', /^there is no time zone Europe\/Atlantis: correct timeZone in the plan$/],
  ] as const) {
    const { hear, at, asked, pass } = setup()
    await hear(answerAt(MONDAY))
    const plan = NIGHT.replace('Berlin', name)
    await at(plan)
    t.match((await at(plan))?.zone, { ok: false, detail })
    await at(plan)
    t.equal(asked.length, 1)
    pass(61e6)
    await at(plan)
    t.equal(asked.length, 2)
  }
})

t.test('the helper is asked again where the clock of the API server was far ahead', async (t) => {
  const { hear, at, asked, pass } = setup()
  await hear(answerAt(MONDAY + 365 * 86_400_000))
  await at(NIGHT)
  await hear(answerAt(MONDAY))
  pass(61e6)
  await at(NIGHT)
  const zone = (await at(NIGHT))?.zone
  t.equal(asked.length, 2)
  t.ok(zone?.ok === true && zone.offsets.fromMs < MONDAY)
})

t.test('what is known of the time zone stays while it cannot be read anew, which is tried once a minute', async (t) => {
  let isDown = false
  const { hear, at, asked, pass } = setup((timeZone) => {
    if (isDown) throw new Error(`no answer about ${timeZone}`)
    return undefined
  })
  await hear(answerAt(MONDAY))
  await at(NIGHT)
  isDown = true
  pass(15 * DAY_US)
  for (const count of [2, 2, 3]) {
    await at(NIGHT)
    t.match((await at(NIGHT))?.zone, { ok: true, offsets: { timeZone: 'Europe/Berlin' } })
    t.equal(asked.length, count)
    pass(31e6)
  }
  const paris = NIGHT.replace('Berlin', 'Paris')
  await at(paris)
  t.match((await at(paris))?.zone, { ok: false, timeZone: 'Europe/Paris' }, 'of another time zone, nothing is known')
  await at(NIGHT)
  pass(40 * DAY_US)
  await at(NIGHT)
  t.match((await at(NIGHT))?.zone, { ok: false, timeZone: 'Europe/Berlin' })
})
