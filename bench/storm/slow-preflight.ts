// SPDX-License-Identifier: Apache-2.0
/**
 * Preflight as an agent meets it: the answer comes from another process, after as long as kubelet's
 * own binary takes. Nothing is checked: it refuses one text.
 */
import type { PreflightResult } from '../../src/decision/verdict.ts'
import { keyOf, type Preflight, type PreflightRequest } from '../../src/ports/preflight.ts'
import type { TrialKey } from '../../src/subject/trial-key.ts'

/** Measured by `--only change`, with kubelet in its sandbox, on busy and on idle nodes. */
const LEAST_MS = 100
const MOST_MS = 700

export class SlowPreflight implements Pick<Preflight, 'check' | 'pending'> {
  readonly #refuses: string
  readonly #onDone: () => void
  readonly #pending = new Set<TrialKey>()
  readonly #done = new Set<TrialKey>()

  constructor(refuses: string, onDone: () => void) {
    this.#refuses = refuses
    this.#onDone = onDone
  }

  async check({ data, source, localPath, key, fallback }: PreflightRequest): Promise<PreflightResult> {
    if (!fallback && !this.#done.delete(key)) {
      this.#begin(key)
      return { kind: 'pending' }
    }
    const isRefused = data[keyOf({ source, localPath })] === this.#refuses
    return isRefused
      ? { kind: 'refused', reason: 'validate', detail: 'maxPods: Invalid value: -1: must be greater than or equal to 0' }
      : { kind: 'accepted', remarks: [], drain: [] }
  }

  pending(): ReadonlySet<TrialKey> {
    return this.#pending
  }

  #begin(key: TrialKey): void {
    if (this.#pending.has(key)) return
    this.#pending.add(key)
    setTimeout(
      () => {
        this.#pending.delete(key)
        this.#done.add(key)
        this.#onDone()
      },
      LEAST_MS + Math.random() * (MOST_MS - LEAST_MS),
    )
  }
}
