/**
 * What changing a field on a live node can cost, as a closed set. Data only. Source: the warnings that staging/src/k8s.io/kubelet/config/v1beta1/types.go
 * of Kubernetes 1.20 had beside its fields ("If DynamicKubeletConfig (...) is on, when dynamically updating this field, consider that ..."); later fields,
 * which never had one, go by what kubelet does with them. Mildest first.
 */
export const RISKS = {
  none: 'no effect: this kubelet does not know the field and ignores it',
  restart: 'costs no more than the restart of kubelet',
  load: 'shifts load: on the node, the container runtime, the registry or the API server',
  evictions: 'pods may be evicted sooner, later, or not in time',
  'log-loss': 'logs of containers may be cut off or lost',
  'pod-forks': 'pods may no longer be able to start processes',
  'oom-risk': 'pods may take the memory or the CPU of system daemons, or be killed for using theirs',
  'cgroup-resize': 'limits of cgroups change; a lower one may not take, or kills what is above it',
  'cert-expiry': 'certificates may expire without being renewed',
  'standalone-only': 'has an effect only on a kubelet without an API server',
  'server-clients': 'whoever talks to kubelet may be disrupted: the API server, metrics, exec, logs, port forwarding',
  'pod-admission': 'running pods may fail admission when kubelet restarts, and are then killed',
  'container-restart': 'running containers may be restarted, or keep the old value until they are',
  'static-pods': 'the static pods of this node change: on a control plane, that is the control plane',
  coordinate: 'has to agree with kube-proxy, which has to change at the same moment',
  'cluster-wide': 'has to agree with the whole cluster; running pods keep the old value',
  drain: 'drain the node first: running pods keep the old value, or lose what they have',
  'maybe-reboot': 'some values need a reboot of the node to take effect everywhere',
  reboot: 'not without draining and rebooting the node',
  'crash-loop': 'kubelet may not start any more where the node is not prepared for it',
  'can-cut-api': "may cut off kubelet's connection to the API server",
} as const satisfies Readonly<Record<string, string>>

export type RiskClass = keyof typeof RISKS

export function isRiskClass(name: string): name is RiskClass {
  return Object.hasOwn(RISKS, name)
}
