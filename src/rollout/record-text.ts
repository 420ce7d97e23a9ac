/** Writes the words of a rollout's record, which `record.ts` reads back. Pure. */
import { cutToBytes, onOneLine } from '../values/cut.ts'
import { type Entry, LONGEST_CLAIM_SECONDS, NODE_PREFIX, type RolloutState } from './record.ts'

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
