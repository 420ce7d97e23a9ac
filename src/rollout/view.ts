// SPDX-License-Identifier: Apache-2.0
/**
 * The input of one decision about a rollout, as data, and its result. The record is read first,
 * then the config, both at the newest (R3): where they differ, the config is newer. Pure.
 */
import { anyOf, isNumber, isText, oneOf, optional, shape, type TypeOf } from '../values/json-shape.ts'
import type { ParsedPlan, ZoneOrder } from './plan.ts'
import type { RolloutRecord } from './record.ts'
import type { Observation } from './silence.ts'
import type { ZoneOffsets } from './windows.ts'

export interface RolloutView {
  /** CLOCK_MONOTONIC. */
  readonly nowUs: number
  readonly node: RolloutNode
  readonly config: RolloutConfig
  readonly record: RecordReading
  /** For the windows of the plan. undefined: the API server has not told the time yet. */
  readonly time?: RolloutTime | undefined
}

export interface RolloutTime {
  /** By the clock of the API server. */
  readonly nowMs: number
  /** A time zone, as it was asked for last. undefined: there has been no answer. */
  readonly zone?: ZoneAnswer | undefined
}

export type ZoneAnswer =
  | { readonly ok: true; readonly offsets: ZoneOffsets }
  /** The time zone does not exist, or reading it failed. */
  | { readonly ok: false; readonly timeZone: string; readonly detail: string }

/** The config as it was read after the record. */
export interface RolloutConfig {
  readonly uid: string
  readonly resourceVersion: string
  /**
   * The hash of the content, in lower-case hex: of the ConfigMap, not of what a node makes of it.
   */
  readonly hash: string
  readonly plan: ParsedPlan
  /** By whom the config, or this node alone, is paused. undefined: by nothing that was seen. */
  readonly paused?: { readonly on: 'Node' | 'ConfigMap'; readonly by: string } | undefined
}

export type RecordReading =
  /** `observation` is the one that this reading was folded into. */
  | { readonly kind: 'read'; readonly record: RolloutRecord; readonly resourceVersion: string; readonly observation: Observation }
  /** Missing, forbidden, unreadable, or the annotation that names it is missing (R7). */
  | { readonly kind: 'unavailable'; readonly detail: string }

export const isArrival = oneOf('there', 'joined', 'switched')

/** This node, and what it has to say about one content. */
export interface RolloutNode {
  readonly name: string
  /** The Node's `metadata.uid`. */
  readonly uid: string
  /** Label `kubelet-cfg-agent.io/canary=true`. */
  readonly canary: boolean
  /**
   * Label `node-role.kubernetes.io/control-plane`, or static pods that are components of a control
   * plane.
   */
  readonly controlPlane: boolean
  /**
   * How the config came to this node. `there`: it used it before this content. `joined`: it was
   * assigned at the node's first answer from the cluster. `switched`: from another config, or none.
   */
  readonly arrival: TypeOf<typeof isArrival>
  /**
   * The Node was created a short while ago: less than the plan's spread, or some minutes.
   * undefined: before, or that is not known.
   */
  readonly young?: true | undefined
  /** The hash of the content that all below is about, and that this node would start. */
  readonly hash: string
  /**
   * The verdict on this content, and `retry` of the plan when it failed. undefined: it has not
   * failed here. `late`: whether the failure halts nothing; undefined: the record has not had it
   * yet. `halted`: this node has seen that its veto halted the rollout.
   */
  readonly verdict:
    | { readonly reason: string; readonly retry: number; readonly late?: boolean | undefined; readonly halted?: boolean }
    | undefined
  /** Kubelet runs it, perhaps with another overlay or local config. */
  readonly runs: boolean
  /** Kubelet runs it, its trial has passed, and the evidence for that is known. */
  readonly proven: boolean
  /**
   * The content was last-known-good on this node, with the present kubelet and the present `retry`.
   */
  readonly promoted: boolean
  /**
   * The generation that brought it to this node, before it was last-known-good with the present
   * kubelet and `retry`. undefined: not known, or it ran already when `retry` was raised.
   */
  readonly broughtIn?: number | undefined
  /**
   * The content was last-known-good on this node at some time, perhaps with another overlay or
   * local config.
   */
  readonly workedBefore: boolean
  /**
   * This node has seen a generation of this hash that was not finished, since the config was
   * assigned to it. It is kept on disk, where an Observation ends with the boot.
   */
  readonly sawUnfinished: boolean
  /**
   * The waves of the plan when this node first saw this hash with this `retry`. undefined: it has
   * seen no plan that can be used. Kept on disk.
   */
  readonly waves: readonly number[] | undefined
  /** The zones of that plan. undefined: it had none. */
  readonly zones?: ZoneOrder | undefined
  /** The label of the Node that names its zone. undefined: it has none, or no zones are known. */
  readonly zone?: { readonly label: string; readonly value: string } | undefined
  /**
   * Whether nothing but its turn keeps this node from activating the content: it is downloaded and
   * accepted, and no pause, drain or window is waited for.
   */
  readonly ready: { readonly ok: true } | { readonly ok: false; readonly detail: string }
  /**
   * Whether the evidence that a proof needs can be read: a witness without it could never prove.
   */
  readonly evidence: EvidenceAccess
  /** How long this node's trial may take from its claim, with some time to spare. */
  readonly claimSeconds: number
  /** How long a trial takes here that passes. Shorter trials make shorter delays. */
  readonly trialUs: number
}

