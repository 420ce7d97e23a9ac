/**
 * Evidence `ready`: the Node is Ready, as this process of kubelet reports it. A missing heartbeat
 * proves nothing, since the next report may be minutes away. Pure.
 *
 * Only times of the API server are compared with each other: of its answers, and of the field
 * manager `kubelet` in `metadata.managedFields`. Heartbeats, which are by kubelet's clock, are only
 * equal or not.
 */
import { doubtful, type KindStanding, no, perhapsNo, uncompared, unknown, yes } from './evidence.ts'
import type { NoAnswer, NodeAnswer } from './evidence-facts.ts'
import { findSlowness } from './evidence-lease.ts'
import type { Baseline, EvidenceView, LeaseSeen, NodeSeen } from './evidence-state.ts'

/** Shorter, it may be a moment. */
export const NOT_READY_US = 300e6
/**
 * The shortest, also in a short trial: 1.20 always reports not Ready first, and Ready 10 s later.
 */
const SHORTEST_NOT_READY_US = 60e6
/** As long as node controllers wait for a Lease before they write Unknown. */
export const UNKNOWN_US = 40e6
/**
 * A Lease of the longest duration that preflight allows is renewed each 30 s; a longer one more
 * seldom.
 */
const UNKNOWN_AGAIN_US = 150e6
/**
 * Kubelet reports each 10 s what has changed, and PLEG lists the pods of a runtime that is back.
 */
const RUNTIME_BACK_US = 60e6
/** managedFields and the header Date have whole seconds. */
const GRAIN_MS = 1000
/** `networkNotReady`, `runtimeNotReady` and PLEG in pkg/kubelet/runtime.go and its callers. */
const NAMES_RUNTIME = /network|\bcni\b|runtime|\bpleg\b/i

export interface NodeFold {
  readonly baseline: Baseline | undefined
  /** Of the process. */
  readonly startedAtUs: number
  readonly startDeadlineUs: number
}

/** undefined: it was not asked. */
export function foldNode(before: NodeSeen | undefined, answer: NodeAnswer | NoAnswer, atUs: number, fold: NodeFold): NodeSeen | undefined {
  if (answer.kind === 'not-asked') return before
  if (answer.kind !== 'found') {
    const nothing = { ready: 'absent', message: '', readySinceUs: atUs, newPressure: [] }
    return { ...(before ?? nothing), lastUs: atUs, problem: answer.detail }
  }
  const { ready, message, reportedAtMs } = answer
  const isReported = isFromProcess(before, answer, atUs, fold)
  const isProven = ready === 'True' && isReported
  return {
    ready,
    message: message.slice(0, 500),
    readySinceUs: before !== undefined && before.ready === ready ? before.readySinceUs : atUs,
    lastUs: atUs,
    firstReportedAtMs: before?.firstReportedAtMs ?? reportedAtMs,
    firstHeartbeat: before?.firstHeartbeat ?? answer.heartbeat,
    transitionMs: answer.transitionMs,
    unknownUs: ready === 'Unknown' ? atUs : before?.unknownUs,
    reportedAtUs: before?.reportedAtUs ?? (isReported ? atUs : undefined),
    provenAtUs: before?.provenAtUs ?? (isProven ? atUs : undefined),
    newPressure: isReported ? foldPressure(before, answer, atUs, fold) : (before?.newPressure ?? []),
    problem: '',
  }
}

/**
 * Whether kubelet has written the status since this process started. Servers of 1.20 leave the time
 * in managedFields as it is when kubelet writes the same fields again. But the process before this
 * one cannot have sent a heartbeat that differs from one which was there when this process ran.
 */
function isFromProcess(before: NodeSeen | undefined, answer: NodeAnswer, atUs: number, fold: NodeFold): boolean {
  const { reportedAtMs, serverMs, heartbeat } = answer
  if (before?.firstHeartbeat !== undefined && heartbeat !== undefined && heartbeat !== before.firstHeartbeat) return true
  if (reportedAtMs === undefined) return false
  const referenceMs = fold.baseline?.reportedAtMs ?? before?.firstReportedAtMs
  if (serverMs === undefined) return referenceMs !== undefined && reportedAtMs > referenceMs
  const startedMs = serverMs - (atUs - fold.startedAtUs) / 1000
  return reportedAtMs >= startedMs - GRAIN_MS && (fold.baseline?.reportedAtMs === undefined || reportedAtMs > fold.baseline.reportedAtMs)
}

/** Pressure that comes later is the node's. */
function foldPressure(before: NodeSeen | undefined, { pressure }: NodeAnswer, atUs: number, fold: NodeFold): readonly string[] {
  const known = before?.newPressure ?? []
  const { baseline, startedAtUs, startDeadlineUs } = fold
  if (baseline?.pressure === undefined || atUs - startedAtUs > startDeadlineUs) return known
  const added = pressure.filter((type) => !known.includes(type) && baseline.pressure?.includes(type) === false)
  return [...known, ...added]
}

