/**
 * Halt and R9: what stops everybody that has not started. A veto halts for good; silence only until
 * late proofs come.
 */
import { type Rollout, type Standing, waits } from './standing.ts'
import { silentOf } from './tally.ts'
import type { RolloutDecision } from './view.ts'

export function halt(_standing: Standing, rollout: Rollout): RolloutDecision | undefined {
  return rollout.halted ? haltedBy(rollout) : undefined
}

/** Of what they come one after another, the next does not start what failed on the one before, also when others may (R8). */
export function haltControlPlanes({ plan }: Standing, rollout: Rollout): RolloutDecision | undefined {
  return rollout.vetoes.length >= plan.maxVetoes ? haltedBy(rollout) : undefined
}

function haltedBy({ vetoes }: Rollout): RolloutDecision {
  const told = vetoes.map(({ node, reason }) => `${node} (${reason})`).join(', ')
  return {
    turn: { kind: 'halted', detail: `halted, since it failed on ${told}: change the config, or raise retry in its plan` },
    follow: true,
  }
}

export function waitForSilent({ plan }: Standing, { claims, finished }: Rollout): RolloutDecision | undefined {
  const silent = silentOf(claims)
  if (finished || silent.length <= plan.maxSilent) return undefined
  const names = silent.map(({ node }) => node).join(', ')
  return waits(`${silent.length} nodes started it and have said nothing since (${names}): a proof of theirs is waited for`)
}
