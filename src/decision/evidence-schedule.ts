/**
 * When the evidence is asked for. Pure. Nothing is asked while a node is settled. A trial costs the
 * API server at most 13 requests, the baseline included, and 2 more where the Node is Unknown. Two
 * writes of the annotation come on top, and the Lease once before a claim in a rollout.
 */

import { healthOfRunning } from '../health/process.ts'
import type { ConfigSource, ContentHash } from './config-source.ts'
import { type EvidenceFinding, type EvidencePolicy, levelOf } from './evidence.ts'
import { API_QUESTIONS, QUESTIONS, type Question } from './evidence-facts.ts'
import { judgeEvidence, viewEvidence } from './evidence-judge.ts'
import { judgeLease, needsWrite } from './evidence-lease.ts'
import { isUnknownAtTimes, UNKNOWN_US } from './evidence-ready.ts'
import { judgeServing, needsServersWord } from './evidence-serving.ts'
import type { Baseline, EvidenceView, UnreadQuestion } from './evidence-state.ts'
import { findRolloutTurn, owesProof } from './rollout-turn.ts'
import type { Snapshot } from './snapshot.ts'
import { assess, standsIn } from './target.ts'
import { measureTrial } from './trial.ts'
import { contentOfKey, hasPassed, type TrialKey } from './trial-key.ts'

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
/** For how long a fallback is asked: what it does not bring back by then, it does not. */
const FALLBACK_TRIALS = 1.5

export interface Due {
  readonly questions: readonly Question[]
  /** Only a write of the agent's own tells why a Lease is not renewed. */
  readonly write: boolean
}

const NOTHING_DUE: Due = { questions: [], write: false }

/**
 * What kubelet is about to be restarted into, or what the node would claim to start in a rollout. A
 * fallback never waits for evidence.
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

/** The baseline of the process that runs, from before its restart into the candidate. */
function findTaken({ evidence, running }: Snapshot, candidate: TrialKey): Baseline | undefined {
  const baseline = evidence?.baseline
  const isOfRunning = running.kind === 'known' && baseline?.invocationId === running.invocationId
  return isOfRunning && baseline.candidate === candidate ? baseline : undefined
}

/** What the API server did not answer, which it may answer while the restart waits. */
function listUnreached({ unread = [] }: Baseline, policy: EvidencePolicy): readonly UnreadQuestion[] {
  return unread.filter(
    ({ question, kind }) => kind === 'unreachable' && question !== 'lease' && API_QUESTIONS.includes(question) && isAsked(question, policy),
  )
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
  const missing = missingIn(baseline, policy)
  // The restart is about to end the process, and its trial.
  if (startsWithContent(snapshot.nextStart, candidate)) return askOnce([...missing, ...listAskedAgain(snapshot, baseline)], false)
  const trial = dueInTrial(snapshot)
  return askOnce([...missing, ...missingBeforeClaim(baseline, policy), ...trial.questions], trial.write)
}

function askOnce(questions: readonly Question[], write: boolean): Due {
  return { questions: [...new Set(questions)], write }
}

function dueInTrial(snapshot: Snapshot): Due {
  const { policy } = snapshot
  const view = viewEvidence(snapshot)
  // After a trial, only a proof that is owed is asked for, and nothing is condemned by the answers.
  if (view === undefined || !(isObserved(snapshot) || owesProof(snapshot))) return NOTHING_DUE
  const wanted = QUESTIONS.filter((question) => isAsked(question, policy.evidence) && isDue(question, snapshot, view))
  return {
    questions: withinBudget(wanted, snapshot, view),
    write: isAsked('lease', policy.evidence) && needsWrite(view, snapshot.now.monotonicUs),
  }
}

/** The findings about a process that is asked for evidence. Empty: nothing is on trial. */
export function listObserved(snapshot: Snapshot): readonly EvidenceFinding[] {
  return isObserved(snapshot) && viewEvidence(snapshot) !== undefined ? judgeEvidence(snapshot) : []
}

/** A config on trial, or a fallback that has to show what was at fault. */
export function isObserved(snapshot: Snapshot): boolean {
  const { running, now, policy } = snapshot
  const { target, candidates } = assess(snapshot)
  if (running.kind !== 'known' || running.content !== target?.content) return false
  if (!target.atFault && !standsIn(target) && target.source !== 'local' && !hasPassed(snapshot, running.key)) return true
  // What failed before, and is not wanted any more, is nothing that could be brought back.
  const isSuspected = candidates.some(({ verdict }) => verdict?.state === 'provisional')
  return isSuspected && (target.atFault || now.monotonicUs - running.startedAtUs < FALLBACK_TRIALS * policy.trialUs)
}

/**
 * What has to be asked before a claim: the required questions that have no answer yet.
 *
 * @param baseline undefined: none was taken
 */
export function missingBeforeClaim(baseline: Baseline | undefined, policy: EvidencePolicy): readonly Question[] {
  // A closed TLS port is asked again while a restart waits; here it is an answer.
  const isAnswered = (question: Question) =>
    baseline?.answered.includes(question) === true || (question === 'serving' && baseline?.serving !== undefined)
  return QUESTIONS.filter((question) => isRequired(question, policy) && !isAnswered(question))
}

