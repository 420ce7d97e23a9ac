// SPDX-License-Identifier: Apache-2.0
/**
 * The content hash of a checkpoint whose file is put in place. It is recorded, since the file in
 * place outlives its checkpoint, and holds only one key of it.
 */
import { dirname, join } from 'node:path'
import { hashFiles } from '../checkpoint/content.ts'
import { FileError } from '../checkpoint/file-error.ts'
import type { Files } from '../ports/files.ts'
import type { ContentHash } from '../subject/config-source.ts'
import { errorCode } from '../values/errors.ts'

/**
 * @param path of the file that kubelet reads, in its checkpoint
 * @returns undefined: another file of the checkpoint cannot be read, which keeps no node from
 * falling back
 */
export function contentToPlace(files: Pick<Files, 'list' | 'read'>, path: string, key: string): ContentHash | undefined {
  const directory = dirname(path)
  const found = new Map<string, Uint8Array>()
  try {
    for (const name of files.list(directory) ?? []) {
      const bytes = files.read(join(directory, name))
      if (bytes === undefined) return undefined
      found.set(name, bytes)
    }
  } catch (cause) {
    if (cause instanceof FileError) return undefined
    throw cause
  }
  return hashFiles(found, key)
}

/**
 * Writes that may fail: what a node does on a full or broken disk must go on. For what must not
 * keep a node from falling back, such as a record on a full disk.
 */
export function tolerateFaults(write: () => void): void {
  try {
    write()
  } catch (cause) {
    if (errorCode(cause) === undefined) throw cause
  }
}
