/**
 * Reads the overlay directory. The overlay decides what kubelet runs as root, so only root (or the
 * user of the agent) may be able to write the directory and its files. Ownership and mode are
 * checked on the open file, so a symbolic link cannot bypass the check. Errors are returned, not
 * thrown. Reads no more bytes than a ConfigMap can hold.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../values/errors.ts'
import { isOverlayName, type OverlayFiles } from './read-overlay.ts'

/** All files together. */
const MOST_BYTES = 1 << 20

type Read = { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly detail: string }

export function readOverlayFiles(directory: string): OverlayFiles {
  const files = new Map<string, Buffer>()
  let left = MOST_BYTES
  try {
    const facts = statSync(directory, { throwIfNoEntry: false })
    if (facts === undefined) return { kind: 'files', files }
    if (!facts.isDirectory()) return faulty(`${directory} is not a directory`)
    const exposed = findExposure(facts)
    if (exposed !== undefined) return faulty(`${directory} ${exposed}`)
    for (const name of readdirSync(directory).filter(isOverlayName).sort()) {
      const path = join(directory, name)
      if (!/^[-._a-zA-Z0-9]+$/.test(name)) return faulty(`${JSON.stringify(path)}: its name may contain only letters, digits, -, _ and .`)
      const read = readFile(path, left)
      if (read === undefined) continue
      if (!read.ok) return faulty(`${path} ${read.detail}`)
      files.set(name, read.bytes)
      left -= read.bytes.length
    }
  } catch (error) {
    return faulty(`${directory} cannot be read: ${errorCode(error) ?? String(error)}`)
  }
  return { kind: 'files', files }
}

/** undefined: the file no longer exists. */
function readFile(path: string, most: number): Read | undefined {
  let fd: number
  try {
    // O_NONBLOCK: opening a named pipe would block.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') return { ok: false, detail: `cannot be read: ${errorCode(error) ?? String(error)}` }
    return lstatSync(path, { throwIfNoEntry: false }) === undefined ? undefined : { ok: false, detail: 'is a dangling symbolic link' }
  }
  try {
    const facts = fstatSync(fd)
    if (!facts.isFile()) return { ok: false, detail: 'is not a regular file' }
    const exposed = findExposure(facts)
    if (exposed !== undefined) return { ok: false, detail: exposed }
    const buffer = Buffer.alloc(Math.min(most, facts.size) + 1)
    let length = 0
    for (let count = -1; count !== 0 && length < buffer.length; length += count)
      count = readSync(fd, buffer, length, buffer.length - length, null)
    if (facts.size > most || length > most)
      return { ok: false, detail: `is too large: all files of an overlay together may have at most ${MOST_BYTES} bytes` }
    return { ok: true, bytes: buffer.subarray(0, length) }
  } catch (error) {
    return { ok: false, detail: `cannot be read: ${errorCode(error) ?? String(error)}` }
  } finally {
    closeSync(fd)
  }
}

function findExposure({ uid, mode }: Stats): string | undefined {
  if (uid !== 0 && uid !== process.geteuid?.())
    return `belongs to uid ${uid}, but must belong to root, since it decides what kubelet runs: chown root`
  if ((mode & 0o022) !== 0) return 'is writable by group or others, but must not be, since it decides what kubelet runs: chmod go-w'
  return undefined
}

function faulty(detail: string): OverlayFiles {
  return { kind: 'faulty', detail }
}
