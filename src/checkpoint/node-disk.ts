/**
 * The real disk: synchronous node:fs (measured: faster than fs.promises) and write-file-atomic,
 * which only this module imports. files.ts composes these steps to durable and complete changes.
 */
import {
  appendFileSync,
  closeSync,
  constants,
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
    // Its sync form ignores `chown: false` and copies the owner of an existing file, so the path
    // must not exist.
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
