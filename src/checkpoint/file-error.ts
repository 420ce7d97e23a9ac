/**
 * The one error of file operations, what was tried, on which path, why it
 * failed and what to do. `code` is the errno name, or `short-write` where the system reported success but the bytes are not there.
 */
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

export type FileAction = 'read' | 'list' | 'look at' | 'create' | 'write' | 'rename' | 'remove' | 'append to' | 'sync'

/** What is there is not what belongs there. Anything else (a failing disk, rights, too many open files) says nothing of the file: see LastingFaults. */
export function isDamage(cause: unknown): cause is FileError {
  return cause instanceof FileError && (cause.code === 'EISDIR' || cause.code === 'ENOTDIR')
}

const OTHER_ADVICE = 'it will be tried again; if it lasts, look at the file system'
const FREE_SPACE = 'free space there; what was there before is intact'
const PERMIT = 'check its owner, mode and mount, and ReadWritePaths= of the unit'
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: FREE_SPACE,
  EDQUOT: FREE_SPACE,
  'short-write': FREE_SPACE,
  EACCES: PERMIT,
  EPERM: PERMIT,
  EROFS: PERMIT,
  EIO: 'the disk is failing: see the kernel log',
  ENOENT: 'create its directory first',
  EEXIST: 'remove or rename what is there',
  ENOTDIR: 'remove or rename the file that stands where a directory belongs',
  EISDIR: 'remove or rename the directory that stands where a file belongs',
}
