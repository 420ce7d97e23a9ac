// SPDX-License-Identifier: Apache-2.0
/**
 * The records that are kept between two passes, as one table: where each lies, its shape, and what
 * follows when it is damaged or cannot be written. The stores read and write by it, and a step
 * changes a record with the effect `put`. Verdicts are kept one by one: see `verdict.ts`. Pure.
 */

import { isEvidenceRecord, isKeptBaseline } from '../evidence/kinds.ts'
import { isHealthRecord } from '../health/fold.ts'
import { isConfigSource } from '../subject/config-source.ts'
import { type Check, listOf, type TypeOf } from '../values/json-shape.ts'
import { isChannelState } from './desired.ts'
import { isLeft, isObservationRecord, isProven, isRestartRecord, isSpreadRecord, isTrialBoots } from './records.ts'
import { isRolloutKnowledge, isStagings } from './staging-state.ts'

interface Entry {
  /** `meta`: it survives a reboot. `run`: it is of this boot. */
  readonly place: 'meta' | 'run'
  readonly file: string
  readonly shape: Check<unknown>
  /**
   * The record forbids something as long as it stands: once it is damaged, nobody knows what, until
   * it is written again. Any other damaged record counts as absent.
   */
  readonly forbids?: true
  /** `put` takes undefined, too, which removes it. */
  readonly ends?: true
  /** No step writes it, or no decision in the same pass rests on it. */
  readonly unseen?: true
  /**
   * The loss if the record cannot be written: the agent can do without, logs this text and goes on.
   * Without this text, a failed write to `meta/` throws. One to /run never does.
   */
  readonly spare?: string
}

const RECORDS = {
  assigned: { place: 'meta', file: 'assigned', shape: isConfigSource },
  'last-known-good': { place: 'meta', file: 'last-known-good', shape: isConfigSource },
  previous: { place: 'meta', file: 'previous', shape: isConfigSource },
  left: { place: 'meta', file: 'left', shape: isLeft, forbids: true },
  proven: { place: 'meta', file: 'proven', shape: isProven, ends: true },
  'trial-boots': { place: 'meta', file: 'boots', shape: isTrialBoots, ends: true },
  'channel-state': { place: 'meta', file: 'heard', shape: isChannelState, forbids: true },
  stagings: { place: 'meta', file: 'rollouts', shape: isStagings, forbids: true },
  'kept-baseline': {
    ...{ place: 'meta', file: 'baseline', shape: isKeptBaseline, ends: true, unseen: true },
    spare: 'the state of the node before the config on trial would be lost with the boot',
  },
  'last-restart': {
    ...{ place: 'meta', file: 'restart', shape: isRestartRecord, ends: true, unseen: true },
    spare: 'the last restart of kubelet would be lost with /run',
  },
  health: { place: 'run', file: 'health', shape: isHealthRecord },
  restarts: { place: 'run', file: 'restarts', shape: listOf(isRestartRecord) },
  spread: { place: 'run', file: 'spread', shape: isSpreadRecord },
  evidence: { place: 'run', file: 'evidence', shape: isEvidenceRecord, unseen: true },
  observation: { place: 'run', file: 'rollout', shape: isObservationRecord, unseen: true },
  /** The last known state of a rollout's record: for commands, which do not read that record. */
  'rollout-turn': { place: 'run', file: 'rollout-turn', shape: isRolloutKnowledge, unseen: true },
} as const satisfies Readonly<Record<string, Entry>>

type Records = typeof RECORDS
export type RecordName = keyof Records

type NamesOf<Facts> = { [N in RecordName]: Records[N] extends Facts ? N : never }[RecordName]
export type RunName = NamesOf<{ readonly place: 'run' }>
export type SeenName = Exclude<RecordName, NamesOf<{ readonly unseen: true }>>

type Value<N extends RecordName> = TypeOf<Records[N]['shape']>
/** The values that `put` takes. */
export type PutValue<N extends RecordName> = Value<N> | (N extends NamesOf<{ readonly ends: true }> ? undefined : never)
/** The answers of `get`. undefined: there is no record, or it is damaged. */
export type GotValue<N extends RecordName> = Value<N> | undefined | (N extends NamesOf<{ readonly forbids: true }> ? 'damaged' : never)

/** A change of one record. */
export type Put<N extends RecordName = RecordName> = {
  [K in N]: { readonly kind: 'put'; readonly record: K; readonly value: PutValue<K> }
}[N]

export function put<N extends RecordName>(record: N, value: PutValue<N>): Put<N> {
  return { kind: 'put', record, value }
}

export function entryOf(name: RecordName): Entry {
  return RECORDS[name]
}
