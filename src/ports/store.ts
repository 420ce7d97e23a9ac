/**
 * The ports for state on disk: the dynamic config directory and `/run`. Adapters:
 * `src/checkpoint/`, `src/report/history.ts`.
 */
import type { CheckpointFile, CheckpointInfo, ConfigMapData, ConfigSource, ContentHash } from '../decision/config-source.ts'
import type { ChannelState } from '../decision/desired.ts'
import type {
  LeftRecord,
  ObservationRecord,
  RecordName,
  RecordState,
  RequestName,
  Requests,
  RestartRecord,
  SpreadRecord,
  Transition,
  TrialBoots,
} from '../decision/records.ts'
import type { RolloutKnowledge, Staging } from '../decision/staging-state.ts'
import type { TrialKey } from '../decision/trial-key.ts'
import type { Verdict } from '../decision/verdict.ts'
import type { EvidenceRecord, KeptBaseline } from '../evidence/kinds.ts'
import type { HealthRecord } from '../health/fold.ts'

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
   * When it was last read, `content` was undefined because the disk has been failing for a while.
   * It may not be lost.
   */
  isUnreadable(file: CheckpointFile): boolean
  /** The content by which this one is known, of which it may be another wording. */
  knownAs(content: ContentHash): ContentHash
  /** What `knownAs` answers is durable when it returns. Throws if it cannot be written. */
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

/**
 * `meta/`: the records that survive a reboot. A read that finds a record that cannot be parsed sets
 * it aside and logs that.
 */
export interface Records {
  read(name: RecordName): RecordState
  /**
   * Whether the record was ever written, and is not lost. `read` takes one that is not for local.
   */
  has(name: RecordName): boolean
  /** Writes only if the record changes. */
  write(name: RecordName, source: ConfigSource): void
  /** undefined: nothing is left. `damaged`: it was, and has not been written since. */
  left(): LeftRecord | 'damaged' | undefined
  writeLeft(left: LeftRecord): void
  /** What passed its trial last. It may not be last-known-good yet. */
  proven(): TrialKey | undefined
  /** undefined: nothing is proven any more. */
  writeProven(key: TrialKey | undefined): void
  trialBoots(): TrialBoots | undefined
  /** undefined: the trial that they were recorded for has ended. */
  writeTrialBoots(trialBoots: TrialBoots | undefined): void
  baseline(): KeptBaseline | undefined
  /**
   * undefined: nothing is compared with it any more. If the write fails, it is done again at the
   * next look; nothing is thrown.
   */
  writeBaseline(kept: KeptBaseline | undefined): void
  /** The last one that the agent requested. */
  restart(): RestartRecord | undefined
  /** Never throws: it only tells what would else be lost with /run. */
  writeRestart(record: RestartRecord | undefined): void
  /** `damaged`: it was, and has not been written since. */
  channelState(): ChannelState | 'damaged' | undefined
  writeChannelState(state: ChannelState): void
  /** The configs that have a rollout. `damaged`: as above. */
  stagings(): readonly Staging[] | 'damaged'
  writeStagings(stagings: readonly Staging[]): void
  /**
   * Includes verdicts that could not be written (a full disk); they stay in memory until they can.
   */
  verdicts(): ReadonlyMap<TrialKey, Verdict>
  writeVerdict(verdict: Verdict): void
  removeVerdict(key: TrialKey): void
}

/**
 * `/run`: records of this boot. If a write fails, the record is kept in memory; nothing is thrown.
 */
export interface RuntimeRecords {
  health(): HealthRecord | undefined
  writeHealth(record: HealthRecord): void
  restarts(): readonly RestartRecord[]
  writeRestarts(records: readonly RestartRecord[]): void
  spread(): SpreadRecord | undefined
  writeSpread(record: SpreadRecord): void
  evidence(): EvidenceRecord | undefined
  writeEvidence(record: EvidenceRecord): void
  observation(): ObservationRecord | undefined
  writeObservation(record: ObservationRecord): void
  /** What was known of the record last: for commands, which do not read it. */
  rolloutTurn(): RolloutKnowledge | undefined
  writeRolloutTurn(knowledge: RolloutKnowledge): void
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
