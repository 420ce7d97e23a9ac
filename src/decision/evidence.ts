/**
 * Evidence: what a trial has to prove besides a process that answers `/healthz`. Each kind has one
 * answer. `unknown` never condemns a config. Pure.
 */
import { oneOf, type TypeOf } from '../values/json-shape.ts'

export const EVIDENCE_KINDS = ['process', 'healthz', 'runtime', 'lease', 'ready', 'serving', 'static-pods', 'pods'] as const
export const isEvidenceKind = oneOf(...EVIDENCE_KINDS)
export type EvidenceKind = TypeOf<typeof isEvidenceKind>

export type Answer = 'yes' | 'no' | 'unknown'

/**
 * `transient`: it may pass by itself, and another config may mend it. `one-way`: what was lost does
 * not come back, so the same content is never tried twice.
 */
export const isDamage = oneOf('transient', 'one-way')
export type Damage = TypeOf<typeof isDamage>

/** What is known of one kind of evidence, about the process that runs. */
export interface EvidenceFinding {
  readonly kind: EvidenceKind
  readonly answer: Answer
  /** What was seen, for people. */
  readonly detail: string
  /** CLOCK_MONOTONIC since when the answer holds. undefined: not known. */
  readonly sinceUs: number | undefined
  readonly damage: Damage
  /** Of a no: the node itself may be the cause, so that the verdict is doubtful. */
  readonly mayBeNodes: boolean
  /**
   * Something wrong was seen, but not for long enough to say no. A config is not promoted
   * meanwhile.
   */
  readonly isDoubtful: boolean
  /**
   * Doubtful since it is not known how the node was before: this process shows what would be a no
   * if the node had been well.
   */
  readonly isUncompared: boolean
}

/** `required`: a no is a failure. `watched`: it is only reported. `off`: nothing is asked. */
export type EvidenceLevel = 'required' | 'watched' | 'off'

/** The kinds that a setting can turn down. The others decide about every rollback. */
export const OPTIONAL_KINDS = ['runtime', 'lease', 'ready', 'serving', 'static-pods', 'pods'] as const
export type OptionalKind = (typeof OPTIONAL_KINDS)[number]

export type EvidencePolicy = Readonly<Record<OptionalKind, EvidenceLevel>>

export const ALL_REQUIRED: EvidencePolicy = {
  runtime: 'required',
  lease: 'required',
  ready: 'required',
  serving: 'required',
  'static-pods': 'required',
  pods: 'required',
}

export function levelOf(policy: EvidencePolicy, kind: EvidenceKind): EvidenceLevel {
  return kind === 'process' || kind === 'healthz' ? 'required' : policy[kind]
}

/** How one kind of evidence stands, before its kind is named. */
export interface KindStanding {
  readonly answer: Answer
  readonly detail: string
  readonly sinceUs?: number | undefined
  readonly isDoubtful?: boolean
  readonly mayBeNodes?: boolean
  readonly isUncompared?: boolean
}

export function yes(detail: string, sinceUs?: number): KindStanding {
  return { answer: 'yes', detail, sinceUs }
}

export function no(detail: string, sinceUs?: number): KindStanding {
  return { answer: 'no', detail, sinceUs }
}

/** The node itself may be the cause. */
export function perhapsNo(detail: string, sinceUs?: number): KindStanding {
  return { answer: 'no', detail, sinceUs, mayBeNodes: true }
}

export function unknown(detail: string): KindStanding {
  return { answer: 'unknown', detail }
}

/**
 * A no of this process, and nobody knows whether the node was well before. That neither condemns a
 * config nor lets it pass.
 */
export function uncompared(detail: string): KindStanding {
  return { answer: 'unknown', detail: `${detail}; how that was before is not known`, isDoubtful: true, isUncompared: true }
}

/** Something is wrong, but has not been for long enough. */
export function doubtful(detail: string, sinceUs?: number): KindStanding {
  return { answer: 'unknown', detail, sinceUs, isDoubtful: true }
}
