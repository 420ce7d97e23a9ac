/**
 * What the agent would do next about a Snapshot, in words: the same pure decision that the agent runs on, asked without an agent. Pure.
 */
import { findEndUs } from '../decision/awaited.ts'
import { describeSource } from '../decision/config-source.ts'
import { nextStep } from '../decision/next-step.ts'
import { assess } from '../decision/situation.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Phase, Step } from '../decision/step.ts'
import type { Target } from '../decision/target.ts'
import { measureTrial } from '../decision/trial.ts'

export interface Explanation {
  /** Which source should be active. undefined: cannot be told. */
  readonly target: Target | undefined
  /** `due`: there is something to do, which a running agent does at once. */
  readonly phase: Phase | 'due'
  readonly detail: string
  /** Of the trial that is under way. */
  readonly trialRemainingUs: number | undefined
  /** Of a wait that ends by itself: this node's turn in a spread, or the hourly limit of restarts. */
  readonly waitRemainingUs: number | undefined
}

export function explain(snapshot: Snapshot): Explanation {
  const { target } = assess(snapshot)
  // What preflight accepted is known to the agent alone. Without this, everything not yet activated would seem to wait for preflight.
  const accepted = new Map(snapshot.accepted)
  if (target !== undefined) accepted.set(target.key, { drain: [], basis: snapshot.basis })
  const step = nextStep({ ...snapshot, accepted })
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

/** What a step does, as in `what the agent would do: ...`. */
export function describeStep(step: Exclude<Step, { kind: 'wait' }>): string {
  switch (step.kind) {
    case 'forgive':
      return `drop what is held against ${step.keys.length === 1 ? 'a config' : 'configs'}: ${step.why}`
    case 'drop-rollback':
      return 'drop the rollback that was asked for: what it was about is no longer wanted'
    case 'assign':
      return `assign ${describeSource(step.source)}`
    case 'reset-to-local':
      return 'return to the local config'
    case 'condemn':
      return `roll back ${describeSource(step.verdict.source)} to ${step.next === undefined ? 'nothing that is left' : describeSource(step.next)}: ${step.verdict.detail}`
    case 'confirm':
      return 'confirm what failed, since the fallback is healthy'
    case 'preflight':
      return `check ${describeSource(step.source)}`
    case 'activate':
      return `make ${describeSource(step.target)} what kubelet starts with`
    case 'restart':
      return `restart kubelet to use ${describeSource(step.to)}`
    case 'record-channel':
      return 'write down how the cluster assigns'
    case 'prove':
      return 'record that the trial has passed'
    case 'promote':
      return `promote ${describeSource(step.target.source)} to last-known-good`
    case 'forget-fallback':
      return `make local what ${step.record} names, since the checkpoint of ${describeSource(step.source)} is gone`
    case 'prune':
      return 'remove checkpoints that are no longer needed'
  }
}
