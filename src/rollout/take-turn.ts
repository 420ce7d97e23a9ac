/**
 * Nodes that have their turn: by their own word in the record (also after a crash between the write
 * and the start), since the content has proved itself on them before (R5), or since they are free
 * (R1).
 */
import { freeShare } from './plan.ts'
import { describeStage, describeWave } from './progress.ts'
import { goes, type Rollout, type Standing, waitsUntil } from './standing.ts'
import type { RolloutDecision } from './view.ts'

export function goOnOwnClaim(_standing: Standing, { mine }: Rollout): RolloutDecision | undefined {
  return mine?.kind === 'claim' || mine?.kind === 'proof' ? goes(`the record has this node's ${mine.kind}`, true) : undefined
}

/**
 * Silent nodes do not keep a node from what it had before (R5). Control planes go one after another
 * all the same (R8).
 */
export function goAgain(standing: Standing): RolloutDecision | undefined {
  const { promoted, controlPlane } = standing.node
  return promoted && !controlPlane ? goSpread(standing, 'it has been last-known-good on this node before') : undefined
}

/** A node that joins once the rollout has finished starts at once: no others start with it. */
export function goFree(standing: Standing, rollout: Rollout): RolloutDecision | undefined {
  const { node, plan, place } = standing
  const { state, finished } = rollout
  if (place.share >= freeShare(plan, state.stage)) return undefined
  const detail = describeStage(plan, state.stage, rollout)
  return finished && node.arrival === 'joined' ? goes(detail) : goSpread(standing, detail)
}

function goSpread({ nowUs, place, plan, observation }: Standing, detail: string): RolloutDecision {
  const atUs = observation.turningUs + Math.floor(place.spread * plan.spreadUs)
  return nowUs < atUs ? waitsUntil(atUs, `${detail}; nodes start spread over ${plan.spreadUs / 1e6} s`) : goes(detail)
}

/** Why a node waits that is not free in this stage, and when it will be. */
export function describeWaiting({ plan, place, node }: Standing, rollout: Rollout): string {
  const stage = describeStage(plan, rollout.state.stage, rollout)
  return node.controlPlane ? `${stage}; control planes go one after another` : `${stage}; ${describeWave(plan, place.share)}`
}
