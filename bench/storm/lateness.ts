// SPDX-License-Identifier: Apache-2.0
/** How late writes were, from the time when each was due to its success. Pure. */
import { percentile } from '../statistics.ts'

export interface Written {
  readonly dueMs: number
  readonly doneMs: number
  /** How often it was answered 429. */
  readonly refused: number
  /** How often it was not answered, or with another error. */
  readonly failed: number
}

export interface Lateness {
  readonly writes: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  readonly refused: number
  readonly failed: number
}

/** @param readyMs what was due while the server was away counts from its return */
export function lateness(written: readonly Written[], readyMs = Number.NEGATIVE_INFINITY): Lateness {
  const late = written.map(({ dueMs, doneMs }) => Math.max(0, doneMs - Math.max(dueMs, readyMs)))
  const sum = (what: 'refused' | 'failed'): number => written.reduce((total, write) => total + write[what], 0)
  return {
    writes: written.length,
    p50Ms: percentile(late, 50),
    p99Ms: percentile(late, 99),
    maxMs: percentile(late, 100),
    refused: sum('refused'),
    failed: sum('failed'),
  }
}
