// SPDX-License-Identifier: Apache-2.0
/**
 * The real disk: synchronous node:fs (measured: faster than fs.promises) and write-file-atomic,
 * which only this module imports. files.ts composes these steps to durable and complete changes.
 */
import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import writeFileAtomic from 'write-file-atomic'
import type { FileFacts } from '../ports/files.ts'
import type { Disk } from './disk.ts'

export class NodeDisk implements Disk {
  readonly owner = String(process.pid)

  read(path: string): Buffer {
    return readFileSync(path)
  }

  list(path: string): string[] {
    return readdirSync(path)
  }

  stat(path: string, links?: 'follow'): FileFacts | undefined {
    const found = (links === 'follow' ? statSync : lstatSync)(path, { bigint: true, throwIfNoEntry: false })
    if (found === undefined) return undefined
    return {
      kind: found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other',
      mode: Number(found.mode & 0o7777n),
      uid: Number(found.uid),
      gid: Number(found.gid),
      size: Number(found.size),
      mtimeMs: Number(found.mtimeNs / 1_000_000n),
      identity: `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`,
    }
  }

  makeDirectory(path: string, mode: number): void {
    mkdirSync(path, mode)
  }

  write(path: string, bytes: Buffer, mode: number): void {
    // The sync form of the library ignores `chown: false` and copies the owner of an existing file,
    // so the path must not exist.
    writeFileAtomic.sync(path, bytes, { mode })
  }

  append(path: string, text: string, mode: number): void {
    appendFileSync(path, text, { mode })
  }

  rename(from: string, to: string): void {
    renameSync(from, to)
  }

  unlink(path: string): void {
    unlinkSync(path)
  }

  removeTree(path: string): void {
    rmSync(path, { recursive: true, force: true })
  }

  syncDirectory(path: string): void {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }
}

/**
 * A directory as the agent found it at its start. In the sandbox of its unit, systemd has bound it
 * to its place (systemd.exec(5), StateDirectory=). If it is removed, the agent sees what is behind
 * it, which is read-only and stays so, whatever is made in its place.
 */
export interface HeldDirectory {
  /**
   * Whether the directory was removed. One that is mounted read-only, or has another name, was not.
   */
  isUnlinked(): boolean
}

/** @param path of a directory that exists. The process holds it until it ends. */
export function holdDirectory(path: string): HeldDirectory {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  return {
    isUnlinked: () => {
      try {
        return fstatSync(descriptor).nlink === 0
      } catch {
        // A disk that does not answer says nothing.
        return false
      }
    },
  }
}
