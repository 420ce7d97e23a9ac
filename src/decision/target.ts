// SPDX-License-Identifier: Apache-2.0
/**
 * Which config should run: the assigned one, unless it was refused or failed on this kubelet, or
 * waits for its turn in a rollout. If it was refused or waits, the running config stays. If it
 * failed, the target is the first of last-known-good, previous and local without a verdict. Configs
 * that a return to local left come before local, and where local is assigned, they take the place
 * of the other fallbacks. Falling back is nothing more than a verdict that makes this function
 * choose another target.
 *
 * The Situation holds that, and is what the rules look at. Pure.
 */

import { healthOfRunning } from '../health/process.ts'
import { type ConfigSource, type ContentHash, type HeldSource, LOCAL, LOCAL_CONTENT } from '../subject/config-source.ts'
import { type TrialKey, trialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { findRunning, listFallback } from './held-sources.ts'
import { isLocalAssigned, isLocalRefused, listLeft, runsLocal } from './left.ts'
import { findStartWait } from './rollout-turn.ts'
import type { Ground, Snapshot } from './snapshot.ts'
import { findVerdict, isOfResets, isSeenByHealth, type Verdict } from './verdict.ts'

/** A config, and by its key the kubelet that it is judged on. */
export interface JudgedConfig {
  readonly source: ConfigSource
  readonly content: ContentHash
  readonly key: TrialKey
}

export interface Candidate extends JudgedConfig {
  readonly verdict: Verdict | undefined
}

export interface Target extends Candidate {
  /** The target is not the assigned config, or the assigned config is unknown. */
  readonly fallback: boolean
  /**
   * A fallback that runs already: the assigned config was refused, waits for its turn in a rollout,
   * or its checkpoint is gone, which is no reason to leave what runs. Its trial and its promotion
   * go on. The same of what is no candidate, and is started since it is in place.
   */
  readonly goesOn: boolean
  /** Everything else failed too. The node rests on this target: nothing is condemned any more. */
  readonly atFault: boolean
}

/** One Snapshot with everything that several rules derive from it. */
export interface Situation {
  readonly snapshot: Snapshot
  /** undefined: systemd does not answer. */
  readonly unit: KnownUnit | undefined
  /**
   * Configs that could run, in the order of preference: the wanted config unless it waits for its
   * turn, then its fallbacks. Empty: unit or wanted config unknown.
   */
  readonly candidates: readonly Candidate[]
  /** The config that should run. undefined: unit or wanted config unknown. */
  readonly target: Target | undefined
  /**
   * The assigned config while it waits for its turn in a rollout, and the target stands in for it.
   */
  readonly awaitingTurn: Target | undefined
}

/** A Situation in which it is known what should run. */
export interface TargetSituation extends Situation {
  readonly unit: KnownUnit
  readonly target: Target
}

/**
 * Whether the target only stands in for the assigned config, which failed. A config that goes on is
 * no stand-in: its trial and its promotion go on.
 */
export function standsIn({ fallback, goesOn }: Pick<Target, 'fallback' | 'goesOn'>): boolean {
  return fallback && !goesOn
}

/**
 * The config that the others are fallbacks for: the assigned one. While that record is damaged and
 * the cluster has not answered, what kubelet starts with next stands in for it, so that a kubelet
 * that fails does not have to wait for the answer. undefined: neither config is known.
 */
function findWanted(snapshot: Ground): HeldSource | undefined {
  const { assigned, assignedContent, nextStart, lastKnownGood, unit } = snapshot
  if (assigned.kind === 'source') return { source: assigned.source, content: assignedContent }
  if (nextStart.kind !== 'known') return undefined
  return unit.kind === 'known' && isPutBack(snapshot, unit) ? lastKnownGood : nextStart.held
}

/**
 * Local needs no fallback but what a return to it has left. Where local only stands in for a
 * damaged record, it may itself be a fallback: a provisional verdict, or another fallback on
 * record, says so.
 */
export function isLocalWanted(snapshot: Ground): boolean {
  if (findWanted(snapshot)?.source !== 'local') return false
  if (snapshot.assigned.kind === 'source') return true
  const { lastKnownGood, previous, verdicts } = snapshot
  const isFallback = [...verdicts.values()].some(({ state }) => state === 'provisional')
  return lastKnownGood.source === 'local' && previous.source === 'local' && !isFallback
}

/**
 * The assigned config while it waits for its turn in a rollout. It is started by nothing that
 * happens on the node, so it is no candidate: the target is found as if it were not assigned yet.
 *
 * @returns undefined: it does not wait
 */
function findAwaitingTurn(snapshot: Ground, unit: KnownUnit): Target | undefined {
  const { nextStart, running } = snapshot
  const { source, content } = findWanted(snapshot) ?? {}
  if (source === undefined || content === undefined) return undefined
  const startWait = findStartWait(snapshot, { source, content })
  const verdict = findVerdict(snapshot, content, unit)
  if (startWait === undefined || verdict !== undefined) return undefined
  // Nothing is undone for the moment that it takes to read the turn again.
  if (startWait.isBeingConfirmed && nextStart.kind === 'known' && nextStart.held.content === content) return undefined
  // An administrator started kubelet with something else, which the agent leaves alone.
  if (running.kind === 'known' && running.lost !== true && findRunning(snapshot) === undefined) return undefined
  return { source, content, key: trialKey(content, unit.kubeletIdentity), verdict, fallback: false, goesOn: false, atFault: false }
}

/**
 * Why the running config stays although another one is wanted, apart from a rollout: the wanted one
 * was refused, where a refusal restarts nothing, or its checkpoint is gone.
 *
 * @returns undefined: neither is so
 */
export function findUnavailable(snapshot: Ground, { kubeletIdentity }: KnownUnit): 'refused' | 'gone' | undefined {
  const content = findWanted(snapshot)?.content
  if (content === undefined) return 'gone'
  const verdict = snapshot.verdicts.get(trialKey(content, kubeletIdentity))
  // Last-known-good is local then, too: there is nowhere else to go.
  if (isLocalAssigned(snapshot)) return isLocalRefused(snapshot, verdict) ? 'refused' : undefined
  return verdict?.state === 'refused' && snapshot.policy.whenRefused === 'stay' ? 'refused' : undefined
}

/**
 * The config that goes on while the wanted one is unavailable or waits for its turn in a rollout:
 * the running config, or else that of the next start. undefined: the wanted one neither is
 * unavailable nor waits, or the agent could not start kubelet with the running config again.
 */
function findGoingOn(snapshot: Ground, unit: KnownUnit, awaitingTurn: Target | undefined): HeldSource | undefined {
  if (awaitingTurn === undefined && findUnavailable(snapshot, unit) === undefined) return undefined
  const own = findOwn(snapshot, unit)
  return awaitingTurn === undefined || (own !== undefined && mayGoOn(snapshot, unit, own)) ? own : undefined
}

/** The running config, or else that of the next start. */
function findOwn(snapshot: Ground, unit: KnownUnit): HeldSource | undefined {
  const { running, nextStart } = snapshot
  if (running.kind === 'known') return findRunning(snapshot)
  return nextStart.kind !== 'known' || isPutBack(snapshot, unit) ? undefined : nextStart.held
}

/**
 * The config that goes on where a refusal sends the node to its fallbacks, and each of them has
 * failed: the running config, or else that of the next start, if it has not failed.
 */
function findNotFailed(snapshot: Ground, unit: KnownUnit, candidates: readonly Candidate[]): HeldSource | undefined {
  if (candidates[0]?.verdict?.state !== 'refused' || candidates.some(({ verdict }) => verdict === undefined)) return undefined
  const own = findOwn(snapshot, unit)
  return own?.content === undefined || findVerdict(snapshot, own.content, unit) !== undefined ? undefined : own
}

/**
 * Whether kubelet runs another config than local, or ran it last for all that is known, and starts
 * next with local: somebody has put the local file back meanwhile. That is no reason to leave
 * last-known-good, if that has not failed.
 */
export function isPutBack(snapshot: Ground, unit: KnownUnit): boolean {
  const { running, nextStart, health, lastKnownGood } = snapshot
  if (running.kind === 'unknown' || nextStart.kind !== 'known' || nextStart.held.source !== 'local') return false
  const ranLast = running.kind === 'known' ? running.content : health?.lastProcess?.content
  if (ranLast === LOCAL_CONTENT || lastKnownGood.source === 'local' || lastKnownGood.content === undefined) return false
  return findVerdict(snapshot, lastKnownGood.content, unit) === undefined
}

/**
 * While the assigned config waits for its turn, a fallback does not go on in its own right: what it
 * stands in for is tried again.
 */
function mayGoOn({ lastKnownGood, restarts, now }: Ground, unit: KnownUnit, { source, content }: HeldSource): boolean {
  if (content === undefined || content === lastKnownGood.content) return content !== undefined
  const last = restarts.at(-1)
  const isOfBoot = last?.bootId === now.bootId && last.target === trialKey(content, unit.kubeletIdentity)
  const hasFallenBack = isOfBoot && last.fallback && last.goesOn !== true
  return source !== 'local' && !hasFallenBack
}

/**
 * The wanted config first, then its fallbacks. Each content appears once. A source without a
 * checkpoint is left out, as is what waits for its turn in a rollout. Empty: the wanted config is
 * unknown.
 */
function listCandidates(
  snapshot: Ground,
  unit: KnownUnit,
  awaitingTurn: Target | undefined,
  goingOn: HeldSource | undefined,
): readonly Candidate[] {
  const wanted = findWanted(snapshot)
  if (wanted === undefined) return []
  const candidates: Candidate[] = []
  for (const { source, content } of [wanted, ...listFallbacks(snapshot, goingOn)]) {
    if (content === undefined || content === awaitingTurn?.content || candidates.some((known) => known.content === content)) continue
    const key = trialKey(content, unit.kubeletIdentity)
    candidates.push({ source, content, key, verdict: findVerdict(snapshot, content, unit) })
  }
  return admitLocal(snapshot, candidates)
}

function listFallbacks(snapshot: Ground, goingOn: HeldSource | undefined): readonly HeldSource[] {
  const own = goingOn === undefined ? [] : [goingOn]
  if (isLocalAssigned(snapshot)) return [...own, ...listLeft(snapshot)]
  const fallbacks = [...listFallback(snapshot, 'last-known-good'), ...listFallback(snapshot, 'previous'), LOCAL]
  // Configs that a return to local has left have run here, and local may be the one that kubelet
  // does not run with: they come before it. Where kubelet runs with local, nothing is restarted.
  const at = runsLocal(snapshot) ? fallbacks.length : fallbacks.findIndex(({ source }) => source === 'local')
  return [...own, ...fallbacks.toSpliced(at, 0, ...listLeft(snapshot))]
}

/**
 * A refusal of local keeps it from replacing what runs. It never keeps it from being the last
 * resort: a kubelet that fails with everything else gets it all the same.
 */
function admitLocal(snapshot: Ground, candidates: readonly Candidate[]): readonly Candidate[] {
  const isFree = candidates.some(({ verdict }) => verdict === undefined)
  return candidates.map((candidate) => {
    const { source, verdict } = candidate
    if (source !== 'local' || verdict?.state !== 'refused') return candidate
    return isFree && isLocalRefused(snapshot, verdict) ? candidate : { ...candidate, verdict: undefined }
  })
}

/** @param candidates as `listCandidates` returns them. undefined: there are none. */
function chooseTarget(snapshot: Ground, candidates: readonly Candidate[], goingOn: HeldSource | undefined): Target | undefined {
  const [first] = candidates
  if (first === undefined) return undefined
  // Where local is wanted and nothing else can run, local is the target, whatever its verdict says.
  if (isLocalWanted(snapshot) && candidates.length === 1) return { fallback: false, goesOn: false, atFault: false, ...first }
  // While the assigned config is unknown, every target is a fallback: nothing is promoted then.
  const isFallback = ({ content }: Pick<HeldSource, 'content'>) => content !== snapshot.assignedContent
  const free = candidates.find((candidate) => candidate.verdict === undefined)
  if (free !== undefined) {
    return { fallback: isFallback(free), goesOn: free.content === goingOn?.content, atFault: false, ...free }
  }
  // Rest on the best fallback whose verdict is not confirmed: a broken node gives a provisional
  // verdict to every config. The config that kubelet is healthy with is better than any. Where the
  // node resets with one, it would not rest.
  const provisional = candidates.filter(({ verdict }) => verdict?.state === 'provisional' && !isOfResets(verdict))
  // After a return to local and back, what was left may be assigned again: it is no fallback then.
  const best = listLeft(snapshot).find(isFallback) ?? snapshot.lastKnownGood
  const rest =
    provisional.find((candidate) => isHealthyWith(snapshot, candidate)) ??
    provisional.find((candidate) => candidate.content === best.content) ??
    provisional.find(isFallback) ??
    candidates.find((candidate) => candidate.source === 'local') ??
    first
  return { fallback: isFallback(rest), goesOn: false, atFault: true, ...rest }
}

/** Not where health says nothing of what it failed with. */
function isHealthyWith(snapshot: Ground, { key, verdict }: Candidate): boolean {
  const { running } = snapshot
  if (running.kind !== 'known' || running.key !== key || (verdict !== undefined && !isSeenByHealth(verdict.reason))) return false
  return healthOfRunning(snapshot)?.healthySinceUs !== undefined
}

/** By Snapshot: a pass derives one Situation, whoever asks. */
const ASSESSED = new WeakMap<Snapshot, Situation>()

export function assess(snapshot: Snapshot): Situation {
  const known = ASSESSED.get(snapshot)
  if (known !== undefined) return known
  const situation = { snapshot, ...derive(snapshot) }
  ASSESSED.set(snapshot, situation)
  return situation
}

/** The Snapshot with newer evidence. No Situation depends on that, so it is handed on. */
export function withEvidence(snapshot: Snapshot, evidence: Snapshot['evidence']): Snapshot {
  if (evidence === snapshot.evidence) return snapshot
  const newer = { ...snapshot, evidence }
  const known = ASSESSED.get(snapshot)
  if (known !== undefined) ASSESSED.set(newer, { ...known, snapshot: newer })
  return newer
}

function derive(snapshot: Ground): Omit<Situation, 'snapshot'> {
  const { unit } = snapshot
  if (unit.kind === 'unknown') return { unit: undefined, candidates: [], target: undefined, awaitingTurn: undefined }
  const awaitingTurn = findAwaitingTurn(snapshot, unit)
  const first = findGoingOn(snapshot, unit, awaitingTurn)
  const others = listCandidates(snapshot, unit, awaitingTurn, first)
  const goingOn = first ?? findNotFailed(snapshot, unit, others)
  const candidates = goingOn === first ? others : listCandidates(snapshot, unit, awaitingTurn, goingOn)
  return { unit, candidates, target: chooseTarget(snapshot, candidates, goingOn), awaitingTurn }
}

export function hasTarget(situation: Situation): situation is TargetSituation {
  return situation.unit !== undefined && situation.target !== undefined
}

/** Where the node goes when this content fails. undefined: every other config has failed too. */
export function nextAfter({ candidates }: Pick<Situation, 'candidates'>, failed: Pick<Candidate, 'content'>): Candidate | undefined {
  return candidates.find((candidate) => candidate.content !== failed.content && candidate.verdict === undefined)
}
