/**
 * Silence (R9): a claim is silent when its own deadline has passed in contact time, which is time
 * in which this node could read the record. So an outage, of this node or of the API server, makes
 * nobody silent. Each node derives it for itself and never writes it: a late proof lifts it. Pure;
 * an Observation is kept in /run.
 */
import { SECOND_US } from '../values/durations.ts'
import type { Claim, RolloutRecord } from './record.ts'

/** What this node has seen of one record, as it went. JSON. */
export interface Observation {
  /** The record's `metadata.uid`. */
  readonly recordUid: string
  /** Time with contact since this observation began. */
  readonly contactUs: number
  /** When this node saw the record change last. CLOCK_MONOTONIC, as all times that end in Us. */
  readonly changedUs: number
  /** Of the record when it was seen last. */
  readonly resourceVersion: string
  /**
   * The content that the config held, and where its rollout stood, when this node saw both first.
   */
  readonly arrived: Turning
  /** The same for what it saw last. */
  readonly turning: Turning
  /** When it saw `turning` first. */
  readonly turningUs: number
  /**
   * When it found that the record had lost what it had seen there: somebody deleted it and made it
   * again, or restored a backup. undefined: never.
   */
  readonly lostUs?: number | undefined
  /**
   * For each claim without a proof, by node: its turning, and `contactUs` when it was first seen.
   */
  readonly claims: Readonly<Record<string, { readonly turn: string; readonly sinceContactUs: number }>>
}

/**
 * What the config asks for, and the generation and stage of the record; -1 where nothing has begun.
 */
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
  readonly recordUid: string
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

/**
 * @param known undefined: this node looks at a record for the first time in this boot. What it
 *   knows of another record of another config counts for nothing.
 */
export function observe(known: Observation | undefined, sighting: Sighting): Observation {
  const { record, recordUid, resourceVersion, nowUs } = sighting
  const turning = turningOf(sighting)
  const before = known?.recordUid === recordUid || known?.turning.configUid === turning.configUid ? known : undefined
  // Generations of a record that was made again count from 1, so only `lostUs` compares the two.
  const here = before?.recordUid === recordUid ? before : undefined
  const contactUs = before === undefined ? 0 : before.contactUs + Math.max(0, sighting.contactUs)
  const sameContent = here !== undefined && isSameContent(here.turning, turning)
  const sameTurning = sameContent && here.turning.generation === turning.generation && here.turning.stage === turning.stage
  return {
    recordUid,
    contactUs,
    resourceVersion,
    changedUs: here?.resourceVersion === resourceVersion ? here.changedUs : nowUs,
    arrived: sameContent ? here.arrived : turning,
    turning,
    turningUs: sameTurning ? here.turningUs : nowUs,
    lostUs: before !== undefined && hasLost(before, recordUid, turning) ? nowUs : before?.lostUs,
    claims: observeClaims(here, record, contactUs),
  }
}

/** Neither a generation nor a stage goes back by what nodes write. */
function hasLost({ recordUid: uidBefore, turning: before }: Observation, recordUid: string, now: Turning): boolean {
  if (before.generation < 0) return false
  if (uidBefore !== recordUid || now.generation < before.generation) return true
  return now.generation === before.generation && now.stage < before.stage
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
