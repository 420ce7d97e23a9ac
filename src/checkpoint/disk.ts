/**
 * The few primitive steps that durable files are made of: each one a system call or nearly so. The real disk (node-disk.ts) and the
 * one in memory (fake-disk.ts) implement them; files.ts composes them, so that the simulation runs the very code that nodes run.
 */
import type { FileFacts, Files } from '../ports/files.ts'

/** Every method throws an error with an errno `code`. */
export interface Disk {
  /** Tells the unfinished work of two processes in one directory apart. */
  readonly owner: string
  read(path: string): Buffer
  list(path: string): string[]
  /** undefined: nothing there. Links are not followed. */
  stat(path: string): FileFacts | undefined
  makeDirectory(path: string, mode: number): void
  /** Creates the file and syncs its bytes, not its name. May report success for fewer bytes than were given. */
  write(path: string, bytes: Buffer, mode: number): void
  append(path: string, text: string, mode: number): void
  rename(from: string, to: string): void
  unlink(path: string): void
  /** Everything below, then the thing itself; fine if there is nothing. */
  removeTree(path: string): void
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): void
}

/** Files, and whole directories. */
export interface TreeFiles extends Files {
  /**
   * Creates a directory with these files: afterwards it is there whole and durable, or not at all and an error is thrown. It must not exist,
   * unless `aside` (a sibling) says where the one that is there goes: that one leaves its name only when the new one is ready to take it.
   */
  createTree(path: string, files: ReadonlyMap<string, Uint8Array>, aside?: string): void
}
