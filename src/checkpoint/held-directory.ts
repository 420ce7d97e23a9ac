/**
 * A directory as the agent found it at its start. In the sandbox of its unit, systemd has bound it
 * to its place (systemd.exec(5), StateDirectory=). If it is removed, the agent sees what is behind
 * it, which is read-only and stays so, whatever is made in its place.
 */
import { constants, fstatSync, openSync } from 'node:fs'

export interface HeldDirectory {
  /** Whether it was removed. One that is mounted read-only, or has another name, was not. */
  isUnlinked(): boolean
}

/** @param path of a directory that exists. The process holds it until it ends. */
export function holdDirectory(path: string): HeldDirectory {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  return {
    isUnlinked: () => {
      try {
        return fstatSync(descriptor).nlink === 0
      } catch {
        // A disk that does not answer says nothing.
        return false
      }
    },
  }
}
