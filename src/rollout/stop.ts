/**
 * R4, Halt and R9: what stops everybody that has not started. A veto halts for good; silence only
 * until late proofs come; a record that has lost its vetoes until they are there again.
 */
import { type Rollout, type Standing, toldAgainUs, waits, waitsUntil } from './standing.ts'
import { silentOf } from './tally.ts'
import type { RolloutDecision } from './view.ts'

/**
 * The record was deleted and made again, or restored. What had halted is told again by the nodes on
 * which it failed. All others wait for that, and then one of them begins.
 */
export function waitForVetoes(standing: Standing): RolloutDecision | undefined {
  const untilUs = toldAgainUs(standing)
  if (standing.nowUs >= untilUs) return undefined
  return waitsUntil(untilUs, 'the record was made again or restored: nodes on which this content failed say so first')
}

/** A node that has not seen the pause yet finds it as it reads the config before a claim or a start. */
export function waitWhilePaused({ config: { paused } }: Standing): RolloutDecision | undefined {
  return paused === undefined ? undefined : waits(`paused by ${paused}`)
}

export function halt(_standing: Standing, rollout: Rollout): RolloutDecision | undefined {
  return rollout.halted ? haltedBy(rollout) : undefined
}

/**
 * Control planes go one after another. The next does not start what failed on so many nodes that it
 * would halt, not even where the stage is open for others (R8).
 */
export function haltControlPlanes({ plan }: Standing, rollout: Rollout): RolloutDecision | undefined {
  return rollout.vetoes.length >= plan.maxVetoes ? haltedBy(rollout) : undefined
}

function haltedBy({ state, vetoes }: Rollout): RolloutDecision {
  const told = vetoes.map(({ node, reason }) => `${node} (${reason})`).join(', ')
  return {
    turn: {
      kind: 'halted',
      detail: `halted, since it failed on ${told}: change the config, or raise retry in its plan above ${state.retry}`,
    },
    follow: true,
  }
}

export function waitForSilent({ plan }: Standing, { claims, finished }: Rollout): RolloutDecision | undefined {
  const silent = silentOf(claims)
  if (finished || silent.length <= plan.maxSilent) return undefined
  const names = silent.map(({ node }) => node).join(', ')
  return waits(`${silent.length} nodes started it and have said nothing since (${names}): a proof of theirs is waited for`)
}
