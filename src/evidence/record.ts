// SPDX-License-Identifier: Apache-2.0
/**
 * Folds facts into the evidence record. Pure. A fact counts for the process that it was asked
 * about, and never for an earlier one or a later one.
 */

import type { Snapshot } from '../decision/snapshot.ts'
import { type Acceptance, findByKey } from '../decision/verdict.ts'
import { isMissing, isOther, LOCAL_CONTENT, nameEarlier } from '../subject/config-source.ts'
import { contentOfKey, identityOfKey, type TrialKey } from '../subject/trial-key.ts'
import { wallMsAt } from '../values/durations.ts'
import {
  type BaselineFacts,
  findBeforeFirstTry,
  findDisplaced,
  findEarlier,
  type KnownRunning,
  runsPromoted,
  withEarlier,
} from './baseline.ts'
import {
  ALL_CONTRACTS,
  type AnySeen,
  API_QUESTIONS,
  type Baseline,
  CONTRACTS,
  type EvidenceMoment,
  type EvidencePolicy,
  type EvidenceRecord,
  type Fact,
  type ProcessEvidence,
  type Question,
  type SeenFact,
} from './kinds.ts'
import { noteServer } from './serving.ts'
import { hasControlPlane } from './static-pods.ts'

/** A break in the requests that long may hide an outage of the API server. */
const BLIND_US = 600e6
/** The text comes from the API server or from the container runtime. */
const LONGEST_DETAIL = 200

interface EvidenceFold
  extends BaselineFacts,
    Pick<Snapshot, 'now' | 'nodeName'>,
    Partial<Pick<Snapshot, 'restarts' | 'suspendedVerdicts'>> {
  /** The content that kubelet is about to be restarted into, for which a baseline is taken. */
  readonly candidate: TrialKey | undefined
  /** The fields that the candidate changes, according to preflight. undefined: not known. */
  readonly changes?: Acceptance['changes']
  readonly startDeadlineUs: number
  /** undefined: every kind is asked for. */
  readonly levels?: EvidencePolicy
  /** The automatic restarts of the unit, as systemd counts them. */
  readonly nRestarts?: number
  /** Since when the process that runs is healthy. undefined: it is not, or that is not known. */
  readonly healthySinceUs: number | undefined
  /** As of `Looks`. */
  readonly unseenUs?: number | undefined
  readonly facts: readonly Fact[]
  /** The node is paused. */
  readonly isPaused?: boolean
  /** CLOCK_MONOTONIC of the last write of the agent's own that succeeded. */
  readonly writtenAtUs: number | undefined
}

/** Returns the record itself if nothing changes. */
export function recordFacts(before: EvidenceRecord | undefined, fold: EvidenceFold): EvidenceRecord {
  const { now, running, nodeName } = fold
  const known = before?.bootId === now.bootId ? before : undefined
  let process = running.kind === 'known' ? followProcess(known?.process, running, fold) : known?.process
  let baseline = running.kind === 'known' ? followBaseline(known, running, fold) : known?.baseline
  const displaced = findDisplaced(known, baseline, fold)
  const compared = displaced ?? baseline
  process = process && noteWrite(process, fold.writtenAtUs)
  for (const { about, atUs, seen } of fold.facts) {
    if (process === undefined || running.kind !== 'known' || about !== running.invocationId) continue
    const moment = {
      atUs,
      wallMs: wallMsAt(atUs, now),
      nodeName,
      startDeadlineUs: fold.startDeadlineUs,
      healthyUs: fold.healthySinceUs === undefined ? 0 : atUs - fold.healthySinceUs,
      isPromoted: runsPromoted(fold),
      process,
      // Before the restart there is nothing to compare: the baseline describes this very process.
      baseline: compared === undefined || compared.invocationId === about ? undefined : withEarlier(compared),
    }
    if (baseline?.invocationId === about && baseline.candidate === fold.candidate) baseline = foldBaseline(baseline, seen, moment)
    process = foldProcess(process, seen, moment, fold.isPaused === true)
  }
  process = process && skipUnseen(process, fold)
  const isSame = known !== undefined && known.baseline === baseline && known.process === process && known.displaced === displaced
  if (isSame) return known
  return { bootId: now.bootId, baseline, process, ...(displaced && { displaced }), ...noteControlPlane(known, baseline, fold) }
}

