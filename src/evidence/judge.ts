// SPDX-License-Identifier: Apache-2.0
/**
 * Judges the evidence about the process that runs, and says what follows: whether its config has
 * failed, whether a trial that is over may be promoted, and whether a fallback brought back what a
 * config had lost. Pure. `docs/evidence.md` has the table of what counts as yes, no and unknown.
 */

import { findRunning } from '../decision/held-sources.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { assess, standsIn } from '../decision/target.ts'
import { measureHealth, measureTrial } from '../decision/trial.ts'
import { type ConfigFailure, findByKey, isSeenByHealth, type Verdict } from '../decision/verdict.ts'
import { healthOfRunning } from '../health/process.ts'
import { type CheckpointInfo, sameVersion } from '../subject/config-source.ts'
import { contentOfKey, hasPassed, type TrialKey } from '../subject/trial-key.ts'
import { cutToBytes, onOneLine } from '../values/cut.ts'
import { wallMsAt } from '../values/durations.ts'
import { findBaseline, runsPromoted, withEarlier } from './baseline.ts'
import { judgeByHealth } from './by-health.ts'
import { unknown } from './kind.ts'
import {
  ALL_CONTRACTS,
  type Baseline,
  contractOf,
  EVIDENCE_KINDS,
  type EvidenceFinding,
  type EvidenceKind,
  type EvidenceRecord,
  type EvidenceView,
  levelOf,
  type ProcessEvidence,
  type Question,
  questionOf,
} from './kinds.ts'
import { NOT_READY_US } from './ready.ts'

/** A part of it comes from the API server and from the container runtime. */
const DETAIL_BYTES = 600
const NOTHING = unknown('nothing was asked about this process')
/** For how long a fallback is asked: what it does not bring back by then, it does not. */
const FALLBACK_TRIALS = 1.5
/** Long enough for the looks that tell of a Lease why kubelet does not renew it. */
const AWAITED_US = 120e6
/** A record of a process that begins so late after its start has lost what came before. */
const LATE_US = 60e6

/** One finding for each kind that is not switched off. */
export function judgeEvidence(snapshot: Snapshot): readonly EvidenceFinding[] {
  const view = viewEvidence(snapshot)
  return EVIDENCE_KINDS.filter((kind) => levelOf(snapshot.policy.evidence, kind) !== 'off').map((kind): EvidenceFinding => {
    const contract = contractOf(kind)
    const standing = contract === undefined ? judgeByHealth(kind, snapshot) : view === undefined ? NOTHING : contract.judge(view)
    const { answer, sinceUs, isDoubtful = false, isUncompared = false } = standing
    // A thing that was there before a boot, and is gone, may be late, or the boot may have removed
    // it.
    const { beforeBoot, earlier } = view?.baseline ?? {}
    const isOfBoot = beforeBoot === true || (earlier?.ofTry === kind && earlier.beforeBoot === true)
    const mayBeOfBoot = isOfBoot && contract?.carry !== undefined
    const mayBeNodes = standing.mayBeNodes === true || (answer === 'no' && mayBeOfBoot)
    const detail = cutToBytes(onOneLine(standing.detail), DETAIL_BYTES)
    // Only the config that the baseline was taken before can do damage. A fallback may fail to mend
    // it, and so may a config that replaced one on trial.
    const isOneWay = !mayBeNodes && view?.isCandidate === true && contract?.isOneWay?.(view) === true
    return { kind, answer, detail, sinceUs, damage: isOneWay ? 'one-way' : 'transient', mayBeNodes, isDoubtful, isUncompared }
  })
}

