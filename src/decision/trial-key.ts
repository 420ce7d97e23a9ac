/** A trial, and so a verdict, belongs to a content on one kubelet: the same bytes may fail on another binary or with other flags. Pure. */
import type { ContentHash } from './config-source.ts'

export function trialKey(content: ContentHash, kubeletIdentity: string): TrialKey {
  return `${content}@${kubeletIdentity}`
}

export function contentOfKey(key: TrialKey): ContentHash {
  return key.slice(0, key.lastIndexOf('@'))
}

/** Hash of (all files of a checkpoint, key) plus identity of kubelet's binary and flags. */
export type TrialKey = string
