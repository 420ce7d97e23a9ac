// SPDX-License-Identifier: Apache-2.0
/**
 * A kind of evidence is one contract: what is asked and when, which right that takes, what is kept
 * of it from before a restart and since, how it is judged, what it means, and how reports name it.
 * `kinds.ts` has the table of them. Each kind has one answer, and `unknown` never condemns a
 * config. Pure.
 */
import { isTrialKey } from '../subject/trial-key.ts'
import { type Fields, isFlag, isNumber, isText, listOf, oneOf, optional, type Shaped, type TypeOf } from '../values/json-shape.ts'

export type Answer = 'yes' | 'no' | 'unknown'

/**
 * `transient`: it may pass by itself, and another config may mend it. `one-way`: what was lost does
 * not come back, so the same content is never tried twice.
 */
export const isDamage = oneOf('transient', 'one-way')
export type Damage = TypeOf<typeof isDamage>

/**
 * `refused`: the API server answered, but not with the object. `forbidden`: since the agent may not
 * read it.
 */
export interface NoAnswer {
  readonly kind: 'refused' | 'forbidden' | 'unreachable' | 'not-asked'
  readonly detail: string
  /** The API server takes the agent's credentials for nobody's (401). */
  readonly isUnauthorized?: true
  /** The API server said that it will answer later (429, 503). */
  readonly busy?: boolean | undefined
}

/** There is nothing that could be asked, or no way to ask. */
export interface NotAsked {
  readonly kind: 'not-asked'
  readonly detail: string
  /** The port was asked, and another process than kubelet answered. */
  readonly isStrangers?: true
  /** The call failed, and the next one may not. */
  readonly hasFailed?: true
}

/** The fields that are recorded of each process of kubelet. */
export const PROCESS = {
  invocationId: isText,
  key: isTrialKey,
  /** When the process started. */
  sinceUs: isNumber,
  /** Requests to the API server since `requestsSinceUs`, over all processes of this content. */
  requests: isNumber,
  requestsSinceUs: isNumber,
  /** Since when every request to the API server was answered. */
  reachableSinceUs: optional(isNumber),
  /** When the API server refused the agent's credentials. undefined: it has taken them since. */
  unauthorizedUs: optional(isNumber),
  /** The last write of the agent's own that succeeded. */
  writtenAtUs: optional(isNumber),
  /** `Looks.unseenUs`, as far as the times of what is wrong are without it. */
  unseenUs: optional(isNumber),
}

/** The fields that are recorded of each baseline: how the node was before kubelet was restarted. */
export const BASELINE = {
  candidate: isTrialKey,
  /** InvocationID of the process that ran then. */
  invocationId: isText,
  sinceUs: isNumber,
  /** Since when the restart waits for what it lacks. undefined: since `sinceUs`. */
  awaitedSinceUs: optional(isNumber),
  /**
   * Identity of the kubelet that ran then: another one computes other config hashes of static pods.
   */
  kubelet: optional(isText),
  /**
   * The fields of kubelet's config that the candidate changes of what ran then. undefined: not
   * known.
   */
  changed: optional(listOf(isText)),
  /**
   * Local ran then, or a config that had been promoted. Else only what was well is known: what was
   * not may be the doing of the config that was on trial.
   */
  ofPromoted: optional(isFlag),
  /** The node was booted since. */
  beforeBoot: optional(isFlag),
  /** Kubelet was down, so that only what is known from earlier is in it. */
  wasDown: optional(isFlag),
}

/** A read of the API server, as in `resourceAttributes` of a SelfSubjectAccessReview. */
export interface ReadRight {
  readonly verb: 'get' | 'list'
  readonly group?: string
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
  /** Servers before 1.31 know no such field, and decide without it. */
  readonly fieldSelector?: { readonly requirements: readonly { key: string; operator: 'In'; values: readonly string[] }[] }
}

/** Whether kubelet has reached the API server, as far as one kind tells. */
interface Contact {
  readonly isAsked: boolean
  /** The answers show whether kubelet has reached the API server. */
  readonly isKnowable: boolean
  /** Kubelet has reached the API server, although the kind may not say yes. */
  readonly isMade: boolean
}

type EarlierOf<Taken> = Taken & { readonly beforeBoot?: boolean | undefined; readonly ofTry?: string | undefined }
type BaselineOf<Taken> = Shaped<typeof BASELINE> & Taken & { readonly earlier?: EarlierOf<Taken> | undefined }

/** When an answer arrives. */
export interface Moment<Process, Taken> {
  /** CLOCK_MONOTONIC, and the wall clock of the node. */
  readonly atUs: number
  readonly wallMs: number
  readonly nodeName: string
  readonly startDeadlineUs: number
  /** For how long the process had been healthy. 0: it was not, or that is not known. */
  readonly healthyUs: number
  /** The process runs local, or a config that had been promoted. */
  readonly isPromoted: boolean
  /** As it was before the answer. */
  readonly process: Shaped<typeof PROCESS> & Process
  /**
   * The baseline that the process is compared with. undefined: none, since it runs from before a
   * restart.
   */
  readonly baseline: BaselineOf<Taken> | undefined
}

