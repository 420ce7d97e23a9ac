// SPDX-License-Identifier: Apache-2.0
/**
 * The error of all file operations: what was tried, on which path, why it failed and what to do.
 * `code` is the errno name, or `short-write` if the system reported success but the bytes are
 * missing.
 */
import { errorCode, errorMessage } from '../values/errors.ts'

export class FileError extends Error {
  override readonly name = 'FileError'
  readonly code: string
  readonly path: string

  constructor(tried: FileAction, path: string, code: string, detail: string, cause?: unknown) {
    super(`cannot ${tried} ${path}: ${detail}; ${ADVICE[code] ?? OTHER_ADVICE}`, cause === undefined ? {} : { cause })
    this.code = code
    this.path = path
  }
}

export type FileAction = 'read' | 'list' | 'inspect' | 'create' | 'write' | 'rename' | 'remove' | 'append to' | 'sync'

/**
 * The path is not of the expected type. Any other error (a failing disk, permissions, too many open
 * files) says nothing about the file: see LastingFaults.
 */
export function isDamagedPath(cause: unknown): cause is FileError {
  return cause instanceof FileError && (cause.code === 'EISDIR' || cause.code === 'ENOTDIR')
}

/**
 * The disk does not return what is on it, or what it returns is corrupt: XFS and ext4 say EUCLEAN
 * then, and EBADMSG where a checksum is wrong.
 */
export function isOfDisk({ code }: Pick<FileError, 'code'>): boolean {
  return code === 'EIO' || code === 'EUCLEAN' || code === 'EBADMSG'
}

const OTHER_ADVICE = 'it will be tried again; if the error persists, check the file system'
const FREE_SPACE = 'free up space there; the old content is intact'
const PERMIT = 'check its owner, mode and mount, and ReadWritePaths= of the unit'
const REPAIR = 'check the kernel log, and repair the file system'
/**
 * systemd binds the paths of ReadWritePaths= when the unit starts (systemd.exec(5)): what a `-`
 * let be missing then stays read-only.
 */
const MAKE_WRITABLE = `${PERMIT}; a directory that was made after the agent's start needs: systemctl restart kubelet-cfg-agent`
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: FREE_SPACE,
  EDQUOT: FREE_SPACE,
  'short-write': FREE_SPACE,
  EACCES: PERMIT,
  EPERM: PERMIT,
  EROFS: MAKE_WRITABLE,
  EUCLEAN: REPAIR,
  EBADMSG: REPAIR,
  EIO: 'the disk is failing; check the kernel log',
  ENOENT: 'create its directory first',
  EEXIST: 'remove or rename the existing entry',
  ENOTDIR: 'remove or rename the file; a directory is expected',
  EISDIR: 'remove or rename the directory; a file is expected',
}

/**
 * The name and the text of an error of the disk. Of some, libuv knows only the number, and calls
 * them `Unknown system error -117`. Among these are the two with which XFS and ext4 report that
 * what they read is corrupt.
 */
interface SystemError {
  /** The errno name. */
  readonly code: string
  readonly detail: string
}

/** By the numbers of Linux: errno(3). */
const UNNAMED: ReadonlyMap<number, SystemError> = new Map([
  [74, { code: 'EBADMSG', detail: 'EBADMSG: bad message' }],
  [116, { code: 'ESTALE', detail: 'ESTALE: stale file handle' }],
  [117, { code: 'EUCLEAN', detail: 'EUCLEAN: structure needs cleaning' }],
  [122, { code: 'EDQUOT', detail: 'EDQUOT: disk quota exceeded' }],
])

/** undefined: it has no errno, so it does not come from the disk. */
export function describeSystemError(cause: unknown): SystemError | undefined {
  const code = errorCode(cause)
  return code === undefined ? undefined : (UNNAMED.get(-errnoOf(cause)) ?? { code, detail: describe(cause) })
}

function errnoOf(cause: unknown): number {
  return cause instanceof Error && 'errno' in cause && typeof cause.errno === 'number' ? cause.errno : 0
}

/**
 * Removes the call and the path that Node.js appends: the path is in the message already, and that
 * of a temporary file is different each time.
 */
function describe(cause: unknown): string {
  return errorMessage(cause).replace(/, \w+ '.*$/s, '')
}
