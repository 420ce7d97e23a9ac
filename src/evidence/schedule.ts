// SPDX-License-Identifier: Apache-2.0
/**
 * When the evidence is asked for. Pure. Nothing is asked while a node is settled. A trial costs the
 * API server at most 13 requests, the baseline included, 2 more where the Node is Unknown, and 5
 * more where a Lease was not renewed by the end of the trial. Two writes of the annotation come on
 * top, and the Lease once before a claim in a rollout.
 */

import { findNodePause } from '../decision/find-pause.ts'
import { findRolloutTurn, owesProof } from '../decision/rollout-turn.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { assess } from '../decision/target.ts'
import { measureTrial } from '../decision/trial.ts'
import { healthOfRunning } from '../health/process.ts'
import type { RolloutNode } from '../rollout/view.ts'
import type { ConfigSource, ContentHash } from '../subject/config-source.ts'
import { contentOfKey, type TrialKey } from '../subject/trial-key.ts'
import { isAwaited, isJudged, isOfPause, viewEvidence } from './judge.ts'
import {
  ALL_CONTRACTS,
  API_QUESTIONS,
  type Baseline,
  CONTRACTS,
  contractOf,
  type EvidencePolicy,
  type EvidenceView,
  levelOf,
  OPTIONAL_KINDS,
  QUESTIONS,
  type Question,
  questionOf,
  type UnreadQuestion,
} from './kinds.ts'
import { isUnknownAtTimes } from './ready.ts'

/** How long a restart waits for the baseline. */
const BASELINE_WAIT_US = 5e6
/** The same of a healthy kubelet, where the API server says that it will answer later. */
const BUSY_WAIT_US = 60e6
/** Where a restart or a claim has to wait, the baseline is taken again. */
const BASELINE_OLD_US = 600e6
/**
 * The same for a claim, where the API server did not answer, or not with the object: a node that
 * was registered a moment ago has no Lease yet. A restart does not wait for that.
 */
const UNREAD_OLD_US = 60e6
/**
 * Kubelet reports a change of the Node within that time by default (`nodeStatusUpdateFrequency`).
 */
const REPORTS_WITHIN_US = 10e6
/** Requests to the API server at the beginning of a trial, over its length, and over each more. */
const AT_ONCE = 3
const IN_TRIAL = 8
const PER_LATER_TRIAL = 4
/** For a Node that was seen Unknown. */
const FOR_UNKNOWN = 2
const SHORTEST_GAP_US = 1e6
/** Between two looks beyond the requests of a trial. */
const AWAITED_GAP_US = 15e6
interface Due {
  readonly questions: readonly Question[]
  /** Only a write of the agent's own tells why a Lease is not renewed. */
  readonly write: boolean
}

const NOTHING_DUE: Due = { questions: [], write: false }

/**
 * The content that kubelet is about to be restarted into, or that the node would claim to start in
 * a rollout. A fallback never waits for evidence.
 */
export function findCandidateOfBaseline(snapshot: Snapshot): TrialKey | undefined {
  const { running, nextStart, unit } = snapshot
  const { target: present, awaitingTurn } = assess(snapshot)
  const target = awaitingTurn ?? present
  if (target === undefined || target.fallback || target.atFault || target.source === 'local') return undefined
  if (unit.kind === 'unknown' || unit.activity !== 'running' || running.kind !== 'known') return undefined
  const isAwaited = startsWithContent(nextStart, target.key) || asksBeforeClaim(snapshot, target)
  return isAwaited && running.content !== target.content ? target.key : undefined
}

/**
 * The rollout says that the node's time to claim has come, and that it has to read its evidence
 * first.
 */
function asksBeforeClaim(snapshot: Snapshot, { source, content }: { source: ConfigSource; content: ContentHash }): boolean {
  const turn = findRolloutTurn(snapshot, source, content)
  return turn?.kind === 'wait' && turn.asks === 'evidence'
}

/** Whether the restart waits for what is still being asked about the process that it ends. */
export function awaitsBaseline(snapshot: Snapshot, candidate: TrialKey): boolean {
  const { now, policy } = snapshot
  const baseline = findTaken(snapshot, candidate)
  if (baseline === undefined || now.monotonicUs - awaitedSinceUs(baseline) >= waitsForUs(snapshot, baseline)) return false
  return !isComplete(baseline, policy.evidence)
}

