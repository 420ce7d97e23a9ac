/**
 * R4, Halt and R9: what stops all nodes that have not started. A veto halts for good. Silence stops
 * only until late proofs come, and a record that lost its vetoes only until they are there again.
 */
import { ROLLOUT_PLAN_ANNOTATION } from './plan.ts'
import { type Rollout, type Standing, vetoesRestoredAtUs, waits, waitsUntil } from './standing.ts'
import { listSilent } from './tally.ts'
import type { RolloutDecision } from './view.ts'

/**
 * The record was deleted and recreated, or restored. The nodes on which the content failed write
 * their vetoes again. All others wait for these, and then one of them begins.
 */
export function waitForVetoes(standing: Standing): RolloutDecision | undefined {
  const untilUs = vetoesRestoredAtUs(standing)
  if (standing.nowUs >= untilUs) return undefined
  const why = 'this node first gives nodes on which the content failed time to report it'
  return waitsUntil(untilUs, `the record was recreated or restored from a backup; ${why}`)
}

/**
 * A node that has not seen the pause yet finds it as it reads the config before a claim or a start.
 */
export function waitWhilePaused({ config: { paused } }: Standing): RolloutDecision | undefined {
  return paused === undefined ? undefined : waits(`paused by ${paused}`)
}

export function halt(_standing: Standing, rollout: Rollout): RolloutDecision | undefined {
  return rollout.halted ? haltedBy(rollout) : undefined
}

/**
 * Control planes halt at `maxVetoes` even when the rollout is finished: they still start one at a
 * time, so a veto still protects the next one (R8).
 */
export function haltControlPlanes({ plan }: Standing, rollout: Rollout): RolloutDecision | undefined {
  return rollout.vetoes.length >= plan.maxVetoes ? haltedBy(rollout) : undefined
}

function haltedBy({ state, vetoes }: Rollout): RolloutDecision {
  const reports = vetoes.map(({ node, reason }) => `${node} (${reason})`).join(', ')
  return { turn: { kind: 'halted', detail: `it failed on ${reports}; ${describeRemedy(state.retry)}` }, follow: true }
}

/** @param retry with which the content failed */
export function describeRemedy(retry: number): string {
  return `fix the config, or set "retry: ${retry + 1}" in its annotation ${ROLLOUT_PLAN_ANNOTATION} to try it again`
}

export function waitForSilent({ plan }: Standing, { claims, finished }: Rollout): RolloutDecision | undefined {
  const silent = listSilent(claims)
  if (finished || silent.length <= plan.maxSilent) return undefined
  const names = silent.map(({ node }) => node).join(', ')
  const counts = `${silent.length} silent, maxSilent is ${plan.maxSilent}`
  const remedy = 'check these nodes; if they are gone for good, raise retry in the plan'
  return waits(`no more nodes start it: ${names} claimed it and did not report in time (${counts}); ${remedy}`)
}
