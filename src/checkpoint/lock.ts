// SPDX-License-Identifier: Apache-2.0
/**
 * One agent per directory: flock(2) on `<directory>/lock`. Node.js has no call for it, so flock(1)
 * of util-linux takes the lock on a descriptor that the agent passes to it. The lock belongs to the
 * open file, not to the process that took it: it is held while the agent's descriptor is open, and
 * ends with the agent however that ends. The pid in the file is only informative.
 */
import { closeSync, constants, ftruncateSync, openSync, readdirSync, readFileSync, readlinkSync, realpathSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describeFailure, runCommandSync } from '../process/run-command.ts'
import { errorCode, errorMessage } from '../values/errors.ts'

/** flock itself waits for a second at most. */
const LIMITS = { timeoutMs: 10_000, maxOutputBytes: 1 << 16 }

export type LockResult = { readonly ok: true; readonly lock: DirectoryLock } | { readonly ok: false; readonly detail: string }

interface DirectoryLock {
  release(): void
}

export type LockHolder =
  /** `isWithoutDirectory`: it runs on after the directory with the lock was removed. */
  | { readonly kind: 'running'; readonly pid: number | undefined; readonly isWithoutDirectory?: true }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly detail: string }

type Open = (path: string, flags: number, mode?: number) => number

/** The directory must exist. `pid` is written to the file. */
export function takeLock(path: string, pid: number, open: Open = openSync): LockResult {
  const descriptor = openToLock(path, open)
  // Waits a second: an agent that is ending, or a command that reads the holder, is not a second
  // agent.
  const answer = flock(descriptor, ['--exclusive', '--timeout', '1'])
  if (answer.kind !== 'locked') {
    const detail =
      answer.kind === 'taken' ? `another agent${describePid(findHolder(path))} uses this directory: stop it first` : answer.detail
    closeSync(descriptor)
    return { ok: false, detail: `cannot lock ${path}: ${detail}` }
  }
  writePid(descriptor, pid)
  return { ok: true, lock: { release: () => closeSync(descriptor) } }
}

/**
 * A file system becomes read-only after an error. The agent watches kubelet and reports there all
 * the same, and a descriptor that only reads can be locked.
 */
function openToLock(path: string, open: Open): number {
  try {
    return open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  } catch (cause) {
    if (errorCode(cause) !== 'EROFS') throw cause
    return open(path, constants.O_RDONLY)
  }
}

/** Who holds the lock, for the command line. Takes a shared lock for a moment. */
export function findLockHolder(path: string): LockHolder {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY)
  } catch (cause) {
    return errorCode(cause) === 'ENOENT' ? { kind: 'absent' } : { kind: 'unknown', detail: errorMessage(cause) }
  }
  try {
    const answer = flock(descriptor, ['--shared', '--nonblock'])
    if (answer.kind === 'failed') return { kind: 'unknown', detail: answer.detail }
    return answer.kind === 'locked' ? { kind: 'absent' } : { kind: 'running', pid: findHolder(path) }
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Whether this process still holds the lock of a directory that was removed: the kernel shows the
 * name of such a file with a remark.
 */
export function holdsRemovedLock(pid: number, path: string): boolean {
  const descriptors = `/proc/${pid}/fd`
  try {
    return readdirSync(descriptors).some((name) => readName(join(descriptors, name))?.endsWith(`/${basename(path)} (deleted)`) === true)
  } catch {
    return false
  }
}

type FlockAnswer = { readonly kind: 'locked' } | { readonly kind: 'taken' } | { readonly kind: 'failed'; readonly detail: string }

function flock(descriptor: number, how: readonly string[]): FlockAnswer {
  const result = runCommandSync('flock', [...how, '3'], { ...LIMITS, descriptors: [descriptor] })
  const { end, stderr } = result
  if (end.kind === 'exited' && end.code === 0) return { kind: 'locked' }
  // The documented exit code for a conflict; any other failure has a message.
  if (end.kind === 'exited' && end.code === 1 && stderr === '') return { kind: 'taken' }
  if (end.kind === 'not-started' && end.code === 'ENOENT')
    return { kind: 'failed', detail: 'the program flock is missing: install util-linux' }
  return { kind: 'failed', detail: `flock failed: ${describeFailure(result)}` }
}

function writePid(descriptor: number, pid: number): void {
  try {
    ftruncateSync(descriptor)
    writeSync(descriptor, `${pid}\n`, 0)
  } catch {
    // The lock is held even if the disk is full.
  }
}

/**
 * The process that the file names, where it has the file open. On a disk that is full or read-only,
 * the file still names an earlier agent, and that number may belong to any process now.
 */
function findHolder(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8').trim())
    return Number.isSafeInteger(pid) && pid > 0 && hasOpen(pid, realpathSync(path)) ? pid : undefined
  } catch {
    return undefined
  }
}

/** Reads the names alone: stat(2) of another process's files could wait for a dead disk. */
function hasOpen(pid: number, path: string): boolean {
  const descriptors = `/proc/${pid}/fd`
  return readdirSync(descriptors).some((name) => readName(join(descriptors, name)) === path)
}

/** undefined: it has been closed in the meantime. */
function readName(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch {
    return undefined
  }
}

function describePid(pid: number | undefined): string {
  return pid === undefined ? '' : ` (process ${pid})`
}
