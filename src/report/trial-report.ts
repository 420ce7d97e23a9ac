// SPDX-License-Identifier: Apache-2.0
/**
 * The trial and its rollout as the Node and the metrics show them. Pure. Each text that is written
 * costs a request on each of ten thousand nodes, so the answers of one trial are shown together, a
 * few at a time.
 */

import type { Snapshot } from '../decision/snapshot.ts'
import { findStaging } from '../decision/staging.ts'
import type { RolloutKnowledge } from '../decision/staging-state.ts'
import { listObserved } from '../evidence/judge.ts'
import type { Answer } from '../evidence/kind.ts'
import type { EvidenceFinding, EvidenceKind } from '../evidence/kinds.ts'
import type { Progress } from '../rollout/progress.ts'
import type { RolloutTurn } from '../rollout/view.ts'

export type EvidenceAnswers = Readonly<Partial<Record<EvidenceKind, Answer>>>

/** The facts about a trial that the metrics show, and about the turn before it. */
export interface TrialReport {
  /** 0: nothing is on trial. */
  readonly remainingSeconds: number
  /** Empty: nothing is on trial. */
  readonly evidence: EvidenceAnswers
  /** undefined: what is assigned has no rollout. */
  readonly rollout?: RolloutReport | undefined
}

export interface ShownEvidence {
  /** InvocationID of the process. */
  readonly about: string
  readonly answers: EvidenceAnswers
  /** CLOCK_MONOTONIC, when the answers were shown first. */
  readonly sinceUs: number
}

/** At least, and a third of the trial: so a trial costs at most two texts more than its first. */
const TOGETHER_US = 60e6

/** @param before as it was shown last. undefined: nothing is on trial */
export function showEvidence(snapshot: Snapshot, before: ShownEvidence | undefined): ShownEvidence | undefined {
  const findings = listObserved(snapshot)
  const { running, now, policy } = snapshot
  if (findings.length === 0 || running.kind !== 'known') return undefined
  const shown = { about: running.invocationId, answers: answersOf(findings), sinceUs: now.monotonicUs }
  if (before === undefined || before.about !== shown.about || hasTurned(before.answers, shown.answers)) return shown
  const nextUs = before.sinceUs + Math.max(TOGETHER_US, policy.trialUs / 3)
  return isSame(before.answers, shown.answers) || now.monotonicUs < nextUs ? before : shown
}

export function answersOf(findings: readonly EvidenceFinding[]): EvidenceAnswers {
  return Object.fromEntries(findings.map(({ kind, answer }) => [kind, answer]))
}

/** A no is never held back. Neither is its end. */
function hasTurned(before: EvidenceAnswers, now: EvidenceAnswers): boolean {
  return kindsOf(before, now).some((kind) => (before[kind] === 'no') !== (now[kind] === 'no'))
}

function isSame(before: EvidenceAnswers, now: EvidenceAnswers): boolean {
  return kindsOf(before, now).every((kind) => before[kind] === now[kind])
}

function kindsOf(...answers: readonly EvidenceAnswers[]): readonly EvidenceKind[] {
  return answers.flatMap((each) => Object.keys(each) as EvidenceKind[])
}

/** The facts about the rollout of the assigned config that the metrics show. */
export interface RolloutReport {
  /** `namespace/name`. */
  readonly config: string
  readonly turn: TurnKind
  /** undefined: it has not begun, or its record cannot be read. */
  readonly progress: Pick<Progress, 'stage' | 'lastStage' | 'proofs'> | undefined
}

type TurnKind = Exclude<RolloutTurn['kind'], 'wait-until'>

/**
 * The rollout of the assigned config, as this node saw it last. undefined: the config has none, or
 * nothing has been read of it yet.
 */
export function knownRollout({ rollout, assigned, stagings }: Snapshot): RolloutKnowledge | undefined {
  const staging = assigned.kind === 'source' ? findStaging({ stagings }, assigned.source) : undefined
  return staging !== undefined && rollout?.config === staging.config ? rollout : undefined
}

export function turnKind({ turn }: RolloutKnowledge): TurnKind {
  return turn.kind === 'wait-until' ? 'wait' : turn.kind
}

export function reportRollout(snapshot: Snapshot): RolloutReport | undefined {
  const known = knownRollout(snapshot)
  return known && { config: known.config, turn: turnKind(known), progress: known.progress }
}
