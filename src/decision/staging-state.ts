// SPDX-License-Identifier: Apache-2.0
/** A node's memory of a config that has a rollout, and its knowledge of the record, as data. */
import { isZoneOrder } from '../rollout/plan.ts'
import { isProgress } from '../rollout/progress.ts'
import { isArrival, isTurn, isWhenFailed } from '../rollout/view.ts'
import { isContentHash } from '../subject/config-source.ts'
import { isFlag, isNumber, isText, listOf, optional, orUndefined, shape, type TypeOf } from '../values/json-shape.ts'

const isStagedContent = shape({
  /** The hash of the ConfigMap, by which a rollout knows the content. */
  hash: isText,
  /** The content that this node makes of the ConfigMap. */
  content: isContentHash,
  /**
   * `retry` of the plan, the highest that was seen with this content. undefined: 0. Verdicts on it
   * are of this try.
   */
  retry: optional(isNumber),
  /** A trial of it passed here, and all evidence that is required was known then. */
  proved: optional(isFlag),
  /** The content was last-known-good here at some time. */
  promoted: optional(isFlag),
  /**
   * The identity of the kubelet on which it was last-known-good last. undefined: an earlier agent
   * did not write it, or `retry` was raised since. Then it starts as a new content does.
   */
  promotedOn: optional(isText),
  /**
   * The generation of its rollout in which it was activated, before it was last-known-good with
   * that kubelet. 0: an earlier one. undefined: not known.
   */
  broughtIn: optional(isNumber),
  /** The effect of the verdict that stands. undefined: the record of the rollout has not had it. */
  failed: optional(isWhenFailed),
  /** This node's veto was seen to halt the rollout. */
  halted: optional(isFlag),
  /** Kubelet was seen to run it since it was activated last: over a reboot, nothing else tells. */
  started: optional(isFlag),
  /**
   * An operator requested on the node that it be tried again, which needs no turn until it fails.
   */
  requested: optional(isFlag),
  /**
   * The content was activated without a turn, since nothing but the overlay or the local config of
   * this node told it from the content that ran.
   */
  ownEdit: optional(isFlag),
})
export type StagedContent = TypeOf<typeof isStagedContent>

const isStaging = shape({
  /** `namespace/name` of the config. */
  config: isText,
  /** The record's name, in the same namespace, as the annotation said last. */
  record: isText,
  /** How the config came to this node. */
  arrival: isArrival,
  /** One more each time that the config is assigned in place of another. undefined: 0. */
  assignment: optional(isNumber),
  /**
   * A node that switched to the config has seen a rollout of the latest content that was not
   * finished. So after a reboot, it does not take the rollout for one that was finished before.
   */
  sawUnfinished: optional(isFlag),
  /**
   * The waves of the plan when the latest hash was assigned, or `retry` was raised for it.
   * undefined: there was no plan that can be used.
   */
  waves: optional(listOf(isNumber)),
  /** The zones of that plan. undefined: it had none. */
  zones: optional(isZoneOrder),
  /** The contents that were assigned. The latest comes last. */
  contents: listOf(isStagedContent),
})
export type Staging = TypeOf<typeof isStaging>
export const isStagings = listOf(isStaging)

/** The record of a rollout, as far as this node knows it, as data. */
export const isRolloutKnowledge = shape({
  /** `namespace/name`. */
  config: isText,
  /** The hash of the content that this is about. */
  hash: isText,
  turn: isTurn,
  /**
   * When the record and then the config were read at their newest. undefined: not for this turn,
   * which comes from what a watch showed.
   */
  confirmedAtUs: orUndefined(isNumber),
  /** When the content failed on this node, as far as this turn tells. */
  failed: optional(isWhenFailed),
  /** undefined: the record cannot be read, or is about another content. */
  progress: orUndefined(isProgress),
})
export type RolloutKnowledge = TypeOf<typeof isRolloutKnowledge>
