// SPDX-License-Identifier: Apache-2.0
/**
 * The ports for the assignment of this node: its source, the local config that a part is merged
 * into, and the record that nodes coordinate a rollout through. Adapters: `src/source/`.
 */
import type { Desired } from '../decision/desired.ts'
import type { RolloutSubject } from '../decision/rollout-subject.ts'
import type { RolloutKnowledge } from '../decision/staging-state.ts'
import type { NodeShown } from '../subject/node-shown.ts'

/** Reads this node's assignment from the cluster, or from a directory of manifests. */
export interface AssignmentSource {
  /**
   * The latest known assignment, from memory; it is kept while the API server is unreachable.
   * @param readLocal called only where a part is assigned
   */
  desired(readLocal: ReadLocalConfig): Desired
  /**
   * The facts of this node, from memory. A source without it has no Node.
   * @param wanted whether values are computed from them: only then is the whole Node watched
   */
  node?(wanted: boolean): NodeView
  /** Starts watching and returns immediately. `onChange` only wakes the loop. */
  start(onChange: () => void): void
  stop(): Promise<void>
}

/** The facts that the Node shows. `pending`: the whole Node has not been read yet. */
export type NodeView =
  | { readonly kind: 'found'; readonly node: NodeShown }
  | { readonly kind: 'pending'; readonly detail: string }
  | { readonly kind: 'none'; readonly detail: string }

/** The local config, as far as it is known. `path` is for messages. */
export type LocalConfigView =
  /** Kubelet's unit is not known, or does not take its config from the agent. */
  | { readonly kind: 'unknown'; readonly detail: string }
  /** `why`: kubelet starts without a config file, or the one that it is told to read is missing. */
  | { readonly kind: 'unusable'; readonly detail: string; readonly why?: 'none' | 'missing' }
  /** `staysBelow`: kubelet merges what the agent gives it over this config. */
  | { readonly kind: 'found'; readonly path: string; readonly text: string; readonly staysBelow?: boolean }

export type ReadLocalConfig = () => LocalConfigView

/**
 * The record of a rollout. Never throws and never waits: the record is read and written in the
 * background.
 */
export interface RolloutPort {
  /**
   * Takes the facts of this node. undefined: no rollout concerns it. A turn that changes wakes the
   * loop.
   */
  follow(subject: RolloutSubject | undefined): void
  /** The record of the subject, as far as it is known, from memory. */
  known(): RolloutKnowledge | undefined
}
