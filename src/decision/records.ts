// SPDX-License-Identifier: Apache-2.0
/**
 * The records that are kept on disk between two passes, as data. The ports in `src/ports/store.ts`
 * read and write them.
 */
import { isObservation } from '../rollout/silence.ts'
import {
  type ConfigMapSource,
  type ConfigSource,
  type ContentHash,
  isConfigMapSource,
  isConfigSource,
  isContentHash,
  sameSource,
} from '../subject/config-source.ts'
import { isTrialKey } from '../subject/trial-key.ts'
import type { UnitState } from '../subject/unit-state.ts'
import { type Check, isFlag, isNumber, isText, listOf, optional, orUndefined, shape, type TypeOf } from '../values/json-shape.ts'
import { checkSource } from './safe-names.ts'

/**
 * A record under `meta/`. `absent`: nothing was ever recorded. `unconfirmed`: it is empty, and
 * nothing says that local was recorded. `damaged`: it was unreadable and has been set aside, or it
 * has a field that this agent does not know. So its meaning is unknown.
 */
export type RecordState =
  | { readonly kind: 'source'; readonly source: ConfigSource; readonly absent?: true; readonly unconfirmed?: true }
  | { readonly kind: 'damaged'; readonly detail: string }

/** Whether the record names this config. A damaged one names none. */
export function isNamed(record: RecordState, source: ConfigSource): boolean {
  return record.kind === 'source' && sameSource(record.source, source)
}

/** How an operator holds the node back, until `resume`. */
export type Hold = 'none' | 'paused' | 'local'

/** Requests that are carried out once, and are done then. */
const REQUEST_NAMES = ['rollback', 'retry', 'promote'] as const
export type RequestName = (typeof REQUEST_NAMES)[number]

/** The requests of an operator on the node: the files under `requests/`. */
export interface Requests {
  readonly hold: Hold
  /** Of the hold `local`: also where preflight refuses the local config. */
  readonly force?: boolean | undefined
  /** Roll back this content, if it is still the target. */
  readonly rollback: { readonly content: ContentHash } | undefined
  readonly retry: boolean
  /**
   * Promote this content when its trial is over, if it still runs, although nobody knows whether
   * what it lacks was there before.
   */
  readonly promote?: { readonly content: ContentHash } | undefined
}

export function listRequested({ rollback, retry, promote }: Requests): readonly RequestName[] {
  const isRequested = { rollback: rollback !== undefined, retry, promote: promote !== undefined }
  return REQUEST_NAMES.filter((name) => isRequested[name])
}

/** The names in a source become paths. */
const isSafeSource: Check<ConfigMapSource> = (value): value is ConfigMapSource => isConfigMapSource(value) && checkSource(value).ok

/**
 * The configs that a return to local left: the node goes back to them where kubelet does not run
 * with local. Kept until kubelet has been healthy with local for a whole trial.
 */
export const isLeft = shape({
  /**
   * The config that ran, and then the ones that it would have fallen back to. Empty: nothing is
   * left.
   */
  sources: listOf(isSafeSource),
  /**
   * `Snapshot.localConfig` when kubelet was last set to start with local. undefined: it was not, or
   * that was not known.
   */
  localConfig: optional(isText),
})

/**
 * A requested restart of kubelet, recorded before the request. Kept in /run, since a reboot
 * restarts kubelet anyway. The last one lies in `meta/` too, for when /run is lost.
 */
export const isRestartRecord = shape({
  bootId: isText,
  atUs: isNumber,
  target: isTrialKey,
  fallback: isFlag,
  /**
   * The config goes on in its own right while the assigned one waits, or was refused: `Target`. So
   * does one that is no fallback, and was in place when the node had to leave what ran.
   */
  goesOn: optional(isFlag),
  /**
   * The restart is no fallback, and exempt from the hourly limit all the same. See
   * `restart-limit.ts`.
   */
  exempt: optional(isFlag),
  /** InvocationID of the unit before the restart. A process started later has another one. */
  invocationBefore: isText,
  /**
   * Systemd had given up the unit. It is reset, which makes it look stopped by an operator, and
   * then started.
   */
  failed: isFlag,
  /** undefined: requested, without an answer yet. `mayBeTaken`: no answer came in time. */
  outcome: orUndefined(shape({ ok: isFlag, detail: isText, mayBeTaken: optional(isFlag) })),
})
export type RestartRecord = TypeOf<typeof isRestartRecord>

