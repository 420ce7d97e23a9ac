// SPDX-License-Identifier: Apache-2.0
/**
 * One field of the Node that the agent keeps up to date, as a contract: how it is read, compared
 * and written, and when. `FieldWork` keeps one of them, and `NodeWork` writes all of them. Pure.
 */
import type { Clock } from '../ports/clock.ts'
import type { KubeApi, KubeRequest } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'

export interface WorkOptions {
  readonly api: KubeApi
  readonly nodeName: string
  readonly clock: Clock
  readonly log: Log
  /** In [0, 1). */
  readonly random: () => number
}

/** When a value may be written. */
export interface WantedWhen {
  /**
   * The cause of the value also keeps it from being written, so it may be outdated once it can be.
   * Then the Node is only read until the server has answered for a while.
   */
  readonly cutOff?: boolean | undefined
  /** CLOCK_MONOTONIC. Not before: all nodes have something to write at the same moment. */
  readonly slotUs?: number | undefined
}

/** `Seen`: the field as the server shows it, which may have more in it than `Wanted`. */
export interface NodeField<Wanted, Seen = Wanted> {
  /** For the log. */
  readonly name: string
  /** The log level of a write. The transitions behind it have log lines of their own. */
  readonly announce: 'info' | 'debug'
  /** The file in deploy/rbac that grants the right to write it. */
  readonly grantedBy: string
  /** Logged once when the server drops the field. */
  readonly dropped: string
  /** Servers of today do not have the field, so that they drop it is no warning. */
  readonly mayBeDropped?: true
  /**
   * The value to write depends on the one that the server has: read that before the first write.
   */
  readonly readsFirst: boolean
  /** The burst and then the rate of requests. Absent: no limit in the long run. */
  readonly longRun?: { readonly inARow: number; readonly everyMs: number }
  /** Written when publishing is switched off. Absent: the field stays as it is. */
  readonly finalValue?: Wanted
  read(node: unknown): Seen | 'absent'
  shows(seen: Seen | 'absent', wanted: Wanted): boolean
  /**
   * Whether a write must not wait for the budget, because the value on the server is misleading.
   */
  isUrgent?(seen: Seen | 'absent', wanted: Wanted): boolean
  same(a: Wanted, b: Wanted): boolean
  /** @param before the value on the server, if it is known */
  write(nodeName: string, wanted: Wanted, before: Seen | 'absent' | undefined, wallMs: number): Omit<KubeRequest, 'method'>
}

/**
 * For a state that may keep changing back and forth. An ordinary rollout does not reach the limit.
 */
export const LONG_RUN = { inARow: 60, everyMs: 10_000 } as const
