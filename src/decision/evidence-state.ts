/**
 * The evidence that is kept in /run beside the health record: the baseline from before a restart,
 * and what was seen since the present process started. Bounded, and of one boot.
 */
import { isFlag, isNumber, isText, listOf, oneOf, optional, partialMapOf, shape, type TypeOf } from '../values/json-shape.ts'
import { isQuestion, QUESTIONS } from './evidence-facts.ts'
import type { Policy } from './policy.ts'
import { isTrialKey } from './trial-key.ts'

const isServingBefore = shape({
  /** undefined: the port was not reachable. */
  status: optional(isNumber),
  user: optional(isText),
})
export type ServingBefore = TypeOf<typeof isServingBefore>

const isManifestFile = shape({ path: isText, digest: isText })
export type ManifestFile = TypeOf<typeof isManifestFile>

const isStaticPodBefore = shape({
  hash: isText,
  /** `namespace/name` */
  name: isText,
  /**
   * undefined: no file was found that names it. `isNewer`: it was modified after the pod was
   * started, so another pod may follow from it. `others`: they name it, too, and any of them may be
   * its own.
   */
  manifest: optional(shape({ ...isManifestFile.fields, isNewer: optional(isFlag), others: optional(listOf(isManifestFile)) })),
})
export type StaticPodBefore = TypeOf<typeof isStaticPodBefore>

const isIdleManifest = shape({
  ...isManifestFile.fields,
  /** Of its pod, as in the file, or those in it that may be its name. */
  names: listOf(isText),
  /**
   * Kubelet had run for long, with local or a config that had been promoted: it is known that the
   * pod did not run. Else it may have been about to.
   */
  isLasting: optional(isFlag),
})
export type IdleManifest = TypeOf<typeof isIdleManifest>

/** What a baseline says of the node that the next one may have to keep. */
const isEarlierState = shape({
  ready: optional(isText),
  serving: optional(isServingBefore),
  /** The container runtime's endpoint that kubelet used. */
  endpoint: optional(isText),
  staticPods: optional(listOf(isStaticPodBefore)),
  /** The manifests of which no pod ran. */
  idle: optional(listOf(isIdleManifest)),
  /**
   * Local ran then, or a config that had been promoted. Else only what was well is known: what was
   * not may be the doing of the config that was on trial.
   */
  ofPromoted: optional(isFlag),
  /** The node was booted since. */
  beforeBoot: optional(isFlag),
})
export type EarlierState = TypeOf<typeof isEarlierState>

const isUnreadQuestion = shape({
  question: isQuestion,
  kind: oneOf('refused', 'forbidden', 'unreachable', 'not-asked'),
  detail: isText,
  /** CLOCK_MONOTONIC. undefined: recorded by an agent that did not record it. */
  atUs: optional(isNumber),
  /** As in the answer. */
  busy: optional(isFlag),
})
export type UnreadQuestion = TypeOf<typeof isUnreadQuestion>

/** How the node was before kubelet was restarted into `candidate`. */
const isBaseline = shape({
  ...isEarlierState.fields,
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
  /** What was answered, if only with "not known". */
  answered: listOf(isQuestion),
  /** Those of them that nothing could be read about. */
  unread: optional(listOf(isUnreadQuestion)),
  reportedAtMs: optional(isNumber),
  pressure: optional(listOf(isText)),
  /** When the pods were listed, by the clock of the API server. */
  podsAtMs: optional(isNumber),
  /** The same by the clock of the node. */
  podsAtWallMs: optional(isNumber),
  /** UIDs of the pods that had failed by then. */
  failedPods: optional(listOf(isText)),
  /** It did not answer there, as long as that process ran. undefined: not known. */
  isRuntimeSilent: optional(isFlag),
  /**
   * The fields of kubelet's config that the candidate changes of what ran then. undefined: not
   * known.
   */
  changed: optional(listOf(isText)),
  /**
   * How the node was before the config that ran then, which was on trial: the candidate has to
   * bring back what that one may have broken.
   */
  earlier: optional(isEarlierState),
})
export type Baseline = TypeOf<typeof isBaseline>

/** The baselines, which lie in `meta/` too, so that they outlive the boot. */
export const isKeptBaseline = shape({
  bootId: isText,
  baseline: optional(isBaseline),
  /** As `findDisplaced` says. */
  displaced: optional(isBaseline),
})
export type KeptBaseline = TypeOf<typeof isKeptBaseline>

const isLeaseSeen = shape({
  /** undefined: no Lease was ever seen. */
  resourceVersion: optional(isText),
  durationSeconds: isNumber,
  /** How often it had another resourceVersion than before. */
  renewals: isNumber,
  /** When it was first seen with this resourceVersion. */
  sameSinceUs: optional(isNumber),
  lastUs: isNumber,
  /** When kubelet renewed it last, by what the last sample says. */
  renewedUs: optional(isNumber),
  /** When a sample last showed one that was not renewed for as long as node controllers wait. */
  slowUs: optional(isNumber),
  /** Of the second renewal. */
  provenAtUs: optional(isNumber),
  /** Why the last sample has no Lease; empty: it has. */
  problem: isText,
})
export type LeaseSeen = TypeOf<typeof isLeaseSeen>

