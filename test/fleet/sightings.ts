// SPDX-License-Identifier: Apache-2.0
/**
 * The states of the record that a simulated agent has seen, folded as the agent folds them, and for
 * how long it had contact. The observation stands for what is kept in /run.
 */

import { paceOf } from '../../src/rollout/plan.ts'
import { type Observation, observeRecord, observeTurn } from '../../src/rollout/silence.ts'
import type { RecordReading, RolloutDecision } from '../../src/rollout/view.ts'
import type { ConfigObject, RecordObject } from './fleet-api.ts'
import { parsedRecord, planOf, planRetry } from './parsed.ts'

/** The record as it was read, and then the config. */
export interface Seen {
  readonly config: ConfigObject
  /** undefined: the node has never seen that the config has a rollout. */
  readonly recordName: string | undefined
  /** undefined: it is missing. */
  readonly record: RecordObject | undefined
}

export class Sightings {
  #observation: Observation | undefined
  #contactFromUs: number | undefined
  #contactUs = 0
  /** Since when it has followed the record without a break. */
  followsSinceUs = Number.POSITIVE_INFINITY

  /** The network, the API server or the node came or went. @returns whether contact has begun */
  contactChanged(has: boolean, nowUs: number): boolean {
    if (has && this.#contactFromUs === undefined) {
      this.#contactFromUs = nowUs
      return true
    }
    if (!has) {
      this.#takeContact(nowUs)
      this.#contactFromUs = undefined
      this.followsSinceUs = Number.POSITIVE_INFINITY
    }
    return false
  }

  /** /run ends with the boot, and another config has another record. */
  forget(): void {
    this.#observation = undefined
  }

  see({ config, record }: Seen, nowUs: number): void {
    const parsed = record && parsedRecord(record)
    if (record === undefined || parsed?.ok !== true) return
    // Without the annotation nobody reads or writes the record, so this is no time with contact.
    if (config.rollout === undefined && this.#contactFromUs !== undefined) this.#contactFromUs = nowUs
    this.#takeContact(nowUs)
    this.followsSinceUs = Math.min(this.followsSinceUs, nowUs)
    this.#observation = observeRecord(this.#observation, {
      record: parsed.record,
      recordUid: record.uid,
      resourceVersion: record.resourceVersion,
      configUid: config.uid,
      hash: config.content.hash,
      assignment: 0,
      retry: planRetry(config),
      pace: paceOf(planOf(config), config.paused),
      nowUs,
      contactUs: this.#contactUs,
    })
    this.#contactUs = 0
  }

  decided({ letGo = false }: RolloutDecision, nowUs: number): void {
    this.#observation &&= observeTurn(this.#observation, letGo, nowUs)
  }

  reading({ config, record, recordName }: Seen): RecordReading {
    if (config.rollout === undefined) return { kind: 'unavailable', detail: 'the annotation is gone' }
    if (record === undefined || this.#observation === undefined) return { kind: 'unavailable', detail: `${recordName} is missing` }
    const parsed = parsedRecord(record)
    if (!parsed.ok) return { kind: 'unavailable', detail: `${recordName} cannot be read: ${parsed.problem}` }
    return { kind: 'read', record: parsed.record, resourceVersion: record.resourceVersion, observation: this.#observation }
  }

  #takeContact(nowUs: number): void {
    if (this.#contactFromUs === undefined) return
    this.#contactUs += nowUs - this.#contactFromUs
    this.#contactFromUs = nowUs
  }
}
