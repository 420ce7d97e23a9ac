/**
 * R1, claims: a node that is not free starts as a witness, while there is room. R2: once a
 * generation. R8: control planes always claim, one unproven at a time.
 */
import { afterRestUs, claimAtUs, type Rollout, type Standing, waits, waitsForEvidence, waitsUntil } from './standing.ts'
import { haltControlPlanes } from './stop.ts'
import { describeWaiting } from './take-turn.ts'
import { silentOf } from './tally.ts'
import type { RolloutDecision } from './view.ts'
import { writeClaim } from './write.ts'

/**
 * In stage 0, control planes are counted with the other nodes, so that no more than these can start
 * a content that nobody has proved.
 */
export function claimAsControlPlane(standing: Standing, rollout: Rollout): RolloutDecision | undefined {
  if (!standing.node.controlPlane) return undefined
  const stopped = haltControlPlanes(standing, rollout)
  if (stopped !== undefined) return stopped
  const [other] = rollout.controlPlanes
  if (other !== undefined) {
    const silent = silentOf(rollout.controlPlanes).length > 0
    return waits(
      `${describeWaiting(standing, rollout)}: ${other.node} has started it and ${silent ? 'is silent' : 'has not proved it yet'}`,
    )
  }
  const openUs = rollout.state.stage === 0 ? openAtUs(standing, rollout) : 0
  if (openUs === undefined) return waits(describeWaiting(standing, rollout))
  return claimAt(standing, rollout, Math.max(openUs, afterRestUs(standing)))
}

export function claimAsWitness(standing: Standing, rollout: Rollout): RolloutDecision {
  const openUs = openAtUs(standing, rollout)
  if (openUs === undefined) return waits(describeWaiting(standing, rollout))
  return claimAt(standing, rollout, claimAtUs(standing, rollout.state.stage, openUs))
}

function claimAt(standing: Standing, rollout: Rollout, atUs: number): RolloutDecision {
  const { node, nowUs } = standing
  const detail = describeWaiting(standing, rollout)
  if (rollout.mine !== undefined) return waits(`${detail}; it has failed here in this generation`)
  if (!node.ready.ok) return waits(`${detail}; it cannot be a witness now: ${node.ready.detail}`)
  if (nowUs < atUs) return waitsUntil(atUs, `${detail}, or becomes a witness before`)
  const unproven = waitsForEvidence(standing, detail)
  if (unproven !== undefined) return unproven
  return writeClaim(standing, rollout, { kind: 'wait', detail: `${detail}: this node becomes a witness` })
}

/**
 * When there is room for one more claim, by CLOCK_MONOTONIC; 0: now. At most as many claims as
 * proofs are needed are proven or not yet silent, and at most `maxSilent` more are made in all. So
 * each place beyond the first ones becomes free when a claim falls silent.
 *
 * @returns undefined: there is none in this stage unless a claim becomes a veto
 */
function openAtUs({ nowUs, plan }: Standing, { claims, proofs, needed }: Rollout): number | undefined {
  const all = proofs + claims.length
  if (all < needed) return 0
  if (all >= needed + plan.maxSilent) return undefined
  const untilSilent = claims.map(({ untilSilentUs }) => untilSilentUs).sort((a, b) => a - b)
  const last = untilSilent[all - needed]
  return last === undefined ? undefined : nowUs + last
}