/** undefined: nothing is known of the process that runs. */
export function viewEvidence(snapshot: Snapshot): EvidenceView | undefined {
  const { evidence, running, policy, now } = snapshot
  const process = evidence?.process
  if (running.kind !== 'known' || process === undefined || evidence?.bootId !== now.bootId) return undefined
  if (process.invocationId !== running.invocationId) return undefined
  const found = findCompared(snapshot, evidence)
  const baseline = found && withEarlier(found)
  const isCandidate = baseline !== undefined && contentOfKey(baseline.candidate) === running.content
  const isAtEnd = measureTrial(snapshot, running.key)?.remainingUs === 0
  const servesFromUs = findServing(snapshot, process)
  const takenUs = found === undefined || found.beforeBoot === true ? process.sinceUs : found.sinceUs
  return {
    process,
    baseline,
    taken: found,
    isCandidate,
    notReadyByMs: findNotReadyBy(snapshot, Math.min(process.sinceUs, takenUs)),
    policy,
    servesFromUs,
    renewsFromUs: findRenewing(snapshot),
    isAtEnd,
  }
}

/**
 * A config that has passed its trial broke nothing. While it stands in for a config that failed, it
 * is not compared with how the node was before that trial: pods may have been lost since for any
 * reason.
 */
function findCompared(snapshot: Snapshot, evidence: EvidenceRecord): Baseline | undefined {
  const { running } = snapshot
  const found = findBaseline(evidence, snapshot)
  if (found === undefined || running.kind !== 'known' || contentOfKey(found.candidate) !== running.content) return found
  return hasPassed(snapshot, running.key) && isObserved(snapshot) ? undefined : found
}

/**
 * When the first config arrived that was not promoted: an illness of the node from before that is
 * no such config's doing. A config's checkpoint is saved before kubelet gets it, and may be saved
 * anew later. In the first minutes of a boot, a node is not Ready in any case. undefined: not
 * known.
 *
 * @param startedUs the first start that is known of what runs, or before it
 */
function findNotReadyBy({ checkpoints, lastKnownGood, previous, now }: Snapshot, startedUs: number): number | undefined {
  const isPromoted = (each: CheckpointInfo) => [lastKnownGood, previous].some(({ source }) => sameVersion(each, source))
  const times = checkpoints.filter((each) => !isPromoted(each)).map(({ savedAtMs }) => savedAtMs)
  const byMs = Math.min(...times, wallMsAt(startedUs, now)) - NOT_READY_US / 1000
  return times.length === 0 || byMs < wallMsAt(0, now) ? undefined : byMs
}

/**
 * Kubelet opens its TLS port and its health port together (`run` and `startKubelet` in
 * cmd/kubelet/app/server.go). Until then the start deadline decides, not the evidence. So it does
 * where there is no health port, or none is known.
 */
function findServing({ healthz, health, policy }: Snapshot, { sinceUs }: ProcessEvidence): number | undefined {
  return healthz === undefined || healthz.ok === 'unknown' ? sinceUs + policy.startDeadlineUs : health?.healthySinceUs
}

/**
 * A gap between two looks begins the time of a healthy process anew. A process that does not answer
 * on its health port is the business of kind `healthz`. Where that port is not known, neither is a
 * gap.
 */
function findRenewing(snapshot: Snapshot): number | undefined {
  const process = healthOfRunning(snapshot)
  return process !== undefined && snapshot.healthz?.ok !== 'unknown' ? (process.healthySinceUs ?? Number.POSITIVE_INFINITY) : undefined
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
  // A config that failed before, and is not wanted any more, had nothing that could be brought
  // back.
  const isSuspected = candidates.some(({ verdict }) => verdict?.state === 'provisional')
  return isSuspected && (target.atFault || now.monotonicUs - running.startedAtUs < FALLBACK_TRIALS * policy.trialUs)
}

/**
 * A config on trial is judged also where another one is wanted by now, which may have to wait for
 * long: for a drained node, for its time in a spread, for the hourly limit of restarts. Until it
 * has shown what a trial would have.
 */
export function isJudged(snapshot: Snapshot): boolean {
  const { running, verdicts } = snapshot
  const { target } = assess(snapshot)
  if (running.kind !== 'known' || target === undefined || running.content === target.content) return isObserved(snapshot)
  if (target.atFault || runsPromoted(snapshot) || findRunning(snapshot) === undefined) return false
  if (findByKey(verdicts, running.key) !== undefined) return false
  return measureHealth(snapshot, running.key)?.remainingUs !== 0 || listOpen(snapshot).length > 0
}

