// SPDX-License-Identifier: Apache-2.0
/**
 * The ports for kubelet's systemd unit: systemd's word on it, and the journal's. Adapters:
 * `src/systemd/`.
 */
import type { RestartOutcome } from '../decision/effects-of-answer.ts'
import type { UnitState } from '../subject/unit-state.ts'

export interface Unit {
  observe(): Promise<UnitState>
  /**
   * Whether the process of that observation still runs, without running systemctl. false: no, or
   * unknown.
   */
  stillRuns(seen: UnitState): boolean
  /**
   * Tells systemd to restart kubelet, and does not wait for it: `reset-failed` where that has an
   * effect, then `try-restart`, or `start` if the unit is failed, or `restart` if it is starting or
   * waits for its next start. Never starts a unit that an operator stopped, unless that happens
   * while these commands run. undefined: they were cut off, and systemd may have been told or not.
   */
  restart(activity: 'failed' | 'other'): Promise<RestartOutcome | undefined>
}

/** How the starts of the unit ended. */
export interface UnitJobs {
  /**
   * When the latest start of the unit in this boot came to nothing since a unit that it requires
   * had failed, by CLOCK_MONOTONIC. undefined: there was none, or nothing tells. Never rejects.
   */
  dependencyFailedUs(): Promise<number | undefined>
}

/**
 * Says whether systemd is heard on the unit. A signal only wakes the loop: what it says is not
 * read.
 */
export interface UnitSignals {
  /**
   * Since when systemd is listened to and has said nothing of the unit, by CLOCK_MONOTONIC.
   * undefined: it is not listened to.
   */
  quietSinceUs(): number | undefined
}

/** Where nothing can be heard, systemd is asked. */
export const DEAF: UnitSignals = { quietSinceUs: () => undefined }

/** The last words of a process of kubelet before it exited. */
export interface LastWords {
  /**
   * In one line, bounded, and without control characters or secrets. undefined: it said nothing, or
   * the journal cannot be read. Never rejects.
   * @param invocationId systemd's name for one start of the unit (systemd.exec(5),
   *   "$INVOCATION_ID")
   */
  of(invocationId: string): Promise<string | undefined>
}

export interface FirstWords {
  /**
   * The first lines of its log, as it wrote them, bounded. undefined: the journal cannot be read.
   * Never rejects.
   */
  atStart(invocationId: string): Promise<string | undefined>
}
