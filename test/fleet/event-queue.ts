// SPDX-License-Identifier: Apache-2.0
/**
 * Simulated time: what happens next, in a binary heap. Events of one time run in the order in which
 * they were added.
 */

interface Entry {
  readonly atUs: number
  readonly order: number
  readonly run: () => void
}

export class EventQueue {
  readonly #heap: Entry[] = []
  #order = 0
  nowUs = 0

  after(delayUs: number, run: () => void): void {
    this.at(this.nowUs + Math.max(0, delayUs), run)
  }

  at(atUs: number, run: () => void): void {
    const entry = { atUs: Math.max(atUs, this.nowUs), order: this.#order++, run }
    const heap = this.#heap
    let index = heap.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent]
      if (above === undefined || !isBefore(entry, above)) break
      heap[index] = above
      index = parent
    }
    heap[index] = entry
  }

  /** Runs all events up to this time. @returns how many */
  runUntil(untilUs: number): number {
    let count = 0
    for (let next = this.#heap[0]; next !== undefined && next.atUs <= untilUs; next = this.#heap[0]) {
      this.#removeFirst()
      this.nowUs = next.atUs
      next.run()
      count += 1
    }
    this.nowUs = untilUs
    return count
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let index = 0
    for (;;) {
      const left = heap[2 * index + 1]
      const right = heap[2 * index + 2]
      if (left === undefined) break
      const isRight = right !== undefined && isBefore(right, left)
      const child = isRight ? right : left
      if (!isBefore(child, last)) break
      heap[index] = child
      index = 2 * index + (isRight ? 2 : 1)
    }
    heap[index] = last
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atUs < b.atUs || (a.atUs === b.atUs && a.order < b.order)
}
