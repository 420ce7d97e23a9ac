/**
 * Silence (R9): a claim is silent when its own deadline has passed in contact time, which is time in
 * which this node could read the record. So an outage, of this node or of the API server, makes
 * nobody silent. Each node derives it for itself and never writes it: a late proof lifts it. Pure;
 * an Observation is kept in /run.
 */
import { SECOND_US } from '../values/durations.ts'
import type { Claim, RolloutRecord } from './record.ts'

/** What this node has seen of one record, as it went. JSON. */
export interface Observation {
  /** Time with contact since this observation began. */
  readonly contactUs: number
  /** When this node saw the record change last. CLOCK_MONOTONIC, as all times that end in Us. */
  readonly changedUs: number
  /** Of the record when it was seen last. */
  readonly resourceVersion: string
  /** The content that the config held, and where its rollout stood, when this node saw both first. */
  readonly arrived: Turning
  /** The same for what it saw last. */
  readonly turning: Turning
  /** When it saw `turning` first. */
  readonly turningUs: number
  /** For each claim without a proof, by node: its turning, and `contactUs` when it was first seen. */
  readonly claims: Readonly<Record<string, { readonly turn: string; readonly sinceContactUs: number }>>
}

/** What the config asks for, and the generation and stage of the record; -1 where nothing has begun. */
export interface Turning {
  readonly configUid: string
  readonly hash: string
  /** Of the plan: raised, it asks for the same content anew. */
  readonly retry: number
  readonly generation: number
  readonly stage: number
}

/** One reading of the record, then of the config. */
export interface Sighting {
  readonly record: RolloutRecord
  readonly resourceVersion: string
  readonly configUid: string
  readonly hash: string
  /** Of the plan; 0 where that cannot be read. */
  readonly retry: number
  readonly nowUs: number
  /**
   * How much of the time since the observation before this one had contact: an open watch, or an
   * answer. The first observation counts none.
   */
  readonly contactUs: number
}

/** @param before undefined: this node looks at this record for the first time in this boot */
export function observe(before: Observation | undefined, sighting: Sighting): Observation {
  const { record, resourceVersion, nowUs } = sighting
  const contactUs = before === undefined ? 0 : before.contactUs + Math.max(0, sighting.contactUs)
  const turning = turningOf(sighting)
  const sameContent = before !== undefined && isSameContent(before.turning, turning)
  const sameTurning = sameContent && before.turning.generation === turning.generation && before.turning.stage === turning.stage
  return {
    contactUs,
    resourceVersion,
    changedUs: before?.resourceVersion === resourceVersion ? before.changedUs : nowUs,
    arrived: sameContent ? before.arrived : turning,
    turning,
    turningUs: sameTurning ? before.turningUs : nowUs,
    claims: observeClaims(before, record, contactUs),
  }
}

function isSameContent(a: Turning, b: Turning): boolean {
  return a.hash === b.hash && a.configUid === b.configUid && a.retry === b.retry
}

function turningOf({ record: { state }, configUid, hash, retry }: Sighting): Turning {
  return { configUid, hash, retry, generation: state?.generation ?? -1, stage: state?.stage ?? -1 }
}

function observeClaims(before: Observation | undefined, record: RolloutRecord, contactUs: number): Observation['claims'] {
  const claims: [string, { turn: string; sinceContactUs: number }][] = []
  for (const [node, entry] of record.entries) {
    if (entry.kind !== 'claim' || entry.generation !== record.state?.generation) continue
    const turn = `${entry.generation} ${entry.stage}`
    const seen = before !== undefined && Object.hasOwn(before.claims, node) ? before.claims[node] : undefined
    claims.push([node, seen?.turn === turn ? seen : { turn, sinceContactUs: contactUs }])
  }
  return Object.fromEntries(claims)
}

/** Contact time until a claim is silent; 0 or less: it is. */
export function untilSilentUs(observation: Observation, node: string, claim: Claim): number {
  const seen = Object.hasOwn(observation.claims, node) ? observation.claims[node] : undefined
  const sinceUs = seen?.turn === `${claim.generation} ${claim.stage}` ? seen.sinceContactUs : observation.contactUs
  return sinceUs + claim.seconds * SECOND_US - observation.contactUs
}
