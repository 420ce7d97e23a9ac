// SPDX-License-Identifier: Apache-2.0
/**
 * The rules of a rollout by which nodes become witnesses, and open the next stage (R1, R2, R8).
 * Pure. `rules.ts` has the others.
 */
import { formatDuration } from '../values/durations.ts'
import { recordRestUs, turnDelayUs } from './order.ts'
import { describeOwnStage, describeStage } from './progress.ts'
import { haltControlPlanes } from './rules.ts'
import {
  afterRestUs,
  claimAtUs,
  listSilent,
  placeFreeAtUs,
  type Rollout,
  type Standing,
  stageRestsUntilUs,
  waits,
  waitsForEvidence,
  waitsForWindow,
  waitsUntil,
  withWindow,
} from './standing.ts'
import type { RolloutDecision } from './view.ts'
import { writeAdvance, writeClaim } from './write.ts'

/** Why a node waits for a later stage. */
function describeWaiting(standing: Standing, rollout: Rollout): string {
  const { plan, place, node } = standing
  const stage = describeStage(plan, rollout.state.stage, rollout)
  const own = node.controlPlane ? 'control planes start it one at a time' : describeOwnStage(plan, place.share)
  return withWindow(standing, `${stage}; ${own}`)
}

const REMEDY = 'check that node; if it is gone for good, raise retry in the plan'

/**
 * R8: control planes always claim, one unproven at a time. Another control plane that is silent
 * stops this one for as long, also when the rollout is finished: the content may have killed it. So
 * a person has to look. Stage 0 counts control planes among the other claims: at most needed +
 * maxSilent nodes may start a content that no node has proved.
 */
export function claimAsControlPlane(standing: Standing, rollout: Rollout): RolloutDecision | undefined {
  if (!standing.node.controlPlane) return undefined
  const stopped = haltControlPlanes(standing, rollout)
  if (stopped !== undefined) return stopped
  const [silent] = listSilent(rollout.controlPlanes)
  const other = silent ?? rollout.controlPlanes[0]
  if (other !== undefined) {
    const state = silent === undefined ? 'is still on trial' : `has not reported in time: ${REMEDY}`
    return waits(`${describeWaiting(standing, rollout)}; ${other.node} claimed it and ${state}`)
  }
  const freeUs = rollout.state.stage === 0 ? placeFreeAtUs(standing, rollout) : 0
  if (freeUs === undefined) return waits(describeWaiting(standing, rollout))
  const until = `this one waits until the record has not changed for ${formatDuration(recordRestUs(standing.node.trialUs))}`
  return claimAt(standing, rollout, Math.max(freeUs, afterRestUs(standing, stageRestsUntilUs(standing))), until)
}

/**
 * R1, claims: a node that is not free starts as a witness, while there is room. R2: once a
 * generation.
 */
export function claimAsWitness(standing: Standing, rollout: Rollout): RolloutDecision {
  const freeUs = placeFreeAtUs(standing, rollout)
  if (freeUs === undefined) return waits(describeWaiting(standing, rollout))
  const until = 'it becomes a witness earlier if a place is free at its turn'
  const atUs = claimAtUs(standing, rollout.state.stage, stageRestsUntilUs(standing), freeUs)
  return claimAt(standing, rollout, atUs, until)
}

/** @param until what the node waits for before `atUs` */
function claimAt(standing: Standing, rollout: Rollout, atUs: number, until: string): RolloutDecision {
  const { node, nowUs } = standing
  const detail = describeWaiting(standing, rollout)
  if (rollout.mine !== undefined) return waits(`${detail}; ${describeVeto(standing)}`)
  if (!node.ready.ok) return waits(`${detail}; this node cannot become a witness now: ${node.ready.detail}`)
  const shut = waitsForWindow(standing, atUs, detail)
  if (shut !== undefined) return shut
  if (nowUs < atUs) return waitsUntil(atUs, `${detail}; ${describeRest(standing) ?? until}`)
  const unproven = waitsForEvidence(standing, detail)
  if (unproven !== undefined) return unproven
  return writeClaim(standing, rollout, { kind: 'wait', detail: `${detail}; this node becomes a witness now` })
}

function describeRest(standing: Standing): string | undefined {
  const isResting = standing.nowUs < stageRestsUntilUs(standing)
  return isResting ? `no node claims until the stage has been open for ${formatDuration(standing.plan.restUs)}` : undefined
}

/** A node that knows nothing of its own veto was made anew, or took the name of another machine. */
function describeVeto({ node }: Standing): string {
  return `the record has a veto of ${node.name}, and this node knows of no failure: if it was rebuilt since, raise retry in the plan`
}

/**
 * R1, the next stage. The write of the last proof opens it. If a change of the plan makes the
 * proofs sufficient afterwards (fewer witnesses, or more vetoes), a waiting node opens it.
 */
export function advance(standing: Standing, rollout: Rollout): RolloutDecision | undefined {
  const { node, nowUs, observation, place } = standing
  if (rollout.finished || rollout.proofs < rollout.needed) return undefined
  const atUs = observation.changedUs + turnDelayUs(place, node)
  const detail = describeWaiting(standing, rollout)
  if (nowUs < atUs) return waitsUntil(atUs, detail)
  return writeAdvance(standing, rollout, { kind: 'wait', detail: `${detail}; this node opens the next stage now` })
}