/**
 * Kept from the last baseline that had static pods, also while a new one is being taken. Where they
 * are listed only for the pods that run, they make no role.
 */
function noteControlPlane(
  known: EvidenceRecord | undefined,
  baseline: Baseline | undefined,
  { nodeName, levels }: EvidenceFold,
): Pick<EvidenceRecord, 'runsControlPlane'> {
  const staticPods = levels?.['static-pods'] === 'off' ? undefined : baseline?.staticPods
  const runsControlPlane = staticPods === undefined ? known?.runsControlPlane : hasControlPlane(staticPods, nodeName)
  return runsControlPlane === undefined ? {} : { runsControlPlane }
}

/** The requests that were spent stay with the content, however often kubelet restarts with it. */
function followProcess(
  before: ProcessEvidence | undefined,
  { invocationId, key, startedAtUs }: KnownRunning,
  { now, unseenUs }: EvidenceFold,
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
    ...(unseenUs && { unseenUs }),
  }
}

/**
 * Rule 11 of health: what is wrong before and after a gap need not have been so in between, and an
 * answer from before it does not say what is wrong now.
 */
function skipUnseen(process: ProcessEvidence, { now, unseenUs = 0 }: EvidenceFold): ProcessEvidence {
  const skippedUs = unseenUs - (process.unseenUs ?? 0)
  if (skippedUs === 0) return process
  const later = (us: number) => Math.min(now.monotonicUs, us + Math.max(0, skippedUs))
  return Object.assign({}, process, ...ALL_CONTRACTS.map(({ skip }) => skip?.(process, later)), { unseenUs })
}

