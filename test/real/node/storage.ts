/**
 * Where a node's root file system lies: in a directory, or on an ext4 image that is mounted by a
 * loop device. An image can be copied as it is at one moment; a copy that is mounted shows what a
 * disk would hold after a power failure, without what was not yet synced.
 */
import { spawnSync } from 'node:child_process'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { onProcessEnd, run } from '../lab/processes.ts'
import type { NodeRoot } from './root.ts'

export interface Storage {
  /** Where the root is seen while the node runs. */
  readonly directory: string
  remove(): Promise<void>
}

/** A copy of the pristine root, in a directory. */
export async function createDirectory(root: NodeRoot, home: string): Promise<Storage> {
  const directory = join(home, 'root')
  await mkdir(home, { recursive: true })
  await run('cp', ['--archive', '--reflink=auto', root.tree, directory])
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) }
}

export class Image implements Storage {
  readonly directory: string
  readonly #file: string
  #unmountLater: (() => void) | undefined

  private constructor(file: string, directory: string) {
    this.#file = file
    this.directory = directory
  }

  /**
   * Holds what `contents` holds, and is mounted on `directory`. Root has no more space on it than
   * anybody else.
   */
  static async create(root: NodeRoot, file: string, directory: string, sizeMiB: number, contents?: string): Promise<Image> {
    const image = new Image(file, directory)
    await mkdir(directory, { recursive: true })
    const filled = contents === undefined ? [] : ['-d', contents]
    const [program, ...args] = root.tool('mke2fs', '-q', '-t', 'ext4', '-m', '0', ...filled, file, `${sizeMiB}M`)
    await run(program, args)
    await image.#mount()
    return image
  }

  /** What the disk holds at this moment becomes all there is. Nothing may be running on it. */
  async losePower(): Promise<void> {
    const copy = `${this.#file}.copy`
    await run('cp', ['--sparse=always', this.#file, copy])
    await this.#unmount()
    await rename(copy, this.#file)
    await this.#mount()
  }

  async remove(): Promise<void> {
    await this.#unmount()
    await rm(this.#file, { force: true })
  }

  async #mount(): Promise<void> {
    // The kernel commits its journal when it is asked to and else rarely: what is not synced is
    // lost.
    await run('mount', ['-o', 'loop,commit=300', '-t', 'ext4', this.#file, this.directory])
    this.#unmountLater = onProcessEnd(() => void spawnSync('umount', ['--lazy', this.directory]))
  }

  async #unmount(): Promise<void> {
    if (this.#unmountLater === undefined) return
    await run('umount', [this.directory])
    this.#unmountLater()
    this.#unmountLater = undefined
  }
}