/** A kubelet that is not healthy is not kept for that. */
function waitsForUs(snapshot: Snapshot, baseline: Baseline): number {
  const isBusy = listUnreached(baseline, snapshot.policy.evidence).some(({ busy }) => busy === true)
  return isBusy && healthOfRunning(snapshot)?.healthySinceUs !== undefined ? BUSY_WAIT_US : BASELINE_WAIT_US
}

/** A kind that needs no baseline holds no restart up. */
function isTaken(question: Question, policy: EvidencePolicy): boolean {
  return CONTRACTS[question].take !== undefined && isAsked(question, policy, true)
}

/** The baseline of the process that runs, from before its restart into the candidate. */
function findTaken({ evidence, running }: Snapshot, candidate: TrialKey): Baseline | undefined {
  const baseline = evidence?.baseline
  const isOfRunning = running.kind === 'known' && baseline?.invocationId === running.invocationId
  return isOfRunning && baseline.candidate === candidate ? baseline : undefined
}

/** Questions that had no answer, and may have one while the restart waits. */
function listUnreached({ unread = [] }: Baseline, policy: EvidencePolicy): readonly UnreadQuestion[] {
  return unread.filter(({ question, kind, hasFailed }) => (kind === 'unreachable' || hasFailed === true) && isTaken(question, policy))
}

/**
 * Once a second, for as long as a restart waits. A server that has too much to do is asked after
 * pauses that grow with the wait.
 */
function listAskedAgain(snapshot: Snapshot, baseline: Baseline): readonly Question[] {
  const nowUs = snapshot.now.monotonicUs
  const sinceUs = awaitedSinceUs(baseline)
  if (nowUs - sinceUs >= waitsForUs(snapshot, baseline)) return []
  const unreached = listUnreached(baseline, snapshot.policy.evidence)
  const gapUs = ({ atUs = 0, busy }: UnreadQuestion) => Math.max(SHORTEST_GAP_US, busy === true ? atUs - sinceUs : 0)
  return unreached.filter((each) => nowUs - (each.atUs ?? 0) >= gapUs(each)).map(({ question }) => question)
}

export function isBaselineOld(snapshot: Snapshot): boolean {
  const { evidence, now, nextStart } = snapshot
  const baseline = evidence?.baseline
  if (baseline === undefined) return false
  if (isBaselineEarly(snapshot)) return true
  const isForClaim = !startsWithContent(nextStart, baseline.candidate)
  const isUnread = isForClaim && baseline.unread?.some(({ kind }) => kind === 'unreachable' || kind === 'refused') === true
  return now.monotonicUs - baseline.sinceUs > (isUnread ? UNREAD_OLD_US : BASELINE_OLD_US)
}

/**
 * Whether the baseline was taken before the running kubelet had had the time to report, and it has
 * had it since.
 */
export function isBaselineEarly({ evidence, health, now }: Snapshot): boolean {
  const baseline = evidence?.baseline
  const process = health?.process
  if (baseline === undefined || process?.healthySinceUs === undefined || process.invocationId !== baseline.invocationId) return false
  const reportedUs = process.healthySinceUs + REPORTS_WITHIN_US
  return baseline.sinceUs < reportedUs && now.monotonicUs >= reportedUs
}

/**
 * Whether the baseline lacks answers that the restart does not wait for any more: they were asked
 * for before the present activation, or by an agent that has ended. An agent that ends again and
 * again does not hold the restart up for ever.
 *
 * @param candidate that kubelet is about to be restarted into
 * @param asksSinceUs as `EvidenceProbe` says
 */
export function isBaselineAbandoned(snapshot: Snapshot, candidate: TrialKey, asksSinceUs: number): boolean {
  const { health, now, policy } = snapshot
  const baseline = findTaken(snapshot, candidate)
  if (baseline === undefined || isComplete(baseline, policy.evidence)) return false
  const activatedUs = health?.subject === candidate ? health.subjectSinceUs : baseline.sinceUs
  if (now.monotonicUs - activatedUs > BASELINE_OLD_US) return false
  return awaitedSinceUs(baseline) < Math.max(activatedUs, asksSinceUs)
}

/** The restart waits for something else than the baseline, such as the hourly limit. */
function isHeldUp({ now }: Snapshot, baseline: Baseline): boolean {
  return now.monotonicUs - awaitedSinceUs(baseline) >= BUSY_WAIT_US
}

