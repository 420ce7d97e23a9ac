// SPDX-License-Identifier: Apache-2.0
/**
 * The primitive steps of durable files, each about one system call. The real disk (node-disk.ts)
 * and the one in memory (fake-disk.ts) implement them, and files.ts composes them: the simulation
 * runs the same code as a node.
 */
import type { FileFacts, Files } from '../ports/files.ts'
import { codedError } from '../values/errors.ts'

/** Every method throws an error with an errno `code`. */
export interface Disk {
  /** Distinguishes the unfinished files of two processes in one directory. */
  readonly owner: string
  read(path: string): Buffer
  list(path: string): string[]
  /** undefined: nothing exists at this path. Links are not followed, unless that is asked for. */
  stat(path: string, links?: 'follow'): FileFacts | undefined
  makeDirectory(path: string, mode: number): void
  /** Creates the file and syncs its bytes, not its name. May report success for a short write. */
  write(path: string, bytes: Buffer, mode: number): void
  append(path: string, text: string, mode: number): void
  rename(from: string, to: string): void
  unlink(path: string): void
  /** Removes everything below and then the entry itself, which need not exist. */
  removeTree(path: string): void
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): void
}

/** Files, and complete directories. */
export interface TreeFiles extends Files {
  /**
   * Creates a directory with these files: it is complete and durable afterwards, or it does not
   * exist and an error is thrown. It must not exist before, unless `aside`, a sibling, is the new
   * name for the old one. The old directory is renamed only when the new one is ready.
   */
  createTree(path: string, files: ReadonlyMap<string, Uint8Array>, aside?: string): void
}

const refuse = (): never => {
  throw codedError('EROFS', 'EROFS: this command only reads')
}

/** A disk for commands that must change nothing: it rejects each change, like a read-only mount. */
export class ReadOnlyDisk implements Disk {
  readonly owner = 'nobody'
  readonly #disk: Disk

  constructor(disk: Disk) {
    this.#disk = disk
  }

  read(path: string): Buffer {
    return this.#disk.read(path)
  }

  list(path: string): string[] {
    return this.#disk.list(path)
  }

  stat(path: string, links?: 'follow'): FileFacts | undefined {
    return this.#disk.stat(path, links)
  }

  readonly makeDirectory = refuse
  readonly write = refuse
  readonly append = refuse
  readonly rename = refuse
  readonly unlink = refuse
  readonly removeTree = refuse
  readonly syncDirectory = refuse
}
