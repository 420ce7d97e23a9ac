// SPDX-License-Identifier: Apache-2.0
/**
 * The facts of this node about the rollout of its assigned config: handed to the worker for the
 * record in each pass. Pure.
 */

import { findEvidenceAccess } from '../evidence/schedule.ts'
import { type Plan, zoneOrderOf } from '../rollout/plan.ts'
import type { RolloutConfig, RolloutNode } from '../rollout/view.ts'
import { type ConfigMapRef, type ConfigSource, describeSource, sameSource } from '../subject/config-source.ts'
import { hasPassed, trialKey } from '../subject/trial-key.ts'
import { HOUR_US, MINUTE_US, SECOND_US } from '../values/durations.ts'
import type { FoundConfigMap, NodeTraits, RolloutAnnotations } from './desired.ts'
import { latestChannelState } from './find-pause.ts'
import { decideRestart, type RestartDecision } from './restarts.ts'
import { nextVisibleStep } from './rules.ts'
import type { Snapshot } from './snapshot.ts'
import { findLatest, hasWorkedOtherwise, isOfHash, readPlan, retryOf } from './staging.ts'
import type { StagedContent, Staging } from './staging-state.ts'
import { assess, hasTarget } from './target.ts'
import { findVerdict, type Verdict } from './verdict.ts'

export interface RolloutSubject {
  readonly config: ConfigMapRef
  /**
   * The record's name. undefined: the annotation is missing, though this node knows of a rollout.
   */
  readonly record: string | undefined
  /** The config as it was seen last. Before a write or a start, it is read anew. */
  readonly seen: Pick<FoundConfigMap, 'uid' | 'resourceVersion'> &
    Pick<RolloutAnnotations, 'plan' | 'excluded'> & {
      /** By what the cluster pauses this node. */
      readonly paused?: RolloutConfig['paused']
    }
  /** Which assignment of the config this is: what was observed in an earlier one does not count. */
  readonly assignment: number
  readonly node: Omit<RolloutNode, 'name'>
}

const NOBODY: NodeTraits = { uid: '', canary: false, controlPlane: false }
const MOST_CLAIM_US = 4 * HOUR_US
/** A new machine needs some minutes to come to its first config, however short the spread is. */
const YOUNG_US = 15 * MINUTE_US

/** @returns undefined: the assigned config has no rollout, or is not known now */
export function describeRolloutSubject(snapshot: Snapshot): RolloutSubject | undefined {
  const { desired, assigned } = snapshot
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found' || assigned.kind !== 'source') return undefined
  const { ref, object, node = NOBODY } = desired
  const latest = findLatest(snapshot, assigned.source)
  if (latest === undefined || latest.staged.content !== snapshot.desiredContent) return undefined
  const { uid, resourceVersion, rollout } = object
  const paused = latestChannelState(desired, snapshot.recordedChannelState)?.paused
  return {
    config: ref,
    record: rollout?.record,
    seen: {
      uid,
      resourceVersion,
      plan: rollout?.plan,
      ...(rollout?.excluded !== undefined && { excluded: rollout.excluded }),
      ...(paused !== undefined && { paused }),
    },
    assignment: latest.staging.assignment ?? 0,
    node: describeNode(snapshot, latest, node, { source: assigned.source, plan: readPlan(object) }),
  }
}

interface Assigned {
  readonly source: ConfigSource
  /** undefined: it cannot be used. */
  readonly plan: Plan | undefined
}

function describeNode(
  snapshot: Snapshot,
  { staging, staged }: { readonly staging: Staging; readonly staged: StagedContent },
  { createdMs, labels = {}, ...traits }: NodeTraits,
  { source, plan }: Assigned,
): RolloutSubject['node'] {
  const { running, unit, policy, evidence } = snapshot
  const verdict = unit.kind === 'known' ? findVerdict(snapshot, staged.content, unit) : undefined
  // With any overlay: another one needs no turn.
  const runs = running.kind === 'known' && (running.content === staged.content || isOfHash(staging, running.content, staged.hash))
  return {
    ...traits,
    controlPlane: traits.controlPlane || evidence?.runsControlPlane === true,
    arrival: staging.arrival,
    ...(isYoung(snapshot, plan, createdMs) && { young: true }),
    hash: staged.hash,
    verdict:
      verdict && isForOthers(verdict, staging, staged)
        ? { reason: describeVerdict(verdict), retry: retryOf(staged), ...describeFailed(staged) }
        : undefined,
    runs,
    proven: runs && running.content === staged.content && staged.proved === true && hasPassed(snapshot, running.key),
    promoted: staged.promoted === true && unit.kind === 'known' && staged.promotedOn === unit.kubeletIdentity,
    broughtIn: staged.broughtIn,
    workedBefore: staging.contents.some(({ hash, promoted }) => hash === staged.hash && promoted === true),
    sawUnfinished: staging.sawUnfinished === true,
    waves: staging.waves,
    ...(staging.zones !== undefined && { zones: staging.zones }),
    ...findZone(plan, staging, labels),
    ready: runs ? { ok: false, detail: 'kubelet runs it' } : findReadiness(snapshot, source, staging.config, staged.hash),
    evidence: unit.kind === 'known' ? findEvidenceAccess(snapshot, trialKey(staged.content, unit.kubeletIdentity)) : { kind: 'unread' },
    claimSeconds: Math.ceil(Math.min(MOST_CLAIM_US, policy.startDeadlineUs + 2 * policy.trialUs + 120 * SECOND_US) / SECOND_US),
    trialUs: policy.trialUs,
  }
}

