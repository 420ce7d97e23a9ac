// SPDX-License-Identifier: Apache-2.0
/**
 * In which order nodes come: a number in [0, 1) for each node and content, from the first bytes of
 * a hash. Each node computes its own without knowing the others. Another content has another order,
 * so it is not always the same nodes that go first. Pure.
 */
import { createHash } from 'node:crypto'
import { MINUTE_US, SECOND_US } from '../values/durations.ts'
import { freeShare, type Plan } from './plan.ts'
import type { RolloutNode } from './view.ts'

export interface Place {
  /** The share of the nodes that come before this one, in [0, 1). */
  readonly share: number
  /** The number of its zone, in the order of the plan; 0 without zones. */
  readonly zone: number
  /** Its place among the nodes of its zone, in [0, 1). */
  readonly within: number
  /** When it starts within the time over which free nodes are spread: from 0, at once, to 1. */
  readonly spread: number
}

/**
 * Over what time the nodes of a fleet claim, one after another (R1). In stage 0 there are three
 * such times.
 */
function claimSpanUs(trialUs: number): number {
  return Math.min(30 * SECOND_US, trialUs / 20)
}

/**
 * Over what time the nodes of a fleet ask first, after an edit that all of them see at once. Few
 * are canaries, have failed with it or have just joined.
 */
export function firstLookSpanUs({ canary, verdict, arrival, trialUs }: Omit<RolloutNode, 'name'>): number {
  const isOfFew = canary || verdict !== undefined || arrival === 'joined'
  return isOfFew ? Math.min(5 * SECOND_US, trialUs / 60) : claimSpanUs(trialUs)
}

/**
 * For how long nodes wait after the record has lost what it held (R4), so that each node on which
 * the content failed writes its veto before. After an outage, an agent may find the record up to a
 * minute later than another, since it backs off. Its requests are a second apart, however short a
 * trial is.
 */
export function lookUs(trialUs: number): number {
  return Math.min(90 * SECOND_US, Math.max(5 * SECOND_US, trialUs * 0.15))
}

/**
 * Over what time the nodes of a fleet read the record again, when an API server goes away and each
 * of their watches breaks. A node that may have something to write comes well within `lookUs`. One
 * that only waits comes as late as it can, and sees what they have written.
 */
export function lookAgainSpanUs({ verdict, runs, trialUs }: Pick<RolloutNode, 'verdict' | 'runs' | 'trialUs'>): number {
  return lookUs(trialUs) / (verdict !== undefined || runs ? 9 : 3)
}

/**
 * How long the record must not change before a control plane claims (R8): as long as a trial takes.
 */
export function recordRestUs(trialUs: number): number {
  return Math.min(10 * MINUTE_US, trialUs)
}

/**
 * The order of the nodes is that of their zones, and in a zone that of the hash. A node that is in
 * none of these zones, as far as is known, comes with the last one. No node can choose its
 * `metadata.uid` for itself.
 *
 * @param zone by the plan's label; undefined: the Node has none, or that is not known
 */
export function placeOf({ uid, zone }: Pick<RolloutNode, 'uid' | 'zone'>, hash: string, plan: Pick<Plan, 'zones' | 'zoneLabel'>): Place {
  const digest = createHash('sha256').update(`${uid}\n${hash}`).digest()
  const within = digest.readUIntBE(0, 6) / 2 ** 48
  const count = Math.max(1, plan.zones.length)
  const found = zone !== undefined && zone.label === plan.zoneLabel ? plan.zones.indexOf(zone.value) : -1
  const number = found === -1 ? count - 1 : found
  return { share: (number + within) / count, zone: number, within, spread: digest.readUIntBE(6, 6) / 2 ** 48 }
}

/**
 * How long after a stage opened a node claims in it (R1). In stage 0 canaries come first, wherever
 * they are, then nodes that have been there, then those that have just joined (R6). Each zone has a
 * time of its own to claim, since all nodes may be in one of them. A zone that is empty or dead
 * costs that time, and nothing else.
 */
export function claimDelayUs(
  { zone, within }: Place,
  stage: number,
  node: Pick<RolloutNode, 'canary' | 'arrival' | 'trialUs'>,
  plan: Plan,
): number {
  const first = stage === 0 && node.canary
  const later = stage === 0 ? (node.canary ? 0 : 1) + (node.arrival === 'joined' ? 1 : 0) : 0
  const openZones = Math.floor(freeShare(plan, stage) * plan.zones.length)
  const zonesBefore = first ? 0 : Math.max(0, zone - openZones)
  return Math.floor((later + zonesBefore + within) * claimSpanUs(node.trialUs))
}

/** After so long, each node of the fleet has had its time to claim. */
export function claimsEndUs(plan: Plan, trialUs: number): number {
  return (2 + Math.max(1, plan.zones.length)) * claimSpanUs(trialUs)
}

/** As the nodes of one stage and one zone claim, for what comes in no order of zones. */
export function turnDelayUs({ within }: Place, { trialUs }: Pick<RolloutNode, 'trialUs'>): number {
  return Math.floor(within * claimSpanUs(trialUs))
}
