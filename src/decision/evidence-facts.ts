/**
 * What the evidence probes ask and what they can be answered, as data. A fact says about which
 * process of kubelet it was asked, so that a late answer is not taken for one about the next
 * process. Pure.
 */
import { oneOf, type TypeOf } from '../values/json-shape.ts'

export const QUESTIONS = ['node', 'lease', 'pods', 'runtime', 'serving', 'static-pods'] as const
export const isQuestion = oneOf(...QUESTIONS)
export type Question = TypeOf<typeof isQuestion>

/** The questions that cost the API server a request. */
export const API_QUESTIONS: readonly Question[] = ['node', 'lease', 'pods']

export interface Fact {
  /** InvocationID of the kubelet that it is about. */
  readonly about: string
  /** CLOCK_MONOTONIC, when the answer arrived. */
  readonly atUs: number
  readonly seen: SeenFact
}

export type SeenFact =
  | { readonly question: 'node'; readonly answer: NodeAnswer | NoAnswer }
  | { readonly question: 'lease'; readonly answer: LeaseAnswer | NoAnswer }
  | { readonly question: 'pods'; readonly answer: PodsAnswer | NoAnswer }
  | { readonly question: 'runtime'; readonly answer: RuntimeAnswer | NotAsked }
  | { readonly question: 'serving'; readonly answer: ServingAnswer | NotAsked }
  | { readonly question: 'static-pods'; readonly answer: StaticPodsAnswer | NotAsked }

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
}

export interface NodeAnswer {
  readonly kind: 'found'
  /** Of the condition Ready. */
  readonly ready: 'True' | 'False' | 'Unknown' | 'absent'
  readonly message: string
  /** When kubelet last wrote the status, by the clock of the API server. undefined: not known. */
  readonly reportedAtMs: number | undefined
  /**
   * `lastHeartbeatTime` of the condition Ready, by kubelet's clock: only compared with another one.
   */
  readonly heartbeat?: string | undefined
  /**
   * `lastTransitionTime` of the condition Ready, which is by the clock of the node if it is False.
   */
  readonly transitionMs?: number | undefined
  /** When the API server answered, by its own clock. undefined: it did not say. */
  readonly serverMs: number | undefined
  /** The types of the pressure conditions that are True. */
  readonly pressure: readonly string[]
}

export interface LeaseAnswer {
  readonly kind: 'found'
  readonly resourceVersion: string
  readonly durationSeconds: number
  /** `spec.renewTime`, by the clock of the node. */
  readonly renewedAtMs?: number | undefined
}

/** The pods of the node that have failed. */
export interface PodsAnswer {
  readonly kind: 'found'
  readonly pods: readonly FailedPod[]
  /** When the API server answered, by its own clock. undefined: it did not say. */
  readonly serverMs: number | undefined
}

export interface FailedPod {
  readonly uid: string
  /** `namespace/name` */
  readonly name: string
  /** `status.reason`; empty: none. */
  readonly reason: string
  readonly message: string
  /** `metadata.creationTimestamp`, by the clock of the API server. */
  readonly createdAtMs: number | undefined
  /**
   * `status.startTime`: when kubelet admitted or refused it first, by the clock of the node. A
   * restart of kubelet keeps it (`updateStatusInternal`, pkg/kubelet/status). undefined: kubelet
   * has not reported it.
   */
  readonly startedAtMs: number | undefined
}

export interface RuntimeAnswer {
  readonly kind: 'answered' | 'silent'
  readonly endpoint: string
  readonly detail: string
}

export type ServingAnswer =
  /** `user`: whom kubelet takes the agent for, as the text of a 403 says. */
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly user: string | undefined
      /** The client certificate, as it says. undefined: that could not be read. */
      readonly valid?: { readonly fromMs: number; readonly untilMs: number } | undefined
    }
  /**
   * It speaks TLS, but has no certificate yet: with `serverTLSBootstrap`, someone must approve it.
   */
  | { readonly kind: 'no-certificate'; readonly detail: string }
  /** Nothing listens, or it does not speak TLS. */
  | { readonly kind: 'no-tls'; readonly detail: string }

export interface StaticPodsAnswer {
  readonly kind: 'found'
  readonly pods: readonly StaticPod[]
  readonly manifests: readonly Manifest[]
}

/** A static pod from a file, as the container runtime has it. */
export interface StaticPod {
  /** Annotation `kubernetes.io/config.hash`. */
  readonly hash: string
  /** `namespace/name`; the name ends with the node's. */
  readonly name: string
  /** It has a ready sandbox and a running container. */
  readonly isRunning: boolean
  /** Kubelet keeps a ready sandbox for it, and its containers have ended by themselves. */
  readonly isHeld?: boolean | undefined
  /** When its latest sandbox was created, by the clock of the node. */
  readonly startedAtMs?: number | undefined
}

/** A file with static pods. */
export interface Manifest {
  readonly path: string
  readonly digest: string
  /** By the clock of the node. */
  readonly modifiedAtMs: number
  /** `metadata.name`. undefined: it could not be told. */
  readonly podName?: string | undefined
  /** The names in it, of pods and of other things. */
  readonly names: readonly string[]
}
