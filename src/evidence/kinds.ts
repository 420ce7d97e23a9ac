// SPDX-License-Identifier: Apache-2.0
/**
 * The table of the kinds of evidence, and the records that follow from it: the evidence in /run
 * beside the health record, and the baseline in `meta/`, both stored as JSON. A fact says about
 * which process of kubelet it was asked, so that a late answer is not taken for one about the next
 * process. Pure.
 */
import { isFlag, isNumber, isText, listOf, oneOf, optional, partialMapOf, type Shaped, shape, type TypeOf } from '../values/json-shape.ts'
import { BASELINE, type Contract, type Damage, type KindStanding, type Moment, PROCESS, type View } from './kind.ts'
import { LEASE } from './lease.ts'
import { PODS } from './pods.ts'
import { READY } from './ready.ts'
import { RUNTIME } from './runtime.ts'
import { SERVING } from './serving.ts'
import { STATIC_PODS } from './static-pods.ts'

/**
 * Each kind by its question, which is its name in the records. In the order in which they are
 * asked.
 */
const KINDS = {
  node: READY,
  lease: LEASE,
  pods: PODS,
  runtime: RUNTIME,
  serving: SERVING,
  'static-pods': STATIC_PODS,
}

/** The fields that all kinds record together, of a process or in the baseline. */
function fieldsOf<Part extends 'seen' | 'taken'>(part: Part): FieldsOf<Part> {
  return Object.assign({}, ...Object.values(KINDS).map((kind) => kind[part]))
}

type FieldsOf<Part extends 'seen' | 'taken'> = AllOf<(typeof KINDS)[keyof typeof KINDS][Part]>
/** The intersection of a union. */
type AllOf<Each> = (Each extends unknown ? (each: Each) => void : never) extends (all: infer All) => void ? All : never

const SEEN = fieldsOf('seen')
const TAKEN = fieldsOf('taken')

export type Taken = Shaped<typeof TAKEN>
export type Question = keyof typeof KINDS
export const QUESTIONS = Object.keys(KINDS) as readonly Question[]

export type OptionalKind = (typeof KINDS)[Question]['kind']
/**
 * `required`: a no is a failure. `watched`: it is only reported. `off`: the question is asked only
 * where another kind needs it.
 */
export type EvidenceLevel = 'required' | 'watched' | 'off'
export type EvidencePolicy = Readonly<Record<OptionalKind, EvidenceLevel>>

/** In the order in which people are told. */
export const ALL_REQUIRED: EvidencePolicy = {
  runtime: 'required',
  lease: 'required',
  ready: 'required',
  serving: 'required',
  'static-pods': 'required',
  pods: 'required',
}

/** The kinds that a setting can turn down. The others decide about every rollback. */
export const OPTIONAL_KINDS = Object.keys(ALL_REQUIRED) as readonly OptionalKind[]
export type EvidenceKind = 'process' | 'healthz' | OptionalKind
export const EVIDENCE_KINDS: readonly EvidenceKind[] = ['process', 'healthz', ...OPTIONAL_KINDS]
export const isEvidenceKind = oneOf(...EVIDENCE_KINDS)

export function levelOf(policy: EvidencePolicy, kind: EvidenceKind): EvidenceLevel {
  return kind === 'process' || kind === 'healthz' ? 'required' : policy[kind]
}

/** undefined: a kind that the health record judges. */
export function contractOf(kind: EvidenceKind): (typeof ALL_CONTRACTS)[number] | undefined {
  return ALL_CONTRACTS.find((contract) => contract.kind === kind)
}

/** The same. */
export function questionOf(kind: EvidenceKind): Question | undefined {
  return QUESTIONS.find((question) => KINDS[question].kind === kind)
}

export type Answers = { readonly [Q in Question]: Parameters<(typeof KINDS)[Q]['fold']>[0] }
export type SeenFact<Asked extends Question = Question> = {
  readonly [Q in Asked]: { readonly question: Q; readonly answer: Answers[Q] }
}[Asked]

