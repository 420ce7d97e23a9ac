// SPDX-License-Identifier: Apache-2.0
/**
 * Evidence `ready`: the Node is Ready, as this process of kubelet reports it. A missing heartbeat
 * proves nothing, since the next report may be minutes away. Pure.
 *
 * Only times of the API server are compared with each other: of its answers, and of the field
 * manager `kubelet` in `metadata.managedFields`. Heartbeats, which are by kubelet's clock, are only
 * equal or not.
 */
import { isNumber, isText, listOf, optional, type Shaped, shape, type TypeOf } from '../values/json-shape.ts'
import {
  type Contract,
  doubtful,
  type KindStanding,
  type Moment,
  type NoAnswer,
  no,
  perhapsNo,
  uncompared,
  unknown,
  unread,
  type View,
  yes,
} from './kind.ts'
import { CONTROLLER_WAITS_US, findSlowness, type LeaseSeen } from './lease.ts'
import { hasChangedEndpoint, judgeRuntime, type RuntimeSeen, type RuntimeTaken } from './runtime.ts'
import { judgeServing, needsServersWord, type ServingSeen, type ServingTaken } from './serving.ts'

export interface NodeAnswer {
  readonly kind: 'found'
  /** The status of the condition Ready. */
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
type NodeSeen = TypeOf<typeof isNodeSeen>
const SEEN = { node: optional(isNodeSeen) }
const TAKEN = { ready: optional(isText), reportedAtMs: optional(isNumber), pressure: optional(listOf(isText)) }
type Taken = Shaped<typeof TAKEN>

interface Process extends Shaped<typeof SEEN> {
  readonly lease?: LeaseSeen | undefined
  readonly runtime?: RuntimeSeen | undefined
  readonly serving?: ServingSeen | undefined
}
type Before = Taken & RuntimeTaken & ServingTaken
type ReadyView = View<Process, Before>
type ReadyMoment = Moment<Process, Before>

/** A shorter time may be a moment. */
export const NOT_READY_US = 300e6
/**
 * The shortest, also in a short trial: 1.20 always reports not Ready first, and Ready 10 s later.
 */
const SHORTEST_NOT_READY_US = 60e6
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

export const READY = {
  kind: 'ready',
  loss: 'the Node was not Ready',
  asksServer: true,
  /** The runtime is asked too: its answer tells how to read what kubelet says of the Node. */
  needs: 'runtime',
  seen: SEEN,
  taken: TAKEN,
  firstUs: (trialUs) => Math.min(5e6, trialUs / 10),
  gapUs(view) {
    const { serving, node } = view.process
    const { trialUs } = view.policy
    const oftenUs = Math.min(30e6, trialUs / 10)
    // Only an answer of the API server tells whose fault that is.
    if (serving !== undefined && needsServersWord(serving) && judgeServing(view).answer !== 'yes') return oftenUs
    if (isUnknownAtTimes(view.process)) return Math.min(CONTROLLER_WAITS_US, trialUs / 4)
    return node?.ready === 'True' && node.provenAtUs !== undefined ? trialUs / 2 : oftenUs
  },
  take(answer, { healthyUs }) {
    if (answer.kind !== 'found') return {}
    const { ready, reportedAtMs, pressure } = answer
    // A condition that a process does not show right after its start is no lasting illness of the
    // node.
    const isKnown = ready === 'True' || healthyUs >= NOT_READY_US
    return { ready: isKnown ? ready : undefined, reportedAtMs, pressure }
  },
  fold: (answer, moment) => ({ node: foldNode(answer, moment) }),
  skip: ({ node }, later) => ({ node: node && { ...node, readySinceUs: later(node.readySinceUs) } }),
  judge: judgeReady,
  /** Also by a report that a node which had not been Ready still is not. */
  contact: ({ node }) => ({
    isAsked: node !== undefined,
    isKnowable: node?.firstReportedAtMs !== undefined,
    isMade: node?.reportedAtUs !== undefined,
  }),
  carry: ({ ready }) => ({ ready }),
  join: (earlier, later, isPromoted) => ({
    ready: [earlier, later].some((each) => each.ready === 'True') ? 'True' : (isPromoted ? earlier : later).ready,
  }),
  ofBoot: ['pressure'],
} as const satisfies Contract<NodeAnswer | NoAnswer, Shaped<typeof SEEN>, Taken, Process, Before>

/** undefined: it was not asked. */
function foldNode(answer: NodeAnswer | NoAnswer, moment: ReadyMoment): NodeSeen | undefined {
  const { atUs, process } = moment
  const before = process.node
  if (answer.kind === 'not-asked') return before
  if (answer.kind !== 'found') {
    const nothing = { ready: 'absent', message: '', readySinceUs: atUs, newPressure: [] }
    return { ...(before ?? nothing), lastUs: atUs, problem: answer.detail }
  }
  const { ready, message, reportedAtMs } = answer
  const isReported = isFromProcess(answer, moment)
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
    newPressure: isReported ? foldPressure(answer, moment) : (before?.newPressure ?? []),
    problem: '',
  }
}

