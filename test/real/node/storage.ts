// SPDX-License-Identifier: Apache-2.0
/**
 * Where a node's root file system lies: in a directory, or on an ext4 image that is mounted by a
 * loop device. An image can be copied as it is at one moment; a copy that is mounted shows what a
 * disk would hold after a power failure, without what was not yet synced.
 *
 * The directory has a copy of the root, except for /usr and what dpkg knows. That is most of it,
 * and a node changes little of it: each is an overlay where the kernel allows one. All else is no
 * overlay, since containerd has overlays of its own in /var.
 */
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandError, onProcessEnd, run } from '../lab/processes.ts'
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
  if (!(await canOverlay(home))) {
    await run('cp', ['--archive', '--reflink=auto', root.tree, directory])
    return { directory, remove: () => rm(directory, { recursive: true, force: true }) }
  }
  await copyAllBut(['usr', DPKG], root.tree, directory)
  const usr = await Overlay.mount(root.usr, join(home, 'usr'), join(directory, 'usr'))
  const dpkg = await mountDpkg(root, home, directory).catch(async (error: unknown) => {
    await usr.unmount()
    throw error
  })
  const remove = async (): Promise<void> => {
    await dpkg.unmount().finally(() => usr.unmount())
    for (const each of [directory, join(home, 'usr'), join(home, 'dpkg')]) await rm(each, { recursive: true, force: true })
  }
  return { directory, remove }
}

/** A thousand small files, two thirds of those outside of /usr. */
const DPKG = 'var/lib/dpkg'

function mountDpkg(root: NodeRoot, home: string, directory: string): Promise<Overlay> {
  return Overlay.mount([join(root.tree, DPKG)], join(home, 'dpkg'), join(directory, DPKG))
}

/** Copies all of the root but /usr, and mounts an overlay there. Its changes are in `home`. */
export async function copyWithOverlay(root: NodeRoot, directory: string, home: string): Promise<Overlay> {
  await copyAllBut(['usr'], root.tree, directory)
  return Overlay.mount(root.usr, home, join(directory, 'usr'))
}

/**
 * Copies a tree, in which a path that is left out becomes an empty directory. It and those above it
 * have mode 0755.
 */
async function copyAllBut(leftOut: readonly string[], from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  await chmod(to, 0o755)
  const names = await readdir(from)
  const split = new Set(leftOut.map((path) => path.split('/')[0] ?? path))
  const whole = names.filter((name) => !split.has(name)).map((name) => join(from, name))
  if (whole.length > 0) await run('cp', ['--archive', '--reflink=auto', ...whole, to])
  for (const name of split) {
    const below = leftOut.filter((path) => path.startsWith(`${name}/`)).map((path) => path.slice(name.length + 1))
    if (below.length > 0) await copyAllBut(below, join(from, name), join(to, name))
    else await mkdir(join(to, name))
  }
}

/** In a directory of its own: what changes of what is below, which stays as it is. */
class Overlay {
  /** A layer for other overlays, when this one is unmounted. */
  readonly changes: string
  readonly #mounted: Mounted

  private constructor(changes: string, mounted: Mounted) {
    this.changes = changes
    this.#mounted = mounted
  }

  /** @param layers the uppermost first */
  static async mount(layers: readonly string[], home: string, directory: string): Promise<Overlay> {
    const [changes, work] = [join(home, 'changes'), join(home, 'work')]
    for (const each of [changes, work]) await mkdir(each, { recursive: true })
    const options = `lowerdir=${layers.join(':')},upperdir=${changes},workdir=${work}`
    return new Overlay(changes, await Mounted.by(['-t', 'overlay', '-o', options, 'overlay'], directory))
  }

  unmount(): Promise<void> {
    return this.#mounted.unmount()
  }
}

/** Whether `directory` may hold one: it may not where it lies on an overlay itself. */
export async function canOverlay(directory: string): Promise<boolean> {
  await mkdir(directory, { recursive: true })
  const home = await mkdtemp(join(directory, 'try-'))
  try {
    const [below, place] = [join(home, 'below'), join(home, 'place')]
    for (const each of [below, place]) await mkdir(each)
    await (await Overlay.mount([below], home, place)).unmount()
    return true
  } catch (error) {
    if (error instanceof CommandError) return false
    throw error
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

/** Unmounted when this process ends, at the latest. */
class Mounted {
  readonly #directory: string
  #unmountLater: (() => void) | undefined

  private constructor(directory: string) {
    this.#directory = directory
    this.#unmountLater = onProcessEnd(() => void spawnSync('umount', ['--lazy', directory]))
  }

  static async by(args: readonly string[], directory: string): Promise<Mounted> {
    await run('mount', [...args, directory])
    return new Mounted(directory)
  }

  async unmount(): Promise<void> {
    if (this.#unmountLater === undefined) return
    await run('umount', [this.#directory])
    this.#unmountLater()
    this.#unmountLater = undefined
  }
}

export class Image implements Storage {
  readonly directory: string
  readonly #file: string
  #mounted: Mounted | undefined

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

  /** The state of the disk at this moment becomes all there is. Nothing may be running on it. */
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
    this.#mounted = await Mounted.by(['-o', 'loop,commit=300', '-t', 'ext4', this.#file], this.directory)
  }

  async #unmount(): Promise<void> {
    await this.#mounted?.unmount()
  }
}
