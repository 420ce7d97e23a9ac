// SPDX-License-Identifier: Apache-2.0
/**
 * Calls back when something in a directory may have changed. chokidar reports renames into it at
 * once. A slow poll runs beside it, since chokidar 6 misses a file that is written into a watched
 * directory that has just been deleted and created again, and some file systems report nothing.
 */
import { statSync } from 'node:fs'
import { type FSWatcher, watch } from 'chokidar'

interface DirectoryWatch {
  close(): Promise<void>
}

const POLL_MS = 30_000

/** @param onPoll for a listener that looks into the directory now and then by itself: nothing */
export function watchDirectory(path: string, onChange: () => void, pollMs: number = POLL_MS, onPoll = onChange): DirectoryWatch {
  let inode = inodeOf(path)
  let watcher = open(path, onChange)
  const poll = setInterval(() => {
    const now = inodeOf(path)
    if (now !== inode) {
      inode = now
      // Not awaited: the rest of close() concerns a directory that is gone.
      void watcher.close()
      watcher = open(path, onChange)
      onChange()
    } else onPoll()
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
  // After an error (no more inotify watches), the poll remains.
  return watcher.on('all', onChange).on('error', onChange)
}

/** Empty: the directory does not exist. */
function inodeOf(path: string): string {
  try {
    const { dev, ino } = statSync(path)
    return `${dev}:${ino}`
  } catch {
    return ''
  }
}
