// SPDX-License-Identifier: Apache-2.0
/** The events so far in a simulated fleet, as the invariants need them. */
import type { ConfigObject, RecordObject } from './fleet-api.ts'

export interface Started {
  readonly node: string
  readonly atUs: number
  readonly by: 'own word' | 'share' | 'again' | 'no rollout'
}

export class Ledger {
  /** By hash of the content. Nodes with agents from before rollouts are left out. */
  readonly starts = new Map<string, Started[]>()
  /** How many generations began with a claim, and how many times the record was lost, by hash. */
  readonly begins = new Map<string, number>()
  readonly resets = new Map<string, number>()
  readonly writes = new Map<string, number>()
  readonly replacedAtUs = new WeakMap<RecordObject | ConfigObject, number>()
  /** By config, node and words. */
  readonly claimedAtUs = new Map<string, number>()
  /** Nodes that an administrator has excluded, also if only for a time. */
  readonly excluded = new Set<string>()
  /** When a stage was first open, by config and state. */
  readonly stageOpenedUs = new Map<string, number>()
  /** Writes of honest nodes and starts, by the uid of the config. */
  readonly progress = new Map<string, number>()
  generations = 0
  /** By guards. */
  halts = 0

  started(hash: string, start: Started): void {
    const starts = this.starts.get(hash) ?? []
    starts.push(start)
    this.starts.set(hash, starts)
  }

  count(counts: Map<string, number>, key: string): void {
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
}
