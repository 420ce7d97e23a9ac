// SPDX-License-Identifier: Apache-2.0
/**
 * Tells in the history when an assignment cannot be used (`invalid`) or its ConfigMap cannot be
 * read (`download-failed`), and when that has ended (`synced`). Events are made from the first two.
 * Each fault is told once, also across restarts of the agent, and one that comes and goes is told
 * at a limited rate. Pure.
 */
import { resolveDesired } from '../decision/desired.ts'
import type { Transition } from '../decision/records.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Condition } from './reasons.ts'
import { Budget } from './request-pace.ts'

type Told = Pick<Transition, 'kind' | 'why'>

type AppendTransition = (transition: Omit<Transition, 'atNs'>) => void

/** A burst, and then the rate of faults that are told. */
const FAULTS_IN_A_ROW = 6
const FAULT_EVERY_MS = 600_000

export class SyncFaults {
  readonly #append: AppendTransition
  readonly #budget = new Budget(FAULTS_IN_A_ROW, FAULT_EVERY_MS)
  #told: Told | undefined
  #silentUntilMs = Number.NEGATIVE_INFINITY

  /** @param history of earlier agents on this node, oldest first */
  constructor(append: AppendTransition, history: readonly Transition[]) {
    this.#append = append
    const last = history.findLast(({ kind }) => kind === 'invalid' || kind === 'download-failed' || kind === 'synced')
    this.#told = last?.kind === 'synced' ? undefined : last
  }

  see(snapshot: Pick<Snapshot, 'desired' | 'now'>, condition: Condition): void {
    const fault = findFault(snapshot, condition)
    if (fault === 'unclear' || (fault?.kind === this.#told?.kind && fault?.why === this.#told?.why)) return
    const nowMs = snapshot.now.monotonicUs / 1000
    if (fault !== undefined) {
      if (nowMs < this.#silentUntilMs) return
      this.#silentUntilMs = nowMs + this.#budget.spend(nowMs)
    }
    this.#told = fault
    const { kind, why } = fault ?? { kind: 'synced', why: 'the assignment can be read and used again' }
    this.#append({ kind, from: undefined, to: undefined, why })
  }
}

/**
 * An API server that does not answer, or does not know this agent, is no fault of an assignment,
 * and no proof that one has ended.
 */
function findFault({ desired }: Pick<Snapshot, 'desired'>, { reason, message }: Condition): Told | undefined | 'unclear' {
  const missing = desired.kind === 'config-map' && desired.object.kind === 'unavailable' ? desired.object.reason : undefined
  if (missing === 'unreachable' || missing === 'unauthenticated') return 'unclear'
  if (reason === 'Invalid') return { kind: 'invalid', why: message }
  if (reason === 'DownloadFailed') return { kind: 'download-failed', why: message }
  const isStale = (desired.kind === 'local' || desired.kind === 'config-map') && desired.stale !== undefined
  return resolveDesired(desired) === undefined || isStale ? 'unclear' : undefined
}
