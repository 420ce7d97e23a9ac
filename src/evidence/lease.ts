// SPDX-License-Identifier: Apache-2.0
/**
 * Evidence `lease`: kubelet renews its Lease, so it reaches the API server and may write there.
 * Measured on kubelets 1.28.15 and 1.36.3: the first renewal comes 0.3 to 0.7 s after a restart,
 * then one each quarter of the duration. Pure.
 */
import { isNumber, isText, optional, type Shaped, shape, type TypeOf } from '../values/json-shape.ts'
import { type Contract, doubtful, type KindStanding, type NoAnswer, no, unknown, type View, yes } from './kind.ts'

export interface LeaseAnswer {
  readonly kind: 'found'
  readonly resourceVersion: string
  readonly durationSeconds: number
  /** `spec.renewTime`, by the clock of the node. */
  readonly renewedAtMs?: number | undefined
}

const isLeaseSeen = shape({
  /** undefined: no Lease was ever seen. */
  resourceVersion: optional(isText),
  durationSeconds: isNumber,
  /** How often the Lease had another resourceVersion than before. */
  renewals: isNumber,
  /** When the Lease was first seen with this resourceVersion. */
  sameSinceUs: optional(isNumber),
  lastUs: isNumber,
  /** When kubelet renewed it last, by what the last sample says. */
  renewedUs: optional(isNumber),
  /** When a sample last showed one that was not renewed for as long as node controllers wait. */
  slowUs: optional(isNumber),
  /** When the second renewal was seen. */
  provenAtUs: optional(isNumber),
  /** Why the last sample has no Lease; empty: it has. */
  problem: isText,
})
export type LeaseSeen = TypeOf<typeof isLeaseSeen>
const SEEN = { lease: optional(isLeaseSeen) }

/** Of the Node, only whether it is Unknown. */
type Process = Shaped<typeof SEEN> & { readonly node?: { readonly ready: string } | undefined }
type LeaseView = Pick<View<Process, object>, 'process' | 'policy' | 'renewsFromUs'>

/** `nodeLeaseDurationSeconds`, upstream's default. */
const DEFAULT_DURATION_SECONDS = 40
const SHORTEST_SILENCE_US = 40e6
const SHORTEST_SLACK_US = 20e6
/**
 * Node controllers wait for 40 s, or for 50 s since Kubernetes 1.32
 * (`--node-monitor-grace-period`).
 */
export const CONTROLLER_WAITS_US = 40e6
/**
 * For so long, the agent does not write yet, since the next sample may show that a Lease is renewed
 * after all: half of the 30 s between two samples.
 */
const AWAITED_SAMPLE_US = 15e6

