/** Counts what the record says about the generation under way, as this node sees it. Pure. */
import { isFinished, type Plan, proofsNeeded } from './plan.ts'
import type { Claim, Entry, RolloutRecord, RolloutState, Veto } from './record.ts'
import { type Observation, untilSilentUs } from './silence.ts'

export interface Tally {
  /** Proofs of this stage. */
  readonly proofs: number
  /** How many proofs open the next stage. */
  readonly needed: number
  /**
   * Claims of this stage without a proof. From stage 1 on those of control planes come beside them.
   */
  readonly claims: readonly OpenClaim[]
  /** Claims of control planes without a proof, of any stage. */
  readonly controlPlanes: readonly OpenClaim[]
  readonly vetoes: readonly { readonly node: string; readonly reason: string }[]
  /** The stage is open to all nodes. */
  readonly finished: boolean
  /** No other node starts the content. */
  readonly halted: boolean
}

export interface OpenClaim {
  readonly node: string
  /** Contact time until it is silent; 0 or less: it is. */
  readonly untilSilentUs: number
}

export function tally(plan: Plan, state: RolloutState, record: RolloutRecord, observation: Observation): Tally {
  const counts = ([node, { generation }]: [string, Entry]) => generation === state.generation && !plan.excluded.includes(node)
  const entries = [...record.entries].filter(counts)
  const here = entries.filter(([, { stage }]) => stage === state.stage)
  const vetoes = entries.filter(isVeto).map(([node, { reason }]) => ({ node, reason }))
  const open = ([node, claim]: [string, Claim]) => ({ node, untilSilentUs: untilSilentUs(observation, node, claim) })
  const finished = isFinished(plan, state.stage)
  return {
    proofs: here.filter(([, { kind }]) => kind === 'proof').length,
    needed: proofsNeeded(plan, state.stage),
    claims: here
      .filter(isClaim)
      .filter(([, { controlPlane }]) => !controlPlane || state.stage === 0)
      .map(open),
    controlPlanes: entries
      .filter(isClaim)
      .filter(([, { controlPlane }]) => controlPlane)
      .map(open),
    vetoes,
    finished,
    halted: !finished && vetoes.length >= (state.stage === 0 ? 1 : plan.maxVetoes),
  }
}

function isClaim(entry: [string, Entry]): entry is [string, Claim] {
  return entry[1].kind === 'claim'
}

function isVeto(entry: [string, Entry]): entry is [string, Veto] {
  return entry[1].kind === 'veto'
}

export function listSilent(claims: readonly OpenClaim[]): readonly OpenClaim[] {
  return claims.filter(({ untilSilentUs }) => untilSilentUs <= 0)
}
