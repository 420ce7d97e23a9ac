/**
 * The ports of the agent: what it needs of the world, as interfaces. Adapters implement them, `main.ts` joins them,
 * and the simulation (test/sim) puts an in-memory world behind them.
 */
import type { Desired, Heard } from './desired.ts'
import type {
  CheckpointInfo,
  ConfigMapData,
  ConfigMapSource,
  ConfigSource,
  ContentHash,
  HealthRecord,
  Instant,
  RecordState,
  Requests,
  RestartRecord,
  SpreadRecord,
  Transition,
  TrialKey,
  UnitState,
  Verdict,
  Wiring,
} from './model.ts'
import type { KnownUnit } from './unit-state.ts'

export interface Clock {
  now(): Instant
}

/**
 * Durable file operations, synchronous on purpose (measured: 2.2 ms against 3.0 ms to durable). Every method that changes
 * something returns only when the change and its directory entry are on disk, and throws a `FileError` otherwise. After a throw
 * from `replace`, the old file is intact. Paths are absolute.
 */
export interface Files {
  /** undefined: no such file. Throws on anything else. */
  read(path: string): Buffer | undefined
  /** Entry names, sorted; undefined: no such directory. */
  list(path: string): string[] | undefined
  /** undefined: nothing there. Symbolic links are not followed. */
  stat(path: string): FileFacts | undefined
  /** Creates the directory and its missing parents; fine if it exists. */
  makeDirectory(path: string, mode?: number): void
  /** Atomic and verified: afterwards the file holds exactly these bytes, or the old ones and an error is thrown. */
  replace(path: string, bytes: Uint8Array | string, options?: { mode?: number }): void
  rename(from: string, to: string): void
  /** Removes a file; fine if there is none. */
  remove(path: string): void
  /** Removes a directory and what is in it; fine if there is none. */
  removeTree(path: string): void
  /** Appends one line; not synced, since it only informs. */
  append(path: string, text: string): void
}

export interface FileFacts {
  readonly kind: 'file' | 'directory' | 'other'
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly size: number
  readonly mtimeMs: number
  /** Changes whenever the file is replaced: device, inode, size, mtime and ctime in nanoseconds. */
  readonly identity: string
}

/** Where assignments come from: the cluster, or a directory of manifests. */
export interface AssignmentSource {
  /** The latest view, from memory. Keeps the last known answer while the server is away. */
  desired(): Desired
  /** Starts to watch. `onChange` only wakes the loop. Returns at once. */
  start(onChange: () => void): void
  stop(): Promise<void>
}

export type CommandOutcome = { readonly ok: true } | { readonly ok: false; readonly detail: string }

/** Kubelet's unit under systemd. */
export interface Unit {
  observe(): Promise<UnitState>
  /** Whether the process of that look still runs, without asking systemd. false: it does not, or that cannot be told. */
  stillRuns(seen: UnitState): boolean
  /**
   * Asks systemd, without waiting, to run kubelet anew: `reset-failed` where it does something, then `try-restart` (or `start` where the unit is failed).
   * Never starts what a person stopped.
   */
  restart(activity: 'failed' | 'other'): Promise<CommandOutcome>
}

/** What kubelet will start with next. Two kinds: see Wiring. Each call dispatches on `wiring.activation`. */
export interface Activation {
  read(wiring: ReadyWiring): ActivationState
  /** Makes ready what a fallback to this source needs, so that `activate` of it is then one rename or unlink. Idempotent. */
  stage(fallback: ConfigSource, wiring: ReadyWiring): void
  /** Durable when it returns. Uses what was staged where that fits, so that it works on a full disk. Idempotent. */
  activate(target: ConfigSource, wiring: ReadyWiring): void
}
export type ReadyWiring = Extract<Wiring, { kind: 'ready' }>

/**
 * `since`: for the file kind, CLOCK_MONOTONIC after the replacement; a process started before it does not run this.
 * undefined for the env kind, where the process' own command line tells.
 */
export type ActivationState =
  | { readonly kind: 'local'; readonly since: ActivationStamp | undefined }
  /** With namespace and name, which the path does not hold: the adapter keeps them beside it. */
  | { readonly kind: 'checkpoint'; readonly source: ConfigMapSource; readonly since: ActivationStamp | undefined }
  | { readonly kind: 'unknown'; readonly detail: string }
export interface ActivationStamp {
  readonly bootId: string
  readonly monotonicUs: number
}

