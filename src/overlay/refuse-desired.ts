/** What is desired where the assigned ConfigMap was read and cannot be rendered. Pure. */
import type { ChannelState, Desired } from '../decision/desired.ts'

/** @param cause what is wrong, where `detail` only says that something is */
export function refuseDesired(detail: string, channelState: ChannelState | undefined, cause?: string): Desired {
  const fault = { kind: 'invalid', detail, ...(cause !== undefined && { cause }) } as const
  return { ...fault, ...(channelState && { channelState: { ...channelState, problem: detail } }), isSeen: true }
}
