// SPDX-License-Identifier: Apache-2.0
/** How far a rollout has come, for the condition, `status`, metrics and the command line. Pure. */
import { isFlag, isNumber, isText, listOf, shape, type TypeOf } from '../values/json-shape.ts'
import { isFinished, lastStageOf, openPercent, type Plan } from './plan.ts'
import { GUARD_PREFIX, type RolloutRecord } from './record.ts'
import type { Observation } from './silence.ts'
import { listSilent, type Tally, tally } from './standing.ts'

export const isProgress = shape({
  generation: isNumber,
  /** From 0 to `lastStage`, in which the rollout is finished. */
  stage: isNumber,
  lastStage: isNumber,
  /** How many percent of the nodes the stage is open to. */
  openPercent: isNumber,
  proofs: isNumber,
  needed: isNumber,
  /** Nodes that have a claim of this stage and no proof yet. */
  claimed: listOf(isText),
  /** Nodes among these that are silent. */
  silent: listOf(isText),
  vetoes: listOf(shape({ node: isText, reason: isText })),
  finished: isFlag,
  halted: isFlag,
})
export type Progress = TypeOf<typeof isProgress>

/**
 * @returns undefined: the record is not about this content, or `retry` was raised since, so its
 *   rollout has not begun
 */
export function progressOf(plan: Plan, record: RolloutRecord, hash: string, observation: Observation): Progress | undefined {
  const { state } = record
  if (state === undefined || state.hash !== hash || plan.retry > state.retry) return undefined
  return progress(plan, state.generation, state.stage, tally(plan, state, record, observation))
}

function progress(plan: Plan, generation: number, stage: number, counts: Tally): Progress {
  const open = [...new Map([...counts.claims, ...counts.controlPlanes].map((claim) => [claim.node, claim])).values()]
  return {
    generation,
    stage: Math.min(stage, lastStageOf(plan)),
    lastStage: lastStageOf(plan),
    openPercent: openPercent(plan, stage),
    proofs: counts.proofs,
    needed: counts.needed,
    claimed: open.map(({ node }) => node),
    silent: listSilent(open).map(({ node }) => node),
    vetoes: counts.vetoes,
    finished: counts.finished,
    halted: counts.halted,
  }
}

/** As "stage 3 of 5 (open to 10 % of the nodes): 3 of 5 proofs". */
export function describeStage(plan: Plan, stage: number, { proofs, needed }: Pick<Tally, 'proofs' | 'needed'>): string {
  const place = `stage ${Math.min(stage, lastStageOf(plan))} of ${lastStageOf(plan)}`
  const open = `${place} (open to ${describeShare({ openPercent: openPercent(plan, stage) })})`
  return isFinished(plan, stage) ? open : `${open}: ${proofs} of ${needed} proofs`
}

/** Whom a stage is open to, as "10 % of the nodes". */
export function describeShare({ openPercent: percent }: Pick<Progress, 'openPercent'>): string {
  return percent === 0 ? 'witnesses only' : percent === 100 ? 'all nodes' : `${percent} % of the nodes`
}

/** The first stage that is open to a node with this place in the order, and to how many more. */
export function describeOwnStage(plan: Plan, share: number): string {
  const wave = plan.waves.findIndex((percent) => share * 100 < percent)
  const stage = wave === -1 ? lastStageOf(plan) : wave + 2
  return `this node starts in stage ${stage} (${describeShare({ openPercent: openPercent(plan, stage) })})`
}

/** Who halted a rollout and why, in a sentence. */
export function describeVetoes(vetoes: Progress['vetoes']): string {
  const nodes = vetoes.filter(({ node }) => !isGuard(node)).map(({ node, reason }) => `${node} (${reason})`)
  const guards = vetoes.filter(({ node }) => isGuard(node)).map(({ reason }) => reason)
  return [
    ...(nodes.length === 0 ? [] : [`it failed on ${nodes.join(', ')}`]),
    ...(guards.length === 0 ? [] : [`rollout status halted it: ${guards.join('; ')}`]),
  ].join('; ')
}

/** Who wrote a veto is no node, but halts the rollout for others: see `guard.ts`. */
export function isGuard(node: string): boolean {
  return node.startsWith(GUARD_PREFIX)
}
