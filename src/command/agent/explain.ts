// SPDX-License-Identifier: Apache-2.0
/**
 * The agent's next step for a Snapshot, in words, from the decision that the agent itself runs.
 * Pure.
 */

import type { Phase } from '../../decision/phases.ts'
import { nextVisibleStep } from '../../decision/rules.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import type { Step } from '../../decision/step.ts'
import { assess, type Target } from '../../decision/target.ts'
import { measureTrial } from '../../decision/trial.ts'
import { findEndUs } from '../../decision/wait.ts'
import { describeSource } from '../../subject/config-source.ts'

export interface Explanation {
  /** The config that should run. undefined: unknown. */
  readonly target: Target | undefined
  /** `due`: there is a step to do, which a running agent does at once. */
  readonly phase: Phase | 'due'
  readonly detail: string
  /** The time that is left of the present trial. */
  readonly trialRemainingUs: number | undefined
  /**
   * The time that is left of a wait that ends by itself: this node's turn in a spread, or the
   * hourly limit of restarts.
   */
  readonly waitRemainingUs: number | undefined
}

export function explain(snapshot: Snapshot): Explanation {
  const { target: present, awaitingTurn } = assess(snapshot)
  const target = awaitingTurn ?? present
  // Only the running agent knows what preflight accepted. Without this, every config that is not
  // yet activated would seem to wait for preflight.
  const accepted = new Map(snapshot.accepted)
  if (target !== undefined) {
    const { basis, localConfig } = snapshot
    accepted.set(target.key, { drain: [], basis, ...(target.source === 'local' && { localConfig }) })
  }
  const step = nextVisibleStep({ ...snapshot, accepted })
  if (step.kind !== 'wait') {
    return { target, phase: 'due', detail: describeStep(step), trialRemainingUs: undefined, waitRemainingUs: undefined }
  }
  const endsAtUs = target && findEndUs(snapshot, step.phase, target)
  return {
    target,
    phase: step.phase,
    detail: step.detail,
    trialRemainingUs: step.phase === 'in-trial' && target !== undefined ? measureTrial(snapshot, target.key)?.remainingUs : undefined,
    waitRemainingUs: endsAtUs && Math.max(0, endsAtUs - snapshot.now.monotonicUs),
  }
}

/** A step in words, as in `what the agent would do: ...`. */
export function describeStep(step: Exclude<Step, { kind: 'wait' }>): string {
  switch (step.kind) {
    case 'forgive':
      return `drop ${step.drop.length + (step.suspend ?? []).length === 1 ? 'the verdict on a config' : 'the verdicts on configs'}: ${step.why}`
    case 'drop-rollback':
      return 'drop the requested rollback: the config it names is no longer wanted'
    case 'drop-promote':
      return 'drop the requested promotion: the config it names is not on trial any more'
    case 'assign':
      return `assign ${describeSource(step.source)}`
    case 'reset-to-local':
      return 'return to the local config'
    case 'forget-left':
      return 'end the return to the local config, with which kubelet has been healthy for a whole trial'
    case 'condemn':
      return `roll back ${describeSource(step.verdict.source)} to ${step.next === undefined ? 'no other config' : describeSource(step.next)}: ${step.verdict.detail}`
    case 'confirm':
      return 'confirm the verdict on the config that failed, since the fallback is healthy'
    case 'try-again':
      return `try ${describeSource(step.source)} once more before it is given up: ${step.failure.detail}`
    case 'retry-failed':
      return `try ${describeSource(step.verdict.source)} again, which had failed (${step.number} of ${step.of})`
    case 'preflight':
      return `check ${describeSource(step.source)}`
    case 'activate':
      return `make ${describeSource(step.target)} what kubelet starts with`
    case 'restart':
      return `restart kubelet to use ${describeSource(step.to)}`
    case 'open-records':
      return 'write the first records, which mean local'
    case 'record-channel':
      return 'record which channel assigns'
    case 'record-staging':
      return 'record whether the config has a rollout'
    case 'rename-kubelet':
      return 'name kubelet by its content in the records of an earlier agent'
    case 'record-boot':
      return step.trialBoots === undefined ? 'drop the record of the former trial' : 'record that the config is on trial in this boot'
    case 'prove':
      return 'record that the trial has passed'
    case 'promote':
      return `promote ${describeSource(step.target.source)} to last-known-good`
    case 'forget-fallback':
      return `forget what ${step.record} names, since the checkpoint of ${describeSource(step.source)} is gone`
    case 'prune':
      return 'remove checkpoints that are no longer needed'
  }
}
