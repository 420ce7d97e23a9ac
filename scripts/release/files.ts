// SPDX-License-Identifier: Apache-2.0
/** Digests and copies of the files of a release. */
import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { copyFile, mkdir, readdir, stat, utimes } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Digested } from './checksums.ts'

export async function digestFile(directory: string, path: string): Promise<Digested> {
  const file = join(directory, path)
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return { path, sha256: hash.digest('hex'), size: (await stat(file)).size }
}

/** Every file below a directory. */
export async function digestTree(directory: string): Promise<Digested[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => relative(directory, join(entry.parentPath, entry.name)))
  const found: Digested[] = []
  for (const file of files.sort()) found.push(await digestFile(directory, file.split(sep).join('/')))
  return found
}

/** With the time of the commit: createrepo_c writes the time of a file into its index. */
export async function place(from: string, to: string, epoch: number): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await copyFile(from, to, constants.COPYFILE_FICLONE)
  await utimes(to, epoch, epoch)
}
