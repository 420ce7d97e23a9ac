// SPDX-License-Identifier: Apache-2.0
/**
 * Durable files: the `Files` port, and complete directories, composed of a disk's primitive steps
 * in the order that fsync(2) and rename(2) require: bytes are synced before the rename that makes
 * them visible, and the directory after it. No other fsync is made: one more costs 1 to 20 ms on a
 * real disk, one fewer loses a file at power loss. Independent of the layout of the dynamic config
 * directory.
 */
import { basename, dirname, join } from 'node:path'
import type { FileFacts } from '../ports/files.ts'
import { errorCode } from '../values/errors.ts'
import type { Disk, TreeFiles } from './disk.ts'
import type { FileAction } from './file-error.ts'
import { describeSystemError, FileError } from './file-error.ts'
import { findUnreplaced } from './set-aside.ts'

/**
 * Prefix of unfinished files. No ConfigMap key may begin with it (`IsConfigMapKey` upstream), so
 * `list` can hide them.
 */
const UNFINISHED = '..'
const OUR_UNFINISHED = /^\.\..*\.(\d+|fake)$/
const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600

export class DurableFiles implements TreeFiles {
  readonly #disk: Disk
  /**
   * Directories whose fsync failed after a change: it can still be lost, so each later sync retries
   * them.
   */
  readonly #unsynced = new Set<string>()

  constructor(disk: Disk) {
    this.#disk = disk
  }

