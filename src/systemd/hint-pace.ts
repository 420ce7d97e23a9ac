/**
 * How fast hints wake the loop. The first one does at once, since an exit of kubelet must not wait.
 * A restart then brings some ten signals within moments, which together are worth one look more.
 * A unit that changes all the time is looked at once a second, as without signals. Pure.
 */
const TOGETHER_US = 50e3
const SLOW_US = 1e6
const MOST = 20
const MOST_IN_US = 20e6

export class HintPace {
  /** The latest, oldest first. */
  #wokenAtUs: readonly number[] = []

  /** When to wake for a hint that comes now. */
  dueUs(nowUs: number): number {
    const lastUs = this.#wokenAtUs.at(-1)
    if (lastUs === undefined) return nowUs
    const recent = this.#wokenAtUs.filter((atUs) => nowUs - atUs < MOST_IN_US)
    return Math.max(nowUs, lastUs + (recent.length < MOST ? TOGETHER_US : SLOW_US))
  }

  woken(nowUs: number): void {
    this.#wokenAtUs = [...this.#wokenAtUs, nowUs].slice(-MOST)
  }
}