/** The restarts of this boot, oldest first. */
export function listOfBoot(restarts: readonly RestartRecord[], { bootId }: { readonly bootId: string }): readonly RestartRecord[] {
  return restarts.filter((record) => record.bootId === bootId)
}

/**
 * The restarts in /run. Where these are lost and kubelet is down, the last one tells what the agent
 * began, unless kubelet has been started since.
 */
export function recallRestarts(
  inRun: readonly RestartRecord[],
  kept: () => RestartRecord | undefined,
  unit: UnitState,
  now: { readonly bootId: string },
): readonly RestartRecord[] {
  if (unit.kind === 'unknown' || unit.process.kind !== 'none' || listOfBoot(inRun, now).length > 0) return inRun
  const last = kept()
  return last?.bootId === now.bootId && last.invocationBefore === unit.invocationId ? [last] : inRun
}

/** The content that passed its trial last, on which kubelet. It may not be last-known-good yet. */
export const isProven = shape({ key: isTrialKey })

/** One boot in which a config was on trial. */
const isTrialBoot = shape({
  bootId: isText,
  atWallMs: isNumber,
  /** The node was paused when the config was first seen on trial in this boot. */
  paused: optional(isFlag),
})

/**
 * The boots in which one content was on trial, oldest first: that in which the trial began, and the
 * latest of the others. On whatever kubelet, which a boot may show as another one for a moment.
 */
export const isTrialBoots = shape({ content: isContentHash, boots: listOf(isTrialBoot) })
export type TrialBoots = TypeOf<typeof isTrialBoots>

/** When this node first saw an assignment that many nodes see at once: the start of its spread. */
export const isSpreadRecord = shape({
  bootId: isText,
  source: isConfigSource,
  sinceUs: isNumber,
  /** The assignment was then set on this Node alone: there is no turn to wait for. */
  own: optional(isFlag),
  /** Since when the facts that its values are computed from have held. */
  factsSinceUs: optional(isNumber),
})
export type SpreadRecord = TypeOf<typeof isSpreadRecord>

/** The states of a rollout's record that this node has seen in this boot. */
export const isObservationRecord = shape({ bootId: isText, observation: isObservation })

export const TRANSITION_KINDS = [
  /** meta/assigned changed. */
  'assigned',
  /** Kubelet is being restarted to use `to`. */
  'restarting',
  'promoted',
  /** Preflight refused `from`. */
  'rejected',
  /** `from` failed on the running kubelet, or an operator gave it up. `to` is next. */
  'rolled-back',
  /**
   * Verdicts were dropped: an operator requested it, or the node was at fault and not the config.
   */
  'retrying',
  /** Damaged or foreign state was set aside. */
  'set-aside',
  /** The assigned ConfigMap cannot be read. */
  'download-failed',
  /** The assignment is malformed, or its parts cannot be merged. */
  'invalid',
  /** The assignment can be read and used again. */
  'synced',
] as const
export type TransitionKind = (typeof TRANSITION_KINDS)[number]

/** One transition. `history` shows it and events are made from it. Appended before its effect. */
export interface Transition {
  /**
   * Nanoseconds since 1970, decimal. Unique and increasing within one history; it names the event.
   */
  readonly atNs: string
  /** The wall clock, where it was behind `atNs`: at an earlier transition it was ahead. */
  readonly wallMs?: number
  readonly kind: TransitionKind
  readonly from: ConfigSource | undefined
  readonly to: ConfigSource | undefined
  readonly why: string
}

export const FALLBACK_NAMES = ['last-known-good', 'previous'] as const
export type FallbackName = (typeof FALLBACK_NAMES)[number]
/** The records that name a source. */
export const SOURCE_NAMES = ['assigned', ...FALLBACK_NAMES] as const
export type SourceName = (typeof SOURCE_NAMES)[number]