/** Within the last minute. A baseline that still lacks the answer had one that came too early. */
function wasAskedLately({ evidence, now }: Snapshot, question: Question): boolean {
  const answeredUs = evidence?.process?.answeredUs[question]
  return answeredUs !== undefined && now.monotonicUs - answeredUs < BUSY_WAIT_US
}

function awaitedSinceUs(baseline: Baseline): number {
  return baseline.awaitedSinceUs ?? baseline.sinceUs
}

function isComplete(baseline: Baseline, policy: EvidencePolicy): boolean {
  return missingIn(baseline, policy).length === 0 && listUnreached(baseline, policy).length === 0
}

export function startsWithContent(nextStart: Snapshot['nextStart'], candidate: TrialKey): boolean {
  return nextStart.kind === 'known' && nextStart.held.content === contentOfKey(candidate)
}

/** @param candidate as `findCandidateOfBaseline` returns it */
export function dueEvidence(snapshot: Snapshot, candidate: TrialKey | undefined): Due {
  if (candidate === undefined) return dueInTrial(snapshot)
  const baseline = snapshot.evidence?.baseline
  if (baseline === undefined) return NOTHING_DUE
  const policy = snapshot.policy.evidence
  const missing = missingIn(baseline, policy).filter((question) => !isHeldUp(snapshot, baseline) || !wasAskedLately(snapshot, question))
  const isNext = startsWithContent(snapshot.nextStart, candidate)
  // A restart that is a moment away ends the process, and its trial.
  const trial = isNext && !isHeldUp(snapshot, baseline) ? NOTHING_DUE : dueInTrial(snapshot)
  const more = isNext ? listAskedAgain(snapshot, baseline) : missingBeforeClaim(baseline, policy)
  return askOnce([...missing, ...more, ...trial.questions], trial.write)
}

function askOnce(questions: readonly Question[], write: boolean): Due {
  return { questions: [...new Set(questions)], write }
}

function dueInTrial(snapshot: Snapshot): Due {
  const { policy } = snapshot
  const view = viewEvidence(snapshot)
  // After a trial, only a proof that is owed is asked for, and nothing is condemned by the answers.
  if (view === undefined || !(isJudged(snapshot) || owesProof(snapshot))) return NOTHING_DUE
  const asked = QUESTIONS.filter((question) => isAsked(question, policy.evidence))
  const wanted = asked.filter((question) => isDue(question, snapshot, view))
  return {
    questions: withinBudget(wanted, snapshot, view),
    write: asked.some((question) => CONTRACTS[question].needsWrite?.(view, snapshot.now.monotonicUs) === true),
  }
}

/**
 * The questions to ask before a claim: the required ones that have no answer yet.
 *
 * @param baseline undefined: none was taken
 */
function missingBeforeClaim(baseline: Baseline | undefined, policy: EvidencePolicy): readonly Question[] {
  const isAnswered = (question: Question) =>
    baseline?.answered.includes(question) === true || (baseline && CONTRACTS[question].isAnswered?.(baseline)) === true
  return QUESTIONS.filter((question) => levelOf(policy, CONTRACTS[question].kind) === 'required' && !isAnswered(question))
}

function missingIn(baseline: Baseline, policy: EvidencePolicy): readonly Question[] {
  return QUESTIONS.filter((question) => isTaken(question, policy) && !baseline.answered.includes(question))
}

function isAsked(question: Question, policy: EvidencePolicy, beforeRestart = false): boolean {
  const asking = ALL_CONTRACTS.filter(({ kind }) => levelOf(policy, kind) !== 'off')
  const isOf = ({ needs, needsBefore }: (typeof asking)[number]) => needs === question || (beforeRestart && needsBefore === question)
  return levelOf(policy, CONTRACTS[question].kind) !== 'off' || asking.some(isOf)
}

function isDue(question: Question, snapshot: Snapshot, view: EvidenceView): boolean {
  const { process, policy } = view
  const { firstUs, gapUs } = CONTRACTS[question]
  const nowUs = snapshot.now.monotonicUs
  const answeredUs = process.answeredUs[question]
  if (answeredUs === undefined) return nowUs >= process.sinceUs + firstUs(policy.trialUs)
  if (nowUs - answeredUs < SHORTEST_GAP_US) return false
  if (isAskedAfterPause(question, snapshot, view)) return true
  const lastLookUs = findLastLook(snapshot, view)
  if (nowUs >= lastLookUs && answeredUs < lastLookUs) return true
  return nowUs - answeredUs >= Math.max(SHORTEST_GAP_US, gapUs(view))
}

