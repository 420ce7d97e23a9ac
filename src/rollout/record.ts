// SPDX-License-Identifier: Apache-2.0
/**
 * The record of a rollout: the `data` of the ConfigMap that nodes coordinate through, read. Pure.
 * Values are words with a space between, since an admission policy can parse neither JSON nor YAML:
 *
 *   state:      1 GENERATION STAGE HASH UID RESOURCEVERSION RETRY
 *   node.NAME:  GENERATION STAGE claim SECONDS
 *               GENERATION STAGE claim SECONDS control-plane
 *               GENERATION STAGE proof
 *               GENERATION STAGE veto REASON...
 *
 * Other nodes write it, and not all may be honest or of this version. A record that cannot be read
 * whole means: wait. Other keys than these are left alone.
 */
import { isObject } from '../values/is-object.ts'
import { quote } from '../values/kubernetes-names.ts'

/** In bytes of keys and values. A watch delivers the whole record to each node that waits. */
export const MOST_RECORD_BYTES = 6144
/**
 * Vetoes after the fifth are not written: they would fill the record, and five halt any rollout.
 */
export const MOST_VETOES = 5
/** A claim cannot hold a place for longer, whatever it says: 4 hours. */
export const LONGEST_CLAIM_SECONDS = 14_400

/** The subject of the rollout, and how far it has come. */
export interface RolloutState {
  /** One more for each rollout. */
  readonly generation: number
  /** From 0. The share of the nodes that is free in it follows from the plan: `freeShare`. */
  readonly stage: number
  /** The hash of the config's content. */
  readonly hash: string
  /** The uid and version of the config when the generation began. */
  readonly configUid: string
  readonly configVersion: string
  /** `retry` of the plan when the generation began. */
  readonly retry: number
}

/** The entry of one node. */
export type Entry = Claim | Proof | Veto

/** Where the rollout stood when the node wrote this. */
interface AtStage {
  readonly generation: number
  readonly stage: number
}

/** The node starts the content. */
export interface Claim extends AtStage {
  readonly kind: 'claim'
  /** How long the trial of the claim may take. */
  readonly seconds: number
  /** Control planes claim one after another, beside the witnesses of the stage. */
  readonly controlPlane: boolean
}

/** The node's trial passed, with its evidence known. */
interface Proof extends AtStage {
  readonly kind: 'proof'
}

/** The content failed on the node. */
export interface Veto extends AtStage {
  readonly kind: 'veto'
  readonly reason: string
}

export interface RolloutRecord {
  /** undefined: nothing has begun yet. */
  readonly state: RolloutState | undefined
  /**
   * By the name of the node. Those of other generations count for nothing, and go when the next
   * begins.
   */
  readonly entries: ReadonlyMap<string, Entry>
  /** All keys and values as they are, those of others included. */
  readonly texts: ReadonlyMap<string, string>
}

export type ParsedRecord = { readonly ok: true; readonly record: RolloutRecord } | { readonly ok: false; readonly problem: string }

export const EMPTY_RECORD: RolloutRecord = { state: undefined, entries: new Map(), texts: new Map() }
export const STATE_KEY = 'state'
export const NODE_PREFIX = 'node.'
/**
 * Who halts a rollout from outside writes vetoes as `guard_1`. No Node can have a name with `_`,
 * and agents of every version read such a veto as one of a node.
 */
export const GUARD_PREFIX = 'guard_'

/** As `deploy/admission/rollout.yaml` has it. */
const STATE = /^1 ([0-9]{1,9}) ([0-9]{1,2}) ([-0-9a-f]{1,64}) ([-0-9a-f]{1,36}) ([0-9]{1,20}) ([0-9]{1,9})$/
const CLAIM = /^([0-9]{1,9}) ([0-9]{1,2}) claim ([0-9]{1,5})( control-plane)?$/
const PROOF = /^([0-9]{1,9}) ([0-9]{1,2}) proof$/
const VETO = /^([0-9]{1,9}) ([0-9]{1,2}) veto (.{1,160})$/su

/** @param data of the record's ConfigMap, as the API server sent it */
export function parseRecord(data: unknown): ParsedRecord {
  if (data === undefined || data === null) return { ok: true, record: EMPTY_RECORD }
  if (!isObject(data)) return { ok: false, problem: 'its data is not an object' }
  const texts = new Map<string, string>()
  for (const [key, value] of Object.entries(data)) {
    if (typeof value !== 'string') return { ok: false, problem: `${quote(key)} is not a string` }
    texts.set(key, value)
  }
  if (bytesOf(texts) > MOST_RECORD_BYTES) return { ok: false, problem: `it is larger than ${MOST_RECORD_BYTES} bytes` }
  const stateText = texts.get(STATE_KEY)
  const state = stateText === undefined ? undefined : parseState(stateText)
  if (stateText !== undefined && state === undefined) return { ok: false, problem: stateProblem(stateText) }
  const entries = new Map<string, Entry>()
  for (const [key, text] of texts) {
    if (!key.startsWith(NODE_PREFIX)) continue
    const entry = parseEntry(text)
    if (entry === undefined) return { ok: false, problem: `${quote(key)} is ${quote(text)}, which is not a claim, proof or veto` }
    entries.set(key.slice(NODE_PREFIX.length), entry)
  }
  return { ok: true, record: { state, entries, texts } }
}

export function bytesOf(texts: ReadonlyMap<string, string>): number {
  let bytes = 0
  for (const [key, value] of texts) bytes += Buffer.byteLength(key) + Buffer.byteLength(value)
  return bytes
}

function stateProblem(text: string): string {
  const known = text.startsWith('1 ')
  return known ? `"state" is ${quote(text)}, which is malformed` : `"state" is ${quote(text)}: this version of the agent reads version 1`
}

export function parseState(text: string): RolloutState | undefined {
  const [, generation, stage, hash, configUid, configVersion, retry] = STATE.exec(text) ?? []
  if (hash === undefined || configUid === undefined || configVersion === undefined) return undefined
  return { generation: Number(generation), stage: Number(stage), hash, configUid, configVersion, retry: Number(retry) }
}

export function parseEntry(text: string): Entry | undefined {
  const proof = PROOF.exec(text)
  if (proof !== null) return { kind: 'proof', ...atStage(proof) }
  const claim = CLAIM.exec(text)
  if (claim !== null) {
    const seconds = Math.min(Number(claim[3]), LONGEST_CLAIM_SECONDS)
    return { kind: 'claim', ...atStage(claim), seconds, controlPlane: claim[4] !== undefined }
  }
  const veto = VETO.exec(text)
  return veto === null ? undefined : { kind: 'veto', ...atStage(veto), reason: veto[3] ?? '' }
}

function atStage([, generation, stage]: RegExpExecArray): AtStage {
  return { generation: Number(generation), stage: Number(stage) }
}
