/**
 * The hash that names a content in a rollout: of the text under the config's key, as the ConfigMap
 * has it, and of the ConfigMaps that the text is merged over. It leaves out a node's local config
 * and its overlay, since every node has to find the same hash. Pure.
 */
import { createHash } from 'node:crypto'

/** What makes a text a part. */
export interface PartOf {
  /** The annotation. */
  readonly base: string
  /** The ConfigMaps under it, the nearest first. */
  readonly under: readonly UnderPart[]
}

export interface UnderPart {
  /** Its annotation. undefined: it holds a whole config. */
  readonly base: string | undefined
  /** undefined: it cannot be read. */
  readonly text: string | undefined
}

/**
 * @param part undefined: the text is a whole config
 * @returns SHA-256 in lower-case hex; of the empty text where the key is missing
 */
export function hashConfig(data: Readonly<Record<string, string>>, key: string, part?: PartOf): string {
  const text = (Object.hasOwn(data, key) ? data[key] : undefined) ?? ''
  return createHash('sha256')
    .update(part === undefined ? text : nameLayers(part, text))
    .digest('hex')
}

function nameLayers({ base, under }: PartOf, text: string): string {
  return JSON.stringify([{ base, text }, ...under].map((layer) => [layer.base ?? null, layer.text ?? null]))
}
