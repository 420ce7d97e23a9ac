// SPDX-License-Identifier: Apache-2.0
/**
 * The one way in which a test against real processes waits: for a condition, with a deadline, never
 * for a time.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { outOfTime } from './deadline.ts'

/**
 * A limit only ends a hang. Where lanes run side by side on few cores, all takes longer than on an
 * idle machine, by which the limits are named.
 */
const SLOWER = 3

/** The longer it has waited, the less often it asks: each question takes CPU from all lanes. */
const SHORTEST_MS = 100
const LONGEST_MS = 500
const PER_WAIT = 16

/**
 * Polls until `probe` returns something other than undefined or false, and returns that. An
 * exception counts as "not yet"; the last one is the cause when time runs out. Throws at once where
 * the whole play is out of time. `intervalMs` is for what does not last, or is costly to ask:
 * it asks as often all the time.
 */
export async function eventually<T>(
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  options: { readonly what: string; readonly timeoutMs?: number; readonly intervalMs?: number },
): Promise<T> {
  const timeoutMs = SLOWER * (options.timeoutMs ?? 30_000)
  const startedAt = performance.now()
  const playIsOver = outOfTime()
  let last: unknown
  const waitedMs = () => performance.now() - startedAt
  while (waitedMs() < timeoutMs) {
    playIsOver?.throwIfAborted()
    try {
      const value = await probe()
      if (value !== undefined && value !== false) return value
      last = undefined
    } catch (error) {
      last = error
    }
    await sleep(options.intervalMs ?? Math.min(LONGEST_MS, Math.max(SHORTEST_MS, waitedMs() / PER_WAIT)))
  }
  const why = last === undefined ? '' : `: ${last instanceof Error ? last.message : String(last)}`
  throw new Error(`not within ${timeoutMs} ms: ${options.what}${why}`, { cause: last })
}
