// SPDX-License-Identifier: Apache-2.0
/** The objects in the benchmark's cluster, with realistic sizes. */
export const NODE = 'bench-node'
export const NAMESPACE = 'kube-system'
/** The agent follows one, the bare script the other. */
export const CONFIG_MAPS = { agent: 'kubelet-config', floor: 'floor-config' } as const
export const KEY = 'kubelet'
export type Follower = keyof typeof CONFIG_MAPS

/** CPU time of a systemctl command, measured with systemd 252. */
export const REAL_SYSTEMCTL_US = 4400

const PAYLOAD_BYTES = 20_000
const IMAGES = 50

/** A KubeletConfiguration of 20 KB, formatted like `jq`, different for each serial number. */
export function payload(serial: number, healthzPort: number): string {
  const config = (allowedUnsafeSysctls: readonly string[]) =>
    JSON.stringify(
      {
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        healthzPort,
        // For a machine with cgroup v1, where kubelet 1.35 and later would refuse the config.
        failCgroupV1: false,
        maxPods: 100 + (serial % 100),
        evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
        allowedUnsafeSysctls,
      },
      undefined,
      2,
    )
  const sysctls: string[] = []
  const oneMore = (): string => `net.ipv4.neigh.bench${serial}.setting_${sysctls.length}`
  let missing = PAYLOAD_BYTES - config([]).length
  while (missing > 0) {
    missing -= oneMore().length + 8
    sysctls.push(oneMore())
  }
  return config(sysctls)
}

export function configMap(name: string, text: string) {
  return { kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE }, data: { [KEY]: text } }
}

/** Like kubelet's; most of its 14 KB are the images. */
export function node(heartbeatAt: string) {
  const configMap = { namespace: NAMESPACE, name: CONFIG_MAPS.agent, kubeletConfigKey: KEY }
  return {
    kind: 'Node',
    metadata: { name: NODE, labels: { 'kubernetes.io/hostname': NODE, 'kubernetes.io/os': 'linux' } },
    spec: { podCIDR: '10.244.1.0/24', configSource: { configMap } },
    status: {
      capacity: { cpu: '4', memory: '16384000Ki', pods: '110' },
      conditions: conditions(heartbeatAt),
      images: Array.from({ length: IMAGES }, (_, i) => ({
        names: [
          `registry.example/some/project/image-${i}@sha256:${String(i).padStart(64, '0')}`,
          `registry.example/some/project/image-${i}:v1.${i}.0`,
        ],
        sizeBytes: 50_000_000 + i,
      })),
    },
  }
}

export function conditions(lastHeartbeatTime: string): readonly Readonly<Record<string, string>>[] {
  return ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
    type,
    status: type === 'Ready' ? 'True' : 'False',
    lastHeartbeatTime,
    lastTransitionTime: '2024-01-01T00:00:00Z',
    reason: `Kubelet${type}`,
    message: 'message of kubelet',
  }))
}
