// SPDX-License-Identifier: Apache-2.0
/**
 * The steps that one pass of the loop can decide on, as data, so that they can be logged, compared
 * and tested. `effectsOf` says what each step does. Every step is idempotent: done twice, it leaves
 * what it leaves when done once.
 */

import {
  type CheckpointInfo,
  type ConfigMapData,
  type ConfigMapSource,
  type ConfigSource,
  type ContentHash,
  describeSource,
} from '../subject/config-source.ts'
import type { TrialKey } from '../subject/trial-key.ts'
import type { ReadyWiring } from '../subject/unit-state.ts'
import type { ChannelState, FoundConfigMap } from './desired.ts'
import type { Phase } from './phases.ts'
import type { RestartRecord, TrialBoots } from './records.ts'
import type { ConfigFailure, Verdict } from './verdict.ts'

export type Step =
  /**
   * Try configs again although they had failed. `drop`: their verdicts are removed. `suspend`:
   * verdicts that are not in force while their configs are tried again. `keep`: verdicts that stay
   * in force, with what is known of them by now. `requested`: an operator requested a retry.
   */
  | {
      readonly kind: 'forgive'
      readonly drop: readonly TrialKey[]
      readonly suspend?: readonly Verdict[]
      readonly keep?: readonly Verdict[]
      readonly requested: boolean
      readonly why: string
    }
  /** The requested rollback is about a config that is no longer the target. */
  | { readonly kind: 'drop-rollback' }
  /** The promotion that was requested is about a config that is not on trial any more. */
  | { readonly kind: 'drop-promote' }
  /**
   * Save the checkpoint and move meta/assigned to it. `shared`: the change comes from something
   * that nodes share, and not from this Node, so it is spread.
   */
  | {
      readonly kind: 'assign'
      readonly source: ConfigMapSource
      /** The ConfigMap's own data. */
      readonly data: ConfigMapData
      /** With this node's overlay, where `source` has one. */
      readonly rendered?: ConfigMapData
      readonly shared: boolean
    }
  /** `shared`: what assigned a config to many nodes is gone, so the fall to local is spread. */
  | { readonly kind: 'reset-to-local'; readonly from: ConfigSource | undefined; readonly shared: boolean }
  /** Kubelet is well with local: there is nothing to go back to any more. */
  | { readonly kind: 'forget-left'; readonly key: TrialKey; readonly wiring: ReadyWiring }
  /** The records call this kubelet by the name that an earlier agent gave it. */
  | {
      readonly kind: 'rename-kubelet'
      readonly verdicts: readonly { readonly former: TrialKey; readonly verdict: Verdict }[]
      readonly proven?: TrialKey
    }
  /** Nothing was ever recorded: write the empty records, which mean local. */
  | { readonly kind: 'open-records'; readonly lastKnownGood: ConfigSource }
  /** Record what the cluster says about this node: it has changed. */
  | { readonly kind: 'record-channel'; readonly channelState: ChannelState }
  /** The annotations of the assigned version say otherwise than what is remembered. */
  | { readonly kind: 'record-staging'; readonly source: ConfigMapSource; readonly object: FoundConfigMap }
  /**
   * Write a verdict on the config that failed, so that the next pass finds another target. `next`:
   * undefined when no config is left. `requested`: an operator requested the rollback.
   */
  | { readonly kind: 'condemn'; readonly verdict: Verdict; readonly next: ConfigSource | undefined; readonly requested: boolean }
  /** A config is on trial in this boot. undefined: the trial was interrupted by another config. */
  | { readonly kind: 'record-boot'; readonly trialBoots: TrialBoots | undefined }
  | { readonly kind: 'confirm'; readonly verdicts: readonly Verdict[] }
  /**
   * Restart kubelet once more with a config that has failed and had proved itself before, before it
   * is condemned. `record`: undefined where systemd restarts kubelet by itself.
   */
  | {
      readonly kind: 'try-again'
      readonly source: ConfigSource
      readonly failure: ConfigFailure
      readonly record: RestartRecord | undefined
    }
  /**
   * Suspend the verdict, so that what it condemned becomes the target again. `recovered`: kubelet
   * still runs with that, and is healthy.
   */
  | { readonly kind: 'retry-failed'; readonly verdict: Verdict; readonly number: number; readonly of: number; readonly recovered?: true }
  /** `data`: checked before it is on disk. undefined: the checkpoint's. */
  | {
      readonly kind: 'preflight'
      readonly source: ConfigSource
      readonly key: TrialKey
      readonly data: ConfigMapData | undefined
      /** The config is to replace one that failed. */
      readonly fallback: boolean
    }
  /**
   * Make `target` what kubelet starts with next. `fallback`: where to go if it fails. undefined:
   * this is itself a fallback, or local with nothing left.
   */
  | { readonly kind: 'activate'; readonly target: ConfigSource; readonly fallback: ConfigSource | undefined; readonly wiring: ReadyWiring }
  | {
      readonly kind: 'restart'
      readonly record: RestartRecord
      readonly from: ConfigSource | undefined
      readonly to: ConfigSource
    }
  /**
   * The trial passed: record with which content, on which kubelet. Precedes `promote`, so that a
   * crash between the two loses nothing.
   */
  | { readonly kind: 'prove'; readonly key: TrialKey }
  | {
      readonly kind: 'promote'
      readonly target: { readonly source: ConfigMapSource; readonly content: ContentHash }
      readonly previous: ConfigSource | undefined
    }
  /**
   * The checkpoint of a fallback is gone and cannot be downloaded again: that fallback is local
   * from now on.
   */
  | { readonly kind: 'forget-fallback'; readonly record: 'last-known-good' | 'previous'; readonly source: ConfigSource }
  | { readonly kind: 'prune'; readonly checkpoints: readonly CheckpointInfo[] }
  | Wait

/** Nothing to do until something changes or the time comes. */
export interface Wait {
  readonly kind: 'wait'
  readonly phase: Phase
  /** The thing that is waited for, for messages. */
  readonly detail: string
  /** CLOCK_MONOTONIC. */
  readonly untilUs: number
}

/** A step that does something. */
export type Action = Exclude<Step, Wait>

export type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>

/**
 * Which source a step is about, where a failure must not hold back the same step about another
 * source.
 */
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
