// SPDX-License-Identifier: Apache-2.0
/**
 * The disk in memory. Each step can be interrupted by a crash before and after it, or fail with a
 * disk error. `powerLoss` discards what was not synced (see fake-durability.ts).
 */
import { basename, dirname, join } from 'node:path'
import type { Disk } from '../../../src/checkpoint/disk.ts'
import type { FileFacts } from '../../../src/ports/files.ts'
import { codedError } from '../../../src/values/errors.ts'
import type { Change, FakeDirectory, FakeFile, FakeNode } from './fake-durability.ts'
import { applyDurably, reachedBySync, wake } from './fake-durability.ts'

export interface FakeStep {
  readonly kind: 'write' | 'append' | 'fsync' | 'rename' | 'unlink' | 'mkdir'
  readonly path: string
}
/** `short-write`: reported as success, but only half of the bytes are written. */
export type FakeFault = 'ENOSPC' | 'EIO' | 'EROFS' | 'short-write'
/** XFS and ext4 report with the last two that what they read is corrupt. */
type FakeReadFault = 'EIO' | 'EACCES' | 'EUCLEAN' | 'EBADMSG'
/** Errors that libuv does not name. */
const UNNAMED: Readonly<Record<string, number>> = { EUCLEAN: 117, EBADMSG: 74 }

export class FakeDisk implements Disk {
  readonly owner = 'fake'
  /**
   * If it throws, that is a crash: the error is passed on unchanged, and nothing works until
   * `restart` or `powerLoss`.
   */
  onStep: ((step: FakeStep, phase: 'before' | 'after') => void) | undefined
  /** Called at each step. */
  faultOf: ((step: FakeStep) => FakeFault | undefined) | undefined
  /** Called at each read of a file, a directory or an inode. */
  readFaultOf: ((path: string, kind: 'read' | 'list' | 'stat') => FakeReadFault | undefined) | undefined
  /** Nothing can be written or created; renames and removals work. */
  full = false

