/**
 * How long a step that failed is left alone: longer each time, and other steps go on meanwhile. A
 * step may also run on in the background, and fail only later.
 */
import type { Snapshot, Trouble } from '../decision/snapshot.ts'
import { type Action, aboutOf } from '../decision/step.ts'

const FIRST_RETRY_US = 1e6
const LAST_RETRY_US = 60e6

interface LastTrouble extends Trouble {
  readonly pauseUs: number
}

/** One try of a step. */
export interface Attempt {
  readonly step: Action
  /** What came of the try before. undefined: it had not failed. */
  readonly before: LastTrouble | undefined
}

export class StepBackoff {
  /** The last trouble of each step that failed, by its kind and by what it was about. */
  readonly #troubles = new Map<string, LastTrouble>()
  /** The last trouble of each step that is tried again and still runs in the background. */
  readonly #pending = new Map<string, LastTrouble>()

  list(): readonly Trouble[] {
    return [...this.#troubles.values()]
  }

  begin(step: Action): Attempt {
    const key = keyOf(step)
    const before = this.#troubles.get(key) ?? this.#pending.get(key)
    this.#troubles.delete(key)
    this.#pending.delete(key)
    return { step, before }
  }

  /** The step goes on in the background. */
  goesOn({ step, before }: Attempt): void {
    if (before !== undefined) this.#pending.set(keyOf(step), before)
  }

  /** @returns whether it failed otherwise than the last time, which is worth a line in the log */
  failed({ step, before }: Attempt, detail: string, nowUs: number): boolean {
    const pauseUs = Math.min(LAST_RETRY_US, (before?.pauseUs ?? FIRST_RETRY_US / 2) * 2)
    this.#troubles.set(keyOf(step), {
      step: step.kind,
      about: aboutOf(step),
      detail,
      retryAtUs: nowUs + pauseUs,
      sinceUs: before?.sinceUs ?? nowUs,
      pauseUs,
    })
    return before?.detail !== detail
  }

  /** Forgets those that are due: no rule wants their steps any more. */
  forgetDue({ now, preflightPending }: Snapshot): void {
    for (const [key, { retryAtUs }] of this.#troubles) if (now.monotonicUs >= retryAtUs) this.#troubles.delete(key)
    if (preflightPending.size === 0) this.#pending.clear()
  }
}

function keyOf(step: Action): string {
  return `${step.kind} ${aboutOf(step)}`
}
