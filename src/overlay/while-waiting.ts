/** What is desired while the latest answer is being worked out. Pure. */
import type { Desired } from '../decision/desired.ts'

/**
 * It is as if a change had not arrived yet. But a pause of the cluster counts at once. Its end
 * counts with the answer that it belongs to: it may have come with the correction of a bad edit.
 *
 * @param latest says why it is not known yet
 * @param before what was known last, with each pause that was heard since
 */
export function whileWaiting(latest: Desired, before: Desired | undefined): Desired {
  // What is not known now has its own reason.
  if (before === undefined || before.kind === 'unknown') return latest
  if (latest.channelState === undefined || before.channelState === undefined) return before
  const paused = latest.channelState.paused ?? before.channelState.paused
  return { ...before, channelState: { ...before.channelState, paused } }
}
