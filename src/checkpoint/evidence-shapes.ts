/**
 * The shapes of the evidence record in /run and of the baseline in `meta/`, stored as JSON. Pure.
 */
import { QUESTIONS, type Question } from '../decision/evidence-facts.ts'
import type {
  Baseline,
  EarlierState,
  EvidenceRecord,
  IdleManifest,
  KeptBaseline,
  LeaseSeen,
  LostPod,
  ManifestFile,
  NodeSeen,
  PodsSeen,
  ProcessEvidence,
  RuntimeSeen,
  ServingBefore,
  ServingSeen,
  StaticPodBefore,
  StaticPodsSeen,
  UnreadQuestion,
} from '../decision/evidence-state.ts'
import { isObject } from '../values/is-object.ts'
import { type Check, isFlag, isNumber, isText, listOf, oneOf, optional, shape } from '../values/json-shape.ts'

const isTexts = listOf(isText)

const isServingBefore: Check<ServingBefore> = shape<ServingBefore>({ status: optional(isNumber), user: optional(isText) })

const manifestFile = { path: isText, digest: isText }

const isStaticPodBefore: Check<StaticPodBefore> = shape<StaticPodBefore>({
  hash: isText,
  name: isText,
  manifest: optional(
    shape<NonNullable<StaticPodBefore['manifest']>>({
      ...manifestFile,
      isNewer: optional(isFlag),
      others: optional(listOf(shape<ManifestFile>(manifestFile))),
    }),
  ),
})

const isIdleManifest: Check<IdleManifest> = shape<IdleManifest>({
  ...manifestFile,
  names: isTexts,
  isLasting: optional(isFlag),
})

const isUnreadQuestion: Check<UnreadQuestion> = shape<UnreadQuestion>({
  question: oneOf(...QUESTIONS),
  kind: oneOf('refused', 'forbidden', 'unreachable', 'not-asked'),
  detail: isText,
  atUs: optional(isNumber),
  busy: optional(isFlag),
})

const isEarlierState: Check<EarlierState> = shape<EarlierState>({
  ready: optional(isText),
  serving: optional(isServingBefore),
  endpoint: optional(isText),
  staticPods: optional(listOf(isStaticPodBefore)),
  idle: optional(listOf(isIdleManifest)),
  ofPromoted: optional(isFlag),
  beforeBoot: optional(isFlag),
})

const isBaseline: Check<Baseline> = shape<Baseline>({
  candidate: isText,
  invocationId: isText,
  sinceUs: isNumber,
  awaitedSinceUs: optional(isNumber),
  kubelet: optional(isText),
  answered: listOf(oneOf(...QUESTIONS)),
  unread: optional(listOf(isUnreadQuestion)),
  ready: optional(isText),
  reportedAtMs: optional(isNumber),
  pressure: optional(isTexts),
  podsAtMs: optional(isNumber),
  podsAtWallMs: optional(isNumber),
  failedPods: optional(isTexts),
  serving: optional(isServingBefore),
  endpoint: optional(isText),
  isRuntimeSilent: optional(isFlag),
  staticPods: optional(listOf(isStaticPodBefore)),
  idle: optional(listOf(isIdleManifest)),
  changed: optional(isTexts),
  earlier: optional(isEarlierState),
  ofPromoted: optional(isFlag),
  beforeBoot: optional(isFlag),
})

const isAnsweredUs: Check<Readonly<Partial<Record<Question, number>>>> = (value): value is Readonly<Partial<Record<Question, number>>> =>
  isObject(value) && Object.entries(value).every(([name, atUs]) => QUESTIONS.some((question) => question === name) && isNumber(atUs))

const isLeaseSeen: Check<LeaseSeen> = shape<LeaseSeen>({
  resourceVersion: optional(isText),
  durationSeconds: isNumber,
  renewals: isNumber,
  sameSinceUs: optional(isNumber),
  lastUs: isNumber,
  renewedUs: optional(isNumber),
  slowUs: optional(isNumber),
  provenAtUs: optional(isNumber),
  problem: isText,
})

const isNodeSeen: Check<NodeSeen> = shape<NodeSeen>({
  ready: isText,
  message: isText,
  readySinceUs: isNumber,
  lastUs: isNumber,
  firstReportedAtMs: optional(isNumber),
  firstHeartbeat: optional(isText),
  transitionMs: optional(isNumber),
  unknownUs: optional(isNumber),
  reportedAtUs: optional(isNumber),
  provenAtUs: optional(isNumber),
  newPressure: isTexts,
  problem: isText,
})

const isLostPod: Check<LostPod> = shape<LostPod>({ name: isText, reason: isText, field: optional(isText) })

const isPodsSeen: Check<PodsSeen> = shape<PodsSeen>({
  lost: listOf(isLostPod),
  unexplained: optional(listOf(isLostPod)),
  sinceUs: isNumber,
  lastUs: isNumber,
  problem: isText,
})

const isRuntimeSeen: Check<RuntimeSeen> = shape<RuntimeSeen>({
  endpoint: isText,
  answers: isFlag,
  sinceUs: isNumber,
  lastUs: isNumber,
  detail: isText,
  wasSilent: optional(isFlag),
  hasAnswered: optional(isFlag),
})

const isServingSeen: Check<ServingSeen> = shape<ServingSeen>({
  status: optional(isNumber),
  noCertificate: optional(isFlag),
  user: optional(isText),
  isOutdated: optional(isFlag),
  detail: isText,
  sinceUs: isNumber,
  lastUs: isNumber,
  serverUpSinceUs: optional(isNumber),
})

const isStaticPodsSeen: Check<StaticPodsSeen> = shape<StaticPodsSeen>({
  missing: listOf(shape<StaticPodsSeen['missing'][number]>({ name: isText, sinceUs: isNumber })),
  replaced: isTexts,
  held: optional(isTexts),
  excused: isTexts,
  idle: optional(isTexts),
  provenAtUs: optional(isNumber),
  lastUs: isNumber,
  problem: isText,
})

const isProcessEvidence: Check<ProcessEvidence> = shape<ProcessEvidence>({
  invocationId: isText,
  key: isText,
  sinceUs: isNumber,
  requests: isNumber,
  requestsSinceUs: isNumber,
  answeredUs: isAnsweredUs,
  reachableSinceUs: optional(isNumber),
  unauthorizedUs: optional(isNumber),
  writtenAtUs: optional(isNumber),
  lease: optional(isLeaseSeen),
  node: optional(isNodeSeen),
  pods: optional(isPodsSeen),
  runtime: optional(isRuntimeSeen),
  serving: optional(isServingSeen),
  servingTaken: optional(isText),
  staticPods: optional(isStaticPodsSeen),
})

export const isEvidenceRecord: Check<EvidenceRecord> = shape<EvidenceRecord>({
  bootId: isText,
  baseline: optional(isBaseline),
  displaced: optional(isBaseline),
  process: optional(isProcessEvidence),
  runsControlPlane: optional(isFlag),
})

/** In `meta/`, since it outlives the boot. */
export const isKeptBaseline: Check<KeptBaseline> = shape<KeptBaseline>({
  bootId: isText,
  baseline: optional(isBaseline),
  displaced: optional(isBaseline),
})