  readonly #nowMs: () => number
  readonly #root: FakeDirectory
  /** Changes of names that have not reached the disk, oldest first. */
  #pending: Change[] = []
  /** The node of each path that was looked up since a name was last changed: most is reading. */
  readonly #found = new Map<string, FakeNode | undefined>()
  /** The error for each path at which nothing was: most of those are looked for at each look. */
  readonly #absent = new Map<string, Error>()
  /** Rises with each change of a name or of bytes. */
  revision = 0
  #inodes = 0
  #crash: { readonly thrown: unknown } | undefined

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#root = this.#newDirectory(0o755)
  }

  read(path: string): Buffer {
    this.#refuseRead(path, 'read')
    const node = this.#existing(path)
    if (node.kind === 'directory') throw failure('EISDIR', path)
    // No copy: nobody changes bytes, neither here nor where they are read.
    return node.bytes
  }

  list(path: string): string[] {
    this.#refuseRead(path, 'list')
    return [...this.#directory(path).entries.keys()]
  }

  stat(path: string): FileFacts | undefined {
    this.#refuseRead(path, 'stat')
    const node = this.#find(path)
    if (node === undefined) return undefined
    const size = node.kind === 'file' ? node.bytes.length : 0
    const { kind, mode, mtimeMs } = node
    return { kind, mode, uid: 0, gid: 0, size, mtimeMs, identity: `${node.inode}:${size}:${mtimeMs}:${node.changes}` }
  }

  makeDirectory(path: string, mode: number): void {
    this.#step('mkdir', path, () => {
      if (this.#find(path) !== undefined) throw failure('EEXIST', path)
      this.#link(path, this.#newDirectory(mode))
    })
  }

  write(path: string, bytes: Buffer, mode: number): void {
    this.#step('write', path, (fault) => this.#link(path, this.#newFile(fault === 'short-write' ? half(bytes) : Buffer.from(bytes), mode)))
    this.#step('fsync', path, () => {
      const file = this.#existing(path)
      if (file.kind === 'file') file.durable = file.bytes
    })
  }

  append(path: string, text: string, mode: number): void {
    this.#step('append', path, (fault) => {
      const added = fault === 'short-write' ? half(Buffer.from(text)) : Buffer.from(text)
      const file = this.#find(path)
      if (file?.kind === 'directory') throw failure('EISDIR', path)
      if (file === undefined) this.#link(path, this.#newFile(added, mode))
      else this.#fill(file, Buffer.concat([file.bytes, added]))
      // Unlike write-file-atomic, appendFileSync continues after a short write, and then gets the
      // error.
      if (fault === 'short-write') throw failure('ENOSPC', path)
    })
  }

  rename(from: string, to: string): void {
    this.#step('rename', from, () => {
      const node = this.#existing(from)
      const replaced = this.#find(to)
      if (replaced?.kind === 'directory' && node.kind === 'file') throw failure('EISDIR', to)
      if (replaced?.kind === 'file' && node.kind === 'directory') throw failure('ENOTDIR', to)
      if (replaced?.kind === 'directory' && replaced.entries.size > 0) throw failure('ENOTEMPTY', to)
      node.changes += 1
      this.#change(node, [
        { directory: this.#directory(dirname(from)), name: basename(from), node: undefined },
        { directory: this.#directory(dirname(to)), name: basename(to), node },
      ])
    })
  }

  unlink(path: string): void {
    const node = this.#existing(path)
    if (node.kind === 'directory') throw failure('EISDIR', path)
    this.#unlink(path, node)
  }

  removeTree(path: string): void {
    const node = this.#find(path)
    if (node === undefined) return
    if (node.kind === 'directory') for (const name of [...node.entries.keys()]) this.removeTree(join(path, name))
    this.#unlink(path, node)
  }

  syncDirectory(path: string): void {
    this.#step('fsync', path, () => {
      const synced = reachedBySync(this.#directory(path), this.#pending)
      for (const change of synced) applyDurably(change)
      if (synced.size > 0) this.#pending = this.#pending.filter((change) => !synced.has(change))
    })
  }

  /**
   * Creates a durable file and its parents without steps. Unlike everything else here, it changes a
   * file in place.
   */
  plant(path: string, bytes: Uint8Array | string): void {
    this.#forgetFound()
    let directory = this.#root
    for (const name of segments(dirname(path))) {
      const next = directory.entries.get(name) ?? this.#newDirectory(0o755)
      if (next.kind === 'file') throw failure('ENOTDIR', path)
      directory.entries.set(name, next)
      directory.durable.set(name, next)
      directory = next
    }
    const found = directory.entries.get(basename(path))
    const file = found?.kind === 'file' ? found : this.#newFile(Buffer.alloc(0), 0o600)
    this.#fill(file, Buffer.from(bytes))
    file.durable = file.bytes
    directory.entries.set(basename(path), file)
    directory.durable.set(basename(path), file)
  }

  /** A new process after a crash of the old one: everything visible is still there. */
  restart(): void {
    this.#crash = undefined
  }

  /** The machine loses power and boots. `random` returns numbers in [0, 1). */
  powerLoss(random: () => number): void {
    const lost = new Set<FakeNode>()
    for (const change of this.#pending) {
      // A journal keeps the order of changes to one file: if one is lost, all later ones are lost.
      if (lost.has(change.node) || random() < 0.5) lost.add(change.node)
      else applyDurably(change)
    }
    this.#pending = []
    this.#crash = undefined
    this.#forgetFound()
    wake(this.#root, random)
  }

  #unlink(path: string, node: FakeNode): void {
    this.#step('unlink', path, () => {
      this.#change(node, [{ directory: this.#directory(dirname(path)), name: basename(path), node: undefined }])
    })
  }

  #refuseRead(path: string, kind: 'read' | 'list' | 'stat'): void {
    const fault = this.readFaultOf?.(path, kind)
    if (fault !== undefined) throw failure(fault, path)
  }

  #step(kind: FakeStep['kind'], path: string, action: (fault: FakeFault | undefined) => void): void {
    // A crashed process does not clean up.
    if (this.#crash !== undefined) throw this.#crash.thrown
    const step: FakeStep = { kind, path }
    this.#announce(step, 'before')
    const needsSpace = kind === 'write' || kind === 'append' || kind === 'mkdir'
    const fault = this.faultOf?.(step) ?? (this.full && needsSpace ? 'ENOSPC' : undefined)
    if (fault !== undefined && fault !== 'short-write') throw failure(fault, path)
    action(fault)
    this.#announce(step, 'after')
  }

  #announce(step: FakeStep, phase: 'before' | 'after'): void {
    try {
      this.onStep?.(step, phase)
    } catch (thrown) {
      this.#crash = { thrown }
      throw thrown
    }
  }

  #find(path: string): FakeNode | undefined {
    const known = this.#found.get(path)
    if (known !== undefined || this.#found.has(path)) return known
    const node = this.#walk(path)
    this.#found.set(path, node)
    return node
  }

  #walk(path: string): FakeNode | undefined {
    let node: FakeNode | undefined = this.#root
    for (const name of segments(path)) {
      if (node === undefined) return undefined
      if (node.kind === 'file') throw failure('ENOTDIR', path)
      node = node.entries.get(name)
    }
    return node
  }

  #existing(path: string): FakeNode {
    const node = this.#find(path)
    if (node === undefined) throw this.#absence(path)
    return node
  }

  #absence(path: string): Error {
    const error = this.#absent.get(path) ?? failure('ENOENT', path)
    this.#absent.set(path, error)
    return error
  }

  #forgetFound(): void {
    this.#found.clear()
    this.revision += 1
  }

  #directory(path: string): FakeDirectory {
    const node = this.#existing(path)
    if (node.kind === 'file') throw failure('ENOTDIR', path)
    return node
  }

  #link(path: string, node: FakeNode): void {
    this.#change(node, [{ directory: this.#directory(dirname(path)), name: basename(path), node }])
  }

  #change(node: FakeNode, entries: Change['entries']): void {
    this.#forgetFound()
    for (const { directory, name, node: entry } of entries) {
      if (entry === undefined) directory.entries.delete(name)
      else directory.entries.set(name, entry)
      directory.mtimeMs = this.#nowMs()
      directory.changes += 1
    }
    this.#pending.push({ node, entries })
  }

  #fill(file: FakeFile, bytes: Buffer): void {
    this.revision += 1
    file.bytes = bytes
    file.mtimeMs = this.#nowMs()
    file.changes += 1
  }

  #newFile(bytes: Buffer, mode: number): FakeFile {
    this.#inodes += 1
    return { kind: 'file', inode: this.#inodes, mode, bytes, durable: undefined, mtimeMs: this.#nowMs(), changes: 0 }
  }

  #newDirectory(mode: number): FakeDirectory {
    this.#inodes += 1
    return {
      kind: 'directory',
      inode: this.#inodes,
      mode,
      entries: new Map(),
      durable: new Map(),
      mtimeMs: this.#nowMs(),
      changes: 0,
    }
  }
}

function half(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length >> 1))
}

function segments(path: string): readonly string[] {
  return path.split('/').filter((name) => name !== '')
}

/**
 * Without a stack trace: most of these errors only say that a file is absent, and it takes most of
 * their CPU.
 */
function failure(code: string, path: string): Error & { readonly code: string } {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    const errno = UNNAMED[code]
    if (errno === undefined) return codedError(code, `${code}: simulated, '${path}'`)
    const unnamed = `Unknown system error -${errno}`
    return Object.assign(codedError(unnamed, `${unnamed}: ${unnamed}, open '${path}'`), { errno: -errno })
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
