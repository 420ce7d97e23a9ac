/** What is known of the rollout of the assigned config, as this node saw it last. Pure. */
import type { Snapshot } from '../decision/snapshot.ts'
import { findStaging } from '../decision/staging.ts'
import type { RolloutKnowledge } from '../decision/staging-state.ts'
import type { Progress } from '../rollout/progress.ts'
import type { RolloutTurn } from '../rollout/view.ts'

/** What the metrics say of the rollout of what is assigned. */
export interface RolloutReport {
  /** `namespace/name`. */
  readonly config: string
  readonly turn: TurnKind
  /** undefined: it has not begun, or its record cannot be read. */
  readonly progress: Pick<Progress, 'stage' | 'lastStage' | 'proofs'> | undefined
}

export type TurnKind = Exclude<RolloutTurn['kind'], 'wait-until'>

/** undefined: it has none, or nothing has been read of it yet. */
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