function describeFailed({ failed, halted }: StagedContent): Pick<NonNullable<RolloutNode['verdict']>, 'late' | 'halted'> {
  return { late: failed && failed === 'late', ...(halted === true && { halted }) }
}

/** By the label of the plan that counts: the one that this node keeps, or else the present one. */
function findZone(plan: Plan | undefined, { waves, zones }: Staging, labels: NonNullable<NodeTraits['labels']>): Pick<RolloutNode, 'zone'> {
  const label = waves === undefined ? plan && zoneOrderOf(plan)?.label : zones?.label
  const value = label !== undefined && Object.hasOwn(labels, label) ? labels[label] : undefined
  return label === undefined || value === undefined ? {} : { zone: { label, value } }
}

/** Whichever of the two clocks is ahead. */
function isYoung({ now }: Snapshot, plan: Plan | undefined, createdMs: number | undefined): boolean {
  return createdMs !== undefined && plan !== undefined && Math.abs(now.wallMs - createdMs) * 1000 < Math.max(plan.spreadUs, YOUNG_US)
}

/**
 * Whether other nodes are told of a verdict: of a failure that a healthy fallback has confirmed, or
 * of damage that cannot be undone. A provisional verdict may be the node's own fault, and is
 * forgiven then; a refusal says nothing of how kubelet runs with it. Nor are they told of a config
 * that this node's own overlay broke.
 */
function isForOthers({ state, damage }: Verdict, staging: Staging, staged: StagedContent): boolean {
  return (state === 'confirmed' || damage === 'one-way') && !hasWorkedOtherwise(staging, staged)
}

function describeVerdict({ reason, detail }: Verdict): string {
  return `${reason}: ${detail}`
}

/**
 * Whether nothing but its turn keeps this node from activating the content, and restarting into it.
 * Other nodes have to know that before the turn comes, and the rules alone know what the node would
 * do then: so they are asked of a Snapshot in which it has just come.
 */
function findReadiness(present: Snapshot, source: ConfigSource, config: string, hash: string): RolloutNode['ready'] {
  const turn = { kind: 'go', detail: '' } as const
  const snapshot = { ...present, rollout: { config, hash, turn, confirmedAtUs: present.now.monotonicUs, progress: undefined } }
  const step = nextVisibleStep(snapshot)
  if (step.kind === 'wait') return { ok: false, detail: step.detail }
  if (step.kind === 'restart' && sameSource(step.to, source)) return { ok: true }
  const situation = assess(snapshot)
  if (step.kind !== 'activate' || !sameSource(step.target, source) || !hasTarget(situation))
    return { ok: false, detail: `the agent is still preparing this content (${step.kind})` }
  const restart = decideRestart(snapshot, situation.unit, situation.target)
  // A restart that is under way, or that comes in a while, comes within the time of the claim.
  if (restart.kind === 'restart' || restart.kind === 'under-way') return { ok: true }
  return { ok: false, detail: `kubelet cannot be restarted with ${describeSource(source)} now: ${describeObstacle(restart)}` }
}

function describeObstacle(restart: Exclude<RestartDecision, { kind: 'restart' | 'under-way' }>): string {
  switch (restart.kind) {
    case 'limit':
      return 'the limit of restarts per hour is reached'
    case 'runtime-down':
      return 'the container runtime does not answer'
    case 'stays-down':
      return 'kubelet is stopped'
    case 'ineffective':
      return restart.detail
    case 'not-due':
      return 'kubelet needs no restart'
  }
}
