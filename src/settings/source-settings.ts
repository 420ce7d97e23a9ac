// SPDX-License-Identifier: Apache-2.0
/**
 * The settings of where assignments come from: the cluster, a directory of manifests, and this
 * node's overlay. Pure.
 */

import type { ChannelSettings } from '../source/channels/resolve.ts'
import {
  channelsKind,
  configMapKeyKind,
  configMapKind,
  namespaceKind,
  nodeNameKind,
  orNone,
  pathKind,
  rowsOf,
  settingTable,
  type ValuesOf,
} from './setting-kinds.ts'

const { ALL_COMMANDS, RUN_ONLY } = rowsOf('Where assignments come from')

export const SOURCE_SETTINGS = settingTable({
  nodeName: {
    name: 'node-name',
    kind: orNone(nodeNameKind),
    initial: undefined,
    ...ALL_COMMANDS,
    initialNote: "from the kubeconfig's identity, else kubelet's --hostname-override, else the host name",
    help: "name of this machine's Node",
  },
  kubeconfig: {
    name: 'kubeconfig',
    kind: pathKind,
    initial: '/etc/kubernetes/kubelet.conf',
    ...ALL_COMMANDS,
    help: 'kubeconfig for the API server; the file may appear later, as in TLS bootstrap',
  },
  channels: {
    name: 'channels',
    kind: channelsKind,
    initial: ['config-source', 'label', 'annotation'],
    ...RUN_ONLY,
    help: 'channels that may assign a config, any of config-source,label,annotation,selector; where several assign one, the first in this fixed order decides',
  },
  configNamespace: {
    name: 'config-namespace',
    kind: namespaceKind,
    initial: 'kube-system',
    ...RUN_ONLY,
    help: 'namespace of the ConfigMaps that the channels label and selector use',
  },
  configKey: {
    name: 'config-key',
    kind: configMapKeyKind,
    initial: 'kubelet',
    ...RUN_ONLY,
    help: 'key in the ConfigMap, if the assignment does not name one',
  },
  defaultConfigMap: {
    name: 'default-config-map',
    kind: orNone(configMapKind),
    initial: undefined,
    ...RUN_ONLY,
    initialNote: 'none; the node stays on its local config',
    help: "config for a node that no channel assigns one to, as namespace/name[:key]; for example kubeadm's kube-system/kubelet-config",
  },
  manifestDir: {
    name: 'manifest-dir',
    kind: orNone(pathKind),
    initial: undefined,
    ...ALL_COMMANDS,
    initialNote: 'none; the agent reads the API server',
    help: 'read the Node and ConfigMaps from manifests in this directory instead of the API server',
  },
  overlayDir: {
    name: 'overlay-dir',
    kind: orNone(pathKind),
    initial: '/etc/kubelet-cfg-agent/overlay.d',
    ...ALL_COMMANDS,
    help: 'directory of merge patches (*.yaml, *.yml) that this node applies to its assigned config; empty: none',
  },
})

export function toChannelSettings({
  channels,
  configNamespace,
  configKey,
  defaultConfigMap,
}: ValuesOf<typeof SOURCE_SETTINGS>): ChannelSettings {
  const kubeletConfigKey = defaultConfigMap?.key ?? configKey
  return {
    channels,
    namespace: configNamespace,
    key: configKey,
    defaultConfigMap: defaultConfigMap && { namespace: defaultConfigMap.namespace, name: defaultConfigMap.name, kubeletConfigKey },
  }
}