/** kubelet's own health endpoint, and the container runtime's socket. */
export interface HealthProbe {
  /** undefined: this config has no health port. */
  healthz(config: HealthTarget): Promise<{ ok: boolean; detail: string }>
  socketAccepts(path: string): Promise<boolean>
}

export interface HealthTarget {
  readonly host: string
  readonly port: number
}

/** What of a kubelet config file matters for looking at kubelet's health; nothing where the file cannot be read. */
export interface ConfigFacts {
  of(path: string): Promise<{
    /** undefined: `healthzPort` is 0. Upstream's defaults where the file says nothing or cannot be read. */
    readonly healthz: HealthTarget | undefined
    readonly runtimeEndpoint: string | undefined
  }>
}

/** The judge before a restart. */
export interface Preflight {
  /** `pending`: it takes long, and goes on; asked again when it is over, this gives the answer. */
  check(candidate: Candidate): Promise<PreflightResult>
  /** What it is still at. */
  pending(): ReadonlySet<TrialKey>
  /** See `Snapshot.basis`. */
  basis(): string
}
export interface Candidate {
  readonly source: Exclude<ConfigSource, 'local'>
  readonly data: Readonly<Record<string, string>>
  readonly key: TrialKey
  /** It has run before, and kubelet waits for it: only what takes no time is asked. */
  readonly fallback: boolean
  readonly unit: KnownUnit
  /** Path of the config that runs, from which this is a change. undefined: none is known. */
  readonly basePath: string | undefined
}
export type PreflightResult =
  /** `drain`: fields that change and may do so on a drained node only. */
  | { readonly kind: 'accepted'; readonly remarks: readonly string[]; readonly drain: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: 'load' | 'validate'; readonly detail: string }
  | { readonly kind: 'pending' }

/** Whether the node is drained: asked only while a change waits for it. */
export interface DrainProbe {
  /** What was found out last; asks anew in the background. undefined: it is not known, or cannot be told. */
  isDrained(): boolean | undefined
}

/** Structured log; one line a fact. `fields` never carry a secret. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

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
/** What of a source names a file on disk. */
export type CheckpointFile = Pick<ConfigMapSource, 'uid' | 'resourceVersion' | 'kubeletConfigKey' | 'overlay'>

export type RecordName = 'assigned' | 'last-known-good' | 'previous'

/** `meta/`: what must outlive a reboot. A record that cannot be parsed is set aside by the read that finds it, and said. */
export interface Records {
  read(name: RecordName): RecordState
  /** Writes only on change. */
  write(name: RecordName, source: ConfigSource): void
  proven(): TrialKey | undefined
  /** undefined: nothing is proven any more. */
  writeProven(key: TrialKey | undefined): void
  heard(): Heard | undefined
  writeHeard(heard: Heard): void
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

/** One HTTP exchange with the API server; never throws. Authentication, TLS and timeouts are the adapter's. */
export interface KubeApi {
  request(request: KubeRequest): Promise<KubeAnswer>
  /** Streams until the server ends it, the signal aborts, or nothing arrives for the inactivity limit: `ended`, if it was answered before. Never throws. */
  watch(request: KubeWatchRequest): Promise<KubeWatchEnd>
}
export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** Absolute, without query: `/api/v1/nodes/x`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly contentType?: 'application/json' | 'application/merge-patch+json' | 'application/strategic-merge-patch+json'
  readonly timeoutMs?: number
  readonly as?: PartialForm
}
/** Metadata alone, of one object (or a watch) or of a list: meta.k8s.io/v1. Absent: whole objects. */
export type PartialForm = 'PartialObjectMetadata' | 'PartialObjectMetadataList'
export type KubeAnswer =
  | { readonly kind: 'ok'; readonly object: unknown }
  | KubeRefusal
  | { readonly kind: 'unreachable'; readonly detail: string }
/** `reason` is the Status object's (`NotFound`, `Expired`, ...), empty where the answer was no Status. */
export interface KubeRefusal {
  readonly kind: 'refused'
  readonly status: number
  readonly reason: string
  readonly detail: string
  readonly retryAfterMs: number | undefined
}
export interface KubeWatchRequest {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly inactivityMs: number
  readonly signal: AbortSignal
  readonly as?: 'PartialObjectMetadata'
  onEvent(event: { readonly type: string; readonly object: unknown }): void
}
export type KubeWatchEnd =
  | { readonly kind: 'ended'; readonly detail: string }
  | KubeRefusal
  | { readonly kind: 'unreachable'; readonly detail: string }