/** Everything that a kind is judged by. */
export interface View<Process, Taken> {
  readonly process: Shaped<typeof PROCESS> & Process
  /** As `withEarlier` returns it. undefined: there is none that concerns the process. */
  readonly baseline: BaselineOf<Taken> | undefined
  /** The same as it was taken. */
  readonly taken: BaselineOf<Taken> | undefined
  /** The process runs the config that the baseline was taken before, not a fallback from it. */
  readonly isCandidate: boolean
  /**
   * A Node that has not been Ready since then was not before any config came that was not promoted.
   * By the clock of the node.
   */
  readonly notReadyByMs: number | undefined
  readonly policy: { readonly trialUs: number; readonly toleranceUs: number; readonly startDeadlineUs: number }
  /** Since when kubelet's ports have to answer. undefined: it is not healthy. */
  readonly servesFromUs: number | undefined
  /**
   * Since when kubelet is healthy without a gap between the looks, and has to renew its Lease.
   * undefined: that is not known.
   */
  readonly renewsFromUs: number | undefined
  /** The trial is over, but for the evidence. */
  readonly isAtEnd: boolean
}

/**
 * `Seen` and `Taken` are what the kind records of a process and in the baseline. A kind that looks
 * at others says what it needs of them in `Process` and `Before`.
 */
export interface Contract<Said, Seen, Taken, Process = Seen, Before = Taken> {
  readonly kind: string
  /** How reports say that a config failed with it. */
  readonly loss: string
  /** The answer costs the API server a request. */
  readonly asksServer: boolean
  /** The rights that have to be granted for the question. Absent: no more than each agent needs. */
  readonly rights?: (nodeName: string) => readonly ReadRight[]
  /** The files of kubelet's static pods are read for it. */
  readonly readsManifests?: true
  /** Another question that is asked for this kind, too. */
  readonly needs?: string
  /** The same for the baseline only. */
  readonly needsBefore?: string
  readonly seen: Fields
  readonly taken: Fields
  /** After the start of the process. */
  readonly firstUs: (trialUs: number) => number
  /** Between two answers. Rarely once it is proven. */
  readonly gapUs: (view: View<Process, Before>) => number
  /**
   * The part of the answer that the baseline keeps, while the process from before the restart runs.
   * Absent: the kind needs no baseline.
   */
  readonly take?: (answer: Said, moment: Moment<Process, Before>) => Partial<Taken>
  /** Asked again while the restart waits. */
  readonly isTooEarly?: (answer: Said, moment: Moment<Process, Before>) => boolean
  readonly fold: (answer: Said, moment: Moment<Process, Before>) => Partial<Seen>
  /**
   * The times of what is wrong, moved on by a time in which nobody looked. Absent: the kind
   * measures none, or goes by the health of the process.
   */
  readonly skip?: (process: Process, later: (us: number) => number) => Partial<Seen>
  readonly judge: (view: View<Process, Before>) => KindStanding
  /** Only a write of the agent's own tells more. */
  readonly needsWrite?: (view: View<Process, Before>, nowUs: number) => boolean
  /** The next looks tell more. A trial waits for them for a while, and they are always granted. */
  readonly awaitsLook?: (view: View<Process, Before>) => boolean
  readonly contact?: (process: Process) => Contact
  /**
   * Whether a no is damage that no restart undoes. Absent: it never is. Present: the kind says no
   * of pods that ran before, so a config that replaced nothing cannot have lost any.
   */
  readonly isOneWay?: (view: View<Process, Before>) => boolean
  /**
   * The state that a config which replaces one on trial has to bring back. Absent: none, nor does
   * the baseline of this kind outlive a boot.
   */
  readonly carry?: (before: Taken, isSameKubelet: boolean) => Partial<Taken>
  /**
   * The baseline with what has to be brought back in place of what was broken by then.
   *
   * @param isPromoted a config that had been promoted ran at the earlier time
   */
  readonly join?: (earlier: Taken, later: Taken, isPromoted: boolean) => Partial<Taken>
  /** The fields of the baseline that end with the boot. */
  readonly ofBoot?: readonly (keyof Taken & string)[]
  /** Before a claim in a rollout: the question counts as answered. */
  readonly isAnswered?: (baseline: Taken) => boolean
  /** Before a claim in a rollout: why the answer is of no use. */
  readonly describeGap?: (baseline: Taken) => string | undefined
}

/** How one kind of evidence stands, before its kind is named. */
export interface KindStanding {
  readonly answer: Answer
  /** The observation, for people. */
  readonly detail: string
  /** CLOCK_MONOTONIC since when the answer holds. undefined: not known. */
  readonly sinceUs?: number | undefined
  /**
   * Something wrong was seen, but not for long enough to say no. A config is not promoted
   * meanwhile.
   */
  readonly isDoubtful?: boolean
  /** Of a no: the node itself may be the cause, so that the verdict is doubtful. */
  readonly mayBeNodes?: boolean
  /**
   * The standing is doubtful since the state of the node before is not known: this process shows
   * what would be a no if the node had been well.
   */
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

/**
 * Evidence that cannot be read any more. What was wrong at the last time may be over: that neither
 * condemns a config nor lets it pass.
 *
 * @param last how it stood then
 */
export function unread(problem: string, last: KindStanding): KindStanding {
  if (last.answer !== 'no' && last.isDoubtful !== true) return unknown(problem)
  return { ...last, answer: 'unknown', detail: `${problem}; before that, ${last.detail}`, isDoubtful: true }
}
