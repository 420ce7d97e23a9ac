// SPDX-License-Identifier: Apache-2.0
/**
 * The time in a rollout, for the windows of its plan: that of the API server, which each of its
 * answers tells, and CLOCK_MONOTONIC since. The clock of a node may be wrong. The offsets of the
 * time zone come from the helper, which is asked in the background.
 */
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { ParsedPlan } from '../../rollout/plan.ts'
import type { RolloutTime, ZoneAnswer } from '../../rollout/view.ts'
import { DAY_MS, WINDOW_LOOKAHEAD_MS, WINDOW_LOOKBACK_MS } from '../../rollout/windows.ts'
import { MINUTE_US, SECOND_US } from '../../values/durations.ts'
import { errorMessage } from '../../values/errors.ts'

/** Asks the helper. Rejects where that cannot answer. */
export type AskTimeZone = (timeZone: string, fromMs: number, untilMs: number) => Promise<ZoneAnswer>

interface RolloutClockDeps {
  readonly clock: Clock
  readonly askTimeZone: AskTimeZone
  /** Called when the time zone is known. */
  readonly onChange: () => void
}

/** An answer says the second. Between two servers there may be some more. */
const JITTER_US = 2.5 * SECOND_US
/** The offsets are read for so much longer than is needed, and anew when that is over. */
const SPARE_MS = 14 * DAY_MS
/** Between two questions that failed. */
const ASK_AGAIN_US = MINUTE_US

export class RolloutClock {
  readonly #deps: RolloutClockDeps
  /** Server's time less CLOCK_MONOTONIC. undefined: no answer has told it yet. */
  #aheadUs: number | undefined
  #zone: ZoneAnswer | undefined
  #isAsking = false
  /** The time zone of the last question. */
  #askedAbout: string | undefined
  #notBeforeUs = 0

  constructor(deps: RolloutClockDeps) {
    this.#deps = deps
  }

  /** The same API server, to whose answers this clock listens. */
  listenTo(api: KubeApi): KubeApi {
    return {
      watch: (request) =>
        api.watch({
          ...request,
          onOpen: (serverMs) => {
            this.#hear(serverMs)
            request.onOpen?.(serverMs)
          },
        }),
      request: async (request) => {
        const answer = await api.request(request)
        if (answer.kind === 'ok') this.#hear(answer.serverMs)
        return answer
      },
    }
  }

  /**
   * The time for a decision on this plan. Asks for the time zone where it needs one that is not
   * known.
   *
   * @param nowUs as the decision has it: two readings of the clock would move each opening a little
   * @returns undefined: not known yet
   */
  timeFor(plan: ParsedPlan, nowUs: number): RolloutTime | undefined {
    if (this.#aheadUs === undefined) return undefined
    const nowMs = (this.#aheadUs + nowUs) / 1000
    if (plan.ok && plan.plan.windows.length > 0 && plan.plan.timeZone !== 'UTC') this.#prepare(plan.plan.timeZone, nowMs)
    return { nowMs, zone: this.#zone }
  }

  #hear(serverMs: number | undefined): void {
    if (serverMs === undefined) return
    const aheadUs = serverMs * 1000 - this.#deps.clock.now().monotonicUs
    // A small change would only move the times that nodes wait for.
    if (this.#aheadUs === undefined || Math.abs(aheadUs - this.#aheadUs) > JITTER_US) this.#aheadUs = aheadUs
  }

  #prepare(timeZone: string, nowMs: number): void {
    const isKnown = covers(this.#zone, timeZone, nowMs - WINDOW_LOOKBACK_MS, nowMs + WINDOW_LOOKAHEAD_MS)
    const isPaused = this.#askedAbout === timeZone && this.#deps.clock.now().monotonicUs < this.#notBeforeUs
    if (!isKnown && !isPaused && !this.#isAsking) void this.#ask(timeZone, nowMs)
  }

  async #ask(timeZone: string, nowMs: number): Promise<void> {
    const { askTimeZone, clock, onChange } = this.#deps
    this.#isAsking = true
    this.#askedAbout = timeZone
    const [fromMs, untilMs] = [nowMs - WINDOW_LOOKBACK_MS - DAY_MS, nowMs + WINDOW_LOOKAHEAD_MS + SPARE_MS]
    const zone = await askTimeZone(timeZone, fromMs, untilMs).catch((error: unknown): ZoneAnswer => {
      return { ok: false, timeZone, detail: `the time zone ${timeZone} cannot be read: ${errorMessage(error)}` }
    })
    // A known time zone holds on, also at an opening.
    if (zone.ok || !covers(this.#zone, timeZone, nowMs, nowMs)) this.#zone = zone
    this.#isAsking = false
    this.#notBeforeUs = clock.now().monotonicUs + ASK_AGAIN_US
    onChange()
  }
}

function covers(zone: ZoneAnswer | undefined, timeZone: string, fromMs: number, untilMs: number): boolean {
  if (zone?.ok !== true || zone.offsets.timeZone !== timeZone) return false
  return zone.offsets.fromMs <= fromMs && untilMs < zone.offsets.untilMs
}
