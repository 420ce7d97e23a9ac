/** How far a rollout has come, for the condition, `status`, metrics and the command line. Pure. */
import { freeShare, isFinished, type Plan, stagesOf } from './plan.ts'
import type { RolloutRecord } from './record.ts'
import type { Observation } from './silence.ts'
import { silentOf, type Tally, tally } from './tally.ts'

export interface Progress {
  readonly generation: number
  /** From 0 to `stages` - 1. */
  readonly stage: number
  readonly stages: number
  /** How many percent of the nodes are free. */
  readonly freePercent: number
  readonly proofs: number
  readonly needed: number
  /** Nodes that have a claim of this stage and no proof yet. */
  readonly claimed: readonly string[]
  /** Those of them that are silent. */
  readonly silent: readonly string[]
  readonly vetoes: readonly { readonly node: string; readonly reason: string }[]
  readonly finished: boolean
  readonly halted: boolean
}

/** @returns undefined: the record is not about this content, so its rollout has not begun */
export function progressOf(plan: Plan, record: RolloutRecord, hash: string, observation: Observation): Progress | undefined {
  const { state } = record
  if (state === undefined || state.hash !== hash) return undefined
  return progress(plan, state.generation, state.stage, tally(plan, state, record, observation))
}

function progress(plan: Plan, generation: number, stage: number, counts: Tally): Progress {
  const open = [...new Map([...counts.claims, ...counts.controlPlanes].map((claim) => [claim.node, claim])).values()]
  return {
    generation,
    stage: Math.min(stage, stagesOf(plan) - 1),
    stages: stagesOf(plan),
    freePercent: freeShare(plan, stage) * 100,
    proofs: counts.proofs,
    needed: counts.needed,
    claimed: open.map(({ node }) => node),
    silent: silentOf(open).map(({ node }) => node),
    vetoes: counts.vetoes,
    finished: counts.finished,
    halted: counts.halted,
  }
}

/** As "stage 3 of 6 (10 %): 3 of 5 witnesses have proved it". */
export function describeStage(plan: Plan, stage: number, { proofs, needed }: Pick<Tally, 'proofs' | 'needed'>): string {
  const place = `stage ${Math.min(stage, stagesOf(plan) - 1)} of ${stagesOf(plan)}`
  if (isFinished(plan, stage)) return `${place} (100 %): all nodes may go`
  return `${place} (${percent(freeShare(plan, stage))}): ${proofs} of ${needed} witness${needed === 1 ? ' has' : 'es have'} proved it`
}

/** When a node is free at the latest, as "this node goes at 50 %". */
export function describeWave({ waves }: Plan, share: number): string {
  return `this node goes at ${percent((waves.find((wave) => share * 100 < wave) ?? 100) / 100)}`
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`
}
