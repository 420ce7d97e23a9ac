// SPDX-License-Identifier: Apache-2.0
/**
 * One at a time, across processes: an advisory lock on a file, held by a flock(1) child for as long
 * as its standard input is open. The kernel drops it when the holder dies, however it dies, so that
 * there is no stale lock to judge.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Waits for the lock on `file` (made if it does not exist), does `work`, and lets go. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const holder = spawn('flock', ['--exclusive', file, 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(holder, 'close')
  try {
    // cat answers once flock has the lock.
    holder.stdin.write('locked\n')
    const answer = await Promise.race([once(holder.stdout, 'data'), ended.then(() => undefined)])
    if (answer === undefined) throw new Error(`cannot lock ${file}: flock ended`)
    return await work()
  } finally {
    holder.stdin.end()
    await ended
  }
}
