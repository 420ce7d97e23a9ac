// SPDX-License-Identifier: Apache-2.0
/**
 * In which order nodes come: a number in [0, 1) for each node and content, from the first bytes of
 * a hash. Each node computes its own without knowing the others. Another content has another order,
 * so it is not always the same nodes that go first. Pure.
 */
import { createHash } from 'node:crypto'
import { MINUTE_US, SECOND_US } from '../values/durations.ts'
import type { RolloutNode } from './view.ts'

export interface Place {
  /** The share of the nodes that come before this one, in [0, 1). */
  readonly share: number
  /** When it starts within the time over which free nodes are spread: from 0, at once, to 1. */
  readonly spread: number
}

/**
 * Over what time the nodes of a fleet claim, one after another (R1). In stage 0 there are three
 * such times.
 */
export function claimWindowUs(trialUs: number): number {
  return Math.min(30 * SECOND_US, trialUs / 20)
}

/**
 * Over what time the nodes of a fleet ask first, after an edit that all of them see at once. Few
 * are canaries, have failed with it or have just joined.
 */
export function firstLookWindowUs({ canary, verdict, arrival, trialUs }: Omit<RolloutNode, 'name'>): number {
  const isOfFew = canary || verdict !== undefined || arrival === 'joined'
  return isOfFew ? Math.min(5 * SECOND_US, trialUs / 60) : claimWindowUs(trialUs)
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
export function lookAgainWindowUs({ verdict, runs, trialUs }: Pick<RolloutNode, 'verdict' | 'runs' | 'trialUs'>): number {
  return lookUs(trialUs) / (verdict !== undefined || runs ? 9 : 3)
}

/**
 * How long the record must not change before a control plane claims (R8): as long as a trial takes.
 */
export function restUs(trialUs: number): number {
  return Math.min(10 * MINUTE_US, trialUs)
}

/** Node's `metadata.uid`, which no node can choose for itself. */
export function placeOf(nodeUid: string, hash: string): Place {
  const digest = createHash('sha256').update(`${nodeUid}\n${hash}`).digest()
  return { share: digest.readUIntBE(0, 6) / 2 ** 48, spread: digest.readUIntBE(6, 6) / 2 ** 48 }
}

/**
 * How long after a stage opened a node claims in it (R1). In stage 0 canaries come first, then
 * nodes that have been there, then those that have just joined (R6).
 */
export function claimDelayUs(place: Place, stage: number, node: Pick<RolloutNode, 'canary' | 'arrival' | 'trialUs'>): number {
  const later = stage === 0 ? (node.canary ? 0 : 1) + (node.arrival === 'joined' ? 1 : 0) : 0
  return Math.floor((place.share + later) * claimWindowUs(node.trialUs))
}
