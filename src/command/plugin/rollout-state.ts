// SPDX-License-Identifier: Apache-2.0
/** The subject of a rollout and how far the rollout has come, read from the API server alone. */
import { ROLLOUT_ANNOTATION } from '../../decision/channels.ts'
import type { Bases, FoundConfigMap, UnavailableReason } from '../../decision/desired.ts'
import { hashObject } from '../../decision/rollout-hash.ts'
import { ROLLOUT_OFF } from '../../decision/staging.ts'
import { type Plan, parsePlan, ROLLOUT_EXCLUDE_ANNOTATION, ROLLOUT_PLAN_ANNOTATION } from '../../rollout/plan.ts'
import { type Progress, progressOf } from '../../rollout/progress.ts'
import { parseRecord, type RolloutRecord } from '../../rollout/record.ts'
import { type Observation, observeRecord } from '../../rollout/silence.ts'
import { readBases } from '../../source/base-chain.ts'
import { readBase } from '../../source/channels/metadata.ts'
import { readConfigMapOnce } from '../../source/read-once.ts'
import { findRecordRef, type RecordRef } from '../../source/rollout/read-record.ts'
import { Failure } from '../command.ts'
import { Outage } from '../failure.ts'
import type { PluginContext } from './command.ts'
import { type FoundConfig, findConfig, getConfig, isPaused } from './config-maps.ts'
import { KEY } from './merged-text.ts'

export interface RolloutLook {
  readonly config: FoundConfig
  readonly plan: Plan
  readonly record: { readonly name: string; readonly resourceVersion: string; readonly words: RolloutRecord }
  /** The hash of what the config holds. */
  readonly hash: string
  /** undefined: the rollout of this content has not begun. */
  readonly progress: Progress | undefined
  readonly isPaused: boolean
  /** For the next look: who is silent shows over time. */
  readonly observation: Observation
}

/** The look before this one. */
export interface EarlierLook {
  readonly observation: Observation
  readonly atUs: number
}

/** @throws Failure */
export async function lookAtRollout(context: PluginContext, name: string, before: EarlierLook | undefined): Promise<RolloutLook> {
  const { namespace, monotonicUs } = context
  const config = await getConfig(context, name)
  const recordName = recordOf(config)
  if (recordName === undefined)
    throw new Failure(`ConfigMap ${namespace}/${name} has no rollout: kubectl kubelet-config rollout init ${name} makes one`)
  const found = refOf(context, config, recordName)
  const plan = parsePlan(config.annotations[ROLLOUT_PLAN_ANNOTATION], config.annotations[ROLLOUT_EXCLUDE_ANNOTATION])
  if (!plan.ok) throw new Failure(plan.problem)
  const object = await getConfig(context, found.name)
  const record = recordIn(found, object)
  const hash = await hashWhole(context, config)
  const observation = observeRecord(before?.observation, {
    record,
    recordUid: object.uid,
    resourceVersion: object.resourceVersion,
    configUid: config.uid,
    hash,
    assignment: 0,
    retry: plan.plan.retry,
    nowUs: monotonicUs(),
    contactUs: before === undefined ? 0 : monotonicUs() - before.atUs,
  })
  return {
    config,
    hash,
    plan: plan.plan,
    record: { name: found.name, resourceVersion: object.resourceVersion, words: record },
    progress: progressOf(plan.plan, record, hash, observation),
    isPaused: isPaused(config.annotations),
    observation,
  }
}

/** @returns 0 also where nothing has begun. @throws Failure where the record cannot be read */
export async function findRecordedRetry(context: PluginContext, config: FoundConfig, recordName: string): Promise<number> {
  const ref = refOf(context, config, recordName)
  const object = await findConfig(context, ref.name)
  return object === undefined ? 0 : (recordIn(ref, object).state?.retry ?? 0)
}

/**
 * Whether the record is about the present version of the config, and about another content. That
 * is so after an edit of a base, and then nodes begin nothing: see `findDispute`.
 *
 * @throws Failure where it cannot be told
 */
export async function isDisputed(context: PluginContext, name: string): Promise<boolean> {
  const config = await getConfig(context, name)
  const recordName = recordOf(config)
  if (recordName === undefined) return false
  const ref = refOf(context, config, recordName)
  const { state } = recordIn(ref, await getConfig(context, ref.name))
  if (state?.configUid !== config.uid || state.configVersion !== config.resourceVersion) return false
  return state.hash !== (await hashWhole(context, config))
}

function refOf({ namespace }: PluginContext, { name }: FoundConfig, record: string): RecordRef {
  const found = findRecordRef({ config: { namespace, name, kubeletConfigKey: KEY }, record })
  if (typeof found === 'string') throw new Failure(found)
  return found
}

function recordIn({ namespace, name }: RecordRef, { data }: FoundConfig): RolloutRecord {
  const parsed = parseRecord(data)
  if (!parsed.ok) throw new Failure(`the record ${namespace}/${name} cannot be used: ${parsed.problem}`)
  return parsed.record
}

/** undefined: it has no rollout. */
export function recordOf({ annotations }: FoundConfig): string | undefined {
  const record = annotations[ROLLOUT_ANNOTATION]
  return record === ROLLOUT_OFF ? undefined : record
}

/** @throws Failure, or Outage where it may pass */
export async function hashWhole({ api, namespace }: PluginContext, config: FoundConfig): Promise<string> {
  const { name, uid, resourceVersion, data, annotations } = config
  const base = readBase({ metadata: { annotations } })
  const own: FoundConfigMap = { kind: 'found', uid, resourceVersion, data, ...(base && { base }) }
  const ref = { namespace, name, kubeletConfigKey: KEY }
  const whole = await readBases({ ref }, own, (under) => readConfigMapOnce(api, under))
  if (whole.bases !== undefined) checkBases(`ConfigMap ${namespace}/${name}`, whole.bases)
  return hashObject(whole, KEY)
}

function checkBases(of: string, { views, problem }: Bases): void {
  for (const { ref, object } of views) {
    if (object.kind !== 'unavailable') continue
    const what = `the base ConfigMap ${ref.namespace}/${ref.name} of ${of}`
    const message = describeUnread(what, ref.namespace, object)
    throw object.reason === 'unreachable' ? new Outage(message) : new Failure(message)
  }
  if (problem !== undefined) throw new Failure(`${of}: ${problem}`)
}

function describeUnread(
  what: string,
  namespace: string,
  { reason, detail }: { readonly reason: UnavailableReason; readonly detail: string },
): string {
  switch (reason) {
    case 'not-found':
      return `${what} does not exist: create it, or correct the annotation that names it`
    case 'forbidden':
      return `${what} may not be read: grant get of configmaps in the namespace ${namespace} (${detail})`
    case 'unauthenticated':
      return `${what} cannot be read: the API server does not accept the credentials of this context (${detail})`
    case 'malformed':
      return `${what} is malformed: ${detail}`
    case 'unreachable':
      return `${what} cannot be read: ${detail}`
  }
}
