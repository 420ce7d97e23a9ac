/** One Snapshot with everything that several rules derive from it, derived once a pass. Pure. */
import type { Snapshot } from './snapshot.ts'
import { type Candidate, chooseTarget, findAwaitingTurn, findGoingOn, listCandidates, type Target } from './target.ts'
import type { KnownUnit } from './unit-state.ts'

export interface Situation {
  readonly snapshot: Snapshot
  /** undefined: systemd does not answer. */
  readonly unit: KnownUnit | undefined
  /**
   * What could run, in the order of preference: the wanted config unless it waits for its turn,
   * then its fallbacks. Empty: unit or wanted config unknown.
   */
  readonly candidates: readonly Candidate[]
  /** What should run. undefined: unit or wanted config unknown. */
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

export function assess(snapshot: Snapshot): Situation {
  const { unit } = snapshot
  if (unit.kind === 'unknown') return { snapshot, unit: undefined, candidates: [], target: undefined, awaitingTurn: undefined }
  const awaitingTurn = findAwaitingTurn(snapshot, unit)
  const goingOn = findGoingOn(snapshot, unit, awaitingTurn)
  const candidates = listCandidates(snapshot, unit, { awaitingTurn, goingOn })
  return { snapshot, unit, candidates, target: chooseTarget(snapshot, candidates, { goingOn }), awaitingTurn }
}

export function hasTarget(situation: Situation): situation is TargetSituation {
  return situation.unit !== undefined && situation.target !== undefined
}

/** Where the node goes when this content fails. undefined: every other config has failed too. */
export function nextAfter({ candidates }: Situation, failed: Pick<Candidate, 'content'>): Candidate | undefined {
  return candidates.find((candidate) => candidate.content !== failed.content && candidate.verdict === undefined)
}
