/**
 * Which source should be active: what is assigned, unless it was refused or failed on this kubelet; then the first of last-known-good,
 * previous and local that was not. Falling back is nothing more than a verdict that makes this function answer differently. Pure.
 */
import type { ConfigSource, HeldSource, Snapshot, TrialKey, UnitState, Verdict } from './model.ts'
import { LOCAL } from './sources.ts'
import { trialKey } from './trial-key.ts'

export type KnownUnit = Extract<UnitState, { kind: 'known' }>

export interface Candidate {
  readonly source: ConfigSource
  readonly content: string
  readonly key: TrialKey
  readonly verdict: Verdict | undefined
}

export interface Target extends Candidate {
  /** It is not what is assigned. */
  readonly fallback: boolean
  /** Everything else failed too: this is where the node rests, and nothing is judged or restarted any more. */
  readonly atFault: boolean
}

/**
 * What the others are fallbacks for: what is assigned. Where that record was lost, and until the cluster has said it anew, what kubelet
 * starts with next, which was wanted when that was last known: a kubelet that fails meanwhile must be left no longer than any other.
 * undefined: neither is known.
 */
export function findWanted({ assigned, assignedContent, nextStart }: Snapshot): HeldSource | undefined {
  if (assigned.kind === 'source') return { source: assigned.source, content: assignedContent }
  return nextStart.kind === 'known' ? nextStart.held : undefined
}

/** What is wanted first, then the fallbacks; each content once; what has no checkpoint is left out. undefined: what is wanted is unknown. */
export function listCandidates(snapshot: Snapshot, unit: KnownUnit): readonly Candidate[] | undefined {
  const wanted = findWanted(snapshot)
  if (wanted === undefined) return undefined
  const order = wanted.source === 'local' ? [wanted] : [wanted, snapshot.lastKnownGood, snapshot.previous, LOCAL]
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
  const { assigned } = snapshot
  // There is nothing else to run, whatever was held against it.
  if (findWanted(snapshot)?.source === 'local') return { ...first, fallback: false, atFault: false }
  // What is not known to be assigned stands in for it, and is not promoted.
  const isFallback = (candidate: Candidate) => assigned.kind === 'damaged' || candidate.content !== snapshot.assignedContent
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
