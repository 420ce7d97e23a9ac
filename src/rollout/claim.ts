/**
 * R1, claims: a node that is not free starts as a witness, while there is room. R2: once a
 * generation. R8: control planes always claim, one unproven at a time.
 */
import { formatDuration } from '../values/durations.ts'
import { restUs } from './order.ts'
import { afterRestUs, claimAtUs, type Rollout, type Standing, waits, waitsForEvidence, waitsUntil } from './standing.ts'
import { haltControlPlanes } from './stop.ts'
import { describeWaiting } from './take-turn.ts'
import { listSilent } from './tally.ts'
import type { RolloutDecision } from './view.ts'
import { writeClaim } from './write.ts'

const REMEDY = 'check that node; if it is gone for good, raise retry in the plan'

/**
 * Another control plane that is silent stops this one for as long, also when the rollout is
 * finished: the content may have killed it. So a person has to look.
 *
 * Stage 0 counts control planes among the other claims: at most needed + maxSilent nodes may start
 * a content that no node has proved.
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
  const until = `this one waits until the record has not changed for ${formatDuration(restUs(standing.node.trialUs))}`
  return claimAt(standing, rollout, Math.max(freeUs, afterRestUs(standing)), until)
}

export function claimAsWitness(standing: Standing, rollout: Rollout): RolloutDecision {
  const freeUs = placeFreeAtUs(standing, rollout)
  if (freeUs === undefined) return waits(describeWaiting(standing, rollout))
  const until = 'it becomes a witness earlier if a place is free at its turn'
  return claimAt(standing, rollout, claimAtUs(standing, rollout.state.stage, freeUs), until)
}

/** @param until what the node waits for before `atUs` */
function claimAt(standing: Standing, rollout: Rollout, atUs: number, until: string): RolloutDecision {
  const { node, nowUs } = standing
  const detail = describeWaiting(standing, rollout)
  if (rollout.mine !== undefined) return waits(`${detail}; ${describeVeto(standing)}`)
  if (!node.ready.ok) return waits(`${detail}; this node cannot become a witness now: ${node.ready.detail}`)
  if (nowUs < atUs) return waitsUntil(atUs, `${detail}; ${until}`)
  const unproven = waitsForEvidence(standing, detail)
  if (unproven !== undefined) return unproven
  return writeClaim(standing, rollout, { kind: 'wait', detail: `${detail}; this node becomes a witness now` })
}

/** This node knows of no failure: it was made anew, or the machine before it had its name. */
function describeVeto({ node }: Standing): string {
  return `the record has a veto of ${node.name}, and this node knows of no failure: if it was rebuilt since, raise retry in the plan`
}

/**
 * When the next place for a witness is free. At most `needed` claims are proven or not yet silent,
 * and at most `needed` + `maxSilent` exist in all. So each further place opens when a claim falls
 * silent.
 *
 * @returns 0: now; undefined: no place until a claim becomes a proof or a veto
 */
function placeFreeAtUs({ nowUs, plan }: Standing, { claims, proofs, needed }: Rollout): number | undefined {
  const taken = proofs + claims.length
  if (taken < needed) return 0
  if (taken >= needed + plan.maxSilent) return undefined
  const untilSilent = claims.map(({ untilSilentUs }) => untilSilentUs).sort((a, b) => a - b)
  const untilNextSilentUs = untilSilent[taken - needed]
  return untilNextSilentUs === undefined ? undefined : nowUs + untilNextSilentUs
}
