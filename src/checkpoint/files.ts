/**
 * Durable files: the `Files` port, and whole directories, composed of a disk's primitive steps in the order that fsync(2) and
 * rename(2) ask for: bytes are synced before the rename that shows them, the directory after it. No other fsync is made: one more
 * costs 1 to 20 ms on a real disk, one fewer loses a file at power loss. Knows nothing of the directory's layout.
 */
import { basename, dirname, join } from 'node:path'
import type { FileFacts } from '../ports/files.ts'
import { errorCode, errorMessage } from '../values/errors.ts'
import type { Disk, TreeFiles } from './disk.ts'
import type { FileAction } from './file-error.ts'
import { FileError } from './file-error.ts'

/** Names of unfinished work start so; no ConfigMap key may (`IsConfigMapKey` upstream), and so `list` can hide them. */
const UNFINISHED = '..'
const OUR_UNFINISHED = /^\.\..*\.(\d+|fake)$/
const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600

export class DurableFiles implements TreeFiles {
  readonly #disk: Disk
  /** Directories that changed but whose fsync failed: what is visible there may yet be lost, so each later sync tries them again. */
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

  stat(path: string): FileFacts | undefined {
    return attempt('look at', path, () => this.#disk.stat(path))
  }

  makeDirectory(path: string, mode: number = DIRECTORY_MODE): void {
    attempt('create', path, () => {
      const found = this.#disk.stat(path)
      if (found?.kind === 'file') throw new FileError('create', path, 'ENOTDIR', 'a file is there')
      if (found !== undefined) return
      this.makeDirectory(dirname(path), mode)
      this.#disk.makeDirectory(path, mode)
      this.#sync(dirname(path))
    })
  }

  replace(path: string, bytes: Uint8Array | string, options: { mode?: number } = {}): void {
    attempt('write', path, () => {
      this.#place(path, Buffer.from(bytes), options.mode ?? FILE_MODE)
      // Makes the rename durable. Should only this fail, the new bytes are already in place: they are right, but not yet safe.
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
        // Once for the names of all files; the directory's own name needs no fsync before it is the final one.
        this.#disk.syncDirectory(unfinished)
        // Only now, when nothing is left that a full disk could refuse; and safely away before its name is taken.
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

  /** What was set aside for something that could not take its place. Where this fails too, the next try makes it good. */
  #restore(path: string, aside: string): void {
    try {
      if (this.#disk.stat(path) === undefined && this.#disk.stat(aside) !== undefined) this.#disk.rename(aside, path)
    } catch {
      // The error that led here says more.
    }
  }

  rename(from: string, to: string): void {
    attempt('rename', from, () => {
      this.#disk.rename(from, to)
      // The new name first: if anything is lost between the two, it is the removal of the old one.
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
      // Out of sight at once and durably: half a directory must never be seen under its name, not even after a power loss.
      this.#disk.rename(path, unfinished)
      this.#sync(dirname(path))
      this.#disk.removeTree(unfinished)
    })
  }

  append(path: string, text: string): void {
    attempt('append to', path, () => this.#disk.append(path, text, FILE_MODE))
  }

  /**
   * To be called once on a directory, under its lock, before what it holds is relied on: removes what a crash left unfinished, and
   * syncs every directory, since a rename that this process can see may never have reached the disk.
   */
  settle(path: string, deep = true): void {
    attempt('sync', path, () => {
      if (this.#disk.stat(path) === undefined) return
      for (const name of this.#disk.list(path)) {
        const entry = join(path, name)
        // `..name.owner`, as we make them; other programs' names that begin so (kubelet's own `..data`) are none of ours.
        if (OUR_UNFINISHED.test(name)) this.#disk.removeTree(entry)
        else if (deep && this.#disk.stat(entry)?.kind === 'directory') this.settle(entry)
      }
      this.#disk.syncDirectory(path)
    })
  }

  /** Bytes to a file under its final name, the directory not yet synced. The old file is intact after any throw. */
  #place(path: string, bytes: Buffer, mode: number): void {
    const unfinished = this.#unfinished(path)
    try {
      this.#clear(unfinished)
      this.#disk.write(unfinished, bytes, mode)
      // write-file-atomic takes no notice of how much write(2) wrote: on a full disk the file is silently short.
      const found = this.#disk.read(unfinished)
      if (!found.equals(bytes)) {
        throw new FileError('write', path, 'short-write', `${bytes.length} bytes were written, ${found.length} read back, not the same`)
      }
      this.#disk.rename(unfinished, path)
    } catch (cause) {
      this.#discard(unfinished)
      throw cause
    }
  }

  /** A sibling to work on. Short, because a name has 255 bytes and a ConfigMap key may use 253 of them. */
  #unfinished(path: string): string {
    return join(dirname(path), `${UNFINISHED}${basename(path).slice(0, 40)}.${this.#disk.owner}`)
  }

  /** Of what an earlier process with the same pid may have left. */
  #clear(unfinished: string): void {
    if (this.#disk.stat(unfinished) !== undefined) this.#disk.removeTree(unfinished)
  }

  #discard(unfinished: string): void {
    try {
      this.#clear(unfinished)
    } catch {
      // The failure that led here is the one to report; `settle` removes the rest at the next start.
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
        // Reported when it failed first. A directory that still fails must not keep this write, to another one, from being done.
      }
    }
  }
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
    // An error without an errno is none of the disk's: it passes as it is.
    if (cause instanceof FileError || errorCode(cause) === undefined) throw cause
    throw new FileError(tried, path, errorCode(cause) ?? '', describeCause(cause), cause)
  }
}

/** Without the call and its path, which Node.js appends: the path is named already, and that of a temporary file is another one each time. */
function describeCause(cause: unknown): string {
  return errorMessage(cause).replace(/, \w+ '.*$/s, '')
}
