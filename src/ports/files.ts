// SPDX-License-Identifier: Apache-2.0
/** The port for durable files. Adapter: `src/checkpoint/files.ts`. */

/**
 * Durable file operations. They are synchronous because that is faster (measured: 2.2 ms until
 * durable, 3.0 ms with promises). A method that changes something returns only when the change and
 * its directory entry are on disk, and throws a `FileError` otherwise. If `replace` throws, the old
 * file is intact. Paths are absolute.
 */
export interface Files {
  /** undefined: the file does not exist. Throws on any other error. */
  read(path: string): Buffer | undefined
  /** Entry names, sorted. undefined: the directory does not exist. */
  list(path: string): string[] | undefined
  /**
   * undefined: nothing exists at this path. Symbolic links are not followed, unless that is asked
   * for.
   */
  stat(path: string, links?: 'follow'): FileFacts | undefined
  /** Creates the directory and its missing parents. It may exist already. */
  makeDirectory(path: string, mode?: number): void
  /**
   * Atomic and verified: the file holds exactly these bytes, or it throws and the file is
   * unchanged.
   */
  replace(path: string, bytes: Uint8Array | string, options?: { mode?: number }): void
  rename(from: string, to: string): void
  /** Removes a file, which need not exist. */
  remove(path: string): void
  /** Removes a directory with its content. It need not exist. */
  removeTree(path: string): void
  /** Makes durable what another process changed in this directory. It need not exist. */
  syncDirectory(path: string): void
  /** Appends one line. Not synced: such a file only informs. */
  append(path: string, text: string): void
}

export interface FileFacts {
  readonly kind: 'file' | 'directory' | 'other'
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly size: number
  readonly mtimeMs: number
  /** Changes whenever the file is replaced: device, inode, size, mtime and ctime in ns. */
  readonly identity: string
}

/**
 * Files that decide what kubelet runs as root. A method throws if others than root (or the user of
 * the agent) may write the file or directory; the error says what to do. Adapter:
 * `src/directory/owned-files.ts`.
 */
export interface OwnedFiles {
  /** Entry names, sorted. undefined: the directory does not exist. */
  list(path: string): string[] | undefined
  /** undefined: the file does not exist. Throws EFBIG if it is longer. */
  read(path: string, mostBytes: number): Buffer | undefined
  /** undefined: nothing exists at this path. Symbolic links are not followed. */
  stat(path: string): Pick<FileFacts, 'kind' | 'identity'> | undefined
}
