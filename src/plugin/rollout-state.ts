/** What a rollout is about and how far it has come, read from the API server alone. */
import { PAUSED_ANNOTATION, ROLLOUT_ANNOTATION } from '../decision/channels.ts'
import { ROLLOUT_OFF } from '../decision/staging.ts'
import { type Plan, parsePlan, ROLLOUT_PLAN_ANNOTATION } from '../rollout/plan.ts'
import { type Progress, progressOf } from '../rollout/progress.ts'
import { parseRecord } from '../rollout/record.ts'
import { type Observation, observe } from '../rollout/silence.ts'
import { findRecordRef } from '../source/rollout/read-record.ts'
import type { PluginContext } from './command.ts'
import { type FoundConfig, getConfig } from './config-maps.ts'
import { Failure } from './failure.ts'
import { hashWhole } from './hash-whole.ts'
import { KEY } from './merged-text.ts'

export interface RolloutState {
  readonly config: FoundConfig
  readonly plan: Plan
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
export async function readRollout(context: PluginContext, name: string, before: EarlierLook | undefined): Promise<RolloutState> {
  const { namespace, monotonicUs } = context
  const config = await getConfig(context, name)
  const recordName = recordOf(config)
  if (recordName === undefined)
    throw new Failure(`ConfigMap ${namespace}/${name} has no rollout: kubectl kubelet-config rollout init ${name} makes one`)
  const ref = { namespace, name, kubeletConfigKey: KEY }
  const found = findRecordRef({ config: ref, record: recordName })
  if (typeof found === 'string') throw new Failure(found)
  const plan = parsePlan(config.annotations[ROLLOUT_PLAN_ANNOTATION])
  if (!plan.ok) throw new Failure(plan.problem)
  const record = await getConfig(context, found.name)
  const parsed = parseRecord(record.data)
  if (!parsed.ok) throw new Failure(`the record ${namespace}/${found.name} cannot be used: ${parsed.problem}`)
  const hash = await hashWhole(context, config)
  const observation = observe(before?.observation, {
    record: parsed.record,
    recordUid: record.uid,
    resourceVersion: record.resourceVersion,
    configUid: config.uid,
    hash,
    retry: plan.plan.retry,
    nowUs: monotonicUs(),
    contactUs: before === undefined ? 0 : monotonicUs() - before.atUs,
  })
  const paused = config.annotations[PAUSED_ANNOTATION] ?? ''
  return {
    config,
    plan: plan.plan,
    progress: progressOf(plan.plan, parsed.record, hash, observation),
    isPaused: paused !== '' && paused !== 'false',
    observation,
  }
}

/** undefined: it has no rollout. */
export function recordOf({ annotations }: FoundConfig): string | undefined {
  const record = annotations[ROLLOUT_ANNOTATION]
  return record === ROLLOUT_OFF ? undefined : record
}
