/**
 * What one pass of the loop can decide to do: data, so that it can be logged, compared and tested. `perform` has one executor per kind.
 * Every step is idempotent: done twice it leaves what it leaves when done once.
 */

import type { CheckpointInfo, ConfigMapData, ConfigMapSource, ConfigSource, HeldSource } from './config-source.ts'
import { describeSource } from './config-source.ts'
import type { ChannelState } from './desired.ts'
import type { RestartRecord } from './records.ts'
import type { TrialKey } from './trial-key.ts'
import type { ReadyWiring } from './unit-state.ts'
import type { Verdict } from './verdict.ts'

export type Step =
  /** Drop verdicts, so that what they condemned is tried again. `asked`: a person said retry. */
  | { readonly kind: 'forgive'; readonly keys: readonly TrialKey[]; readonly asked: boolean; readonly why: string }
  /** The rollback that was asked for is about something that is no longer the target. */
  | { readonly kind: 'drop-rollback' }
  /** Save the checkpoint and move meta/assigned to it. `inPlace`: the Node's own assignment did not change. */
  | {
      readonly kind: 'assign'
      readonly source: ConfigMapSource
      /** The ConfigMap's own. */
      readonly data: ConfigMapData
      /** With this node's overlay: there where `source` has one. */
      readonly rendered?: ConfigMapData
      readonly inPlace: boolean
    }
  | { readonly kind: 'reset-to-local'; readonly from: ConfigSource | undefined }
  /** The cluster speaks by another channel, or pauses, or no longer does: remember it. */
  | { readonly kind: 'record-channel'; readonly channelState: ChannelState }
  /** Write a verdict on what failed: the next pass finds another target. `next`: undefined when nothing is left. `asked`: a person said rollback. */
  | { readonly kind: 'condemn'; readonly verdict: Verdict; readonly next: ConfigSource | undefined; readonly asked: boolean }
  | { readonly kind: 'confirm'; readonly verdicts: readonly Verdict[] }
  /** `data`: judged before it is on disk; undefined: the checkpoint's. */
  | {
      readonly kind: 'preflight'
      readonly source: ConfigMapSource
      readonly key: TrialKey
      readonly data: ConfigMapData | undefined
      /** It is to take the place of what failed. */
      readonly fallback: boolean
    }
  /** Make `target` what kubelet starts with next. `fallback`: where to go if it fails; undefined when this is itself a fallback. */
  | { readonly kind: 'activate'; readonly target: ConfigSource; readonly fallback: ConfigSource | undefined; readonly wiring: ReadyWiring }
  | {
      readonly kind: 'restart'
      readonly record: RestartRecord
      readonly from: ConfigSource | undefined
      readonly to: ConfigSource
    }
  /** The trial passed: remember for what. Comes before `promote`, so that a crash between them loses nothing. */
  | { readonly kind: 'prove'; readonly key: TrialKey }
  | { readonly kind: 'promote'; readonly target: HeldSource; readonly previous: ConfigSource | undefined }
  /** The checkpoint that a fallback names is gone and cannot be downloaded again: that fallback is local from now on. */
  | { readonly kind: 'forget-fallback'; readonly record: 'last-known-good' | 'previous'; readonly source: ConfigSource }
  | { readonly kind: 'prune'; readonly checkpoints: readonly CheckpointInfo[] }
  | Wait

/** Nothing to do until something changes or the time comes. */
export interface Wait {
  readonly kind: 'wait'
  readonly phase: Phase
  /** For people: what is being waited for. */
  readonly detail: string
  /** CLOCK_MONOTONIC. */
  readonly untilUs: number
}

export type Phase =
  /** What is wanted runs, and nothing is on trial. */
  | 'settled'
  | 'in-trial'
  /** A fallback runs because what is assigned was refused or failed. */
  | 'fallen-back'
  /** What is wanted is being judged. */
  | 'preflight'
  /** What changes may change on a drained node only. */
  | 'drain'
  /** An in-place edit waits for this node's turn. */
  | 'spread'
  | 'paused'
  /** A person stopped kubelet: its next start uses what is activated. */
  | 'kubelet-stopped'
  /** kubelet would not come back from a restart now: its container runtime refuses connections. */
  | 'runtime-down'
  /** kubelet is on its way up or down. */
  | 'restarting'
  /** The hourly limit of restarts is reached. */
  | 'restart-limit'
  /** kubelet was restarted and still runs something else. */
  | 'ineffective'
  /** The unit does not take its config from us. */
  | 'blocked'
  /** Every fallback failed too: the node and not the config. */
  | 'node-at-fault'
  /** Something needed to decide cannot be read. */
  | 'unknown'

/** A step that does something. */
export type Action = Exclude<Step, Wait>

export type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>

/** Which source a step is about, where one that fails must not hold back the same step about another. */
export function aboutOf(step: Step): string {
  switch (step.kind) {
    case 'activate':
      return describeSource(step.target)
    case 'preflight':
      return describeSource(step.source)
    default:
      return ''
  }
}
