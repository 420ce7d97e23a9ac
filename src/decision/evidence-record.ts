/**
 * Folds facts into the evidence record. Pure. A fact counts for the process that it was asked
 * about, and never for an earlier one or a later one.
 */

import type { Running } from '../health/sample.ts'
import { type Instant, wallMsAt } from '../values/durations.ts'
import { LOCAL_CONTENT } from './config-source.ts'
import { hasControlPlane } from './control-plane.ts'
import { type BaselineFacts, findDisplaced, findEarlier, runsPromoted, withEarlier } from './evidence-baseline.ts'
import { API_QUESTIONS, type Fact, type RuntimeAnswer, type SeenFact } from './evidence-facts.ts'
import { foldLease } from './evidence-lease.ts'
import { foldPods, recordPods } from './evidence-pods.ts'
import { foldNode, NOT_READY_US } from './evidence-ready.ts'
import { foldRuntime, hasAnsweredAt } from './evidence-runtime.ts'
import { foldServing, noteServer } from './evidence-serving.ts'
import type { Baseline, EvidenceRecord, ProcessEvidence, RuntimeSeen } from './evidence-state.ts'
import { type Expectation, foldStaticPods, markNewer, recordIdle, recordStaticPods } from './evidence-static-pods.ts'
import type { RestartRecord } from './records.ts'
import { identityOfKey, type TrialKey } from './trial-key.ts'
import type { Acceptance } from './verdict.ts'

/** A break in the requests that long may hide an outage of the API server. */
const BLIND_US = 600e6

export interface EvidenceFold extends BaselineFacts {
  readonly now: Instant
  readonly nodeName: string
  /** What kubelet is about to be restarted into, for which a baseline is taken. */
  readonly candidate: TrialKey | undefined
  /** What preflight says that the candidate changes. undefined: not known. */
  readonly changes?: Acceptance['changes']
  readonly startDeadlineUs: number
  readonly restarts?: readonly RestartRecord[]
  /** Of the unit, as systemd counts them. */
  readonly nRestarts?: number
  /** Since when the process that runs is healthy. undefined: it is not, or that is not known. */
  readonly healthySinceUs: number | undefined
  readonly facts: readonly Fact[]
  /** CLOCK_MONOTONIC of the last write of the agent's own that succeeded. */
  readonly writtenAtUs: number | undefined
}

/** Returns the record itself if nothing changes. */
export function recordFacts(before: EvidenceRecord | undefined, fold: EvidenceFold): EvidenceRecord {
  const { now, running } = fold
  const known = before?.bootId === now.bootId ? before : undefined
  const process = running.kind === 'known' ? followProcess(known?.process, running, now) : known?.process
  const baseline = running.kind === 'known' ? followBaseline(known, running, fold) : known?.baseline
  const displaced = findDisplaced(known, baseline, fold)
  const about = running.kind === 'known' ? fold.facts.filter((fact) => fact.about === running.invocationId) : []
  const withWrite = process && noteWrite(process, fold.writtenAtUs)
  const after = about.reduce<Pick<EvidenceRecord, 'baseline' | 'process'>>(
    (record, fact) => ({
      baseline: foldBaseline(record.baseline, record.process, fact, fold),
      process: foldProcess(record.process, displaced ?? record.baseline, fact, fold),
    }),
    { baseline, process: withWrite },
  )
  const isSame =
    known !== undefined && known.baseline === after.baseline && known.process === after.process && known.displaced === displaced
  if (isSame) return known
  return { bootId: now.bootId, ...after, ...(displaced && { displaced }), ...noteControlPlane(known, after.baseline, fold.nodeName) }
}

/** The baseline is to be taken again. What runs keeps the one that concerns it. */
export function dropBaseline(record: EvidenceRecord, facts: BaselineFacts): EvidenceRecord {
  return { ...record, baseline: undefined, displaced: findDisplaced(record, undefined, facts) }
}

