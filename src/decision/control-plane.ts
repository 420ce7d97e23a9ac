/**
 * Whether a node that has no label of a control plane is one all the same, by the static pods that
 * run on it. Static pods alone say nothing: many distributions run kube-proxy or a load balancer in
 * front of the API server as one on each worker. Pure.
 */
import type { StaticPodBefore } from './evidence-state.ts'

/**
 * As kubeadm names them:
 * https://kubernetes.io/docs/reference/setup-tools/kubeadm/implementation-details/
 */
const COMPONENTS = ['kube-apiserver', 'etcd', 'kube-controller-manager', 'kube-scheduler']

/** Kubelet appends the node's name to the name in the manifest (`generatePodName`). */
export function hasControlPlane(staticPods: readonly Pick<StaticPodBefore, 'name'>[], nodeName: string): boolean {
  const podNames = COMPONENTS.map((component) => `${component}-${nodeName}`)
  return staticPods.some(({ name }) => podNames.includes(name.slice(name.indexOf('/') + 1)))
}
