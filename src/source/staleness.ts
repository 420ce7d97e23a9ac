/**
 * Since when the Node, the ConfigMap, those under it and the fleet cannot be read. What was read
 * before stays in effect; only the condition of the Node depends on this. Pure. Each object is
 * stale from its first failure until the next successful answer.
 */
import type { Stale } from '../decision/desired.ts'

export class Staleness {
  readonly #stale = new Map<string, Stale>()

  /** @param path of one of several objects of this kind */
  failed(what: Stale['what'], reason: Stale['reason'], nowMs: number, path = ''): void {
    const key = `${what} ${path}`
    this.#stale.set(key, { what, reason, sinceUs: this.#stale.get(key)?.sinceUs ?? nowMs * 1000 })
  }

  /**
   * It was read, or is no longer watched.
   * @returns whether it was stale
   */
  clear(what: Stale['what'], path = ''): boolean {
    return this.#stale.delete(`${what} ${path}`)
  }

  /** The one that has been stale for longest. undefined: all of them can be read. */
  oldest(): Stale | undefined {
    return [...this.#stale.values()].sort((a, b) => a.sinceUs - b.sinceUs)[0]
  }
}
