// SPDX-License-Identifier: Apache-2.0
/**
 * The limit of a play. One that is out of time ends what it waits for, and nothing else: what it
 * cleans up after that takes the time that it needs.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** A play that does not end even then goes on beside the next one. */
const CLEAN_UP_MS = 5 * 60_000

const limits = new AsyncLocalStorage<AbortSignal>()

/**
 * Aborted when the play that asks is out of time. undefined: it has no limit, or is cleaning up
 * after it.
 */
export function outOfTime(): AbortSignal | undefined {
  const signal = limits.getStore()
  return signal?.aborted === true ? undefined : signal
}

/** Throws if `play` takes longer. Returns when `play` has ended, so that nothing of it is left. */
export async function playWithin(timeoutMs: number, play: () => Promise<void>, cleanUpMs = CLEAN_UP_MS): Promise<void> {
  const limit = new AbortController()
  const { signal } = limit
  const timer = setTimeout(() => limit.abort(new Error(`the scenario took longer than ${timeoutMs} ms`)), timeoutMs)
  const played = limits.run(signal, play)
  const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
  try {
    await Promise.race([played, aborted])
  } catch (error) {
    if (!signal.aborted) throw error
    await untilEnded(played, cleanUpMs)
    throw signal.reason
  } finally {
    clearTimeout(timer)
  }
}

async function untilEnded(played: Promise<void>, limitMs: number): Promise<void> {
  const ended = new AbortController()
  const giveUp = sleep(limitMs, undefined, { signal: ended.signal }).then(
    () => console.log(`  ! it has not ended within ${limitMs} ms after that: what follows runs beside it`),
    () => {},
  )
  const end = played.catch(() => {}).then(() => ended.abort())
  await Promise.race([end, giveUp])
}
