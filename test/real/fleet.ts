// SPDX-License-Identifier: Apache-2.0
/** ConfigMaps that select their nodes, as the README has it and not the agent's own code. */
import type { ConfigMapMetadata } from './administrator.ts'

export const FLEET_NAMESPACE = 'node-configs'
export const FLEET_LABEL = 'kubelet-cfg-agent.io/fleet'
export const PRIORITY_ANNOTATION = 'kubelet-cfg-agent.io/priority'

/** To be applied at once: a label that comes before its selector selects nothing. */
export function fleetMember(name: string, selector: string, priority?: number): ConfigMapMetadata {
  const annotations = {
    'kubelet-cfg-agent.io/node-selector': selector,
    ...(priority !== undefined && { [PRIORITY_ANNOTATION]: String(priority) }),
  }
  return { name, namespace: FLEET_NAMESPACE, labels: { [FLEET_LABEL]: 'true' }, annotations }
}