/**
 * The required findings without those that the health record decides about: it knows for how long
 * kubelet may be ill.
 */
function listRequired(snapshot: Snapshot): readonly EvidenceFinding[] {
  const { evidence: policy } = snapshot.policy
  return judgeEvidence(snapshot).filter(({ kind }) => kind !== 'process' && kind !== 'healthz' && levelOf(policy, kind) === 'required')
}

/**
 * A failure of the process that runs, on trial or as a fallback. One-way damage goes first, since
 * it decides whether the config is ever tried again, and what the node may have done itself last.
 */
export function findEvidenceFailure(snapshot: Snapshot): ConfigFailure | undefined {
  if (!isJudged(snapshot)) return undefined
  const failed = listRequired(snapshot).filter(({ kind, answer }) => answer === 'no' && !isOfPause(snapshot, questionOf(kind)))
  const worst = failed.find(({ damage }) => damage === 'one-way') ?? failed.find(({ mayBeNodes }) => !mayBeNodes) ?? failed[0]
  if (worst === undefined) return undefined
  const { kind, detail, damage, mayBeNodes } = worst
  return { reason: 'evidence', detail: `${kind}: ${detail}`, damage, evidence: kind, ...(mayBeNodes && { doubtful: true }) }
}

/**
 * Whether the last answer came in a pause of the node. Nothing is condemned for what is over by the
 * time when the pause ends: it is asked again then.
 */
export function isOfPause({ evidence }: Snapshot, question: Question | undefined): boolean {
  return question !== undefined && evidence?.process?.answeredInPause?.includes(question) === true
}

/** The evidence that a trial still waits for when its time is over. Empty: it has passed. */
function listOpen(snapshot: Snapshot): readonly EvidenceFinding[] {
  const required = listRequired(snapshot)
  const view = viewEvidence(snapshot)
  const open = required.filter(({ kind, answer, isDoubtful }) => answer === 'no' || isDoubtful || isAwaited(snapshot, view, kind))
  const held = isVouchedFor(snapshot) ? open.filter(({ isUncompared }) => !isUncompared) : open
  return held.length > 0 ? held : listMissingContact(snapshot, required)
}

/**
 * Whether a trial waits for the next looks of that kind, for a while after its time is over. So it
 * does where the answers about this process are lost.
 */
export function isAwaited(snapshot: Snapshot, view: EvidenceView | undefined, kind: EvidenceKind): boolean {
  const [contract, question] = [contractOf(kind), questionOf(kind)]
  if (view === undefined || contract === undefined || question === undefined) return false
  const { key, sinceUs, answeredUs, requestsSinceUs, reachableSinceUs } = view.process
  const isUnanswered = answeredUs[question] === undefined || (contract.asksServer && reachableSinceUs === undefined)
  const isLost = requestsSinceUs - sinceUs >= LATE_US && isUnanswered
  if (!isLost && contract.awaitsLook?.(view) !== true) return false
  const { now, policy } = snapshot
  const trial = measureHealth(snapshot, key)
  return trial !== undefined && Math.min(trial.elapsedUs - policy.trialUs, now.monotonicUs - requestsSinceUs) < AWAITED_US
}

/**
 * Whether nothing has to be compared with before. A person said so of what runs; or it was promoted
 * here, and passes its trial on another kubelet: that moves last-known-good nowhere.
 */
function isVouchedFor({ running, lastKnownGood, requests }: Snapshot): boolean {
  if (running.kind !== 'known') return false
  return lastKnownGood.content === running.content || requests.promote?.content === running.content
}

/** The kinds that would be a no if the node had been well before, which nobody knows. */
export function listUncompared(snapshot: Snapshot): readonly EvidenceKind[] {
  return listRequired(snapshot).flatMap(({ kind, isUncompared }) => (isUncompared ? [kind] : []))
}

/**
 * The required evidence that does not say yes, and that a proof still needs. A trial may pass
 * without: what cannot be read holds nothing up, but proves nothing to other nodes. Static pods and
 * pods are compared with those that ran before. Where nothing ran before, the config cannot have
 * lost any, and the other evidence proves it.
 */