/** The baseline for what kubelet is about to be restarted into, or has just been restarted into. */
function followBaseline(record: EvidenceRecord | undefined, running: KnownRunning, fold: EvidenceFold): Baseline | undefined {
  const held = record && holdForStarted(record, running, fold)
  const baseline = record && (openForDown({ ...record, baseline: held }, running, fold) ?? held)
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

/**
 * Nothing can be read of a kubelet that is down. A config that replaces one on trial then has to
 * bring back how the node was before that one, as where it replaces one that runs.
 */
function openForDown(record: EvidenceRecord, { content, key, invocationId }: KnownRunning, fold: EvidenceFold): Baseline | undefined {
  const last = record.process
  // The same config may run, whose checkpoint cannot be read at present, or an administrator's.
  if (isMissing(content) || isOther(content) || content === nameEarlier(invocationId)) return undefined
  if (last === undefined || last.invocationId === invocationId || contentOfKey(last.key) === content) return undefined
  // A fallback follows a config that has failed.
  if (record.baseline?.candidate === key || runsPromoted(fold) || findByKey(fold.verdicts, last.key) !== undefined) return undefined
  const ran = {
    kind: 'known',
    content: contentOfKey(last.key),
    key: last.key,
    invocationId: last.invocationId,
    startedAtUs: last.sinceUs,
  } as const
  const earlier = findEarlier(record, { ...fold, running: ran })
  const taken = { sinceUs: fold.now.monotonicUs, kubelet: identityOfKey(last.key), answered: [], wasDown: true }
  return earlier && { candidate: key, invocationId: last.invocationId, ...taken, earlier }
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
  running: KnownRunning,
  fold: EvidenceFold,
): Baseline {
  const { invocationId, key, content } = running
  const before = record.baseline
  const changed = fold.changes?.from === content ? fold.changes.fields : undefined
  if (before?.candidate === candidate && before.invocationId === invocationId) {
    const known = before.changed !== undefined || changed === undefined ? before : { ...before, changed }
    // A config that has passed its trial since then broke nothing.
    return known.ofPromoted !== true && runsPromoted(fold) ? { ...known, earlier: undefined, ofPromoted: true } : known
  }
  const earlier = findEarlier(record, fold) ?? findOfTry(record, candidate, running, fold)
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

/** Of a config that is tried again. */
function findOfTry(
  record: Pick<EvidenceRecord, 'baseline' | 'displaced'>,
  candidate: TrialKey,
  running: KnownRunning,
  { suspendedVerdicts = new Map() }: EvidenceFold,
): Baseline['earlier'] {
  const content = contentOfKey(candidate)
  const kind = [...suspendedVerdicts.values()].find(
    ({ key, evidence }) => evidence !== undefined && contentOfKey(key) === content,
  )?.evidence
  return kind && findBeforeFirstTry(record, { content, kind }, running)
}

function noteWrite(process: ProcessEvidence, writtenAtUs: number | undefined): ProcessEvidence {
  if (writtenAtUs === undefined || writtenAtUs <= (process.writtenAtUs ?? process.sinceUs)) return process
  return { ...process, writtenAtUs }
}

/** Taken once, while the process from before the restart runs. */
function foldBaseline<Q extends Question>(before: Baseline, seen: SeenFact<Q>, moment: EvidenceMoment): Baseline {
  // The answer was asked for the previous baseline, and arrives late.
  if (moment.atUs < before.sinceUs) return before
  const { take, isTooEarly } = CONTRACTS[seen.question]
  const isEarly = isTooEarly?.(seen.answer, moment) === true
  const isKept = before.answered.includes(seen.question) || isEarly
  const answered = isKept ? before.answered : [...before.answered, seen.question]
  const unread = noteUnread(before.unread, seen, moment.atUs)
  const taken = take?.(seen.answer, moment)
  // An answer that comes too early says less than an earlier one that did not.
  return { ...(isEarly ? taken : {}), ...before, answered, ...(unread && { unread }), ...(isEarly ? {} : taken) }
}

function noteUnread(before: Baseline['unread'], { question, answer }: AnySeen, atUs: number): Baseline['unread'] {
  const { kind } = answer
  const others = before?.filter((unread) => unread.question !== question)
  if (kind !== 'refused' && kind !== 'forbidden' && kind !== 'unreachable' && kind !== 'not-asked') return others
  const busy = 'busy' in answer && answer.busy === true
  const hasFailed = 'hasFailed' in answer && answer.hasFailed === true
  const reasons = { ...(busy && { busy }), ...(hasFailed && { hasFailed }) }
  return [...(others ?? []), { question, kind, detail: answer.detail.slice(0, LONGEST_DETAIL), atUs, ...reasons }]
}

function foldProcess<Q extends Question>(
  before: ProcessEvidence,
  seen: SeenFact<Q>,
  moment: EvidenceMoment,
  isPaused: boolean,
): ProcessEvidence {
  const { atUs } = moment
  const { question } = seen
  if (atUs < (before.answeredUs[question] ?? 0)) return before
  const answeredUs = { ...before.answeredUs, [question]: atUs }
  const inPause = [...(before.answeredInPause?.filter((each) => each !== question) ?? []), ...(isPaused ? [question] : [])]
  const answeredInPause = inPause.length === 0 ? undefined : inPause
  return { ...noteAnswer(before, atUs, seen), answeredUs, answeredInPause, ...CONTRACTS[question].fold(seen.answer, moment) }
}

/**
 * Counts the request, and whether the API server was reachable all the while. A request that did
 * not reach it cost it nothing, and the questions of a trial must not be used up by an outage.
 */
function noteAnswer(before: ProcessEvidence, atUs: number, { question, answer }: AnySeen): ProcessEvidence {
  if (!CONTRACTS[question].asksServer || answer.kind === 'not-asked') return before
  const isUnauthorized = answer.kind === 'refused' && answer.isUnauthorized === true
  const serving = noteServer(before.serving, atUs, answer.kind !== 'unreachable' && !isUnauthorized)
  if (answer.kind === 'unreachable') return { ...before, serving, reachableSinceUs: undefined }
  const unauthorizedUs = isUnauthorized ? atUs : undefined
  const requests = before.requests + 1
  const lastUs = Math.max(...API_QUESTIONS.map((each) => before.answeredUs[each] ?? Number.NEGATIVE_INFINITY))
  const isBlind = atUs - lastUs > BLIND_US
  return { ...before, serving, requests, unauthorizedUs, reachableSinceUs: isBlind ? atUs : (before.reachableSinceUs ?? atUs) }
}
