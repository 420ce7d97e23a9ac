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

/** Assigned first, then the fallbacks; each content once; what has no checkpoint is left out. undefined: what is assigned is unknown. */
export function listCandidates(snapshot: Snapshot, unit: KnownUnit): readonly Candidate[] | undefined {
  if (snapshot.assigned.kind === 'damaged') return undefined
  const assigned: HeldSource = { source: snapshot.assigned.source, content: snapshot.assignedContent }
  const order = assigned.source === 'local' ? [assigned] : [assigned, snapshot.lastKnownGood, snapshot.previous, LOCAL]
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
  if (candidates === undefined || first === undefined || snapshot.assigned.kind === 'damaged') return undefined
  // There is nothing else to run, whatever was held against it.
  if (snapshot.assigned.source === 'local') return { ...first, fallback: false, atFault: false }
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
