// SPDX-License-Identifier: Apache-2.0
/**
 * The decision: one Snapshot in, one Step out. Pure, so that every crash, every order of events and
 * every outage ends in the same place: the next pass observes again and goes on from what it sees.
 *
 * The rules stand in the order of their urgency. Each looks at one Situation and yields a step, or
 * undefined where it does not apply. The first step wins. An earlier rule never waits for a later
 * one.
 *
 * Start reading here. A new rule is a function and a line in this list.
 */

import type { ContentHash } from '../subject/config-source.ts'
import { hasPassed } from '../subject/trial-key.ts'
import { recheckRefusal } from './acceptance.ts'
import { reachTarget, restOnTarget } from './activation-states.ts'
import { asCandidate, condemnFailure, isBeingReplaced, nextInReach } from './condemn-failure.ts'
import {
  clearAfterLongHealth,
  finishReturn,
  forgetLostFallback,
  learnFromFallback,
  retryAfterRest,
  retryLocal,
  tryFailedAgain,
} from './fallback-rules.ts'
import { followAssignment, openRecords, recordChannelState, recordStaging } from './follow-assignment.ts'
import { promote, proveLate, restoreLastKnownGood } from './promote.ts'
import { prune } from './prune.ts'
import { renameKubelet } from './rename-kubelet.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import { assess, hasTarget, type JudgedConfig, type Situation, standsIn, type TargetSituation } from './target.ts'
import { updateTrialBoots } from './trial.ts'
import type { Verdict } from './verdict.ts'
import { ASSIGNED_DAMAGED, failedLately, wait } from './wait.ts'

type Rule = (situation: Situation) => Step | undefined

const RULES: readonly Rule[] = [
  // Kubelet runs with --dynamic-config-dir: two controllers would fight, so the agent touches
  // nothing.
  yieldToDynamicConfigDir,
  // An earlier agent left its records.
  renameKubelet,
  // Systemd is stopping kubelet, or the machine: nothing is done and nothing is judged by it.
  waitWhileStopping,
  // An operator asked on the node for a retry or a rollback.
  withTarget(answerRequest),
  // A config is on trial in this boot, or another config has interrupted its trial.
  withTarget(recordBoot),
  // Kubelet fails with what it starts with: write a verdict, which changes the target.
  withTarget(condemnFailure),
  // Nothing was ever recorded here.
  openRecords,
  // The cluster wants another config than meta/assigned names.
  followAssignment,
  // The assigned config has a rollout, or no longer.
  recordStaging,
  // The cluster says something new about this node.
  recordChannelState,
  // Systemd does not answer, or the wanted config is unknown: nothing below can be decided.
  waitForKnowledge,
  // The checkpoint of a fallback is gone and cannot be downloaded again.
  withTarget(forgetLostFallback),
  // Kubelet is well with local again, or local has changed since it failed.
  withTarget(finishReturn),
  withTarget(retryLocal),
  // A fallback has proved healthy, or the node has after every config failed.
  withTarget(learnFromFallback),
  // Nobody knows last-known-good, and what runs has passed its trial.
  withTarget(restoreLastKnownGood),
  // A config that may not be at fault has failed, and the fallback has been healthy for a while.
  withTarget(tryFailedAgain),
  // A config that had failed and was tried again has been healthy for long.
  withTarget(clearAfterLongHealth),
  // Every config has failed, and nothing has changed for long.
  withTarget(retryAfterRest),
  // Preflight refused the wanted config, and what the refusal rests on has changed.
  withTarget(recheckRefusal),
  // The target's trial has passed.
  withTarget(promote),
  // The evidence for a trial that has passed was not known then, and is now: a rollout waits for
  // that proof.
  withTarget(proveLate),
  // Kubelet does not run the target yet, or is not set to start with it.
  withTarget(reachTarget),
  // Checkpoints that nothing needs take up space.
  withTarget(prune),
  // Nothing is left to do.
  withTarget(restOnTarget),
]

function withTarget(rule: (situation: TargetSituation) => Step | undefined): Rule {
  return (situation) => (hasTarget(situation) ? rule(situation) : undefined)
}

