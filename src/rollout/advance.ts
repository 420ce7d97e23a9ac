/**
 * R1, the next stage. The write of the last proof opens it. If a change of the plan makes the
 * proofs sufficient afterwards (fewer witnesses, or more vetoes), a waiting node opens it.
 */
import { claimDelayUs } from './order.ts'
import { type Rollout, type Standing, waitsUntil } from './standing.ts'
import { describeWaiting } from './take-turn.ts'
import type { RolloutDecision } from './view.ts'
import { writeAdvance } from './write.ts'

export function advance(standing: Standing, rollout: Rollout): RolloutDecision | undefined {
  const { node, nowUs, observation, place } = standing
  if (rollout.finished || rollout.proofs < rollout.needed) return undefined
  const atUs = observation.changedUs + claimDelayUs(place, 1, node)
  const detail = describeWaiting(standing, rollout)
  if (nowUs < atUs) return waitsUntil(atUs, detail)
  return writeAdvance(standing, rollout, { kind: 'wait', detail: `${detail}; this node opens the next stage now` })
}