export type EvidenceAccess =
  | { readonly kind: 'readable' }
  /** The evidence is asked for once a turn says so, since that costs requests. */
  | { readonly kind: 'unread' }
  | { readonly kind: 'unreadable'; readonly detail: string }

/** Whether this node may start the content. `detail` is a sentence for people. */
export const isTurn = anyOf(
  /**
   * `asks`: kubelet runs it, and a proof is owed for this node's claim. `unready`: why the node
   * does not start it now all the same.
   */
  shape({ kind: oneOf('go'), detail: isText, asks: optional(oneOf('proof')), unready: optional(isText) }),
  /** Nothing has to change in the record until then. */
  shape({ kind: oneOf('wait-until'), atUs: isNumber, detail: isText }),
  /** `asks`: the agent reads the evidence, so that this node can claim. */
  shape({ kind: oneOf('wait'), detail: isText, asks: optional(oneOf('evidence')) }),
  /** Nobody starts it until the config changes or `retry` is raised. */
  shape({ kind: oneOf('halted'), detail: isText }),
  /**
   * The content failed on this node, which does not start it again. Its rollout is not halted for
   * that.
   */
  shape({ kind: oneOf('failed'), detail: isText }),
)
export type RolloutTurn = TypeOf<typeof isTurn>

/** `in-rollout`: the record has its veto. `late`: it halts nothing. */
export const isWhenFailed = oneOf('in-rollout', 'late')
type WhenFailed = TypeOf<typeof isWhenFailed>

export const ROLLOUT_WRITE_KINDS = ['begin', 'claim', 'proof', 'veto', 'advance'] as const
export type RolloutWriteKind = (typeof ROLLOUT_WRITE_KINDS)[number]

/**
 * A merge patch of the record's `data`, to be sent with this `metadata.resourceVersion`. After it,
 * or after a conflict or an answer that was lost, everything is read again and decided again.
 */
export interface RolloutWrite {
  readonly kind: RolloutWriteKind
  readonly resourceVersion: string
  /** Never empty. null removes a key. */
  readonly data: Readonly<Record<string, string | null>>
  /** The words that are written, for the log. */
  readonly detail: string
}

export interface RolloutDecision {
  readonly turn: RolloutTurn
  readonly write?: RolloutWrite
  /**
   * Whether to go on reading the record: this node waits for its turn, has a claim without a proof,
   * or a veto that must not be lost.
   */
  readonly follow: boolean
  /**
   * This node needs no claim, and nothing but its place in the spread keeps it from its turn. The
   * next decision learns since when: `observeTurn`.
   */
  readonly letGo?: boolean
  /** When the content failed on this node, which the node has to remember. */
  readonly failed?: WhenFailed | undefined
}
