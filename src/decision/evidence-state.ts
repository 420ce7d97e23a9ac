/**
 * The evidence that is kept in /run beside the health record: the baseline from before a restart,
 * and what was seen since the present process started. Bounded, and of one boot. Types only.
 */
import type { Question } from './evidence-facts.ts'
import type { Policy } from './policy.ts'
import type { TrialKey } from './trial-key.ts'

export interface EvidenceRecord {
  readonly bootId: string
  readonly baseline?: Baseline | undefined
  /** As `findDisplaced` says. */
  readonly displaced?: Baseline | undefined
  readonly process?: ProcessEvidence | undefined
  /**
   * Whether components of a control plane were among the static pods of the latest baseline that
   * has them.
   */
  readonly runsControlPlane?: boolean | undefined
}

/** How the node was before kubelet was restarted into `candidate`. */
export interface Baseline {
  readonly candidate: TrialKey
  /** InvocationID of the process that ran then. */
  readonly invocationId: string
  readonly sinceUs: number
  /** Since when the restart waits for what it lacks. undefined: since `sinceUs`. */
  readonly awaitedSinceUs?: number | undefined
  /**
   * Identity of the kubelet that ran then: another one computes other config hashes of static pods.
   */
  readonly kubelet?: string | undefined
  /** What was answered, if only with "not known". */
  readonly answered: readonly Question[]
  /** Those of them that nothing could be read about. */
  readonly unread?: readonly UnreadQuestion[] | undefined
  readonly ready?: string | undefined
  readonly reportedAtMs?: number | undefined
  readonly pressure?: readonly string[] | undefined
  /** When the pods were listed, by the clock of the API server. */
  readonly podsAtMs?: number | undefined
  /** The same by the clock of the node. */
  readonly podsAtWallMs?: number | undefined
  /** UIDs of the pods that had failed by then. */
  readonly failedPods?: readonly string[] | undefined
  readonly serving?: ServingBefore | undefined
  /** The container runtime's endpoint that kubelet used. */
  readonly endpoint?: string | undefined
  /** It did not answer there, as long as that process ran. undefined: not known. */
  readonly isRuntimeSilent?: boolean | undefined
  readonly staticPods?: readonly StaticPodBefore[] | undefined
  /** The manifests of which no pod ran. */
  readonly idle?: readonly IdleManifest[] | undefined
  /**
   * The fields of kubelet's config that the candidate changes of what ran then. undefined: not
   * known.
   */
  readonly changed?: readonly string[] | undefined
  /**
   * How the node was before the config that ran then, which was on trial: the candidate has to
   * bring back what that one may have broken.
   */
  readonly earlier?: EarlierState | undefined
  /**
   * Local ran then, or a config that had been promoted. Else only what was well is known: what was
   * not may be the doing of the config that was on trial.
   */
  readonly ofPromoted?: boolean | undefined
  /** The node was booted since. */
  readonly beforeBoot?: boolean | undefined
}

export type EarlierState = Pick<Baseline, 'ready' | 'serving' | 'endpoint' | 'staticPods' | 'idle' | 'ofPromoted' | 'beforeBoot'>

/** The baselines that lie in `meta/`, so that they outlive the boot. */
export type KeptBaseline = Pick<EvidenceRecord, 'bootId' | 'baseline' | 'displaced'>

export interface UnreadQuestion {
  readonly question: Question
  readonly kind: 'refused' | 'forbidden' | 'unreachable' | 'not-asked'
  readonly detail: string
  /** CLOCK_MONOTONIC. undefined: recorded by an agent that did not record it. */
  readonly atUs?: number | undefined
  /** As in the answer. */
  readonly busy?: boolean | undefined
}

export interface ServingBefore {
  /** undefined: the port was not reachable. */
  readonly status?: number | undefined
  readonly user?: string | undefined
}

export interface ManifestFile {
  readonly path: string
  readonly digest: string
}

export interface IdleManifest extends ManifestFile {
  /** Of its pod, as in the file, or those in it that may be its name. */
  readonly names: readonly string[]
  /**
   * Kubelet had run for long, with local or a config that had been promoted: it is known that the
   * pod did not run. Else it may have been about to.
   */
  readonly isLasting?: boolean | undefined
}

export interface StaticPodBefore {
  readonly hash: string
  /** `namespace/name` */
  readonly name: string
  /**
   * undefined: no file was found that names it. `isNewer`: it was modified after the pod was
   * started, so another pod may follow from it. `others`: they name it, too, and any of them may be
   * its own.
   */
  readonly manifest?: (ManifestFile & { readonly isNewer?: boolean; readonly others?: readonly ManifestFile[] | undefined }) | undefined
}

