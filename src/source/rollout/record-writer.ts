// SPDX-License-Identifier: Apache-2.0
/**
 * Sends one write to the record: a merge patch with the resourceVersion that it was decided on.
 * Whatever the answer, the caller then reads everything again. This module counts and logs the
 * answer, and says how long to wait before that.
 */
import { configOf } from '../../decision/staging.ts'
import { sourcePath } from '../../decision/status-texts.ts'
import { describeSilence } from '../../kube/answer.ts'
import { backoffMs } from '../../kube/backoff.ts'
import type { KubeAnswer, KubeApi } from '../../ports/kube-api.ts'
import type { Log } from '../../ports/log.ts'
import type { RolloutTurn, RolloutWrite, RolloutWriteKind } from '../../rollout/view.ts'
import type { WatchTiming } from '../watch-loop.ts'
import { type RecordRef, TIMEOUT_MS } from './read-record.ts'

export interface RolloutCounters {
  rolloutWrote(kind: RolloutWriteKind): void
  rolloutConflicted(): void
}

interface RecordWriterDeps {
  readonly api: Pick<KubeApi, 'request'>
  readonly pace: Pick<WatchTiming, 'random'>
  readonly log: Log
  readonly counters: RolloutCounters
}

interface Sent {
  readonly ok: boolean
  readonly pauseMs: number
}

/** At most one write a second. */
export const RECORD_SPACING_MS = 1000
const LONGEST_PAUSE_MS = 60_000
/** Only a person grants a right, and all nodes of a fleet may miss it. */
const LONGEST_PAUSE_FORBIDDEN_MS = 600_000

export class RecordWriter {
  readonly #deps: RecordWriterDeps
  #failures = 0
  #problem: string | undefined

  constructor(deps: RecordWriterDeps) {
    this.#deps = deps
  }

  /** @returns how long to wait before everything is read anew */
  async send({ namespace, name }: RecordRef, { kind, resourceVersion, data, detail }: RolloutWrite): Promise<Sent> {
    const { api, log, counters } = this.#deps
    const answer = await api.request({
      method: 'PATCH',
      path: sourcePath({ namespace, name }),
      contentType: 'application/merge-patch+json',
      body: { metadata: { resourceVersion }, data },
      timeoutMs: TIMEOUT_MS,
    })
    if (answer.kind === 'ok') {
      this.#failures = 0
      this.#problem = undefined
      counters.rolloutWrote(kind)
      log.info(`rollout: wrote to the record ${configOf({ namespace, name })}`, { kind, wrote: detail })
      return { ok: true, pauseMs: RECORD_SPACING_MS }
    }
    if (answer.kind === 'refused' && answer.status === 409) counters.rolloutConflicted()
    else this.#report(configOf({ namespace, name }), kind, answer)
    const isForbidden = answer.kind === 'refused' && (answer.status === 401 || answer.status === 403)
    const retryAfterMs = answer.kind === 'refused' ? answer.retryAfterMs : undefined
    return { ok: false, pauseMs: this.pauseMs(retryAfterMs, isForbidden ? LONGEST_PAUSE_FORBIDDEN_MS : LONGEST_PAUSE_MS) }
  }

  /** Everything could be read, and nothing has to be written. */
  worked(): void {
    this.#failures = 0
    this.#problem = undefined
  }

  /**
   * After a failure: longer each time, and from the first on not the same on all nodes, which may
   * have written at once. Never shorter than the API server asks for.
   */
  pauseMs(retryAfterMs: number | undefined, longestMs = LONGEST_PAUSE_MS): number {
    this.#failures = Math.min(this.#failures + 1, 10)
    const ceilingMs = Math.min(longestMs, RECORD_SPACING_MS * 2 ** this.#failures)
    const { random } = this.#deps.pace
    return Math.max(ceilingMs * (0.5 + random() / 2), backoffMs(1, random, retryAfterMs))
  }

  /** With why the last write failed. */
  describe(turn: RolloutTurn): RolloutTurn {
    return this.#problem === undefined ? turn : { ...turn, detail: `${turn.detail}; ${this.#problem}` }
  }

  #report(record: string, kind: RolloutWriteKind, answer: Exclude<KubeAnswer, { kind: 'ok' }>): void {
    const isForbidden = answer.kind === 'refused' && answer.status === 403
    const why = answer.kind === 'unreachable' ? describeSilence(answer) : `${answer.status} ${answer.reason}: ${answer.detail}`
    const problem = `the record ${record} could not be written (${kind}): ${why.slice(0, LONGEST_REASON)}${isForbidden ? FORBIDDEN : ''}`
    if (problem !== this.#problem) this.#deps.log.warn(`rollout: ${problem}; the agent tries again`)
    this.#problem = problem
  }
}

const LONGEST_REASON = 300
const FORBIDDEN = '; grant patch of it by name (deploy/rbac/rollout.yaml), or see the refusal of the admission policy'
