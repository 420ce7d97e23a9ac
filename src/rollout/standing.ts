/**
 * The Standing: what several rules derive from a view, computed once for each decision. And the
 * decisions that rules have in common. Pure.
 */
import { claimDelayUs, claimWindowUs, lookUs, type Place, placeOf, restUs } from './order.ts'
import type { Plan } from './plan.ts'
import type { Entry, RolloutRecord, RolloutState } from './record.ts'
import type { Observation } from './silence.ts'
import { type Tally, tally } from './tally.ts'
import type { RolloutConfig, RolloutDecision, RolloutNode, RolloutTurn } from './view.ts'

/** A view in which everything could be read. */
export interface Standing {
  readonly nowUs: number
  readonly node: RolloutNode
  readonly config: RolloutConfig
  readonly plan: Plan
  readonly record: RolloutRecord
  readonly resourceVersion: string
  readonly observation: Observation
  readonly place: Place
  /** undefined: the record is not about this content, and the next generation has to begin. */
  readonly rollout: Rollout | undefined
}

/** The rollout of the content that the config holds. */
export interface Rollout extends Tally {
  readonly state: RolloutState
  /** What this node has written in this generation. */
  readonly mine: Entry | undefined
}

export type RolloutRule = (standing: Standing) => RolloutDecision | undefined
/** A rule that has nothing to say before the generation has begun. */
export type BegunRule = (standing: Standing, rollout: Rollout) => RolloutDecision | undefined

export function deriveStanding(standing: Omit<Standing, 'place' | 'rollout'>): Standing {
  const { node, config, plan, record, observation } = standing
  const place = placeOf(node.uid, config.hash)
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
 * When this node claims by its place (R1). The delay runs from the opening of the stage. Once that
 * is over for every node, it runs from the last change, so that a place that becomes free late does
 * not call all of them at once.
 */
export function claimAtUs(standing: Standing, stage: number, openUs = 0): number {
  const { node, place, observation } = standing
  const { positionSinceUs, changedUs } = observation
  const fromUs = changedUs > positionSinceUs + 3 * claimWindowUs(node.trialUs) ? changedUs : positionSinceUs
  return Math.max(fromUs, openUs, vetoesRestoredAtUs(standing)) + claimDelayUs(place, stage, node)
}

/** When a control plane claims at the earliest: after a rest of the record (R8). */
export function afterRestUs(standing: Standing): number {
  const { node, place, observation } = standing
  const restedUs = Math.max(observation.positionSinceUs, observation.changedUs) + restUs(node.trialUs)
  return Math.max(restedUs, vetoesRestoredAtUs(standing)) + claimDelayUs(place, 1, node)
}

/**
 * By when nodes have rewritten their vetoes into a record that lost them. 0: it has lost nothing.
 */
export function vetoesRestoredAtUs({ node, observation: { lostUs } }: Standing): number {
  return lostUs === undefined ? 0 : lostUs + lookUs(node.trialUs)
}

export function waits(detail: string): RolloutDecision {
  return { turn: { kind: 'wait', detail }, follow: true }
}

/**
 * What keeps a node from a claim whose time has come: evidence that cannot be read, or is to be
 * read first. Where it cannot be read, it is asked for again from time to time.
 */
export function waitsForEvidence({ node: { evidence } }: Standing, detail: string): RolloutDecision | undefined {
  if (evidence.kind === 'readable') return undefined
  const why =
    evidence.kind === 'unread'
      ? 'this node first reads the evidence that a proof needs'
      : `this node cannot become a witness now, since it could not prove it: ${evidence.detail}`
  return { turn: { kind: 'wait', detail: `${detail}; ${why}`, asks: 'evidence' }, follow: true }
}

export function waitsUntil(atUs: number, detail: string): RolloutDecision {
  return { turn: { kind: 'wait-until', atUs, detail }, follow: true }
}

/** It stays as it is, with another turn than a wait. */
export function keeps(turn: RolloutTurn): RolloutDecision {
  return { turn, follow: true }
}

export function goes(detail: string, follow = false): RolloutDecision {
  const turn: RolloutTurn = { kind: 'go', detail }
  return { turn, follow }
}