/** It is asked for again. What is not answered then stays as it was read before. */
export function renewBaseline(record: EvidenceRecord, { monotonicUs }: Instant): EvidenceRecord {
  return changeBaseline(record, { sinceUs: monotonicUs, awaitedSinceUs: undefined, answered: [], unread: undefined })
}

/** The restart waits anew for what is still missing in it. */
export function awaitBaseline(record: EvidenceRecord, { monotonicUs }: Instant): EvidenceRecord {
  return changeBaseline(record, { awaitedSinceUs: monotonicUs })
}

function changeBaseline(record: EvidenceRecord, changes: Partial<Baseline>): EvidenceRecord {
  const { baseline } = record
  return baseline === undefined ? record : { ...record, baseline: { ...baseline, ...changes } }
}

/** Kept from the last baseline that had static pods, also while a new one is being taken. */
function noteControlPlane(
  known: EvidenceRecord | undefined,
  baseline: Baseline | undefined,
  nodeName: string,
): Pick<EvidenceRecord, 'runsControlPlane'> {
  const staticPods = baseline?.staticPods
  const runsControlPlane = staticPods === undefined ? known?.runsControlPlane : hasControlPlane(staticPods, nodeName)
  return runsControlPlane === undefined ? {} : { runsControlPlane }
}

type KnownRunning = Extract<Running, { kind: 'known' }>

/** What was paid in requests stays with the content, however often kubelet restarts with it. */
function followProcess(
  before: ProcessEvidence | undefined,
  { invocationId, key, startedAtUs }: KnownRunning,
  now: Instant,
): ProcessEvidence {
  if (before?.invocationId === invocationId) return before
  const paid = before?.key === key ? before : { requests: 0, requestsSinceUs: now.monotonicUs }
  return {
    invocationId,
    key,
    sinceUs: startedAtUs,
    requests: paid.requests,
    requestsSinceUs: paid.requestsSinceUs,
    answeredUs: {},
  }
}

/** The baseline for what kubelet is about to be restarted into, or has just been restarted into. */
function followBaseline(record: EvidenceRecord | undefined, running: KnownRunning, fold: EvidenceFold): Baseline | undefined {
  const baseline = record && holdForStarted(record, running, fold)
  return fold.candidate === undefined ? baseline : openBaseline({ ...record, baseline }, fold.candidate, running, fold)
}

/**
 * The restart for which the baseline was taken may start another config, which was activated
 * between the command and the start. It is compared with the same then. Local and what was promoted
 * have no trial.
 */
function holdForStarted({ baseline, process }: EvidenceRecord, running: KnownRunning, fold: EvidenceFold): Baseline | undefined {
  const { content, key, invocationId } = running
  if (baseline === undefined || content === LOCAL_CONTENT || key === fold.proven || key === baseline.candidate) return baseline
  const isNext = process?.invocationId === baseline.invocationId && invocationId !== baseline.invocationId
  return isNext && isStartedBy(baseline, running, fold) ? { ...baseline, candidate: key, changed: undefined } : baseline
}

/** Systemd counts its own restarts anew after that of the agent: no other process came between. */
function isStartedBy({ candidate, invocationId }: Baseline, { startedAtUs }: KnownRunning, fold: EvidenceFold): boolean {
  const last = fold.restarts?.findLast(({ bootId }) => bootId === fold.now.bootId)
  if (last === undefined || last.target !== candidate || last.invocationBefore !== invocationId || fold.nRestarts !== 0) return false
  return startedAtUs >= last.atUs && startedAtUs - last.atUs <= fold.startDeadlineUs
}

function openBaseline(
  record: Pick<EvidenceRecord, 'baseline' | 'displaced'>,
  candidate: TrialKey,
  { invocationId, key, content }: KnownRunning,
  fold: EvidenceFold,
): Baseline {
  const before = record.baseline
  const changed = fold.changes?.from === content ? fold.changes.fields : undefined
  if (before?.candidate === candidate && before.invocationId === invocationId) {
    const known = before.changed !== undefined || changed === undefined ? before : { ...before, changed }
    // What has passed its trial since broke nothing.
    return known.ofPromoted !== true && runsPromoted(fold) ? { ...known, earlier: undefined, ofPromoted: true } : known
  }
  const earlier = findEarlier(record, fold)
  return {
    candidate,
    invocationId,
    sinceUs: fold.now.monotonicUs,
    kubelet: identityOfKey(key),
    answered: [],
    ...(changed && { changed }),
    ...(earlier && { earlier }),
    ...(runsPromoted(fold) && { ofPromoted: true }),
  }
}

