/**
 * Wakes when something in a directory may have changed: chokidar, which sees renames into it at once, and beside it a slow poll, since a
 * watched directory that is deleted and made again goes silent in chokidar 5 and some file systems report nothing. It says only "look".
 */
import { statSync } from 'node:fs'
import { type FSWatcher, watch } from 'chokidar'

export interface DirectoryWatch {
  close(): Promise<void>
}

export const POLL_MS = 10_000

export function watchDirectory(path: string, onChange: () => void, pollMs: number = POLL_MS): DirectoryWatch {
  let inode = inodeOf(path)
  let watcher = open(path, onChange)
  const poll = setInterval(() => {
    const now = inodeOf(path)
    if (now !== inode) {
      inode = now
      // What close() still has to do concerns a directory that is gone.
      void watcher.close()
      watcher = open(path, onChange)
    }
    onChange()
  }, pollMs)
  return {
    async close() {
      clearInterval(poll)
      await watcher.close()
    },
  }
}

function open(path: string, onChange: () => void): FSWatcher {
  const watcher = watch(path, { ignoreInitial: true, depth: 0, ignorePermissionErrors: true })
  // An error here (no more inotify watches) leaves the poll.
  return watcher.on('all', onChange).on('error', onChange)
}

/** Empty: there is no such directory. */
function inodeOf(path: string): string {
  try {
    const { dev, ino } = statSync(path)
    return `${dev}:${ino}`
  } catch {
    return ''
  }
}