export const LEASE = {
  kind: 'lease',
  loss: 'kubelet did not renew its Lease',
  asksServer: true,
  rights: (name) => [{ verb: 'get', group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease', name }],
  seen: SEEN,
  taken: {},
  firstUs: () => 0,
  gapUs(view) {
    const { process, policy } = view
    const durationUs = 1e6 * (process.lease?.durationSeconds ?? 0)
    if (process.node?.ready === 'Unknown') return Math.min(CONTROLLER_WAITS_US, policy.trialUs / 4)
    const seldomUs = judgeLease(view).answer === 'yes' ? policy.trialUs / 2 : 0
    return Math.max(seldomUs, Math.min(Math.max(30e6, 0.75 * durationUs), policy.trialUs / 4))
  },
  fold: (answer, { process, atUs, wallMs }) => ({ lease: foldLease(process.lease, answer, atUs, wallMs) }),
  judge: judgeLease,
  needsWrite,
  awaitsLook,
  contact: ({ lease }) => ({ isAsked: lease !== undefined, isKnowable: lease?.resourceVersion !== undefined, isMade: false }),
} as const satisfies Contract<LeaseAnswer | NoAnswer, Shaped<typeof SEEN>, object, Process>

/** undefined: it was not asked. */
function foldLease(before: LeaseSeen | undefined, answer: LeaseAnswer | NoAnswer, atUs: number, wallMs: number): LeaseSeen | undefined {
  if (answer.kind === 'not-asked') return before
  if (answer.kind !== 'found') {
    const nothing = { durationSeconds: DEFAULT_DURATION_SECONDS, renewals: 0 }
    return { ...(before ?? nothing), lastUs: atUs, problem: answer.detail }
  }
  const { resourceVersion, durationSeconds, renewedAtMs } = answer
  const renewedUs = renewedAtMs === undefined ? undefined : atUs - 1000 * (wallMs - renewedAtMs)
  const isSlow = renewedUs !== undefined && atUs - renewedUs >= CONTROLLER_WAITS_US
  const seen = { resourceVersion, durationSeconds, lastUs: atUs, renewedUs, slowUs: isSlow ? atUs : before?.slowUs, problem: '' }
  if (before?.resourceVersion === undefined) return { ...seen, renewals: 0, sameSinceUs: atUs }
  if (before.resourceVersion === resourceVersion) return { ...before, ...seen }
  const renewals = Math.min(2, before.renewals + 1)
  return { ...seen, renewals, sameSinceUs: atUs, provenAtUs: before.provenAtUs ?? (renewals === 2 ? atUs : undefined) }
}

function judgeLease(view: LeaseView): KindStanding {
  const { lease } = view.process
  if (lease === undefined) return unknown('not read yet')
  if (lease.problem !== '') return unknown(lease.problem)
  const { sinceUs, lastsUs, tells } = classifySilence(view, lease)
  const detail = `kubelet did not renew its Lease for ${Math.round(lastsUs / 1e6)} s, while the agent could write to the API server`
  if (tells === 'kubelet') return no(detail, sinceUs)
  if (tells === 'kubelet-or-server')
    return doubtful(`kubelet did not renew its Lease, and the API server may have been down meanwhile`, sinceUs)
  if (tells === 'nothing') return unknown(`kubelet did not renew its Lease, and whether the API server could be written to is not known`)
  if (lease.provenAtUs !== undefined) return yes('kubelet renews its Lease', lease.provenAtUs)
  if (lastsUs > 0) return doubtful('kubelet has not renewed its Lease yet', sinceUs)
  return unknown('not renewed twice yet')
}

/**
 * Whether a Lease that was never renewed was not looked at for long enough to say why. In a trial
 * of hours, requests are so far apart that none tells, the API server may have been away until now,
 * or earlier processes used up the requests. Nothing waits for an API server that is away, nor for
 * the start deadline.
 */
function awaitsLook(view: LeaseView): boolean {
  const { lease, sinceUs } = view.process
  if (lease?.resourceVersion === undefined || lease.problem !== '' || lease.renewals > 0) return false
  if (lease.lastUs < sinceUs + view.policy.startDeadlineUs) return false
  const silence = classifySilence(view, lease)
  return Number.isFinite(silence.sinceUs) && (silence.tells === 'too-short' || silence.tells === 'kubelet-or-server')
}

/** For how long kubelet has not renewed its Lease at the last sample, and who that tells of. */
function classifySilence(view: LeaseView, lease: LeaseSeen) {
  const { writtenAtUs = Number.NEGATIVE_INFINITY } = view.process
  const sinceUs = findSilence(view, lease)
  const lastsUs = lease.lastUs - sinceUs
  const isWritten = writtenAtUs >= sinceUs
  // One outage of the API server, whenever it began and ended, leaves a kubelet that is well the
  // time to renew its Lease: before the write, or after it.
  const isWithin = writtenAtUs >= sinceUs + slackUs(lease) && writtenAtUs <= lease.lastUs - slackUs(lease)
  const tells = lastsUs < silenceLimitUs(lease) ? 'too-short' : isWithin ? 'kubelet' : isWritten ? 'kubelet-or-server' : 'nothing'
  return { sinceUs, lastsUs, tells } as const
}

/**
 * How kubelet renews its Lease, by the measure of node controllers: more seldom than they wait for
 * (`slow`), although it could have (`silent`), as far as the last sample tells. undefined: in time,
 * or not known.
 */
export function findSlowness(view: LeaseView): 'slow' | 'silent' | undefined {
  const { lease, writtenAtUs = Number.NEGATIVE_INFINITY } = view.process
  if (lease?.renewedUs === undefined || lease.problem !== '') return undefined
  const sinceUs = findSilence(view, lease, lease.renewedUs)
  if (lease.lastUs - sinceUs < CONTROLLER_WAITS_US) return undefined
  const isWritten = writtenAtUs >= sinceUs + SHORTEST_SLACK_US && writtenAtUs <= lease.lastUs - SHORTEST_SLACK_US
  return isWritten ? 'silent' : 'slow'
}

/**
 * Whether the agent should write, since only a write that succeeds tells a kubelet that is cut off
 * from an API server that takes no writes.
 */
function needsWrite(view: LeaseView, nowUs: number): boolean {
  const { lease, writtenAtUs = Number.NEGATIVE_INFINITY } = view.process
  if (lease?.resourceVersion === undefined || lease.problem !== '') return false
  if (view.process.node?.ready === 'Unknown' && lease.renewedUs !== undefined) {
    const fromUs = findSilence(view, lease, lease.renewedUs) + SHORTEST_SLACK_US
    if (lease.lastUs >= fromUs && writtenAtUs < fromUs) return true
  }
  const silentSinceUs = findSilence(view, lease)
  const fromUs = silentSinceUs + slackUs(lease)
  // A Lease that was never renewed is in doubt before the next sample, which then decides.
  const isInDoubt = lease.lastUs >= fromUs || (lease.renewals === 0 && nowUs >= fromUs + AWAITED_SAMPLE_US)
  return isInDoubt && writtenAtUs < fromUs
}

/** Within that, kubelet renews its Lease: it does so each quarter of the duration. */
function slackUs({ durationSeconds }: LeaseSeen): number {
  return Math.max(SHORTEST_SLACK_US, 0.4e6 * durationSeconds)
}

function silenceLimitUs({ durationSeconds }: LeaseSeen): number {
  return Math.max(SHORTEST_SILENCE_US, 1.5e6 * durationSeconds)
}

/**
 * Nothing is expected before the start deadline, nor while the API server was not reachable, and
 * nothing is known of a Lease before it was seen. Nor is anything expected of a kubelet that is not
 * healthy, or that nobody saw: it may have been suspended with its node. A time in the future:
 * nothing is expected yet.
 */
function findSilence(
  { process, policy, renewsFromUs = Number.NEGATIVE_INFINITY }: LeaseView,
  lease: LeaseSeen,
  renewedUs = lease.sameSinceUs ?? lease.lastUs,
): number {
  const { sinceUs, reachableSinceUs = Number.POSITIVE_INFINITY } = process
  return Math.max(sinceUs + policy.startDeadlineUs, reachableSinceUs, renewsFromUs, renewedUs)
}