/** A `no` from a pause condemns nothing: see `isOfPause`. It is asked again after the pause. */
function isAskedAfterPause(question: Question, snapshot: Snapshot, view: EvidenceView): boolean {
  if (!isOfPause(snapshot, question) || findNodePause(snapshot) !== undefined) return false
  return contractOf(CONTRACTS[question].kind)?.judge(view).answer === 'no'
}

/** Shortly before the end of the trial, everything is looked at once more. */
function findLastLook(snapshot: Snapshot, { process, policy }: EvidenceView): number {
  const endsAtUs = measureTrial(snapshot, process.key)?.endsAtUs ?? Number.POSITIVE_INFINITY
  return endsAtUs - Math.min(20e6, policy.trialUs / 5)
}

function withinBudget(wanted: readonly Question[], snapshot: Snapshot, view: EvidenceView): readonly Question[] {
  const { process, policy } = view
  const nowUs = snapshot.now.monotonicUs
  const elapsed = (nowUs - process.requestsSinceUs) / policy.trialUs
  const trials = nowUs >= findLastLook(snapshot, view) ? Math.max(1, elapsed) : elapsed
  // At the end of a trial, those of the next one are due at once: it waits only for what they show.
  const later = isUnknownAtTimes(process) ? Math.floor(trials) : Math.max(0, trials - 1)
  const more = process.node?.unknownUs === undefined ? 0 : FOR_UNKNOWN
  const granted = AT_ONCE + IN_TRIAL * Math.min(1, trials) + PER_LATER_TRIAL * later + more
  const left = Math.max(0, Math.floor(granted) - process.requests)
  // The question that was answered longest ago comes first, so that no question uses up the budget.
  const lastUs = (question: Question) => process.answeredUs[question] ?? 0
  const paid = wanted.filter((question) => API_QUESTIONS.includes(question)).sort((a, b) => lastUs(a) - lastUs(b))
  const affordable = paid.slice(0, left)
  const isNeeded = (question: Question) =>
    nowUs >= Math.max(findLastLook(snapshot, view), lastUs(question) + AWAITED_GAP_US) &&
    isAwaited(snapshot, view, CONTRACTS[question].kind)
  const isGranted = (question: Question) =>
    affordable.includes(question) || isNeeded(question) || isAskedAfterPause(question, snapshot, view)
  return wanted.filter((question) => !paid.includes(question) || isGranted(question))
}

/**
 * Whether the evidence that a proof needs can be read, before this node claims to be a witness of a
 * rollout: evidence that cannot be read while the config before it runs cannot be read in the trial
 * either. The answers themselves do not matter here, since another config may change them.
 *
 * @param candidate the content that the node would claim to start
 */
export function findEvidenceAccess(snapshot: Snapshot, candidate: TrialKey): RolloutNode['evidence'] {
  const { running, unit, policy } = snapshot
  // Evidence cannot be read while kubelet is down, and some node has to start the fix.
  if (running.kind !== 'known' || unit.kind === 'unknown' || unit.activity !== 'running') return { kind: 'readable' }
  const baseline = isBaselineOld(snapshot) ? undefined : findTaken(snapshot, candidate)
  if (missingBeforeClaim(baseline, policy.evidence).length > 0) return { kind: 'unread' }
  const problems = baseline === undefined ? [] : listProblems(baseline, policy.evidence)
  return problems.length === 0 ? { kind: 'readable' } : { kind: 'unreadable', detail: problems.join('; ') }
}

function listProblems(baseline: Baseline, policy: EvidencePolicy): readonly string[] {
  const required = OPTIONAL_KINDS.filter((kind) => levelOf(policy, kind) === 'required')
  return required.flatMap((kind) => {
    const question = questionOf(kind)
    if (question === undefined) return []
    const problem = baseline.unread?.find((unread) => unread.question === question)?.detail ?? CONTRACTS[question].describeGap?.(baseline)
    return problem === undefined ? [] : [`${kind}: ${problem}`]
  })
}