const isNodeSeen = shape({
  ready: isText,
  message: isText,
  readySinceUs: isNumber,
  lastUs: isNumber,
  /** The first report of this process, or of the one before it. */
  firstReportedAtMs: optional(isNumber),
  /**
   * The first heartbeat that was seen in the life of this process: perhaps of the one before it.
   */
  firstHeartbeat: optional(isText),
  /** As in the last answer. */
  transitionMs: optional(isNumber),
  /** When Ready was last seen Unknown. */
  unknownUs: optional(isNumber),
  /** When a report of this process was first seen, whatever it said. */
  reportedAtUs: optional(isNumber),
  /** When Ready was first seen True in a report of this process. */
  provenAtUs: optional(isNumber),
  /** Pressure conditions that turned True with the restart. */
  newPressure: listOf(isText),
  /** Why the last sample has no Node; empty: it has. */
  problem: isText,
})
export type NodeSeen = TypeOf<typeof isNodeSeen>

const isLostPod = shape({
  name: isText,
  reason: isText,
  /** The changed field that can be the cause. undefined: the node may be at fault. */
  field: optional(isText),
})
export type LostPod = TypeOf<typeof isLostPod>

const isPodsSeen = shape({
  /** Pods that ran before and were refused or evicted since. */
  lost: listOf(isLostPod),
  /** The same, where no changed field can be the cause. */
  unexplained: optional(listOf(isLostPod)),
  sinceUs: isNumber,
  lastUs: isNumber,
  /** Why the last sample has no list; empty: it has. */
  problem: isText,
})
export type PodsSeen = TypeOf<typeof isPodsSeen>

const isRuntimeSeen = shape({
  endpoint: isText,
  answers: isFlag,
  sinceUs: isNumber,
  lastUs: isNumber,
  detail: isText,
  /** Since the process started. */
  wasSilent: optional(isFlag),
  /** At this endpoint, since the process started. */
  hasAnswered: optional(isFlag),
})
export type RuntimeSeen = TypeOf<typeof isRuntimeSeen>

const isServingSeen = shape({
  /** undefined: no TLS. */
  status: optional(isNumber),
  /** It speaks TLS, but has no certificate. */
  noCertificate: optional(isFlag),
  user: optional(isText),
  /** The client certificate had run out, or was not valid yet, by the clock of the node. */
  isOutdated: optional(isFlag),
  detail: isText,
  /** Since when the same was answered. */
  sinceUs: isNumber,
  lastUs: isNumber,
  /**
   * Of that time, since when the API server answered each request, and took the agent's
   * credentials.
   */
  serverUpSinceUs: optional(isNumber),
})
export type ServingSeen = TypeOf<typeof isServingSeen>

const isStaticPodsSeen = shape({
  missing: listOf(shape({ name: isText, sinceUs: isNumber })),
  /** They run with another config hash, although their manifest is the same. */
  replaced: listOf(isText),
  /** Kubelet keeps their sandboxes, and their containers have ended by themselves. */
  held: optional(listOf(isText)),
  /** They do not run, and their manifest changed or was not found. */
  excused: listOf(isText),
  /** They do not run, and it is not known whether they would have without this config. */
  idle: optional(listOf(isText)),
  /** When the last of them was seen to run. */
  provenAtUs: optional(isNumber),
  lastUs: isNumber,
  /** Why the last sample has no pods; empty: it has. */
  problem: isText,
})
export type StaticPodsSeen = TypeOf<typeof isStaticPodsSeen>

/** What was seen of one process of kubelet. */
const isProcessEvidence = shape({
  invocationId: isText,
  key: isTrialKey,
  /** When it started. */
  sinceUs: isNumber,
  /** Requests to the API server since `requestsSinceUs`, over all processes of this content. */
  requests: isNumber,
  requestsSinceUs: isNumber,
  /** When each question was answered last. */
  answeredUs: partialMapOf(QUESTIONS, isNumber),
  /** Since when every request to the API server was answered. */
  reachableSinceUs: optional(isNumber),
  /** When the API server refused the agent's credentials. undefined: it has taken them since. */
  unauthorizedUs: optional(isNumber),
  /** The last write of the agent's own that succeeded. */
  writtenAtUs: optional(isNumber),
  lease: optional(isLeaseSeen),
  node: optional(isNodeSeen),
  pods: optional(isPodsSeen),
  runtime: optional(isRuntimeSeen),
  serving: optional(isServingSeen),
  /** Who had kubelet's TLS port at the last look. undefined: kubelet, as far as is known. */
  servingTaken: optional(isText),
  staticPods: optional(isStaticPodsSeen),
})
export type ProcessEvidence = TypeOf<typeof isProcessEvidence>

export const isEvidenceRecord = shape({
  ...isKeptBaseline.fields,
  process: optional(isProcessEvidence),
  /**
   * Whether components of a control plane were among the static pods of the latest baseline that
   * has them.
   */
  runsControlPlane: optional(isFlag),
})
export type EvidenceRecord = TypeOf<typeof isEvidenceRecord>

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
