// SPDX-License-Identifier: Apache-2.0
/**
 * The content hash of a checkpoint: of all its files and of the key that kubelet reads, the same
 * for a ConfigMap in memory and for its files on disk. Pure. All files count, because a config may
 * refer to the others by relative path.
 */
import { createHash } from 'node:crypto'
import type { ConfigMapData, ContentHash } from '../subject/config-source.ts'

/** By object: the desired content is needed at every observation and changes rarely. */
const known = new WeakMap<ConfigMapData, Map<string, ContentHash>>()

/**
 * A key that is missing in the data has a hash too: that content exists, and preflight rejects it.
 */
export function contentHash(data: ConfigMapData, key: string): ContentHash {
  const byKey = known.get(data) ?? new Map<string, ContentHash>()
  const hash = byKey.get(key) ?? hashFiles(filesOf(data), key)
  known.set(data, byKey.set(key, hash))
  return hash
}

export function hashFiles(files: ReadonlyMap<string, Uint8Array>, key: string): ContentHash {
  const hash = createHash('sha256')
  // Each part is preceded by its length: different contents never produce the same input.
  const add = (bytes: Uint8Array) => hash.update(`${bytes.length}:`).update(bytes)
  add(Buffer.from(key))
  for (const [name, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    add(Buffer.from(name))
    add(bytes)
  }
  return hash.digest('hex')
}

/** A ConfigMap's data as the bytes of its files. */
export function filesOf(data: ConfigMapData): Map<string, Uint8Array> {
  return new Map(Object.entries(data).map(([name, text]) => [name, Buffer.from(text)]))
}