function noteWrite(process: ProcessEvidence, writtenAtUs: number | undefined): ProcessEvidence {
  if (writtenAtUs === undefined || writtenAtUs <= (process.writtenAtUs ?? process.sinceUs)) return process
  return { ...process, writtenAtUs }
}

/** Taken once, while the process from before the restart runs. */
function foldBaseline(
  before: Baseline | undefined,
  process: ProcessEvidence | undefined,
  { about, atUs, seen }: Fact,
  fold: EvidenceFold,
): Baseline | undefined {
  if (before === undefined || before.invocationId !== about || fold.candidate !== before.candidate) return before
  // It was asked for the previous baseline, and arrives late.
  if (atUs < before.sinceUs) return before
  const isKept = before.answered.includes(seen.question) || isTooEarly(seen, atUs, fold)
  const answered = isKept ? before.answered : [...before.answered, seen.question]
  const unread = noteUnread(before.unread, seen, atUs)
  return { ...before, answered, ...(unread && { unread }), ...describeBefore(seen, process, atUs, fold) }
}

/** The text comes from the API server or from the container runtime. */
const LONGEST_DETAIL = 200

function noteUnread(before: Baseline['unread'], { question, answer }: SeenFact, atUs: number): Baseline['unread'] {
  const { kind } = answer
  const others = before?.filter((unread) => unread.question !== question)
  if (kind !== 'refused' && kind !== 'forbidden' && kind !== 'unreachable' && kind !== 'not-asked') return others
  const busy = 'busy' in answer && answer.busy === true
  return [...(others ?? []), { question, kind, detail: answer.detail.slice(0, LONGEST_DETAIL), atUs, ...(busy && { busy }) }]
}

/**
 * Kubelet opens its TLS port and its health port together (`run` and `startKubelet` in
 * cmd/kubelet/app/server.go). Right after a boot it is asked again while the restart waits.
 */
function isTooEarly({ question, answer }: SeenFact, atUs: number, { healthySinceUs }: EvidenceFold): boolean {
  if (question !== 'serving' || answer.kind !== 'no-tls') return false
  return healthySinceUs === undefined || atUs - healthySinceUs < SERVES_WITHIN_US
}

/** Longer than it takes from one port to the other. */
const SERVES_WITHIN_US = 2e6

/** What a process does not show right after its start is no lasting illness of the node. */
function hasRunFor(us: number, atUs: number, { healthySinceUs }: EvidenceFold): boolean {
  return healthySinceUs !== undefined && atUs - healthySinceUs >= us
}

function describeBefore(seen: SeenFact, process: ProcessEvidence | undefined, atUs: number, fold: EvidenceFold): Partial<Baseline> {
  switch (seen.question) {
    case 'node': {
      if (seen.answer.kind !== 'found') return {}
      const { ready, reportedAtMs, pressure } = seen.answer
      const isKnown = ready === 'True' || hasRunFor(NOT_READY_US, atUs, fold)
      return { ready: isKnown ? ready : undefined, reportedAtMs, pressure }
    }
    case 'lease':
      return {}
    case 'pods':
      return seen.answer.kind === 'found' ? recordPods(seen.answer, wallMsAt(atUs, fold.now)) : {}
    case 'runtime':
      if (seen.answer.kind === 'not-asked') return {}
      return describeRuntime(seen.answer, process?.runtime)
    case 'serving':
      if (seen.answer.kind === 'not-asked') return {}
      return { serving: seen.answer.kind === 'answered' ? { status: seen.answer.status, user: seen.answer.user } : {} }
    case 'static-pods':
      if (seen.answer.kind !== 'found') return {}
      return {
        staticPods: recordStaticPods(seen.answer, fold.nodeName),
        idle: recordIdle(seen.answer, fold.nodeName, runsPromoted(fold) && hasRunFor(NOT_READY_US, atUs, fold)),
      }
  }
}

