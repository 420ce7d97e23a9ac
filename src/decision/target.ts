/**
 * Which config should run: the assigned one, unless it was refused or failed on this kubelet. Where
 * it was refused, what runs goes on. Where it failed, the target is the first of last-known-good,
 * previous and local without a verdict. Falling back is nothing more than a verdict that makes this
 * function choose another target. Pure.
 */
import { type ConfigSource, type HeldSource, LOCAL } from './config-source.ts'
import { findVerdict } from './find-verdict.ts'
import { findRunning } from './held-sources.ts'
import type { Snapshot } from './snapshot.ts'
import { type TrialKey, trialKey } from './trial-key.ts'
import type { KnownUnit } from './unit-state.ts'
import type { Verdict } from './verdict.ts'

export interface Candidate {
  readonly source: ConfigSource
  readonly content: string
  readonly key: TrialKey
  readonly verdict: Verdict | undefined
}

export interface Target extends Candidate {
  /** It is not the assigned config, or the assigned config is unknown. */
  readonly fallback: boolean
  /**
   * A fallback that runs already: the assigned config was refused or its checkpoint is gone, which
   * is no reason to leave what runs. Its trial and its promotion go on.
   */
  readonly goesOn: boolean
  /** Everything else failed too. The node rests on this target: nothing is condemned any more. */
  readonly atFault: boolean
}

/**
 * The config that the others are fallbacks for: the assigned one. While that record is damaged and
 * the cluster has not answered, what kubelet starts with next stands in for it, so that a failing
 * kubelet is left as soon as any other. undefined: neither is known.
 */
function findWanted({ assigned, assignedContent, nextStart }: Snapshot): HeldSource | undefined {
  if (assigned.kind === 'source') return { source: assigned.source, content: assignedContent }
  return nextStart.kind === 'known' ? nextStart.held : undefined
}

/**
 * Local needs no fallback. Where local only stands in for a damaged record, it may itself be a
 * fallback: a provisional verdict, or another fallback on record, says so.
 */
export function isLocalWanted(snapshot: Snapshot): boolean {
  if (findWanted(snapshot)?.source !== 'local') return false
  if (snapshot.assigned.kind === 'source') return true
  const { lastKnownGood, previous, verdicts } = snapshot
  const isFallback = [...verdicts.values()].some(({ state }) => state === 'provisional')
  return lastKnownGood.source === 'local' && previous.source === 'local' && !isFallback
}

/**
 * What goes on where the wanted config was refused, or its checkpoint is gone: what runs, or else
 * what kubelet starts with next. undefined: neither is so, or what runs is nothing that the agent
 * could start kubelet with again.
 */
function findGoingOn(snapshot: Snapshot, unit: KnownUnit): HeldSource | undefined {
  const content = findWanted(snapshot)?.content
  const isRefused = content !== undefined && snapshot.verdicts.get(trialKey(content, unit.kubeletIdentity))?.state === 'refused'
  const isGone = content === undefined
  if (!isGone && !(isRefused && snapshot.policy.whenRefused === 'stay')) return undefined
  if (snapshot.running.kind === 'known') return findRunning(snapshot)
  return snapshot.nextStart.kind === 'known' ? snapshot.nextStart.held : undefined
}

/**
 * The wanted config first, then its fallbacks. Each content appears once, and a source without a
 * checkpoint is left out. Empty: the wanted config is unknown.
 */
export function listCandidates(snapshot: Snapshot, unit: KnownUnit): readonly Candidate[] {
  const wanted = findWanted(snapshot)
  if (wanted === undefined) return []
  const goingOn = findGoingOn(snapshot, unit)
  const fallbacks = [...(goingOn === undefined ? [] : [goingOn]), snapshot.lastKnownGood, snapshot.previous, LOCAL]
  const candidates: Candidate[] = []
  for (const { source, content } of isLocalWanted(snapshot) ? [wanted] : [wanted, ...fallbacks]) {
    if (content === undefined || candidates.some((known) => known.content === content)) continue
    const key = trialKey(content, unit.kubeletIdentity)
    candidates.push({ source, content, key, verdict: findVerdict(snapshot, content, unit.kubeletIdentity) })
  }
  return candidates
}

/** @param candidates as `listCandidates` returns them. undefined: there are none. */
export function chooseTarget(snapshot: Snapshot, unit: KnownUnit, candidates: readonly Candidate[]): Target | undefined {
  const [first] = candidates
  if (first === undefined) return undefined
  // There is nothing else to run, whatever its verdict says.
  if (isLocalWanted(snapshot)) return { ...first, fallback: false, goesOn: false, atFault: false }
  // While the assigned config is unknown, every target is a fallback: nothing is promoted then.
  const isFallback = (candidate: Candidate) => candidate.content !== snapshot.assignedContent
  const free = candidates.find((candidate) => candidate.verdict === undefined)
  if (free !== undefined) {
    const goesOn = free.content === findGoingOn(snapshot, unit)?.content
    return { ...free, fallback: isFallback(free), goesOn, atFault: false }
  }
  // Rest on the best fallback whose verdict is not confirmed: a broken node gives a provisional
  // verdict to every config.
  const provisional = candidates.filter((candidate) => candidate.verdict?.state === 'provisional')
  const rest =
    provisional.find((candidate) => candidate.content === snapshot.lastKnownGood.content) ??
    provisional.find(isFallback) ??
    candidates.find((candidate) => candidate.source === 'local') ??
    first
  return { ...rest, fallback: isFallback(rest), goesOn: false, atFault: true }
}
