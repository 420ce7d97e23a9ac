/** What is kept on disk between two passes, as data. The ports in `src/ports/store.ts` read and write it. */
import type { ConfigMapSource, ConfigSource, ContentHash } from './config-source.ts'
import type { TrialKey } from './trial-key.ts'

/** A record under `meta/`. `damaged`: was unreadable and has been set aside; its meaning is unknown. */
export type RecordState = { readonly kind: 'source'; readonly source: ConfigSource } | { readonly kind: 'damaged'; readonly detail: string }

/** What an operator asked for on the node: files under `requests/`. */
export type Hold = 'none' | 'paused' | 'local'

export interface Requests {
  readonly hold: Hold
  /** Roll back this content, if it is still the target. */
  readonly rollback: { readonly content: ContentHash } | undefined
  readonly retry: boolean
}

/** A restart of kubelet that was asked for: recorded before it is asked. Kept in /run: a reboot restarts kubelet anyway. */
export interface RestartRecord {
  readonly bootId: string
  readonly atUs: number
  readonly target: TrialKey
  readonly fallback: boolean
  /** InvocationID of the unit before the restart: a process started after has another one. */
  readonly invocationBefore: string
  /** systemd had given the unit up: it is reset, which makes it look stopped by a person, and then started. */
  readonly failed: boolean
  /** undefined: asked, no answer yet. */
  readonly outcome: { readonly ok: boolean; readonly detail: string } | undefined
}

/** When an assignment that differs only in version was first seen: the start of its spread. */
export interface SpreadRecord {
  readonly bootId: string
  readonly source: ConfigMapSource
  readonly sinceUs: number
}

/** One transition, for people: what `history` shows and what events are made of. Appended before its effect. */
export interface Transition {
  /** Nanoseconds since 1970, decimal: unique and increasing within one history; names the event. */
  readonly atNs: string
  readonly kind: TransitionKind
  readonly from: ConfigSource | undefined
  readonly to: ConfigSource | undefined
  readonly why: string
}

export type TransitionKind =
  /** meta/assigned moved. */
  | 'assigned'
  /** kubelet is being restarted to use `to`. */
  | 'restarting'
  | 'promoted'
  /** preflight refused `from`. */
  | 'rejected'
  /** `from` failed on the running kubelet (or a person said so); `to` is next. */
  | 'rolled-back'
  /** verdicts were dropped: by a person, or because the node and not the config was at fault. */
  | 'retrying'
  /** damaged or foreign state was set aside. */
  | 'set-aside'

export type RecordName = 'assigned' | 'last-known-good' | 'previous'