/** @param runtime how the evidence `runtime` stands */
export function judgeReady(view: EvidenceView, runtime: KindStanding): KindStanding {
  const { node } = view.process
  if (node === undefined) return unknown('not read yet')
  if (node.problem !== '') return unknown(node.problem)
  switch (node.ready) {
    case 'True':
      if (node.provenAtUs === undefined) return unknown('kubelet has not reported since its start')
      if (isUnknownAtTimes(view.process)) return doubtful('the Node was Unknown shortly before, since kubelet renews its Lease too seldom')
      return yes('the Node is Ready', node.provenAtUs)
    case 'False':
      return judgeNotReady(view, node, runtime)
    case 'Unknown':
      return judgeUnknown(view, node)
    default:
      return unknown('the Node has no condition Ready')
  }
}

function judgeNotReady(view: EvidenceView, node: NodeSeen, runtime: KindStanding): KindStanding {
  const { baseline, process, policy, isAtEnd } = view
  const { message, readySinceUs, lastUs } = node
  const detail = `the Node is not Ready: ${message}`
  if (baseline?.ready !== 'True') return wasNotReady(view, node) ? unknown(`${detail}; it was not Ready before`) : uncompared(detail)
  const mayBeNodes = NAMES_RUNTIME.test(message) && !hasChangedEndpoint(baseline, process.runtime?.endpoint)
  if (mayBeNodes) {
    if (runtime.answer !== 'yes') return unknown(`${detail}; the container runtime does not answer`)
    if (lastUs < (runtime.sinceUs ?? 0) + RUNTIME_BACK_US && process.runtime?.wasSilent === true)
      return doubtful(`${detail}; the container runtime has not answered for long`, readySinceUs)
  }
  // A moment at the end proves nothing: the trial goes on until it has passed, or was long enough.
  const longUs = isAtEnd ? policy.toleranceUs : NOT_READY_US
  const isLong = lastUs - readySinceUs >= Math.max(SHORTEST_NOT_READY_US, Math.min(longUs, policy.trialUs / 2))
  if (!isLong) return doubtful(detail, readySinceUs)
  // The pod network is others' work, and comes and goes with time.
  return mayBeNodes ? perhapsNo(detail, readySinceUs) : no(detail, readySinceUs)
}

/** A node controller writes Unknown over what kubelet reported, and pods are evicted then. */
function judgeUnknown(view: EvidenceView, node: NodeSeen): KindStanding {
  const { baseline, process } = view
  const detail = 'Ready is Unknown: kubelet does not report'
  const { lease } = process
  if (lease?.renewedUs === undefined || lease.problem !== '') return unknown(detail)
  // The next sample of the Lease tells.
  if (lease.lastUs < node.readySinceUs) return doubtful(detail, node.readySinceUs)
  const slowness = findSlowness(view)
  if (slowness === undefined) return isSlowLately(node, lease) ? doubtful(detail, node.readySinceUs) : unknown(detail)
  if (baseline?.ready !== 'True') return wasNotReady(view, node) ? unknown(`${detail}; it was not Ready before`) : uncompared(detail)
  const isLong = node.lastUs - node.readySinceUs >= UNKNOWN_US && lease.lastUs >= node.readySinceUs + UNKNOWN_US
  return isLong && slowness === 'silent'
    ? no(`${detail}, while the agent could write to the API server`)
    : doubtful(detail, node.readySinceUs)
}

/** Also whether the Node may be Unknown again soon: what is asked for then is due sooner. */
export function isUnknownAtTimes({ node, lease }: EvidenceView['process']): boolean {
  if (node === undefined || node.ready === 'Unknown') return node !== undefined
  const { unknownUs, lastUs } = node
  return unknownUs !== undefined && lastUs - unknownUs < UNKNOWN_AGAIN_US && isSlowLately(node, lease)
}

/** A sample of the Lease that shows why the Node was Unknown. */
function isSlowLately({ unknownUs = 0 }: NodeSeen, lease: LeaseSeen | undefined): boolean {
  return lease?.slowUs !== undefined && lease.slowUs >= unknownUs - UNKNOWN_AGAIN_US
}

/**
 * Whether it is known that the Node was not Ready before: under local or a promoted config, or
 * since before any other config was here. A Node that is Unknown has that time by another clock.
 */
function wasNotReady({ baseline, notReadyByMs }: EvidenceView, { ready, transitionMs }: NodeSeen): boolean {
  if (baseline?.ofPromoted === true && baseline.ready !== undefined) return true
  return ready === 'False' && transitionMs !== undefined && notReadyByMs !== undefined && transitionMs < notReadyByMs
}

/**
 * The way back to the runtime of before a config that was on trial is no move either.
 *
 * @param baseline as `withEarlier` returns it
 */
export function hasChangedEndpoint(baseline: Baseline | undefined, endpoint: string | undefined): boolean {
  if (baseline?.endpoint === undefined || endpoint === undefined) return false
  return baseline.endpoint !== endpoint && baseline.earlier?.endpoint !== endpoint
}
