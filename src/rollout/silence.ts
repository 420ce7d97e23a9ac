// SPDX-License-Identifier: Apache-2.0
/**
 * Silence (R9): a claim is silent when its own deadline has passed in contact time, which is time
 * in which this node could read the record. So an outage, of this node or of the API server, makes
 * nobody silent. Each node derives it for itself and never writes it: a late proof lifts it. Pure;
 * an Observation is kept in /run.
 */
import { SECOND_US } from '../values/durations.ts'
import { isNumber, isText, mapOf, optional, shape, type TypeOf } from '../values/json-shape.ts'
import type { Claim, RolloutRecord } from './record.ts'

/**
 * The content and `retry` that the config asks for, and how far the record has come: generation and
 * stage, both -1 if nothing has begun.
 */
const isPosition = shape({
  configUid: isText,
  hash: isText,
  /** The `retry` of the plan: raised, it asks for the same content anew. */
  retry: isNumber,
  generation: isNumber,
  stage: isNumber,
})
type RolloutPosition = TypeOf<typeof isPosition>

/** The states of one record that this node has seen over time. JSON. */
export const isObservation = shape({
  /** The record's `metadata.uid`. */
  recordUid: isText,
  /** Time with contact since this observation began. */
  contactUs: isNumber,
  /** When this node saw the record change last. CLOCK_MONOTONIC, as all times that end in Us. */
  changedUs: isNumber,
  /** The version of the record when it was seen last. */
  resourceVersion: isText,
  /** The assignment of the config to this node that the observation is of. undefined: 0. */
  assignment: optional(isNumber),
  /** The position when this node first saw this content in this assignment. */
  firstPosition: isPosition,
  /** The position that it saw last. */
  position: isPosition,
  /** When this node first saw `position`. */
  positionSinceUs: isNumber,
  /**
   * Since when all decisions have let this node go without a claim. undefined: the last one did
   * not.
   */
  letGoUs: optional(isNumber),
  /** `paceOf` the config, and since when this node has seen that. */
  pace: optional(shape({ text: isText, sinceUs: isNumber })),
  /**
   * When this node found that the record had lost entries that it had seen there: somebody deleted
   * and recreated it, or restored a backup. undefined: never.
   */
  lostUs: optional(isNumber),
  /**
   * For each claim without a proof, by node: its generation and stage, and `contactUs` when it was
   * first seen.
   */
  claims: mapOf(shape({ generationAndStage: isText, sinceContactUs: isNumber })),
})
export type Observation = TypeOf<typeof isObservation>

/** One reading of the record, then of the config. */
interface Sighting {
  readonly record: RolloutRecord
  readonly recordUid: string
  readonly resourceVersion: string
  readonly configUid: string
  readonly hash: string
  /** One more each time that the config is assigned to this node in place of another. */
  readonly assignment: number
  /** The `retry` of the plan; 0 where that cannot be read. */
  readonly retry: number
  /** `paceOf` the config. undefined: nothing is decided on this. */
  readonly pace?: string | undefined
  readonly nowUs: number
  /**
   * How much of the time since the observation before this one had contact: an open watch, or an
   * answer. The first observation counts none.
   */
  readonly contactUs: number
}

/**
 * @param known undefined: this node sees a record for the first time in this boot. Its knowledge of
 *   another config's record does not count.
 */
export function observeRecord(known: Observation | undefined, sighting: Sighting): Observation {
  const { record, recordUid, resourceVersion, assignment, nowUs } = sighting
  const position = positionOf(sighting)
  const before = known?.recordUid === recordUid || known?.position.configUid === position.configUid ? known : undefined
  // Generations of a record that was made again count from 1, so only `lostUs` compares the two.
  const here = before?.recordUid === recordUid ? before : undefined
  const contactUs = before === undefined ? 0 : before.contactUs + Math.max(0, sighting.contactUs)
  const sameContent = here !== undefined && (here.assignment ?? 0) === assignment && isSameContent(here.position, position)
  const samePosition = sameContent && here.position.generation === position.generation && here.position.stage === position.stage
  return {
    recordUid,
    assignment,
    contactUs,
    resourceVersion,
    changedUs: here?.resourceVersion === resourceVersion ? here.changedUs : nowUs,
    firstPosition: sameContent ? here.firstPosition : position,
    position,
    positionSinceUs: samePosition ? here.positionSinceUs : nowUs,
    letGoUs: sameContent ? here.letGoUs : undefined,
    pace: observePace(before?.pace, sighting),
    lostUs: before !== undefined && wentBack(before, recordUid, position) ? nowUs : before?.lostUs,
    claims: observeClaims(here, record, contactUs),
  }
}

function observePace(before: Observation['pace'], { pace, nowUs }: Sighting): Observation['pace'] {
  return pace === undefined || pace === before?.text ? before : { text: pace, sinceUs: nowUs }
}

/** @param letGo what was decided on this observation */
export function observeTurn(observation: Observation, letGo: boolean, nowUs: number): Observation {
  const letGoUs = letGo ? (observation.letGoUs ?? nowUs) : undefined
  return letGoUs === observation.letGoUs ? observation : { ...observation, letGoUs }
}

/** No write of a node sets a generation or a stage back. */
function wentBack({ recordUid: uidBefore, position: before }: Observation, recordUid: string, now: RolloutPosition): boolean {
  if (before.generation < 0) return false
  if (uidBefore !== recordUid || now.generation < before.generation) return true
  return now.generation === before.generation && now.stage < before.stage
}

function isSameContent(a: RolloutPosition, b: RolloutPosition): boolean {
  return a.hash === b.hash && a.configUid === b.configUid && a.retry === b.retry
}

function positionOf({ record: { state }, configUid, hash, retry }: Sighting): RolloutPosition {
  return { configUid, hash, retry, generation: state?.generation ?? -1, stage: state?.stage ?? -1 }
}

function observeClaims(before: Observation | undefined, record: RolloutRecord, contactUs: number): Observation['claims'] {
  const claims: [string, { generationAndStage: string; sinceContactUs: number }][] = []
  for (const [node, entry] of record.entries) {
    if (entry.kind !== 'claim' || entry.generation !== record.state?.generation) continue
    const generationAndStage = `${entry.generation} ${entry.stage}`
    const seen = before !== undefined && Object.hasOwn(before.claims, node) ? before.claims[node] : undefined
    claims.push([node, seen?.generationAndStage === generationAndStage ? seen : { generationAndStage, sinceContactUs: contactUs }])
  }
  return Object.fromEntries(claims)
}

/** Contact time until a claim is silent; 0 or less: it is. */
export function untilSilentUs(observation: Observation, node: string, claim: Claim): number {
  const seen = Object.hasOwn(observation.claims, node) ? observation.claims[node] : undefined
  const sinceUs = seen?.generationAndStage === `${claim.generation} ${claim.stage}` ? seen.sinceContactUs : observation.contactUs
  return sinceUs + claim.seconds * SECOND_US - observation.contactUs
}
