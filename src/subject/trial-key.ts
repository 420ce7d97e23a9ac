// SPDX-License-Identifier: Apache-2.0
/**
 * A trial, and so a verdict, belongs to one content on one kubelet: the same bytes may fail with
 * another binary, other flags or other drop-ins. Pure.
 */
import { isText, type TypeOf } from '../values/json-shape.ts'
import type { ContentHash } from './config-source.ts'

export function trialKey(content: ContentHash, kubeletIdentity: string): TrialKey {
  return `${content}@${kubeletIdentity}`
}

export function contentOfKey(key: TrialKey): ContentHash {
  return key.slice(0, key.lastIndexOf('@'))
}

export function identityOfKey(key: TrialKey): string {
  return key.slice(key.lastIndexOf('@') + 1)
}

/**
 * Whether this content on this kubelet is what passed a whole trial last, since it was tried again
 * if it was.
 *
 * @param snapshot or what else has its `proven`
 */
export function hasPassed({ proven }: { readonly proven: TrialKey | undefined }, key: TrialKey): boolean {
  return proven === key
}

/** Hash of the content, and `kubeletIdentity` of the unit. */
export const isTrialKey = isText
export type TrialKey = TypeOf<typeof isTrialKey>
