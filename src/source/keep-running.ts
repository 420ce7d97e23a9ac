/** Keeps a watch running, whatever fails in it: without it, the node would follow nothing more. */
import { backoffMs } from '../kube/backoff.ts'
import type { Log } from '../ports/log.ts'
import type { WatchTiming } from './watch-loop.ts'

export interface KeepRunningDeps {
  readonly pace: WatchTiming
  readonly log: Log
}

/** Resolves when the task does, or when the signal aborts. */
export async function keepRunning(
  what: string,
  task: () => Promise<void>,
  { pace, log }: KeepRunningDeps,
  signal: AbortSignal,
): Promise<void> {
  for (let failure = 1; !signal.aborted; failure += 1) {
    try {
      return await task()
    } catch (error) {
      log.error(`watching ${what} failed, trying again in a while`, { error })
      await pace.sleep(backoffMs(failure, pace.random), signal)
    }
  }
}
