/** The ports for state on disk: the dynamic config directory and `/run`. Adapters: `src/checkpoint/`, `src/report/history.ts`. */
import type { CheckpointFile, CheckpointInfo, ConfigMapData, ConfigSource, ContentHash } from '../decision/config-source.ts'
import type { ChannelState } from '../decision/desired.ts'
import type { HealthRecord } from '../decision/health.ts'
import type { RecordName, RecordState, Requests, RestartRecord, SpreadRecord, Transition } from '../decision/records.ts'
import type { TrialKey } from '../decision/trial-key.ts'
import type { Verdict } from '../decision/verdict.ts'

/**
 * `checkpoints/<uid>/<resourceVersion>/<key>`, and `rendered/<uid>/<resourceVersion>/<overlay>/<key>` where an overlay is named: immutable once named. Unsafe
 * names throw a `CheckpointError`.
 */
export interface Checkpoints {
  /** Durable when it returns; nothing to do where it exists with the same content. Throws `content-differs` where it exists with another. */
  save(uid: string, resourceVersion: string, data: ConfigMapData, overlay?: string): void
  /** The same version with other content: what was there is kept under a name that says it was set aside. Durable when it returns. */
  replace(uid: string, resourceVersion: string, data: ConfigMapData, why: string, overlay?: string): void
  /** undefined: missing, incomplete, or unreadable for good. Every file's bytes and the key go in. Throws where it cannot be read just now. */
  content(file: CheckpointFile): ContentHash | undefined
  /** It has no content because the disk has not given it up for a while, as of the last look: whether it is lost nobody knows. */
  isUnreadable(file: CheckpointFile): boolean
  /** undefined: no such checkpoint. */
  data(uid: string, resourceVersion: string, overlay?: string): ConfigMapData | undefined
  /** Renderings too. */
  list(): readonly CheckpointInfo[]
  remove(uid: string, resourceVersion: string, overlay?: string): void
  /** Absolute path of the file that kubelet's `--config` names. */
  path(file: CheckpointFile): string
}

/** `meta/`: what must outlive a reboot. A record that cannot be parsed is set aside by the read that finds it, and said. */
export interface Records {
  read(name: RecordName): RecordState
  /** Writes only on change. */
  write(name: RecordName, source: ConfigSource): void
  proven(): TrialKey | undefined
  /** undefined: nothing is proven any more. */
  writeProven(key: TrialKey | undefined): void
  channelState(): ChannelState | undefined
  writeChannelState(state: ChannelState): void
  /** Verdicts that could not be written (a full disk) are remembered in memory until they can. */
  verdicts(): ReadonlyMap<TrialKey, Verdict>
  writeVerdict(verdict: Verdict): void
  removeVerdict(key: TrialKey): void
}

/** `/run`: what ends with the boot. A write that fails is kept in memory and does not throw. */
export interface RuntimeRecords {
  health(): HealthRecord | undefined
  writeHealth(record: HealthRecord): void
  restarts(): readonly RestartRecord[]
  writeRestarts(records: readonly RestartRecord[]): void
  spread(): SpreadRecord | undefined
  writeSpread(record: SpreadRecord): void
}

/** `requests/`: what the command line asks of the running agent, or of its next start. */
export interface OperatorRequests {
  read(): Requests
  /** The request has been carried out. */
  done(request: 'rollback' | 'retry'): void
}

/** `history.jsonl`: every transition, bounded. Never throws: a history that cannot be written stops nothing. */
export interface History {
  append(transition: Omit<Transition, 'atNs'>): void
}