/**
 * Whether kubelet has written the status since this process started. Servers of 1.20 leave the time
 * in managedFields as it is when kubelet writes the same fields again. But the process before this
 * one cannot have sent a heartbeat that differs from one which was there when this process ran.
 */
function isFromProcess({ reportedAtMs, serverMs, heartbeat }: NodeAnswer, { baseline, process, atUs }: ReadyMoment): boolean {
  const before = process.node
  if (before?.firstHeartbeat !== undefined && heartbeat !== undefined && heartbeat !== before.firstHeartbeat) return true
  if (reportedAtMs === undefined) return false
  const referenceMs = baseline?.reportedAtMs ?? before?.firstReportedAtMs
  if (serverMs === undefined) return referenceMs !== undefined && reportedAtMs > referenceMs
  const startedMs = serverMs - (atUs - process.sinceUs) / 1000
  return reportedAtMs >= startedMs - GRAIN_MS && (baseline?.reportedAtMs === undefined || reportedAtMs > baseline.reportedAtMs)
}

/** Pressure that comes later is the node's. */
function foldPressure({ pressure }: NodeAnswer, { baseline, process, atUs, startDeadlineUs }: ReadyMoment): readonly string[] {
  const known = process.node?.newPressure ?? []
  const before = baseline?.pressure
  if (before === undefined || atUs - process.sinceUs > startDeadlineUs) return known
  const added = pressure.filter((type) => !known.includes(type) && !before.includes(type))
  return [...known, ...added]
}

function judgeReady(view: ReadyView): KindStanding {
  const { node } = view.process
  if (node === undefined) return unknown('not read yet')
  return node.problem === '' ? judgeSeen(view, node) : unread(node.problem, judgeSeen(view, node))
}

function judgeSeen(view: ReadyView, node: NodeSeen): KindStanding {
  switch (node.ready) {
    case 'True':
      if (node.provenAtUs === undefined) return unknown('kubelet has not reported since its start')
      if (isUnknownAtTimes(view.process)) return doubtful('the Node was Unknown shortly before, since kubelet renews its Lease too seldom')
      return yes('the Node is Ready', node.provenAtUs)
    case 'False':
      return judgeNotReady(view, node)
    case 'Unknown':
      return judgeUnknown(view, node)
    default:
      return unknown('the Node has no condition Ready')
  }
}

function judgeNotReady(view: ReadyView, node: NodeSeen): KindStanding {
  const { baseline, process, policy, isAtEnd } = view
  const { message, readySinceUs, lastUs } = node
  const detail = `the Node is not Ready: ${message}`
  if (baseline?.ready !== 'True') return wasNotReady(view, node) ? unknown(`${detail}; it was not Ready before`) : uncompared(detail)
  const mayBeNodes = NAMES_RUNTIME.test(message) && !hasChangedEndpoint(baseline, process.runtime?.endpoint)
  if (mayBeNodes) {
    const runtime = judgeRuntime(view)
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
function judgeUnknown(view: ReadyView, node: NodeSeen): KindStanding {
  const { baseline, process } = view
  const detail = 'Ready is Unknown: kubelet does not report'
  const { lease } = process
  if (lease?.renewedUs === undefined || lease.problem !== '') return unknown(detail)
  // The next sample of the Lease tells.
  if (lease.lastUs < node.readySinceUs) return doubtful(detail, node.readySinceUs)
  const slowness = findSlowness(view)
  if (slowness === undefined) return isSlowLately(node, lease) ? doubtful(detail, node.readySinceUs) : unknown(detail)
  if (baseline?.ready !== 'True') return wasNotReady(view, node) ? unknown(`${detail}; it was not Ready before`) : uncompared(detail)
  const isLong = node.lastUs - node.readySinceUs >= CONTROLLER_WAITS_US && lease.lastUs >= node.readySinceUs + CONTROLLER_WAITS_US
  return isLong && slowness === 'silent'
    ? no(`${detail}, while the agent could write to the API server`)
    : doubtful(detail, node.readySinceUs)
}

/** Also whether the Node may be Unknown again soon: what is asked for then is due sooner. */
export function isUnknownAtTimes({ node, lease }: Pick<Process, 'node' | 'lease'>): boolean {
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
 * since before any other config was here. A Node that was Unknown may have been Ready before that,
 * and one that is Unknown has that time by another clock.
 */
function wasNotReady({ baseline, notReadyByMs }: ReadyView, { ready, transitionMs }: NodeSeen): boolean {
  if (baseline?.ofPromoted === true && (baseline.ready === 'False' || baseline.ready === ready)) return true
  return ready === 'False' && transitionMs !== undefined && notReadyByMs !== undefined && transitionMs < notReadyByMs
}