/** What was seen of one process of kubelet. */
export interface ProcessEvidence {
  readonly invocationId: string
  readonly key: TrialKey
  /** When it started. */
  readonly sinceUs: number
  /** Requests to the API server since `requestsSinceUs`, over all processes of this content. */
  readonly requests: number
  readonly requestsSinceUs: number
  /** When each question was answered last. */
  readonly answeredUs: Readonly<Partial<Record<Question, number>>>
  /** Since when every request to the API server was answered. */
  readonly reachableSinceUs?: number | undefined
  /** When the API server refused the agent's credentials. undefined: it has taken them since. */
  readonly unauthorizedUs?: number | undefined
  /** The last write of the agent's own that succeeded. */
  readonly writtenAtUs?: number | undefined
  readonly lease?: LeaseSeen | undefined
  readonly node?: NodeSeen | undefined
  readonly pods?: PodsSeen | undefined
  readonly runtime?: RuntimeSeen | undefined
  readonly serving?: ServingSeen | undefined
  /** Who had kubelet's TLS port at the last look. undefined: kubelet, as far as is known. */
  readonly servingTaken?: string | undefined
  readonly staticPods?: StaticPodsSeen | undefined
}

export interface LeaseSeen {
  /** undefined: no Lease was ever seen. */
  readonly resourceVersion?: string | undefined
  readonly durationSeconds: number
  /** How often it had another resourceVersion than before. */
  readonly renewals: number
  /** When it was first seen with this resourceVersion. */
  readonly sameSinceUs?: number | undefined
  readonly lastUs: number
  /** When kubelet renewed it last, by what the last sample says. */
  readonly renewedUs?: number | undefined
  /** When a sample last showed one that was not renewed for as long as node controllers wait. */
  readonly slowUs?: number | undefined
  /** Of the second renewal. */
  readonly provenAtUs?: number | undefined
  /** Why the last sample has no Lease; empty: it has. */
  readonly problem: string
}

export interface NodeSeen {
  readonly ready: string
  readonly message: string
  readonly readySinceUs: number
  readonly lastUs: number
  /** The first report of this process, or of the one before it. */
  readonly firstReportedAtMs?: number | undefined
  /**
   * The first heartbeat that was seen in the life of this process: perhaps of the one before it.
   */
  readonly firstHeartbeat?: string | undefined
  /** As in the last answer. */
  readonly transitionMs?: number | undefined
  /** When Ready was last seen Unknown. */
  readonly unknownUs?: number | undefined
  /** When a report of this process was first seen, whatever it said. */
  readonly reportedAtUs?: number | undefined
  /** When Ready was first seen True in a report of this process. */
  readonly provenAtUs?: number | undefined
  /** Pressure conditions that turned True with the restart. */
  readonly newPressure: readonly string[]
  /** Why the last sample has no Node; empty: it has. */
  readonly problem: string
}

export interface PodsSeen {
  /** Pods that ran before and were refused or evicted since. */
  readonly lost: readonly LostPod[]
  /** The same, where no changed field can be the cause. */
  readonly unexplained?: readonly LostPod[] | undefined
  readonly sinceUs: number
  readonly lastUs: number
  /** Why the last sample has no list; empty: it has. */
  readonly problem: string
}

export interface LostPod {
  readonly name: string
  readonly reason: string
  /** The changed field that can be the cause. undefined: the node may be at fault. */
  readonly field?: string | undefined
}

export interface RuntimeSeen {
  readonly endpoint: string
  readonly answers: boolean
  readonly sinceUs: number
  readonly lastUs: number
  readonly detail: string
  /** Since the process started. */
  readonly wasSilent?: boolean | undefined
  /** At this endpoint, since the process started. */
  readonly hasAnswered?: boolean | undefined
}

export interface ServingSeen {
  /** undefined: no TLS. */
  readonly status?: number | undefined
  /** It speaks TLS, but has no certificate. */
  readonly noCertificate?: boolean | undefined
  readonly user?: string | undefined
  /** The client certificate had run out, or was not valid yet, by the clock of the node. */
  readonly isOutdated?: boolean | undefined
  readonly detail: string
  /** Since when the same was answered. */
  readonly sinceUs: number
  readonly lastUs: number
  /**
   * Of that time, since when the API server answered each request, and took the agent's
   * credentials.
   */
  readonly serverUpSinceUs?: number | undefined
}

export interface StaticPodsSeen {
  readonly missing: readonly { readonly name: string; readonly sinceUs: number }[]
  /** They run with another config hash, although their manifest is the same. */
  readonly replaced: readonly string[]
  /** Kubelet keeps their sandboxes, and their containers have ended by themselves. */
  readonly held?: readonly string[] | undefined
  /** They do not run, and their manifest changed or was not found. */
  readonly excused: readonly string[]
  /** They do not run, and it is not known whether they would have without this config. */
  readonly idle?: readonly string[] | undefined
  /** When the last of them was seen to run. */
  readonly provenAtUs?: number | undefined
  readonly lastUs: number
  /** Why the last sample has no pods; empty: it has. */
  readonly problem: string
}

/** Everything that one kind of evidence is judged by. */
export interface EvidenceView {
  readonly process: ProcessEvidence
  /** As `withEarlier` returns it. undefined: there is none that concerns the process. */
  readonly baseline: Baseline | undefined
  /** The process runs the config that the baseline was taken before, not a fallback from it. */
  readonly isCandidate: boolean
  /**
   * A Node that has not been Ready since then was not before any config came that was not promoted.
   * By the clock of the node.
   */
  readonly notReadyByMs: number | undefined
  /** Static pods were missing already when the baseline was taken. */
  readonly hadLostPods: boolean
  readonly policy: Policy
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
