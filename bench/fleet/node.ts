// SPDX-License-Identifier: Apache-2.0
/**
 * A Node as kubelet registers it on a cloud, and kubelet's heartbeat: the strategic merge patch of
 * `PatchNodeStatus` (k8s.io/component-helpers, k8s.io/kubernetes/pkg/util/node in 1.20), in which
 * only times change. kubelet sends it every 5 minutes if nothing else changes
 * (`nodeStatusReportFrequency`); its Lease, which it renews every 10 s, is another object. Pure.
 */
import { CONFIG_LABEL } from '../../src/decision/channels.ts'

export const CONFIG_MAP = 'fleet-config'
/**
 * The user agent of kubelet; it determines the names in `managedFields`, which are part of the
 * metadata.
 */
export const KUBELET = 'kubelet/v1.20.2'

/** `nodeStatusMaxImages`. */
const IMAGES = 50

/** With kubelet's own reasons and messages. */
const CONDITIONS = {
  NetworkUnavailable: ['False', 'CalicoIsUp', 'Calico is running on this node'],
  MemoryPressure: ['False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  DiskPressure: ['False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  PIDPressure: ['False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  Ready: ['True', 'KubeletReady', 'kubelet is posting ready status. AppArmor enabled'],
} as const
type ConditionType = keyof typeof CONDITIONS
const ALL_CONDITIONS: readonly ConditionType[] = ['NetworkUnavailable', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready']
/** Without NetworkUnavailable, which the network add-on sets. */
const KUBELETS_CONDITIONS = ALL_CONDITIONS.slice(1)

export function nodeNames(count: number): string[] {
  return Array.from({ length: count }, (_, serial) => nodeName(serial))
}

function nodeName(serial: number): string {
  return `ip-10-${20 + Math.floor(serial / 250)}-${serial % 250}-17.eu-central-1.compute.internal`
}

/** @param heartbeatAt RFC 3339, in whole seconds */
export function fleetNode(serial: number, heartbeatAt: string) {
  const name = nodeName(serial)
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: labels(name), annotations: ANNOTATIONS },
    spec: {
      podCIDR: `10.${100 + Math.floor(serial / 250)}.${serial % 250}.0/24`,
      podCIDRs: [`10.${100 + Math.floor(serial / 250)}.${serial % 250}.0/24`],
      providerID: `aws:///eu-central-1a/i-0${hex(serial, 16)}`,
    },
    status: {
      addresses: [
        { type: 'InternalIP', address: `10.20.${serial % 250}.17` },
        { type: 'Hostname', address: name },
        { type: 'InternalDNS', address: name },
      ],
      capacity: RESOURCES,
      allocatable: { ...RESOURCES, cpu: '7910m', memory: '31482288Ki' },
      conditions: ALL_CONDITIONS.map((type) => condition(type, heartbeatAt)),
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      images: Array.from({ length: IMAGES }, (_, i) => image(i)),
      nodeInfo: {
        architecture: 'amd64',
        bootID: uuid(serial, 1),
        containerRuntimeVersion: 'containerd://1.4.3',
        kernelVersion: '5.4.0-1029-aws',
        kubeProxyVersion: 'v1.20.2',
        kubeletVersion: 'v1.20.2',
        machineID: hex(serial, 32),
        operatingSystem: 'linux',
        osImage: 'Ubuntu 20.04.1 LTS',
        systemUUID: uuid(serial, 2),
      },
    },
  }
}

export function heartbeat(heartbeatAt: string) {
  return {
    status: {
      '$setElementOrder/conditions': ALL_CONDITIONS.map((type) => ({ type })),
      conditions: KUBELETS_CONDITIONS.map((type) => ({ type, lastHeartbeatTime: heartbeatAt })),
    },
  }
}

function labels(name: string) {
  return {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/instance-type': 'm5.2xlarge',
    'beta.kubernetes.io/os': 'linux',
    'failure-domain.beta.kubernetes.io/region': 'eu-central-1',
    'failure-domain.beta.kubernetes.io/zone': 'eu-central-1a',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': 'm5.2xlarge',
    'topology.kubernetes.io/region': 'eu-central-1',
    'topology.kubernetes.io/zone': 'eu-central-1a',
    [CONFIG_LABEL]: CONFIG_MAP,
  }
}

const ANNOTATIONS = {
  'csi.volume.kubernetes.io/nodeid': '{"ebs.csi.aws.com":"i-0123456789abcdef0"}',
  'kubeadm.alpha.kubernetes.io/cri-socket': '/run/containerd/containerd.sock',
  'node.alpha.kubernetes.io/ttl': '0',
  'projectcalico.org/IPv4Address': '10.20.0.17/16',
  'projectcalico.org/IPv4IPIPTunnelAddr': '10.244.0.1',
  'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
}

const RESOURCES = {
  'attachable-volumes-aws-ebs': '25',
  cpu: '8',
  'ephemeral-storage': '101583780Ki',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
  memory: '32510768Ki',
  pods: '110',
}

function condition(type: ConditionType, lastHeartbeatTime: string) {
  const [status, reason, message] = CONDITIONS[type]
  return { type, status, lastHeartbeatTime, lastTransitionTime: '2021-01-14T09:12:31Z', reason, message }
}

function image(i: number) {
  const repository = `registry.example/platform/service-${i}`
  return { names: [`${repository}@sha256:${hex(i, 64)}`, `${repository}:v1.${i}.3`], sizeBytes: 90_000_000 - i * 1_000_003 }
}

/** Pseudo-random digits, always the same. */
function hex(serial: number, length: number): string {
  let state = (serial + 1) * 2_654_435_761
  let text = ''
  while (text.length < length) {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    text += state.toString(16).padStart(8, '0')
  }
  return text.slice(0, length)
}

function uuid(serial: number, salt: number): string {
  return hex(serial * 7 + salt, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
