/**
 * The hash that names a content in a rollout: of the text under the config's key, as the ConfigMap
 * has it. It leaves out a node's overlay, since every node has to find the same hash.
 * Pure.
 */
import { createHash } from 'node:crypto'

/** @returns SHA-256 in lower-case hex; of the empty text where the key is missing */
export function hashConfig(data: Readonly<Record<string, string>>, key: string): string {
  return createHash('sha256')
    .update((Object.hasOwn(data, key) ? data[key] : undefined) ?? '')
    .digest('hex')
}
