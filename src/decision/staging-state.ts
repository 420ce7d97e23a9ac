/**
 * What a node remembers of a config that has a rollout, and what it knows of the
 * record. Types only.
 */
import type { Progress } from '../rollout/progress.ts'
import type { RolloutNode, RolloutTurn, WhenFailed } from '../rollout/view.ts'
import type { ContentHash } from './config-source.ts'

export interface Staging {
  /** `namespace/name` of the config. */
  readonly config: string
  /** The record's name, in the same namespace, as the annotation said last. */
  readonly record: string
  /** How the config came to this node. */
  readonly arrival: RolloutNode['arrival']
  /** One more each time that the config is assigned in place of another. undefined: 0. */
  readonly assignment?: number | undefined
  /**
   * A node that switched to the config has seen a rollout of the latest content that was not
   * finished. So after a reboot, it does not take the rollout for one that was finished before.
   */
  readonly sawUnfinished?: boolean | undefined
  /**
   * The waves of the plan when the latest hash was assigned, or `retry` was raised for it.
   * undefined: there was no plan that can be used.
   */
  readonly waves?: readonly number[] | undefined
  /** The contents that were assigned. The latest comes last. */
  readonly contents: readonly StagedContent[]
}

export interface StagedContent {
  /** Of the ConfigMap, by which a rollout knows it. */
  readonly hash: string
  /** What this node makes of it. */
  readonly content: ContentHash
  /**
   * `retry` of the plan, the highest that was seen with this content. undefined: 0. Verdicts on it
   * are of this try.
   */
  readonly retry?: number | undefined
  /** A trial of it passed here, and all evidence that is required was known then. */
  readonly proved?: boolean | undefined
  /** It was last-known-good here at some time. */
  readonly promoted?: boolean | undefined
  /**
   * The identity of the kubelet on which it was last-known-good last. undefined: an earlier agent
   * did not write it, or `retry` was raised since. Then it starts as a new content does.
   */
  readonly promotedOn?: string | undefined
  /** When the verdict that stands was told first. undefined: not known. */
  readonly failed?: WhenFailed | undefined
  /** Kubelet was seen to run it since it was activated last: over a reboot, nothing else tells. */
  readonly started?: boolean | undefined
  /**
   * An operator requested on the node that it be tried again, which needs no turn until it fails.
   */
  readonly requested?: boolean | undefined
  /**
   * It was activated without a turn, since nothing but the overlay or the local config of this node
   * told it from what ran.
   */
  readonly ownEdit?: boolean | undefined
}

/** What is known of the record, as data. */
export interface RolloutKnowledge {
  /** `namespace/name`. */
  readonly config: string
  /** Of the content that this is about. */
  readonly hash: string
  readonly turn: RolloutTurn
  /**
   * When the record and then the config were read at their newest. undefined: not for this turn,
   * which comes from what a watch showed.
   */
  readonly confirmedAtUs: number | undefined
  /** When it failed on this node, as far as this turn tells. */
  readonly failed?: WhenFailed | undefined
  /** undefined: the record cannot be read, or is about another content. */
  readonly progress: Progress | undefined
}
