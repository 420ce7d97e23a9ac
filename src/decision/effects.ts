// SPDX-License-Identifier: Apache-2.0
/**
 * The effects of a step, as data. `effectsOf` lists the effects of a step, `perform` applies them
 * to the node, and `carryOut` folds them into a Snapshot. Types and small constructors only.
 */
import { forgetExits, type HealthRecord } from '../health/fold.ts'
import type { CheckpointInfo, ConfigMapData, ConfigMapSource, ConfigSource, ContentHash } from '../subject/config-source.ts'
import type { TrialKey } from '../subject/trial-key.ts'
import type { ReadyWiring } from '../subject/unit-state.ts'
import { type Put, put } from './record-table.ts'
import type { RequestName, RestartRecord, Transition } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import type { StepOf } from './step.ts'
import type { Acceptance, Verdict } from './verdict.ts'

export type Effect = StateEffect | CommandEffect

/**
 * Changes what the next Snapshot shows, or tells someone. Applied in order: history precedes what
 * it tells of.
 */
export type StateEffect =
  | { readonly kind: 'append-history'; readonly transition: Omit<Transition, 'atNs'> }
  | { readonly kind: 'log'; readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly message: string; readonly fields: LogFields }
  /** `content`: the hash of `data` with the key of `source`. undefined: not known here. */
  | {
      readonly kind: 'save-checkpoint'
      readonly source: ConfigMapSource
      readonly data: ConfigMapData
      readonly content: ContentHash | undefined
    }
  /** The same version with other data: what is there is set aside. */
  | {
      readonly kind: 'replace-checkpoint'
      readonly source: ConfigMapSource
      readonly data: ConfigMapData
      readonly content: ContentHash | undefined
      readonly why: string
    }
  | { readonly kind: 'remove-checkpoint'; readonly checkpoint: CheckpointInfo }
  /** Writes down which contents are other wordings of one. Fails where it cannot be written. */
  | { readonly kind: 'keep-wordings' }
  /** One record of `RECORDS`. */
  | Put
  | { readonly kind: 'write-verdict'; readonly verdict: Verdict }
  | { readonly kind: 'remove-verdict'; readonly key: TrialKey }
  | { readonly kind: 'remember-acceptance'; readonly key: TrialKey; readonly acceptance: Acceptance }
  | { readonly kind: 'forget-acceptance'; readonly key: TrialKey }
  | { readonly kind: 'clear-request'; readonly request: RequestName }
  /**
   * Writes what a later fallback to `fallback` needs, so that falling back works on a full disk.
   */
  | { readonly kind: 'stage-fallback'; readonly fallback: ConfigSource; readonly wiring: ReadyWiring }
  /**
   * `orElseLocal`: where the target cannot be written, kubelet's next start uses its local config,
   * which takes no space.
   */
  | {
      readonly kind: 'activate'
      readonly target: ConfigSource
      readonly wiring: ReadyWiring
      readonly orElseLocal: boolean
      /** See `Activation`, as `runsIn`. */
      readonly isRewording: boolean
      readonly runsIn?: string | undefined
    }

/**
 * Asks something of kubelet or systemd. The effects that follow depend on the answer: see
 * `effects-of-answer.ts`.
 */
export type CommandEffect =
  | { readonly kind: 'run-preflight'; readonly step: StepOf<'preflight'> }
  | {
      readonly kind: 'restart-kubelet'
      readonly record: RestartRecord
      readonly earlier: readonly RestartRecord[]
      /** As it expects the start. */
      readonly health: HealthRecord | undefined
    }

type LogFields = Readonly<Record<string, unknown>>

export function log(level: 'debug' | 'info' | 'warn' | 'error', message: string, fields: LogFields = {}): StateEffect {
  return { kind: 'log', level, message, fields }
}

export function history(kind: Transition['kind'], from: ConfigSource | undefined, to: ConfigSource | undefined, why: string): StateEffect {
  return { kind: 'append-history', transition: { kind, from, to, why } }
}

/**
 * Exits and reboots before this point are charged to nothing any more.
 *
 * @param of the crash loops of other contents go on
 */
export function dropCharges(snapshot: Pick<Snapshot, 'health' | 'trialBoots'>, of?: ContentHash): readonly StateEffect[] {
  const { health } = snapshot
  return [...(health === undefined ? [] : [put('health', forgetExits(health, of))]), ...endTrialBoots(snapshot)]
}

export function endTrialBoots({ trialBoots }: Pick<Snapshot, 'trialBoots'>): readonly StateEffect[] {
  return trialBoots === undefined ? [] : [put('trial-boots', undefined)]
}

/** The last one outlives the boot. */
export function putRestarts(restarts: readonly RestartRecord[]): readonly StateEffect[] {
  return [put('restarts', restarts), put('last-restart', restarts.at(-1))]
}

/** Nothing is left to go back to from local. */
export function forgetLeft({ left, leftDamaged }: Pick<Snapshot, 'left' | 'leftDamaged'>): readonly StateEffect[] {
  const isKnown = (left ?? []).length === 0 && leftDamaged !== true
  return isKnown ? [] : [put('left', { sources: [] })]
}
