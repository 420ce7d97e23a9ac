/**
 * The rules, in the order of their urgency. Each looks at one Situation and yields a step, or
 * undefined where it does not apply. The first step wins. An earlier rule never waits for a later
 * one.
 *
 * Start reading here. A new rule is a function and a line in this list.
 */
import { recheckRefusal } from './acceptance.ts'
import { reachTarget, restOnTarget } from './activation-states.ts'
import { condemnFailure } from './condemn-failure.ts'
import { clearAfterLongHealth, forgetLostFallback, learnFromFallback, retryAfterRest, tryFailedAgain } from './fallback-rules.ts'
import { followAssignment, recordChannelState, recordStaging } from './follow-assignment.ts'
import { proveLate } from './late-proof.ts'
import { openRecords } from './open-records.ts'
import { answerRequest } from './operator-requests.ts'
import { promote } from './promote.ts'
import { prune } from './prune.ts'
import { recordBoot } from './record-boot.ts'
import { renameKubelet } from './rename-kubelet.ts'
import { finishReturn, retryLocal } from './return-to-local.ts'
import { hasTarget, type Situation, type TargetSituation } from './situation.ts'
import type { Step } from './step.ts'
import { ASSIGNED_DAMAGED, wait } from './wait.ts'

export type Rule = (situation: Situation) => Step | undefined

export const RULES: readonly Rule[] = [
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
  // What the cluster says about this node has changed.
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
  // A config that may not be at fault has failed, and the fallback has been healthy for a while.
  withTarget(tryFailedAgain),
  // What was tried again has been healthy for long.
  withTarget(clearAfterLongHealth),
  // Every config has failed, and nothing has changed for long.
  withTarget(retryAfterRest),
  // Preflight refused the wanted config, and what the refusal rests on has changed.
  withTarget(recheckRefusal),
  // The target's trial has passed.
  withTarget(promote),
  // Its evidence was not known then, and is now: a rollout waits for that proof.
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
