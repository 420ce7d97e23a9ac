/** How a change of a config gets to the nodes that use it. Pure. */
import { ROLLOUT_ANNOTATION } from '../decision/channels.ts'
import { ROLLOUT_OFF } from '../decision/staging.ts'
import type { FoundConfig } from './config-maps.ts'
import { countNodes } from './users.ts'

export function describeReach(name: string, config: FoundConfig | undefined, users: number): string {
  if (users === 0) return 'No node uses it yet: assign it.'
  const record = config?.annotations[ROLLOUT_ANNOTATION]
  const isStaged = record !== undefined && record !== ROLLOUT_OFF
  if (isStaged) return `It goes to ${countNodes(users)} in stages: kubectl kubelet-config rollout status ${name}`
  return `It goes to ${countNodes(users)}, spread over some minutes: kubectl kubelet-config get --watch`
}