  read(path: string): Buffer | undefined {
    return unlessAbsent('read', path, () => this.#disk.read(path))
  }

  list(path: string): string[] | undefined {
    return unlessAbsent('list', path, () => this.#disk.list(path))
      ?.filter((name) => !name.startsWith(UNFINISHED))
      .sort()
  }

  stat(path: string, links?: 'follow'): FileFacts | undefined {
    return attempt('inspect', path, () => this.#disk.stat(path, links))
  }

  makeDirectory(path: string, mode: number = DIRECTORY_MODE): void {
    attempt('create', path, () => {
      const found = this.#disk.stat(path)
      if (found?.kind === 'file') throw new FileError('create', path, 'ENOTDIR', 'a file exists there')
      if (found !== undefined) return
      this.makeDirectory(dirname(path), mode)
      this.#disk.makeDirectory(path, mode)
      this.#sync(dirname(path))
    })
  }

  replace(path: string, bytes: Uint8Array | string, options: { mode?: number } = {}): void {
    attempt('write', path, () => {
      this.#place(path, Buffer.from(bytes), options.mode ?? FILE_MODE)
      // Makes the rename durable. If only this fails, the new bytes are in place and correct, but
      // not durable yet.
      this.#sync(dirname(path))
    })
  }

  createTree(path: string, files: ReadonlyMap<string, Uint8Array>, aside?: string): void {
    attempt('create', path, () => {
      const exists = this.#disk.stat(path) !== undefined
      // rename(2) would silently replace an empty directory.
      if (exists && aside === undefined) throw new FileError('create', path, 'EEXIST', 'it exists')
      const unfinished = this.#unfinished(path)
      this.#clear(unfinished)
      try {
        this.#disk.makeDirectory(unfinished, DIRECTORY_MODE)
        for (const [name, bytes] of files) this.#place(join(unfinished, name), Buffer.from(bytes), FILE_MODE)
        // Once for the names of all files; the directory's own name needs an fsync only when it is
        // the final one.
        this.#disk.syncDirectory(unfinished)
        // Only now, when a full disk can no longer make it fail; and durable before the name is
        // used again.
        if (exists && aside !== undefined) {
          this.#disk.rename(path, aside)
          this.#sync(dirname(path))
        }
        this.#disk.rename(unfinished, path)
      } catch (cause) {
        if (exists && aside !== undefined) this.#restore(path, aside)
        this.#discard(unfinished)
        throw cause
      }
      this.#sync(dirname(path))
    })
  }

  /**
   * Restores what was set aside if its replacement failed. If this fails too, the next attempt
   * repairs it.
   */
  #restore(path: string, aside: string): void {
    try {
      if (this.#disk.stat(path) === undefined && this.#disk.stat(aside) !== undefined) this.#disk.rename(aside, path)
    } catch {
      // The caller reports the original error, which says more.
    }
  }

  rename(from: string, to: string): void {
    attempt('rename', from, () => {
      this.#disk.rename(from, to)
      // The new name first: a crash between the two can only lose the removal of the old name.
      this.#sync(dirname(to))
      if (dirname(from) !== dirname(to)) this.#sync(dirname(from))
    })
  }

  remove(path: string): void {
    attempt('remove', path, () => {
      if (this.#disk.stat(path) === undefined) return
      this.#disk.unlink(path)
      this.#sync(dirname(path))
    })
  }

  removeTree(path: string): void {
    attempt('remove', path, () => {
      if (this.#disk.stat(path) === undefined) return
      const unfinished = this.#unfinished(path)
      this.#clear(unfinished)
      // Renamed first, durably: a partly removed directory must never be visible under its name,
      // even after a power loss.
      this.#disk.rename(path, unfinished)
      this.#sync(dirname(path))
      this.#disk.removeTree(unfinished)
    })
  }

  syncDirectory(path: string): void {
    attempt('sync', path, () => {
      if (this.#disk.stat(path) !== undefined) this.#sync(path)
    })
  }

  append(path: string, text: string): void {
    attempt('append to', path, () => this.#disk.append(path, text, FILE_MODE))
  }

  /**
   * Called once for a directory, under its lock, before its content is used. Removes what a crash
   * left unfinished, and syncs every directory, because a name that this process sees may not be on
   * disk yet: neither that of the directory itself.
   *
   * @param within the directories in it that are settled as well, with all that is in them.
   * undefined: all
   */
  settle(path: string, within?: readonly string[]): void {
    attempt('sync', path, () => {
      if (this.#disk.stat(path) === undefined) return
      this.#settleWithin(path, within)
      this.#sync(dirname(path))
    })
  }

  #settleWithin(path: string, within?: readonly string[]): void {
    const names = this.#disk.list(path)
    this.#putBack(path, names)
    for (const name of names) {
      const entry = join(path, name)
      // `..name.owner` is the agent's; names of other programs may begin with dots too (kubelet's
      // `..data`).
      if (OUR_UNFINISHED.test(name)) this.#disk.removeTree(entry)
      else if (within?.includes(name) !== false && this.#disk.stat(entry)?.kind === 'directory') this.#settleWithin(entry)
    }
    this.#disk.syncDirectory(path)
  }

  /**
   * A crash between the two renames of `createTree` leaves nothing under the name of the directory.
   * The old one gets it again before the unfinished one is removed.
   */
  #putBack(path: string, names: readonly string[]): void {
    for (const { name, aside } of findUnreplaced(names)) {
      if (!names.some((other) => OUR_UNFINISHED.test(other) && other.startsWith(`${unfinishedPrefix(name)}.`))) continue
      this.#disk.rename(join(path, aside), join(path, name))
      this.#disk.syncDirectory(path)
    }
  }

  /**
   * Writes the bytes and gives them their final name, without syncing the directory. If it throws,
   * the old file is intact.
   */
  #place(path: string, bytes: Buffer, mode: number): void {
    const unfinished = this.#unfinished(path)
    try {
      this.#clear(unfinished)
      this.#disk.write(unfinished, bytes, mode)
      // write-file-atomic ignores how much write(2) wrote: on a full disk the file is silently too
      // short.
      const found = this.#disk.read(unfinished)
      if (!found.equals(bytes)) {
        throw new FileError(
          'write',
          path,
          'short-write',
          `${bytes.length} bytes were written, and ${found.length} different ones read back`,
        )
      }
      this.#disk.rename(unfinished, path)
    } catch (cause) {
      this.#discard(unfinished)
      throw cause
    }
  }

  /** A temporary sibling. */
  #unfinished(path: string): string {
    return join(dirname(path), `${unfinishedPrefix(basename(path))}.${this.#disk.owner}`)
  }

  /** Removes what an earlier process with the same pid may have left. */
  #clear(unfinished: string): void {
    if (this.#disk.stat(unfinished) !== undefined) this.#disk.removeTree(unfinished)
  }

  #discard(unfinished: string): void {
    try {
      this.#clear(unfinished)
    } catch {
      // The caller reports the original error; `settle` removes the rest at the next start.
    }
  }

  #sync(directory: string): void {
    this.#unsynced.add(directory)
    this.#disk.syncDirectory(directory)
    this.#unsynced.delete(directory)
    for (const earlier of this.#unsynced) {
      try {
        this.#disk.syncDirectory(earlier)
        this.#unsynced.delete(earlier)
      } catch {
        // The failure was reported when it first happened. It must not make this write to another
        // directory fail.
      }
    }
  }
}

/** Short, because names have at most 255 bytes and a key may have 253. */
function unfinishedPrefix(name: string): string {
  return `${UNFINISHED}${name.slice(0, 40)}`
}

function unlessAbsent<T>(tried: FileAction, path: string, action: () => T): T | undefined {
  return attempt(tried, path, () => {
    try {
      return action()
    } catch (cause) {
      if (errorCode(cause) === 'ENOENT') return undefined
      throw cause
    }
  })
}

function attempt<T>(tried: FileAction, path: string, action: () => T): T {
  try {
    return action()
  } catch (cause) {
    if (cause instanceof FileError) throw cause
    const error = describeSystemError(cause)
    // An error that the operating system does not describe does not come from the disk.
    if (error === undefined) throw cause
    throw new FileError(tried, path, error.code, error.detail, cause)
  }
}
