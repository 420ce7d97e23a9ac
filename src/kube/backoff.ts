/**
 * How long to leave an API server alone after failures: exponentially longer with full jitter, so that a fleet whose server comes back does not ask in one
 * instant, and never less than the server said (Retry-After, RFC 9110). Pure.
 */

const FIRST_MS = 1000
const CAP_MS = 60_000
/** A server that asks for more than this is not believed. */
const RETRY_AFTER_CAP_MS = 3600_000

/** `failures`: how many in a row, from 1. `random`: in [0, 1). */
export function backoffMs(failures: number, random: () => number, retryAfterMs = 0): number {
  const ceilingMs = Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(failures, 16))
  // A fleet that is told the same Retry-After must not come back in one instant either.
  const heldMs = Math.min(retryAfterMs, RETRY_AFTER_CAP_MS) * (1 + 0.2 * random())
  return Math.max(random() * ceilingMs, heldMs)
}
