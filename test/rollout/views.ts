// SPDX-License-Identifier: Apache-2.0
/**
 * Views for tests: a node that has seen a record for a while, with all that does not matter filled
 * in.
 */

import { decideRollout } from '../../src/rollout/decide.ts'
import { placeOf } from '../../src/rollout/order.ts'
import { DEFAULT_PLAN, paceOf, parsePlan } from '../../src/rollout/plan.ts'
import { parseRecord } from '../../src/rollout/record.ts'
import { type Observation, observeRecord, observeTurn } from '../../src/rollout/silence.ts'
import type { RolloutNode, RolloutTime, RolloutView } from '../../src/rollout/view.ts'
import { MINUTE_US } from '../../src/values/durations.ts'

export const HASH = 'ab'.repeat(32)
export const OTHER_HASH = 'cd'.repeat(32)
export const CONFIG_UID = '3f0a77b6-6a0c-4a31-a4e4-9b6b2e1b8c11'
const RECORD_UID = '7c1f5d0e-4b0e-4c57-9f51-2a9a3a0d6a20'
export const START_US = 1_000 * MINUTE_US

export type Data = Readonly<Record<string, string>>

export function state(generation: number, stage: number, hash = HASH, retry = 0, version = '500'): string {
  return `1 ${generation} ${stage} ${hash} ${CONFIG_UID} ${version} ${retry}`
}

/** Names of nodes whose place is in this part of the order. */
export function uidWithShare(least: number, most: number): string {
  for (let index = 0; ; index += 1) {
    const { share } = placeOf({ uid: `uid-${index}` }, HASH, DEFAULT_PLAN)
    if (share >= least && share < most) return `uid-${index}`
  }
}

export interface Scene {
  readonly data?: Data
  /** The record before, as this node saw it first, two hours ago. */
  readonly was?: Data
  /** Of the plan, when it saw that. */
  readonly retryBefore?: number
  /** Of the record, and of the config, when it saw that. */
  readonly recordUidBefore?: string
  readonly configUidBefore?: string
  /** The earlier number of the assignment, which is 1 now. */
  readonly assignmentBefore?: number
  readonly node?: Partial<RolloutNode>
  readonly plan?: string
  /** The plan until now, where it was another. */
  readonly planBefore?: string
  readonly excluded?: string
  readonly configHash?: string
  readonly configVersion?: string
  /** How long this node has seen the record as it is, and how much of that with contact. */
  readonly forMinutes?: number
  /** In which a pause, a halt or a silence has kept it until now. */
  readonly isHeldUntilNow?: boolean
  readonly paused?: string
  readonly contactMinutes?: number
  /** At the end of these minutes. */
  readonly time?: RolloutTime
}

export function sceneView(scene: Scene): RolloutView {
  const { data = {}, was, forMinutes = 60, configHash = HASH, configVersion = '600' } = scene
  const { planBefore = scene.plan } = scene
  const now = { configUid: CONFIG_UID, recordUid: RECORD_UID, hash: configHash, assignment: 1, retry: planRetry(scene.plan) }
  const before = {
    ...now,
    configUid: scene.configUidBefore ?? CONFIG_UID,
    recordUid: scene.recordUidBefore ?? RECORD_UID,
    retry: scene.retryBefore ?? now.retry,
    assignment: scene.assignmentBefore ?? now.assignment,
  }
  const nowUs = START_US + forMinutes * MINUTE_US
  const old =
    was === undefined
      ? undefined
      : observeRecord(undefined, {
          ...before,
          pace: paceOf(parsePlan(planBefore), false),
          record: recordOf(was),
          resourceVersion: '999',
          nowUs: START_US - 120 * MINUTE_US,
          contactUs: 0,
        })
  const seen = { ...now, record: recordOf(data), resourceVersion: '1000' }
  const first = observeRecord(old, { ...seen, pace: paceOf(parsePlan(planBefore), false), nowUs: START_US, contactUs: 0 })
  const view = (observation: Observation, atUs: number, plan = scene.plan): RolloutView => ({
    nowUs: atUs,
    config: {
      uid: CONFIG_UID,
      resourceVersion: configVersion,
      hash: configHash,
      plan: parsePlan(plan, scene.excluded),
      paused: scene.paused === undefined ? undefined : { on: 'ConfigMap', by: scene.paused },
    },
    record: { kind: 'read', record: recordOf(data), resourceVersion: '1000', observation },
    time: scene.time && { ...scene.time, nowMs: scene.time.nowMs - (nowUs - atUs) / 1000 },
    node: { ...NODE, ...scene.node },
  })
  const { letGo = false } = decideRollout(view(first, START_US, planBefore))
  const decided = scene.isHeldUntilNow === true ? first : observeTurn(first, letGo, START_US)
  const contactUs = (scene.contactMinutes ?? forMinutes) * MINUTE_US
  return view(observeRecord(decided, { ...seen, pace: paceOf(parsePlan(scene.plan), false), nowUs, contactUs }), nowUs)
}

function planRetry(text: string | undefined): number {
  const parsed = parsePlan(text)
  return parsed.ok ? parsed.plan.retry : 0
}

function recordOf(data: Data) {
  const parsed = parseRecord(data)
  if (!parsed.ok) throw new Error(parsed.problem)
  return parsed.record
}

/** A worker that has not seen the content before, and could start it now. */
export const WORKER: Omit<RolloutNode, 'name' | 'uid' | 'hash'> = {
  canary: false,
  controlPlane: false,
  arrival: 'there',
  verdict: undefined,
  runs: false,
  proven: false,
  promoted: false,
  workedBefore: false,
  sawUnfinished: false,
  waves: undefined,
  ready: { ok: true },
  evidence: { kind: 'readable' },
  claimSeconds: 3600,
  trialUs: 10 * MINUTE_US,
}
/** A node that is free at 100 % only. */
const NODE: RolloutNode = { ...WORKER, name: 'me', uid: uidWithShare(0.5, 0.6), hash: HASH, claimSeconds: 900 }