/** One that has answered is down for a while. One that never has may not be there at all. */
function describeRuntime({ kind, endpoint }: RuntimeAnswer, seen: RuntimeSeen | undefined): Partial<Baseline> {
  return { endpoint, isRuntimeSilent: kind === 'silent' && !hasAnsweredAt(seen, endpoint) }
}

function foldProcess(
  before: ProcessEvidence | undefined,
  baseline: Baseline | undefined,
  { about, atUs, seen }: Fact,
  fold: EvidenceFold,
): ProcessEvidence | undefined {
  if (before === undefined || before.invocationId !== about) return before
  if (atUs < (before.answeredUs[seen.question] ?? 0)) return before
  const process = { ...noteAnswer(before, atUs, seen), answeredUs: { ...before.answeredUs, [seen.question]: atUs } }
  // Before the restart there is nothing to compare: the baseline describes this very process.
  const compared = baseline === undefined || baseline.invocationId === about ? undefined : withEarlier(baseline)
  switch (seen.question) {
    case 'node': {
      const context = { baseline: compared, startedAtUs: before.sinceUs, startDeadlineUs: fold.startDeadlineUs }
      return { ...process, node: foldNode(before.node, seen.answer, atUs, context) }
    }
    case 'lease':
      return { ...process, lease: foldLease(before.lease, seen.answer, atUs, wallMsAt(atUs, fold.now)) }
    case 'pods':
      return { ...process, pods: foldPods(before.pods, seen.answer, atUs, compared, before.key) }
    case 'runtime':
      return { ...process, runtime: foldRuntime(before.runtime, seen.answer, atUs) }
    case 'serving': {
      const servingTaken = seen.answer.kind === 'not-asked' && seen.answer.isStrangers === true ? seen.answer.detail : undefined
      return { ...process, servingTaken, serving: foldServing(before.serving, seen.answer, atUs, wallMsAt(atUs, fold.now)) }
    }
    case 'static-pods':
      return { ...process, staticPods: foldStaticPods(before.staticPods, seen.answer, atUs, expectStaticPods(compared, before.key, fold)) }
  }
}

/** The static pods that have to run, as another kubelet than before may have replaced them. */
function expectStaticPods(baseline: Baseline | undefined, key: TrialKey, { nodeName }: EvidenceFold): Expectation {
  const { staticPods, kubelet, idle = [] } = baseline ?? {}
  if (staticPods === undefined) return { expected: [], idle: undefined, nodeName }
  const isSameKubelet = kubelet === undefined || kubelet === identityOfKey(key)
  return { expected: isSameKubelet ? staticPods : staticPods.map(markNewer), idle, nodeName }
}

/**
 * Counts the request, and whether the API server was reachable all the while. What did not reach it
 * cost it nothing, and the questions of a trial must not be used up by an outage.
 */
function noteAnswer(before: ProcessEvidence, atUs: number, { question, answer }: SeenFact): ProcessEvidence {
  if (!API_QUESTIONS.includes(question) || answer.kind === 'not-asked') return before
  const isUnauthorized = answer.kind === 'refused' && answer.isUnauthorized === true
  const serving = noteServer(before.serving, atUs, answer.kind !== 'unreachable' && !isUnauthorized)
  if (answer.kind === 'unreachable') return { ...before, serving, reachableSinceUs: undefined }
  const unauthorizedUs = isUnauthorized ? atUs : undefined
  const requests = before.requests + 1
  const lastUs = Math.max(...API_QUESTIONS.map((each) => before.answeredUs[each] ?? Number.NEGATIVE_INFINITY))
  const isBlind = atUs - lastUs > BLIND_US
  return { ...before, serving, requests, unauthorizedUs, reachableSinceUs: isBlind ? atUs : (before.reachableSinceUs ?? atUs) }
}
