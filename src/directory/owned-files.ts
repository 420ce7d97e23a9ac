// SPDX-License-Identifier: Apache-2.0
/**
 * Reads files that decide what kubelet runs as root: overlays and manifests. Only root (or the user
 * of the agent) may be able to write them and their directory, and to change where a symbolic link
 * among them leads. Owner and mode are checked on the open file: no link bypasses the check. Looks
 * in the same way at who could have put a socket where it is.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join, sep } from 'node:path'
import type { FileFacts, OwnedFiles } from '../ports/files.ts'
import { codedError, errorCode } from '../values/errors.ts'

export class NodeOwnedFiles implements OwnedFiles {
  list(path: string): string[] | undefined {
    const facts = statSync(path, { throwIfNoEntry: false })
    if (facts === undefined) return undefined
    if (!facts.isDirectory()) throw new Error(`${path} is not a directory`)
    refuseExposed(path, facts)
    refuseExposedWay(path, facts)
    return readdirSync(path).sort()
  }

  read(path: string, mostBytes: number): Buffer | undefined {
    const fd = open(path)
    if (fd === undefined) return undefined
    try {
      const facts = fstatSync(fd)
      if (!facts.isFile()) throw new Error(`${path} is not a regular file`)
      refuseExposed(path, facts)
      refuseExposedWay(path, facts)
      const buffer = Buffer.alloc(Math.min(mostBytes, facts.size) + 1)
      let length = 0
      for (let count = -1; count !== 0 && length < buffer.length; length += count)
        count = readSync(fd, buffer, length, buffer.length - length, null)
      if (facts.size > mostBytes || length > mostBytes) throw codedError('EFBIG', `${path} is too large`)
      return buffer.subarray(0, length)
    } finally {
      closeSync(fd)
    }
  }

  stat(path: string): Pick<FileFacts, 'kind' | 'identity'> | undefined {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (found === undefined) return undefined
    return {
      kind: found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other',
      identity: [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(':'),
    }
  }
}

/** undefined: the file does not exist. */
function open(path: string): number | undefined {
  try {
    // O_NONBLOCK: opening a named pipe would block.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw new Error(`${path} cannot be read: ${errorCode(error) ?? String(error)}`, { cause: error })
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined
    throw new Error(`${path} is a dangling symbolic link`, { cause: error })
  }
}

/**
 * Another user may be able to point a link at another file of root's: by a link of their own, or by
 * a directory on the way to what a link names. And the link may have been turned since the file was
 * opened: where it leads now has to be that file.
 */
function refuseExposedWay(path: string, { dev, ino }: Stats): void {
  let found: Step | undefined
  try {
    for (const step of walk(realpathSync(dirname(path)), [basename(path)])) {
      refuseExposed(step.path, { uid: step.facts.uid, mode: modeOf(step) })
      found = step
    }
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    throw new Error(`${path} was removed or replaced while it was read`, { cause: error })
  }
  if (found?.facts.dev !== dev || found.facts.ino !== ino) throw new Error(`${path} was replaced while it was read`)
}

function refuseExposed(path: string, { uid, mode }: Pick<Stats, 'uid' | 'mode'>): void {
  if (isOthers(uid))
    throw new Error(`${path} belongs to uid ${uid}, but must belong to root, since it decides what kubelet runs: chown root`)
  if ((mode & (BY_GROUP | BY_OTHERS)) !== 0)
    throw new Error(`${path} is writable by group or others, but must not be, since it decides what kubelet runs: chmod go-w`)
}

/** A Unix socket, and who besides root could have put it there. */
export interface SocketFacts {
  /** Without links: whoever connects to it meets what was looked at. */
  readonly path: string
  /** An account that could have. A socket that systemd listens at is root's. */
  readonly stranger?: string
  /** A group could have, or more than root may connect. */
  readonly warning?: string
}

/** The path of a socket, and whether others than root have it, or may put one there. */
export function lookAtSocket(socket: string): SocketFacts {
  let found: SocketFacts = { path: socket }
  /** The directory that the next step is looked for in, if it is a sticky one for everybody. */
  let shared: string | undefined
  try {
    for (const step of walkFromRoot(socket)) {
      const { path, facts } = step
      if (isOthers(facts.uid)) return { path, stranger: `${path} belongs to uid ${facts.uid}` }
      if (facts.isDirectory() && (modeOf(step) & BY_OTHERS) !== 0) return { path, stranger: `everybody may write to ${path}` }
      if (facts.isDirectory()) shared = (facts.mode & BY_OTHERS) === 0 ? undefined : path
      const warning = warnOf(step) ?? found.warning
      found = { path, ...(warning !== undefined && { warning }) }
    }
    return found
  } catch (error) {
    if (shared !== undefined && errorCode(error) === 'ENOENT')
      return { path: socket, stranger: `it is not there, and everybody may write to ${shared}` }
    // Whoever connects says what is wrong. Only root can put a socket there in between.
    return { path: socket }
  }
}

function* walkFromRoot(path: string): Generator<Step> {
  yield { path: sep, facts: lstatSync(sep) }
  yield* walk(sep, path.split(sep).filter(Boolean))
}

function warnOf(step: Step): string | undefined {
  const { path, facts } = step
  const mode = modeOf(step)
  if (facts.isSocket() && (mode & BY_OTHERS) !== 0)
    return `everybody may write to ${path}: each account can act as root through the container runtime`
  return facts.gid !== 0 && (mode & BY_GROUP) !== 0
    ? `group ${facts.gid} may write to ${path}: its members can act as root through the container runtime, or in its place`
    : undefined
}

interface Step {
  readonly path: string
  readonly facts: Stats
}

/** As Linux has it (path_resolution(7)). */
const MOST_LINKS = 40
const STICKY = 0o1000
const BY_GROUP = 0o020
const BY_OTHERS = 0o002

/**
 * Each link and directory on the way, and what it leads to, which comes last.
 * @param start a directory, without links
 */
function* walk(start: string, names: readonly string[]): Generator<Step> {
  const rest = [...names]
  let at = start
  let links = 0
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const step = { path: join(at, name), facts: lstatSync(join(at, name)) }
    yield step
    if (!step.facts.isSymbolicLink()) {
      at = step.path
      continue
    }
    links += 1
    if (links > MOST_LINKS) throw new Error(`${step.path} leads through too many symbolic links`)
    const target = readlinkSync(step.path)
    if (isAbsolute(target)) at = sep
    yield { path: at, facts: lstatSync(at) }
    rest.unshift(...target.split(sep).filter(Boolean))
  }
}

/**
 * Nobody can write to a link itself: its mode says nothing. In a sticky directory, users replace
 * only their own.
 */
function modeOf({ facts }: Step): number {
  const isSticky = facts.isDirectory() && (facts.mode & STICKY) !== 0
  return facts.isSymbolicLink() || isSticky ? 0 : facts.mode
}

function isOthers(uid: number): boolean {
  return uid !== 0 && uid !== process.geteuid?.()
}

/** Where a symbolic link leads, as it is written. undefined: there is none, or it is unreadable. */
export function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
