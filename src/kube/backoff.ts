// SPDX-License-Identifier: Apache-2.0
/** How long to wait for the API server. Pure. */

const FIRST_MS = 1000
const CAP_MS = 60_000

/**
 * How long to wait before the next request after failures: exponential backoff with full jitter, so
 * a fleet does not send all its requests at once when its API server comes back, and never less
 * than Retry-After (RFC 9110).
 * @param failures in a row, from 1
 * @param random in [0, 1)
 */
export function backoffMs(failures: number, random: () => number, retryAfterMs = 0): number {
  const ceilingMs = Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(failures, 16))
  // Jitter here too: a whole fleet may get the same Retry-After.
  const requestedMs = retryAfterMs * (1 + 0.2 * random())
  return Math.max(random() * ceilingMs, requestedMs)
}

/**
 * Waits for a promise no longer than a signal lets it. The underlying work is not cancelled.
 * undefined: the signal aborted first.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined
  return new Promise((resolve, reject) => {
    const abort = (): void => resolve(undefined)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
