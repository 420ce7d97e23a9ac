/**
 * The error of all file operations: what was tried, on which path, why it failed and what to do.
 * `code` is the errno name, or `short-write` if the system reported success but the bytes are
 * missing.
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

export type FileAction = 'read' | 'list' | 'inspect' | 'create' | 'write' | 'rename' | 'remove' | 'append to' | 'sync'

/**
 * The path is not of the expected type. Any other error (a failing disk, permissions, too many open
 * files) says nothing about the file: see LastingFaults.
 */
export function isDamage(cause: unknown): cause is FileError {
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
