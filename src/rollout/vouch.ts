/**
 * R1, proofs of what ran before its rollout began, as after an edit that was taken back. Its trial
 * has passed on this worker, so it claims and proves by its place as others do, and restarts
 * nothing. Otherwise nobody would begin, and nodes that join would go through all stages alone.
 * Nodes that a wave has let start it stay out of this: a stage asks for proofs of witnesses.
 */
import { findDispute, isOfAnotherConfig } from './begin.ts'
import { placeFreeAtUs } from './claim.ts'
import { afterRestUs, claimAtUs, type Rollout, type Standing } from './standing.ts'
import type { RolloutDecision, RolloutTurn } from './view.ts'
import { writeBegin, writeClaim } from './write.ts'

const TURN: RolloutTurn = { kind: 'go', detail: 'kubelet already runs it, and its trial passed before its rollout began' }

/** @returns undefined: this node has nothing to say, or has said it */
export function vouch(standing: Standing): RolloutDecision | undefined {
  const { node, config, observation, rollout } = standing
  if (!node.proven || !node.promoted || node.controlPlane || observation.ranAtFirst !== true) return undefined
  // A person ends a pause, and whether that was soon is not known.
  if (config.paused !== undefined) return { turn: TURN, follow: true }
  return rollout === undefined ? beginWith(standing) : claimFor(standing, rollout)
}

function beginWith(standing: Standing): RolloutDecision | undefined {
  if (findDispute(standing) !== undefined) return undefined
  const atUs = isOfAnotherConfig(standing) ? afterRestUs(standing) : claimAtUs(standing, 0)
  return standing.nowUs < atUs ? looksAgain(atUs) : writeBegin(standing, 'claim', TURN)
}

function claimFor(standing: Standing, rollout: Rollout): RolloutDecision | undefined {
  if (rollout.finished || rollout.halted || rollout.mine !== undefined) return undefined
  const freeUs = placeFreeAtUs(standing, rollout)
  if (freeUs === undefined) return { turn: TURN, follow: true }
  const atUs = claimAtUs(standing, rollout.state.stage, freeUs)
  return standing.nowUs < atUs ? looksAgain(atUs) : writeClaim(standing, rollout, TURN)
}

function looksAgain(againAtUs: number): RolloutDecision {
  return { turn: TURN, follow: true, againAtUs }
}
