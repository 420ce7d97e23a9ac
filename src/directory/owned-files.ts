/**
 * Reads files that decide what kubelet runs as root: overlays and manifests. Only root (or the user
 * of the agent) may be able to write them and their directory. Owner and mode are checked on the
 * open file, so a symbolic link cannot bypass the check.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, type Stats, statSync } from 'node:fs'
import type { FileFacts, OwnedFiles } from '../ports/files.ts'
import { codedError, errorCode } from '../values/errors.ts'

export class NodeOwnedFiles implements OwnedFiles {
  list(path: string): string[] | undefined {
    const facts = statSync(path, { throwIfNoEntry: false })
    if (facts === undefined) return undefined
    if (!facts.isDirectory()) throw new Error(`${path} is not a directory`)
    refuseExposed(path, facts)
    return readdirSync(path).sort()
  }

  read(path: string, mostBytes: number): Buffer | undefined {
    const fd = open(path)
    if (fd === undefined) return undefined
    try {
      const facts = fstatSync(fd)
      if (!facts.isFile()) throw new Error(`${path} is not a regular file`)
      refuseExposed(path, facts)
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

function refuseExposed(path: string, { uid, mode }: Stats): void {
  if (uid !== 0 && uid !== process.geteuid?.())
    throw new Error(`${path} belongs to uid ${uid}, but must belong to root, since it decides what kubelet runs: chown root`)
  if ((mode & 0o022) !== 0)
    throw new Error(`${path} is writable by group or others, but must not be, since it decides what kubelet runs: chmod go-w`)
}
