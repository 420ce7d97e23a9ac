/**
 * Which source should be active: what is assigned, unless it was refused or failed on this kubelet; then the first of last-known-good,
 * previous and local that was not. Falling back is nothing more than a verdict that makes this function answer differently. Pure.
 */
import type { ConfigSource, HeldSource } from './config-source.ts'
import { LOCAL } from './config-source.ts'
import type { Snapshot } from './snapshot.ts'
import type { TrialKey } from './trial-key.ts'
import { trialKey } from './trial-key.ts'
import type { KnownUnit } from './unit-state.ts'
import type { Verdict } from './verdict.ts'

export interface Candidate {
  readonly source: ConfigSource
  readonly content: string
  readonly key: TrialKey
  readonly verdict: Verdict | undefined
}

export interface Target extends Candidate {
  /** It is not what is assigned, or nobody knows what that is. */
  readonly fallback: boolean
  /** Everything else failed too: this is where the node rests, and nothing is judged or restarted any more. */
  readonly atFault: boolean
}

/**
 * What the others are fallbacks for: what is assigned. Where that record was lost, and until the cluster has said it anew, what kubelet
 * starts with next stands in: a kubelet that fails meanwhile must be left no longer than any other. undefined: neither is known.
 */
function findWanted({ assigned, assignedContent, nextStart }: Snapshot): HeldSource | undefined {
  if (assigned.kind === 'source') return { source: assigned.source, content: assignedContent }
  return nextStart.kind === 'known' ? nextStart.held : undefined
}

/** Local needs no fallback. Where it only stands in, it may be one itself: what else failed, or what else there is to go to, tells. */
export function isLocalWanted(snapshot: Snapshot): boolean {
  if (findWanted(snapshot)?.source !== 'local') return false
  if (snapshot.assigned.kind === 'source') return true
  const { lastKnownGood, previous, verdicts } = snapshot
  const isFallback = [...verdicts.values()].some(({ state }) => state === 'provisional')
  return lastKnownGood.source === 'local' && previous.source === 'local' && !isFallback
}

/** What is wanted first, then the fallbacks; each content once; what has no checkpoint is left out. undefined: what is wanted is unknown. */
export function listCandidates(snapshot: Snapshot, unit: KnownUnit): readonly Candidate[] | undefined {
  const wanted = findWanted(snapshot)
  if (wanted === undefined) return undefined
  const order = isLocalWanted(snapshot) ? [wanted] : [wanted, snapshot.lastKnownGood, snapshot.previous, LOCAL]
  const candidates: Candidate[] = []
  for (const { source, content } of order) {
    if (content === undefined || candidates.some((known) => known.content === content)) continue
    const key = trialKey(content, unit.kubeletIdentity)
    candidates.push({ source, content, key, verdict: snapshot.verdicts.get(key) })
  }
  return candidates
}

export function chooseTarget(snapshot: Snapshot, unit: KnownUnit): Target | undefined {
  const candidates = listCandidates(snapshot, unit)
  const [first] = candidates ?? []
  if (candidates === undefined || first === undefined) return undefined
  // There is nothing else to run, whatever was held against it.
  if (isLocalWanted(snapshot)) return { ...first, fallback: false, atFault: false }
  // So is everything while nobody knows what is assigned: nothing is promoted then.
  const isFallback = (candidate: Candidate) => candidate.content !== snapshot.assignedContent
  const free = candidates.find((candidate) => candidate.verdict === undefined)
  if (free !== undefined) return { ...free, fallback: isFallback(free), atFault: false }
  // Rest on the best fallback that was never proved bad: a provisional verdict is what a broken node gives to every config.
  const provisional = candidates.filter((candidate) => candidate.verdict?.state === 'provisional')
  const rest =
    provisional.find((candidate) => candidate.content === snapshot.lastKnownGood.content) ??
    provisional.find(isFallback) ??
    candidates.find((candidate) => candidate.source === 'local') ??
    first
  return { ...rest, fallback: isFallback(rest), atFault: true }
}

/** Where the node goes when this content fails. */
export function nextAfter(snapshot: Snapshot, unit: KnownUnit, failed: Pick<Candidate, 'content'>): Candidate | undefined {
  return listCandidates(snapshot, unit)?.find((candidate) => candidate.content !== failed.content && candidate.verdict === undefined)
}