function yieldToDynamicConfigDir({ snapshot, unit }: Situation): Step | undefined {
  if (unit?.wiring.kind !== 'broken' || unit.wiring.reason !== 'dynamic-config-dir') return undefined
  return wait(snapshot, 'blocked', unit.wiring.detail)
}

function waitWhileStopping({ snapshot, unit }: Situation): Step | undefined {
  return unit?.activity === 'stopping' ? wait(snapshot, 'restarting', `kubelet is ${unit.summary}`) : undefined
}

function waitForKnowledge(situation: Situation): Step | undefined {
  const { snapshot } = situation
  if (hasTarget(situation)) return undefined
  return wait(snapshot, 'unknown', snapshot.unit.kind === 'unknown' ? snapshot.unit.detail : ASSIGNED_DAMAGED)
}

/** Writes down each boot in which a config is on trial. */
function recordBoot({ snapshot, unit, target }: TargetSituation): Step | undefined {
  const { nextStart, trialBoots: before } = snapshot
  // Nothing is known of a checkpoint that cannot be read.
  if (nextStart.kind !== 'known' || nextStart.held.content === undefined) return undefined
  const next = asCandidate(nextStart.held, unit)
  if (isBeingReplaced(snapshot, target, next)) return undefined
  const trialBoots = updateTrialBoots(snapshot, next)
  return trialBoots === before ? undefined : { kind: 'record-boot', trialBoots }
}

/**
 * Not a config that is no longer wanted, nor one that stands in for the wanted one. A config has to
 * pass its trial before it is promoted.
 */
function isPromotable({ snapshot, target }: TargetSituation, { content }: { readonly content: ContentHash }): boolean {
  if (target.content !== content || target.source === 'local' || target.verdict !== undefined) return false
  return !hasPassed(snapshot, target.key) && !standsIn(target)
}

/**
 * Carries out a request of an operator on the node: forget verdicts, or roll back the running
 * config.
 */
function answerRequest(situation: TargetSituation): Step | undefined {
  const { snapshot } = situation
  const { requests, verdicts, suspendedVerdicts, now } = snapshot
  if (requests.retry)
    return {
      kind: 'forgive',
      drop: [...verdicts.keys(), ...suspendedVerdicts.keys()],
      requested: true,
      why: 'retry was requested on the node',
    }
  if (requests.promote !== undefined && !isPromotable(situation, requests.promote)) return { kind: 'drop-promote' }
  if (requests.rollback === undefined) return undefined
  const failed = findRolledBack(situation, requests.rollback)
  if (failed === undefined) return { kind: 'drop-rollback' }
  const verdict: Verdict = {
    key: failed.key,
    state: 'confirmed',
    reason: 'requested',
    detail: 'rollback was requested on the node',
    source: failed.source,
    atWallMs: now.wallMs,
  }
  return { kind: 'condemn', verdict, next: nextInReach(situation, verdict)?.source, requested: true }
}

/**
 * The config that kubelet starts with next, as the command names it, or the one that is to replace
 * it: that may wait for a drained node, and what an operator rejects runs on until then. undefined:
 * the request is about neither, or about local.
 */
function findRolledBack(
  { snapshot, unit, target }: TargetSituation,
  { content }: { readonly content: ContentHash },
): JudgedConfig | undefined {
  const { nextStart } = snapshot
  const next = nextStart.kind === 'known' ? [asCandidate(nextStart.held, unit)] : []
  return [target, ...next].find((each) => each.content === content && each.source !== 'local')
}

/**
 * A step that failed lately is passed over until it is due again, so that a full disk cannot keep a
 * node from falling back.
 */
export function nextStep(snapshot: Snapshot): Step {
  const situation = assess(snapshot)
  for (const rule of RULES) {
    const step = rule(situation)
    if (step !== undefined && !failedLately(snapshot, step)) return step
  }
  return wait(snapshot, 'unknown', 'no rule applies')
}

/**
 * The step to tell people and other nodes of. The boots of a trial are written down in passing:
 * then it is the step after that.
 */
export function nextVisibleStep(snapshot: Snapshot): Step {
  const step = nextStep(snapshot)
  return step.kind === 'record-boot' ? nextStep({ ...snapshot, trialBoots: step.trialBoots }) : step
}
