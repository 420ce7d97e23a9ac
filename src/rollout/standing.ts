// SPDX-License-Identifier: Apache-2.0
/**
 * The Standing: what several rules derive from a view, computed once for each decision. And the
 * decisions that rules have in common. Pure.
 */
import { claimDelayUs, claimsEndUs, lookUs, type Place, placeOf, recordRestUs, turnDelayUs } from './order.ts'
import { isFinished, type Plan, proofsNeeded, vetoesNeeded } from './plan.ts'
import type { Claim, Entry, RolloutRecord, RolloutState, Veto } from './record.ts'
import { type Observation, untilSilentUs } from './silence.ts'
import type { RolloutConfig, RolloutDecision, RolloutNode, RolloutTurn } from './view.ts'
import type { WindowTurn } from './window-turn.ts'

/** A view in which everything could be read. */
export interface Standing {
  readonly nowUs: number
  readonly node: RolloutNode
  readonly config: RolloutConfig
  readonly plan: Plan
  readonly record: RolloutRecord
  readonly resourceVersion: string
  readonly observation: Observation
  readonly window: WindowTurn
  readonly place: Place
  /** undefined: the record is not about this content, and the next generation has to begin. */
  readonly rollout: Rollout | undefined
}

/** The rollout of the content that the config holds. */
export interface Rollout extends Tally {
  readonly state: RolloutState
  /** The entry that this node has written in this generation. */
  readonly mine: Entry | undefined
}

export type RolloutRule = (standing: Standing) => RolloutDecision | undefined
/** A rule that has nothing to say before the generation has begun. */
export type BegunRule = (standing: Standing, rollout: Rollout) => RolloutDecision | undefined

export function deriveStanding(standing: Omit<Standing, 'place' | 'rollout'>): Standing {
  const { node, config, plan, record, observation } = standing
  const place = placeOf(node, config.hash, plan)
  const { state } = record
  if (state === undefined || state.hash !== config.hash || plan.retry > state.retry) return { ...standing, place, rollout: undefined }
  const mine = plan.excluded.includes(node.name) ? undefined : record.entries.get(node.name)
  return {
    ...standing,
    place,
    rollout: {
      ...tally(plan, state, record, observation),
      state,
      mine: mine?.generation === state.generation ? mine : undefined,
    },
  }
}

/**
 * When this node claims by its place (R1). The delay runs from the opening of the stage, or from
 * the end of its rest, the opening of the window, or another end of a wait, if that is later. Once
 * that is over for every node, it runs from the last change, so that a place that becomes free late
 * does not call all of them at once.
 *
 * @param restsUntilUs the end of the stage's rest; 0: there is none
 * @param freeUs when a place is free
 */
export function claimAtUs(standing: Standing, stage: number, restsUntilUs = 0, freeUs = 0): number {
  const { node, plan, place, observation } = standing
  const { positionSinceUs, changedUs } = observation
  const openedUs = Math.max(positionSinceUs, restsUntilUs, paceBeganUs(standing))
  const fromUs = changedUs > openedUs + claimsEndUs(plan, node.trialUs) ? changedUs : openedUs
  return Math.max(fromUs, freeUs, vetoesRestoredAtUs(standing)) + claimDelayUs(place, stage, node, plan)
}

/** When a control plane claims at the earliest: after a rest of the record (R8). */
export function afterRestUs(standing: Standing, openUs = 0): number {
  const { node, place, observation } = standing
  const restedUs = Math.max(observation.positionSinceUs, observation.changedUs) + recordRestUs(node.trialUs)
  return Math.max(restedUs, openUs, vetoesRestoredAtUs(standing), paceBeganUs(standing)) + turnDelayUs(place, node)
}

/**
 * From when delays and the spread count at the earliest: when the present window opened, or the
 * next one opens, or an edit of the plan said when nodes start. Else an edit that ends a wait, as
 * with `now`, would start all that waited at once.
 */
export function paceBeganUs({ window, observation: { pace } }: Standing): number {
  return Math.max('opensUs' in window ? window.opensUs : 0, pace?.sinceUs ?? 0)
}

/**
 * Until when the plan lets nobody claim in this stage, counted from when this node saw it open: a
 * node that was rebooted counts anew, since it does not know for how long the stage had been open.
 */
export function stageRestsUntilUs({ plan, observation }: Standing): number {
  return plan.restUs === 0 ? 0 : observation.positionSinceUs + plan.restUs
}

/**
 * The wait for a window. undefined: one is open, or the content waits for none.
 *
 * @param atUs when the node starts, or claims, in the next window
 */
export function waitsForWindow({ window }: Standing, atUs: number, detail: string): RolloutDecision | undefined {
  if (window.kind === 'unknown') return waits(detail)
  return window.kind === 'closed' ? waitsUntil(atUs, detail) : undefined
}

/** Adds that the windows are closed, and until when. */
export function withWindow({ window }: Standing, detail: string): string {
  return 'detail' in window ? `${detail}; ${window.detail}` : detail
}

/**
 * By when nodes have rewritten their vetoes into a record that lost them. 0: it has lost nothing.
 */
export function vetoesRestoredAtUs({ node, observation: { lostUs } }: Standing): number {
  return lostUs === undefined ? 0 : lostUs + lookUs(node.trialUs)
}

/**
 * When the next place for a witness is free. At most `needed` claims are proven or not yet silent,
 * and at most `needed` + `maxSilent` exist in all. So each further place opens when a claim falls
 * silent.
 *
 * @returns 0: now; undefined: no place until a claim becomes a proof or a veto
 */
export function placeFreeAtUs({ nowUs, plan }: Standing, { claims, proofs, needed }: Rollout): number | undefined {
  const taken = proofs + claims.length
  if (taken < needed) return 0
  if (taken >= needed + plan.maxSilent) return undefined
  const untilSilent = claims.map(({ untilSilentUs }) => untilSilentUs).sort((a, b) => a - b)
  const untilNextSilentUs = untilSilent[taken - needed]
  return untilNextSilentUs === undefined ? undefined : nowUs + untilNextSilentUs
}

/** The record stays as it is, and this node goes on reading it. */
export function keeps(turn: RolloutTurn): RolloutDecision {
  return { turn, follow: true }
}

export function waits(detail: string): RolloutDecision {
  return keeps({ kind: 'wait', detail })
}

/**
 * The wait of a node whose time to claim has come: its evidence cannot be read, or is to be read
 * first. Where it cannot be read, it is asked for again from time to time.
 */
export function waitsForEvidence({ node: { evidence } }: Standing, detail: string): RolloutDecision | undefined {
  if (evidence.kind === 'readable') return undefined
  const why =
    evidence.kind === 'unread'
      ? 'this node first reads the evidence that a proof needs'
      : `this node cannot become a witness now, since it could not prove it: ${evidence.detail}`
  return keeps({ kind: 'wait', detail: `${detail}; ${why}`, asks: 'evidence' })
}

export function waitsUntil(atUs: number, detail: string): RolloutDecision {
  return keeps({ kind: 'wait-until', atUs, detail })
}

export function goes(detail: string, follow = false): RolloutDecision {
  return { turn: { kind: 'go', detail }, follow }
}

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

interface OpenClaim {
  readonly node: string
  /** Contact time until the claim is silent; 0 or less: it is. */
  readonly untilSilentUs: number
}

/** Counts what the record says about the generation under way, as this node sees it. */
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
    halted: !finished && vetoes.length >= vetoesNeeded(plan, state.stage),
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
