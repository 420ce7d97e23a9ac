// SPDX-License-Identifier: Apache-2.0
/**
 * The labels and annotations by which a Node or a ConfigMap speaks to the agent, and what each
 * channel is called in messages. Pure.
 *
 * The admission plugin NodeRestriction lets no node set or change labels of its own under
 * `*.node-restriction.kubernetes.io/`. It does not guard annotations.
 */
import type { Channel } from './desired.ts'

export const CONFIG_LABEL = 'kubelet-cfg-agent.node-restriction.kubernetes.io/config'
export const CONFIG_SOURCE_ANNOTATION = 'kubelet-cfg-agent.io/config-source'
/** On ConfigMaps. */
export const FLEET_LABEL = 'kubelet-cfg-agent.io/fleet'
export const NODE_SELECTOR_ANNOTATION = 'kubelet-cfg-agent.io/node-selector'
export const PRIORITY_ANNOTATION = 'kubelet-cfg-agent.io/priority'
/** On a Node or a ConfigMap. */
export const PAUSED_ANNOTATION = 'kubelet-cfg-agent.io/paused'
/** On a ConfigMap: it holds a part, and what that is merged over. */
export const BASE_ANNOTATION = 'kubelet-cfg-agent.io/base'
/** On a ConfigMap with a node selector: it is laid over the one that is chosen. */
export const LAYER_ANNOTATION = 'kubelet-cfg-agent.io/layer'
/** On a ConfigMap: the name of the record of its rollouts. */
export const ROLLOUT_ANNOTATION = 'kubelet-cfg-agent.io/rollout'
/** On a Node: it is the first to start a content. */
export const CANARY_LABEL = 'kubelet-cfg-agent.io/canary'
/** On a Node, set by kubeadm and others. */
export const CONTROL_PLANE_LABEL = 'node-role.kubernetes.io/control-plane'

/**
 * The channels that settings switch on and off. `default` is on where a default ConfigMap is set.
 */
export const SWITCHED_CHANNELS = ['config-source', 'label', 'annotation', 'selector'] as const
export type SwitchedChannel = (typeof SWITCHED_CHANNELS)[number]

export function describeChannel(channel: Channel): string {
  switch (channel) {
    case 'config-source':
      return 'spec.configSource of the Node'
    case 'label':
      return `label ${CONFIG_LABEL} of the Node`
    case 'annotation':
      return `annotation ${CONFIG_SOURCE_ANNOTATION} of the Node`
    case 'selector':
      return `annotation ${NODE_SELECTOR_ANNOTATION} of the ConfigMap`
    case 'default':
      return 'the setting default-config-map'
  }
}
