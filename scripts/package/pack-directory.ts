// SPDX-License-Identifier: Apache-2.0
/** A directory as a .tar.gz whose bytes depend on its content alone: krew and helm take no xz. */
import { rename } from 'node:fs/promises'
import { resolve } from 'node:path'
import { packTree } from './tar.ts'
import { run } from './tools.ts'

interface Packing {
  /** Of gzip. */
  readonly level: number
  /** The time of every file. */
  readonly epoch: number
}

/** @param name what of `parent` is packed, and how its paths begin */
export async function packDirectory(parent: string, name: string, archive: string, { level, epoch }: Packing): Promise<void> {
  const plain = resolve(`${archive}.tar`)
  await packTree(parent, plain, epoch, name)
  await run('gzip', ['-n', `-${level}`, plain])
  await rename(`${plain}.gz`, archive)
}
