/**
 * Reads files that decide what kubelet runs as root: overlays and manifests. Only root (or the user
 * of the agent) may be able to write them and their directory, and to change where a symbolic link
 * among them leads. Owner and mode are checked on the open file: no link bypasses the check.
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
import { dirname, isAbsolute, join, sep } from 'node:path'
import type { FileFacts, OwnedFiles } from '../ports/files.ts'
import { codedError, errorCode } from '../values/errors.ts'

export class NodeOwnedFiles implements OwnedFiles {
  list(path: string): string[] | undefined {
    const facts = statSync(path, { throwIfNoEntry: false })
    if (facts === undefined) return undefined
    if (!facts.isDirectory()) throw new Error(`${path} is not a directory`)
    refuseExposed(path, facts)
    refuseExposedLink(path)
    return readdirSync(path).sort()
  }

  read(path: string, mostBytes: number): Buffer | undefined {
    const fd = open(path)
    if (fd === undefined) return undefined
    try {
      const facts = fstatSync(fd)
      if (!facts.isFile()) throw new Error(`${path} is not a regular file`)
      refuseExposed(path, facts)
      refuseExposedLink(path)
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

/** As Linux has it (path_resolution(7)). */
const MOST_LINKS = 40
const STICKY = 0o1000

/**
 * Another user may be able to point a link at another file of root's: by a link of their own, or by
 * a directory on the way to what a link names. In a sticky directory, users replace only their own.
 */
function refuseExposedLink(path: string): void {
  let links = 0
  const follow = (link: string): void => {
    const facts = lstatSync(link)
    if (!facts.isSymbolicLink()) return
    links += 1
    if (links > MOST_LINKS) throw new Error(`${path} leads through too many symbolic links`)
    // Nobody can write to a link itself: its mode says nothing.
    refuseExposed(link, { uid: facts.uid, mode: 0 })
    const target = readlinkSync(link)
    let at = realpathSync(isAbsolute(target) ? sep : dirname(link))
    for (const name of target.split(sep).filter(Boolean)) {
      const { uid, mode } = statSync(at)
      refuseExposed(at, { uid, mode: (mode & STICKY) === 0 ? mode : 0 })
      follow(join(at, name))
      at = realpathSync(join(at, name))
    }
  }
  follow(path)
}

function refuseExposed(path: string, { uid, mode }: Pick<Stats, 'uid' | 'mode'>): void {
  if (uid !== 0 && uid !== process.geteuid?.())
    throw new Error(`${path} belongs to uid ${uid}, but must belong to root, since it decides what kubelet runs: chown root`)
  if ((mode & 0o022) !== 0)
    throw new Error(`${path} is writable by group or others, but must not be, since it decides what kubelet runs: chmod go-w`)
}
