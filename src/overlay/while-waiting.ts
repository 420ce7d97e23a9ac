/** What is desired while the latest answer is being worked out. Pure. */
import type { Desired } from '../decision/desired.ts'

/**
 * It is as if a change had not arrived yet. But a pause of the cluster counts at once.
 *
 * @param latest says why it is not known yet
 * @param before what was known last
 */
export function whileWaiting(latest: Desired, before: Desired | undefined): Desired {
  // What is not known now has its own reason.
  if (before === undefined || before.kind === 'unknown') return latest
  if (latest.channelState === undefined || before.channelState === undefined) return before
  return { ...before, channelState: { ...before.channelState, paused: latest.channelState.paused } }
}