function missingIn(baseline: Baseline, policy: EvidencePolicy): readonly Question[] {
  return QUESTIONS.filter((question) => question !== 'lease' && isAsked(question, policy) && !baseline.answered.includes(question))
}

function isRequired(question: Question, policy: EvidencePolicy): boolean {
  return levelOf(policy, question === 'node' ? 'ready' : question) === 'required'
}

function isAsked(question: Question, policy: EvidencePolicy): boolean {
  if (question === 'node') return levelOf(policy, 'ready') !== 'off' || levelOf(policy, 'pods') !== 'off'
  // What kubelet says of the Node is read in the light of what the runtime says.
  if (question === 'runtime') return levelOf(policy, 'runtime') !== 'off' || levelOf(policy, 'ready') !== 'off'
  return levelOf(policy, question) !== 'off'
}

function isDue(question: Question, snapshot: Snapshot, view: EvidenceView): boolean {
  const { process, policy } = view
  const nowUs = snapshot.now.monotonicUs
  const answeredUs = process.answeredUs[question]
  if (answeredUs === undefined) return nowUs >= process.sinceUs + firstUs(question, policy.trialUs)
  if (nowUs - answeredUs < SHORTEST_GAP_US) return false
  const lastLookUs = findLastLook(snapshot, view)
  if (nowUs >= lastLookUs && answeredUs < lastLookUs) return true
  return nowUs - answeredUs >= Math.max(SHORTEST_GAP_US, gapUs(question, view))
}

/** Shortly before the end of the trial, everything is looked at once more. */
function findLastLook(snapshot: Snapshot, { process, policy }: EvidenceView): number {
  const endsAtUs = measureTrial(snapshot, process.key)?.endsAtUs
  return endsAtUs === undefined ? Number.POSITIVE_INFINITY : endsAtUs - Math.min(20e6, policy.trialUs / 5)
}

/** After the start of the process. */
function firstUs(question: Question, trialUs: number): number {
  switch (question) {
    case 'lease':
    case 'runtime':
      return 0
    case 'node':
    case 'serving':
      return Math.min(5e6, trialUs / 10)
    case 'static-pods':
      return Math.min(10e6, trialUs / 10)
    case 'pods':
      return Math.min(60e6, trialUs / 4)
  }
}

/** Between two answers. Rarely once it is proven. */
function gapUs(question: Question, view: EvidenceView): number {
  const { process, policy } = view
  const { trialUs } = policy
  switch (question) {
    case 'lease': {
      const durationUs = 1e6 * (process.lease?.durationSeconds ?? 0)
      if (process.node?.ready === 'Unknown') return Math.min(UNKNOWN_US, trialUs / 4)
      const seldomUs = judgeLease(view).answer === 'yes' ? trialUs / 2 : 0
      return Math.max(seldomUs, Math.min(Math.max(30e6, 0.75 * durationUs), trialUs / 4))
    }
    case 'node':
      // Only an answer of the API server tells whose fault that is.
      if (process.serving !== undefined && needsServersWord(process.serving) && judgeServing(view).answer !== 'yes')
        return Math.min(30e6, trialUs / 10)
      if (isUnknownAtTimes(process)) return Math.min(UNKNOWN_US, trialUs / 4)
      return process.node?.ready === 'True' && process.node.provenAtUs !== undefined ? trialUs / 2 : Math.min(30e6, trialUs / 10)
    case 'pods':
      return trialUs / 2
    case 'runtime':
      return process.runtime?.answers === true ? trialUs / 10 : Math.min(10e6, trialUs / 20)
    case 'serving':
      return process.serving?.status === 403 ? trialUs / 10 : Math.min(10e6, trialUs / 20)
    case 'static-pods':
      return process.staticPods?.provenAtUs === undefined ? Math.min(10e6, trialUs / 20) : trialUs / 10
  }
}

function withinBudget(wanted: readonly Question[], snapshot: Snapshot, view: EvidenceView): readonly Question[] {
  const { process, policy } = view
  const nowUs = snapshot.now.monotonicUs
  const elapsed = (nowUs - process.requestsSinceUs) / policy.trialUs
  const trials = nowUs >= findLastLook(snapshot, view) ? Math.max(1, elapsed) : elapsed
  // At the end of a trial, those of the next one are due at once: it waits only for what they show.
  const later = isUnknownAtTimes(process) && trials >= 1 ? Math.floor(trials) : Math.max(0, trials - 1)
  const more = process.node?.unknownUs === undefined ? 0 : FOR_UNKNOWN
  const granted = AT_ONCE + IN_TRIAL * Math.min(1, trials) + PER_LATER_TRIAL * later + more
  const left = Math.max(0, Math.floor(granted) - process.requests)
  // What was answered longest ago comes first, so that one question cannot use up the budget.
  const lastUs = (question: Question) => process.answeredUs[question] ?? 0
  const paid = wanted.filter((question) => API_QUESTIONS.includes(question)).sort((a, b) => lastUs(a) - lastUs(b))
  const affordable = paid.slice(0, left)
  return wanted.filter((question) => !paid.includes(question) || affordable.includes(question))
}
