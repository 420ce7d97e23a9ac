/**
 * The table of the channels by which the Node shows what the agent says, by their names in the
 * settings. To add one, write what it says, and add an entry.
 */
import { ANNOTATION } from './annotation.ts'
import { type AnyChannel, anyChannel, metadataChannel } from './channel.ts'
import { CONDITIONS } from './node-conditions.ts'
import { CONFIG } from './node-config.ts'
import { stateLabel } from './reasons.ts'

/** For `kubectl get nodes -L` and for selectors. */
export const STATE_LABEL = 'kubelet-cfg-agent.io/state'

const LABEL = {
  ...metadataChannel('label', STATE_LABEL, ({ condition }) => condition && stateLabel(condition.reason)),
  // Schedulers, autoscalers and every watch of Nodes act on labels.
  byChoice: true,
} as const

export const CHANNELS = {
  config: anyChannel(CONFIG),
  condition: anyChannel(CONDITIONS),
  annotation: anyChannel(ANNOTATION),
  label: anyChannel(LABEL),
} as const satisfies Readonly<Record<string, AnyChannel>>

export type ChannelName = keyof typeof CHANNELS
export const CHANNEL_NAMES = Object.keys(CHANNELS) as readonly ChannelName[]

/**
 * The things that the agent can publish: the channels, and events on a config about its rollout.
 */
export const PUBLICATIONS = [...CHANNEL_NAMES, 'rollout-events'] as const
export type Publication = (typeof PUBLICATIONS)[number]

export const DEFAULT_PUBLICATIONS: readonly Publication[] = PUBLICATIONS.filter(
  (publication) => publication === 'rollout-events' || !CHANNELS[publication].byChoice,
)
