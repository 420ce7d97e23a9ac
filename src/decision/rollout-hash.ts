// SPDX-License-Identifier: Apache-2.0
/** The hash by which a rollout knows what a ConfigMap holds, with what is under it. Pure. */

import { createHash } from 'node:crypto'
import type { FoundConfigMap } from './desired.ts'

export function hashObject({ data, base, bases }: Pick<FoundConfigMap, 'data' | 'base' | 'bases'>, key: string): string {
  if (base === undefined) return hashConfig(data, key)
  const under = (bases?.views ?? []).map(({ ref, object }): UnderPart => {
    if (object.kind !== 'found') return { base: undefined, text: undefined }
    const text = Object.hasOwn(object.data, ref.kubeletConfigKey) ? object.data[ref.kubeletConfigKey] : undefined
    return { base: object.base?.text, text }
  })
  return hashConfig(data, key, { base: base.text, under })
}

/** The facts that make a text a part. */
export interface PartOf {
  /** The annotation. */
  readonly base: string
  /** The ConfigMaps under it, the nearest first. */
  readonly under: readonly UnderPart[]
}

interface UnderPart {
  /** The annotation of this ConfigMap. undefined: it holds a whole config. */
  readonly base: string | undefined
  /** undefined: it cannot be read. */
  readonly text: string | undefined
}

/**
 * The hash that names a content in a rollout: of the ConfigMap's data, of the key that kubelet
 * reads, and of the ConfigMaps that the text is merged over. All keys count, because a config may
 * refer to the others by relative path: a node restarts kubelet for an edit of any of them. It
 * leaves out a node's local config and its overlay, since every node has to find the same hash.
 * @param part undefined: the text is a whole config
 * @returns SHA-256 in lower-case hex, also where the key is missing
 */
export function hashConfig(data: Readonly<Record<string, string>>, key: string, part?: PartOf): string {
  const text = (Object.hasOwn(data, key) ? data[key] : undefined) ?? ''
  const own = part === undefined ? text : nameLayers(part, text)
  const others = Object.entries(data).filter(([name]) => name !== key)
  others.sort(([a], [b]) => (a < b ? -1 : 1))
  // With one key, the hash is that of agents from before the others counted.
  const named = others.length === 0 ? own : JSON.stringify([key, own, part !== undefined, others])
  return createHash('sha256').update(named).digest('hex')
}

function nameLayers({ base, under }: PartOf, text: string): string {
  return JSON.stringify([{ base, text }, ...under].map((layer) => [layer.base ?? null, layer.text ?? null]))
}