/** An answer of any kind. */
export interface AnySeen {
  readonly question: Question
  readonly answer: Answers[Question]
}

export interface Fact {
  /** InvocationID of the kubelet that it is about. */
  readonly about: string
  /** CLOCK_MONOTONIC, when the answer arrived. */
  readonly atUs: number
  readonly seen: SeenFact
}

/** The standing of one kind of evidence, about the process that runs. */
export interface EvidenceFinding extends Required<KindStanding> {
  readonly kind: EvidenceKind
  readonly damage: Damage
}

const isQuestion = oneOf(...QUESTIONS)

/** The observations of one process of kubelet. */
const isProcessEvidence = shape({
  ...PROCESS,
  /** When each question was answered last. */
  answeredUs: partialMapOf(QUESTIONS, isNumber),
  /** Those answered last while the node was paused. */
  answeredInPause: optional(listOf(isQuestion)),
  ...SEEN,
})
export type ProcessEvidence = TypeOf<typeof isProcessEvidence>

const isUnreadQuestion = shape({
  question: isQuestion,
  kind: oneOf('refused', 'forbidden', 'unreachable', 'not-asked'),
  detail: isText,
  /** CLOCK_MONOTONIC. undefined: recorded by an agent that did not record it. */
  atUs: optional(isNumber),
  /** As in the answer. */
  busy: optional(isFlag),
  /** The same. */
  hasFailed: optional(isFlag),
})
export type UnreadQuestion = TypeOf<typeof isUnreadQuestion>

/**
 * How the node was before the config that ran then, which was on trial: the candidate has to bring
 * back what that one may have broken.
 */
const isEarlierState = shape({
  ...TAKEN,
  ofPromoted: BASELINE.ofPromoted,
  beforeBoot: BASELINE.beforeBoot,
  /** The kind that the config failed with. The state is that before its first try. */
  ofTry: optional(isEvidenceKind),
})
export type EarlierState = TypeOf<typeof isEarlierState>

/** How the node was before kubelet was restarted into `candidate`. */
const isBaseline = shape({
  ...BASELINE,
  /** Questions that were answered, if only with "not known". */
  answered: listOf(isQuestion),
  /** Questions among these that nothing could be read about. */
  unread: optional(listOf(isUnreadQuestion)),
  ...TAKEN,
  earlier: optional(isEarlierState),
})
export type Baseline = TypeOf<typeof isBaseline>

/** The baselines outlive the boot. */
const KEPT = {
  bootId: isText,
  baseline: optional(isBaseline),
  /** The baseline that concerns what runs, where one for another config has taken its place. */
  displaced: optional(isBaseline),
}
export const isKeptBaseline = shape(KEPT)
export type KeptBaseline = TypeOf<typeof isKeptBaseline>

/** Bounded, and of one boot. */
export const isEvidenceRecord = shape({
  ...KEPT,
  process: optional(isProcessEvidence),
  /**
   * Whether components of a control plane were among the static pods of the latest baseline that
   * has them.
   */
  runsControlPlane: optional(isFlag),
})
export type EvidenceRecord = TypeOf<typeof isEvidenceRecord>

export type EvidenceView = View<ProcessEvidence, Taken>
export type EvidenceMoment = Moment<ProcessEvidence, Taken>

type ContractOf<Said> = Contract<Said, ProcessEvidence, Taken> & { readonly needs?: Question; readonly needsBefore?: Question }
/** The contract of each kind, as the engine knows it. */
export const CONTRACTS: { readonly [Q in Question]: ContractOf<Answers[Q]> & { readonly kind: OptionalKind } } = KINDS
/** Without what reads an answer. */
export const ALL_CONTRACTS: readonly Omit<(typeof CONTRACTS)[Question], 'take' | 'isTooEarly' | 'fold'>[] = Object.values(CONTRACTS)

/** The questions that cost the API server a request. */
export const API_QUESTIONS: readonly Question[] = QUESTIONS.filter((question) => CONTRACTS[question].asksServer)
