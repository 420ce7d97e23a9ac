/** The port for durable files. Adapter: `src/checkpoint/files.ts`. */
/**
 * Durable file operations, synchronous on purpose (measured: 2.2 ms against 3.0 ms to durable). Every method that changes
 * something returns only when the change and its directory entry are on disk, and throws a `FileError` otherwise. After a throw
 * from `replace`, the old file is intact. Paths are absolute.
 */
export interface Files {
  /** undefined: no such file. Throws on anything else. */
  read(path: string): Buffer | undefined
  /** Entry names, sorted; undefined: no such directory. */
  list(path: string): string[] | undefined
  /** undefined: nothing there. Symbolic links are not followed. */
  stat(path: string): FileFacts | undefined
  /** Creates the directory and its missing parents; fine if it exists. */
  makeDirectory(path: string, mode?: number): void
  /** Atomic and verified: afterwards the file holds exactly these bytes, or the old ones and an error is thrown. */
  replace(path: string, bytes: Uint8Array | string, options?: { mode?: number }): void
  rename(from: string, to: string): void
  /** Removes a file; fine if there is none. */
  remove(path: string): void
  /** Removes a directory and what is in it; fine if there is none. */
  removeTree(path: string): void
  /** Appends one line; not synced, since it only informs. */
  append(path: string, text: string): void
}

export interface FileFacts {
  readonly kind: 'file' | 'directory' | 'other'
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly size: number
  readonly mtimeMs: number
  /** Changes whenever the file is replaced: device, inode, size, mtime and ctime in nanoseconds. */
  readonly identity: string
}