export function listUnknownEvidence(snapshot: Snapshot): readonly EvidenceFinding[] {
  const open = listRequired(snapshot).filter(({ answer }) => answer !== 'yes')
  const isOpen = ({ kind, answer, isUncompared }: EvidenceFinding) => answer === 'no' || isUncompared || !isOfPods(kind)
  return startedFromNothing(snapshot) ? open.filter(isOpen) : open
}

/** A kind that says no only of pods that ran before. */
function isOfPods(kind: EvidenceKind): boolean {
  return contractOf(kind)?.isOneWay !== undefined
}

/**
 * Whether the agent started this content while no kubelet ran: a baseline is taken before each
 * other restart, and outlives a boot. After a boot there is no record of a restart, so that what
 * ran before is not known where the baseline is lost.
 */
function startedFromNothing({ running, restarts, evidence, now }: Snapshot): boolean {
  if (running.kind !== 'known') return false
  const isOfRunning = (each: Baseline | undefined) =>
    each !== undefined && each.wasDown !== true && contentOfKey(each.candidate) === running.content
  if ([evidence?.baseline, evidence?.displaced].some(isOfRunning)) return false
  return restarts.some(({ bootId, target }) => bootId === now.bootId && target === running.key)
}

/**
 * Kubelet has to have reached the API server, wherever that can be found out: by a kind that says
 * yes, or that saw it. Without a health port, nothing else tells whether kubelet works.
 */
function listMissingContact(snapshot: Snapshot, required: readonly EvidenceFinding[]): readonly EvidenceFinding[] {
  const process = viewEvidence(snapshot)?.process
  if (process === undefined) return []
  const showing = required.filter(({ kind }) => contractOf(kind)?.contact !== undefined)
  if (showing.some(({ kind, answer }) => answer === 'yes' || contractOf(kind)?.contact?.(process).isMade === true)) return []
  const contacts = ALL_CONTRACTS.flatMap(({ contact }) => (contact === undefined ? [] : [contact(process)]))
  const isKnowable = contacts.some((contact) => contact.isKnowable)
  const isBlind = snapshot.healthz === undefined && contacts.some((contact) => contact.isAsked)
  return isKnowable || isBlind ? showing : []
}

/** undefined: the trial is not over, or waits for no evidence. */
export function describeMissingEvidence(snapshot: Snapshot, key: TrialKey): string | undefined {
  if (measureTrial(snapshot, key)?.remainingUs !== 0) return undefined
  const open = listOpen(snapshot)
  if (open.length === 0) return undefined
  const missing = open.filter(({ isUncompared }) => !isUncompared).map(({ kind }) => kind)
  if (missing.length > 0) return `is over, but for evidence that is missing: ${missing.join(', ')}`
  const kinds = open.map(({ kind }) => kind)
  return `is over, but ${kinds.join(', ')} ${kinds.length === 1 ? 'says' : 'say'} no, and whether that was so before is not known: mend it, or run kubelet-cfg-agent promote`
}

/**
 * Whether what a config failed with has passed. Where kubelet was healthy all the while, its health
 * says nothing: then evidence says it, or a whole trial of what runs instead.
 */
export function isBroughtBack(snapshot: Snapshot, { reason, evidence }: Verdict): boolean {
  if (isSeenByHealth(reason)) return true
  const { running } = snapshot
  const required = listRequired(snapshot)
  if (required.find(({ kind }) => kind === evidence)?.answer === 'yes') return true
  const trial = running.kind === 'known' ? measureHealth(snapshot, running.key) : undefined
  // Evidence that cannot be compared speaks neither for nor against the config, unless the config
  // failed with that evidence.
  const isOpen = ({ kind, isDoubtful, isUncompared }: EvidenceFinding) => isDoubtful && (!isUncompared || kind === evidence)
  return trial?.remainingUs === 0 && required.every((each) => each.answer !== 'no' && !isOpen(each))
}
