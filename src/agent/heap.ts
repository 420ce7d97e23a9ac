// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps the memory of a mostly idle process small and flat. By default V8 trades memory for speed:
 * its nursery grows, it compiles hot functions, it collects old garbage only when the heap has
 * grown by half, which takes hours, and it keeps the pages that a collection frees. Measured after
 * some changes of the config: 33.7 MiB of anonymous memory before such a collection, 26.0 after it.
 *
 * The flags are V8's (flag-definitions.h). They may be set at run time, since V8 reads each one
 * where it uses it. Those that count earlier are in the launcher.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const FLAGS = [
  '--semi-space-growth-factor=1',
  // Machine code of functions: an agent that waits runs each of them too rarely.
  ...['--no-opt', '--no-maglev', '--no-sparkplug'],
  // Bytecode of a function that has not run since the last collection is dropped, and made again
  // from its source when it runs.
  '--bytecode-old-age=1',
  '--expose-gc',
]

/** A quiet agent is small again after this time at the latest. */
const LOOK_MS = 60_000
/**
 * A collection takes some 45 ms, and an agent that waits grows after each one by the half of this,
 * since code that runs now and then is compiled again. Garbage from changes of the config is more.
 */
const WORTHWHILE_BYTES = 1 << 20

/**
 * Also gives free pages back to the system. Node.js 20 knows no such options, and with any it
 * collects the nursery alone.
 */
const COLLECT = Number.parseInt(process.versions.node, 10) < 22 ? 'gc()' : "gc({ type: 'major', flavor: 'last-resort' })"

/** @param everyMs how often to look whether a collection is worthwhile */
export function keepHeapSmall(everyMs = LOOK_MS): void {
  for (const flag of FLAGS) setFlagsFromString(flag)
  const collect: unknown = runInNewContext(`() => ${COLLECT}`)
  if (typeof collect !== 'function') return
  const growth = new HeapGrowth()
  setInterval(() => {
    if (!growth.isWorthwhile(sizeOfHeap())) return
    collect()
    growth.collected(sizeOfHeap())
  }, everyMs).unref()
}

/** Decides when a collection is worthwhile, by the size of the heap in bytes. Pure. */
export class HeapGrowth {
  /** Bytes: the heap that the last collection left, or the smallest that was seen since. */
  #left = 0
  /** Whether the next collection is believed. The first one is. */
  #isConfirming = true

  isWorthwhile(size: number): boolean {
    if (this.#hasGrown(size)) return true
    this.#left = Math.min(this.#left, size)
    return false
  }

  /** A collection beside a large object that is used for a moment leaves it: a second one tells. */
  collected(size: number): void {
    this.#isConfirming = !this.#isConfirming && this.#hasGrown(size)
    if (!this.#isConfirming) this.#left = size
  }

  #hasGrown(size: number): boolean {
    return size >= this.#left + WORTHWHILE_BYTES
  }
}

/** Resident memory also contains pages that no collection frees: those of files, and of malloc. */
function sizeOfHeap(): number {
  const { total_heap_size, external_memory } = getHeapStatistics()
  return total_heap_size + external_memory
}
