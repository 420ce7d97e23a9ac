/** What is desired where the assigned ConfigMap was read and cannot be rendered. Pure. */
import type { ChannelState, Desired } from '../decision/desired.ts'

export function refuseDesired(detail: string, channelState: ChannelState | undefined): Desired {
  return { kind: 'invalid', detail, ...(channelState && { channelState: { ...channelState, problem: detail } }), isSeen: true }
}
