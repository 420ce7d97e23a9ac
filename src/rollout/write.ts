// SPDX-License-Identifier: Apache-2.0
/**
 * The writes of a node to the record, each a merge patch of `data` with the resourceVersion that it
 * was decided on. Pure. A write changes `state` and this node's own key. Only a begin removes keys:
 * those of the generations before.
 */

import { cutToBytes, onOneLine } from '../values/cut.ts'
import {
  bytesOf,
  type Claim,
  type Entry,
  LONGEST_CLAIM_SECONDS,
  MOST_RECORD_BYTES,
  NODE_PREFIX,
  parseEntry,
  parseState,
  type RolloutState,
  STATE_KEY,
} from './record.ts'
import { type Rollout, type Standing, waits } from './standing.ts'
import type { RolloutDecision, RolloutTurn, RolloutWriteKind } from './view.ts'

/** The room that claims leave free, so that five vetoes always fit. */
const BYTES_FOR_VETOES = 1200

/**
 * Begins the next generation of what the config holds now, at stage 0, with this node's own word
 * (R4).
 */
export function writeBegin(standing: Standing, word: 'claim' | 'veto', turn: RolloutTurn): RolloutDecision {
  const { config, node, plan, record } = standing
  const generation = (record.state?.generation ?? 0) + 1
  const state: RolloutState = {
    generation,
    stage: 0,
    hash: config.hash,
    configUid: config.uid,
    configVersion: config.resourceVersion,
    retry: plan.retry,
  }
  const entry: Entry =
    word === 'claim' ? newClaim(standing, state) : { kind: 'veto', generation, stage: 0, reason: node.verdict?.reason ?? '' }
  const old = [...record.entries.keys()].map((name): [string, null] => [nodeKey(name), null])
  return write(standing, 'begin', turn, { ...Object.fromEntries(old), ...changes(node.name, { state, entry }) })
}

export function writeClaim(standing: Standing, { state }: Rollout, turn: RolloutTurn): RolloutDecision {
  return write(standing, 'claim', turn, changes(standing.node.name, { entry: newClaim(standing, state) }))
}

/** The last proof that is needed raises the stage in the same write (R1). */
export function writeProof(standing: Standing, rollout: Rollout, claim: Claim, turn: RolloutTurn): RolloutDecision {
  const { state, proofs, needed, halted, finished } = rollout
  const entry: Entry = { kind: 'proof', generation: claim.generation, stage: claim.stage }
  const opens = !halted && !finished && proofs + (claim.stage === state.stage ? 1 : 0) >= needed
  return write(standing, 'proof', turn, changes(standing.node.name, opens ? { state: next(state), entry } : { entry }))
}

export function writeVeto(standing: Standing, { state }: Rollout, reason: string, turn: RolloutTurn): RolloutDecision {
  const entry: Entry = { kind: 'veto', generation: state.generation, stage: state.stage, reason: reasonText(reason) }
  return write(standing, 'veto', turn, changes(standing.node.name, { entry }))
}

export function writeAdvance(standing: Standing, { state }: Rollout, turn: RolloutTurn): RolloutDecision {
  return write(standing, 'advance', turn, changes(standing.node.name, { state: next(state) }))
}

function next(state: RolloutState): RolloutState {
  return { ...state, stage: state.stage + 1 }
}

function newClaim({ node }: Standing, { generation, stage }: RolloutState): Claim {
  return { kind: 'claim', generation, stage, seconds: node.claimSeconds, controlPlane: node.controlPlane }
}

function changes(nodeName: string, { state, entry }: { state?: RolloutState; entry?: Entry }): Record<string, string> {
  return {
    ...(state === undefined ? {} : { [STATE_KEY]: stateText(state) }),
    ...(entry === undefined ? {} : { [nodeKey(nodeName)]: entryText(entry) }),
  }
}

/** The decision with this write, or the reason why it cannot be made. */
function write(standing: Standing, kind: RolloutWriteKind, turn: RolloutTurn, data: Record<string, string | null>): RolloutDecision {
  const { record, resourceVersion } = standing
  const after = new Map(record.texts)
  for (const [key, value] of Object.entries(data)) {
    if (value === null) after.delete(key)
    else after.set(key, value)
  }
  const unreadable = Object.entries(data).find(([key, value]) => !canBeRead(key, value))
  if (unreadable !== undefined) return waits(`the record cannot hold ${unreadable.map((word) => JSON.stringify(word)).join(': ')}`)
  const most = kind === 'claim' ? MOST_RECORD_BYTES - BYTES_FOR_VETOES : MOST_RECORD_BYTES
  if (bytesOf(after) > most) return waits(`the record is full: this would make it ${bytesOf(after)} bytes, of at most ${most}`)
  return { turn, write: { kind, resourceVersion, data, detail: detailOf(data) }, follow: true }
}

/**
 * Whether each node can read an entry that this node is about to write. A key of a ConfigMap has at
 * most 253 characters.
 */
function canBeRead(key: string, value: string | null): boolean {
  if (value === null) return true
  if (key === STATE_KEY) return parseState(value) !== undefined
  return key.length <= 253 && key.length > NODE_PREFIX.length && parseEntry(value) !== undefined
}

function detailOf(data: Readonly<Record<string, string | null>>): string {
  return Object.entries(data)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')
}

/**
 * In bytes, so that it has at most as many characters, which is what the admission policy counts.
 */
export const LONGEST_REASON = 160

export function nodeKey(nodeName: string): string {
  return `${NODE_PREFIX}${nodeName}`
}

export function stateText({ generation, stage, hash, configUid, configVersion, retry }: RolloutState): string {
  return `1 ${generation} ${stage} ${hash} ${configUid} ${configVersion} ${retry}`
}

export function entryText(entry: Entry): string {
  const start = `${entry.generation} ${entry.stage} ${entry.kind}`
  switch (entry.kind) {
    case 'claim':
      return `${start} ${Math.min(Math.max(1, Math.ceil(entry.seconds)), LONGEST_CLAIM_SECONDS)}${entry.controlPlane ? ' control-plane' : ''}`
    case 'proof':
      return start
    case 'veto':
      return `${start} ${reasonText(entry.reason)}`
  }
}

/** One line that is never empty. */
export function reasonText(reason: string): string {
  return cutToBytes(onOneLine(reason), LONGEST_REASON) || 'it failed'
}
