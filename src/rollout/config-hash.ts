/**
 * The hash that names a content in a rollout: of the text under the config's key, as the ConfigMap
 * has it, and of what the text is merged over, as the cluster has that. It leaves out a node's
 * local config and its overlay, since every node has to find the same hash. Pure.
 */
import { createHash } from 'node:crypto'

/**
 * @param base the annotation that makes the text a part. undefined: it is a whole config
 * @returns SHA-256 in lower-case hex; of the empty text where the key is missing
 */
export function hashConfig(data: Readonly<Record<string, string>>, key: string, base?: string): string {
  const text = (Object.hasOwn(data, key) ? data[key] : undefined) ?? ''
  return createHash('sha256')
    .update(base === undefined ? text : JSON.stringify([base, text]))
    .digest('hex')
}
