// SPDX-License-Identifier: Apache-2.0
/**
 * The ports for state on disk: the dynamic config directory and `/run`. Adapters:
 * `src/checkpoint/`, `src/report/history.ts`.
 */

import type { GotValue, PutValue, RecordName } from '../decision/record-table.ts'
import type { RecordState, RequestName, Requests, SourceName, Transition } from '../decision/records.ts'
import type { Verdict } from '../decision/verdict.ts'
import type { CheckpointFile, CheckpointInfo, ConfigMapData, ContentHash } from '../subject/config-source.ts'
import type { TrialKey } from '../subject/trial-key.ts'

/**
 * `checkpoints/<uid>/<resourceVersion>/<key>`, or with an overlay
 * `rendered/<uid>/<resourceVersion>/<overlay>/<key>`. A checkpoint never changes once its directory
 * has its final name. Unsafe names throw a `CheckpointError`.
 */
export interface Checkpoints {
  /**
   * Durable when it returns. Does nothing if the checkpoint exists with the same content, and
   * throws `content-differs` if it exists with different content.
   */
  save(uid: string, resourceVersion: string, data: ConfigMapData, overlay?: string): void
  /**
   * Saves other content for the same version, and sets the old checkpoint aside under another name.
   * Durable when it returns.
   */
  replace(uid: string, resourceVersion: string, data: ConfigMapData, why: string, overlay?: string): void
  /**
   * A hash of all files and of the key. undefined: the checkpoint is missing, incomplete or
   * permanently unreadable. Throws if it cannot be read at the moment.
   */
  content(file: CheckpointFile): ContentHash | undefined
  /**
   * Whether the file that kubelet reads is there. A ConfigMap may lack the key, or the file was
   * lost.
   */
  hasKey(file: CheckpointFile): boolean
  /**
   * Whether `content` was undefined at the last read because the disk has been failing for a while.
   * The checkpoint may not be lost.
   */
  isUnreadable(file: CheckpointFile): boolean
  /** The content by which this one is known, of which it may be another wording. */
  knownAs(content: ContentHash): ContentHash
  /** Makes the answers of `knownAs` durable before it returns. Throws if they cannot be written. */
  keepKnownAs(): void
  /**
   * undefined: the checkpoint does not exist, is incomplete or permanently unreadable. Throws if it
   * cannot be read at the moment.
   */
  data(uid: string, resourceVersion: string, overlay?: string): ConfigMapData | undefined
  /** Including those with an overlay. Without what is permanently unreadable. */
  list(): readonly CheckpointInfo[]
  remove(uid: string, resourceVersion: string, overlay?: string): void
  /** Absolute path of the file for kubelet's `--config`. */
  path(file: CheckpointFile): string
}

/** Of the records of `RECORDS`, those with these names. */
export interface RecordStore<Names extends RecordName = RecordName> {
  get<N extends Exclude<Names, SourceName>>(name: N): GotValue<N>
  /**
   * Writes only if the record changes. A record that cannot be written to /run is kept in memory:
   * nothing is thrown.
   */
  put<N extends Names>(name: N, value: PutValue<N>): void
}

/**
 * All records: in `meta/`, where they survive a reboot, and in /run. A read that finds one in
 * `meta/` that cannot be parsed sets it aside and logs that.
 */
export interface Records extends RecordStore {
  read(name: SourceName): RecordState
  /**
   * Includes verdicts that could not be written (a full disk); they stay in memory until they can.
   */
  verdicts(): ReadonlyMap<TrialKey, Verdict>
  writeVerdict(verdict: Verdict): void
  removeVerdict(key: TrialKey): void
}

/** `requests/`: requests of the command line to the running agent, or to its next start. */
export interface OperatorRequests {
  read(): Requests
  /** Removes a request that has been carried out. */
  done(request: RequestName): void
}

/**
 * `history.jsonl`: the latest transitions. Never throws: a history that cannot be written stops
 * nothing.
 */
export interface History {
  append(transition: Omit<Transition, 'atNs'>): void
}
