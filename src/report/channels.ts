// SPDX-License-Identifier: Apache-2.0
/**
 * The table of the channels by which the Node shows what the agent says. To add one, write what it
 * says, add its name to `publications.ts`, and an entry here.
 */
import { ANNOTATION } from './annotation.ts'
import { type AnyChannel, anyChannel, metadataChannel, type NodeReport } from './channel.ts'
import { CONDITIONS } from './node-conditions.ts'
import { CONFIG } from './node-config.ts'
import type { Publication } from './publications.ts'
import { stateLabel } from './reasons.ts'

/** For `kubectl get nodes -L` and for selectors. */
export const STATE_LABEL = 'kubelet-cfg-agent.io/state'

const LABEL = {
  ...metadataChannel('label', STATE_LABEL, ({ condition }) => condition && stateLabel(condition.reason)),
  drops: ({ condition }: NodeReport) => condition !== undefined,
}

export type ChannelName = Exclude<Publication, 'rollout-events'>

export const CHANNELS: Readonly<Record<ChannelName, AnyChannel>> = {
  config: anyChannel(CONFIG),
  condition: anyChannel(CONDITIONS),
  annotation: anyChannel(ANNOTATION),
  label: anyChannel(LABEL),
}
export const CHANNEL_NAMES = Object.keys(CHANNELS) as readonly ChannelName[]
