/**
 * Since when what decides on this node cannot be read: what was heard before still stands, and nothing but the condition of the Node is judged by
 * this. Pure; one mark for each thing that is followed, from the first failure until the next answer.
 */
import type { Stale } from '../decision/desired.ts'

export class Freshness {
  readonly #stale = new Map<Stale['what'], Stale>()

  failed(what: Stale['what'], reason: Stale['reason'], nowMs: number): void {
    this.#stale.set(what, { what, reason, sinceUs: this.#stale.get(what)?.sinceUs ?? nowMs * 1000 })
  }

  /** It was heard, or is no longer followed. */
  clear(what: Stale['what']): void {
    this.#stale.delete(what)
  }

  /** What has not been heard for longest. undefined: all of it can be read. */
  oldest(): Stale | undefined {
    return [...this.#stale.values()].sort((a, b) => a.sinceUs - b.sinceUs)[0]
  }
}
