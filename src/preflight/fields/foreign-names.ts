// SPDX-License-Identifier: Apache-2.0
/**
 * The names that tools which write kubelet's config for their users give to its fields and flags,
 * where neither kubelet's field nor its flag is called so. Data only. A whole path stands for that
 * place alone; `--` begins a flag.
 *
 * Sources: KubeletConfigSpec, k8s.io/kops/pkg/apis/kops; AKS, custom node configuration reference;
 * GKE, NodeKubeletConfig in its REST reference v1; Bottlerocket, `settings.kubernetes`, and eksctl,
 * `maxPodsPerNode`; Talos, `machine.kubelet`; kubeadm v1beta4, NodeRegistrationOptions and
 * Networking; K3s and RKE2, the flags of their agents; k0s, those of its worker; OpenShift,
 * KubeletConfig; Kubespray, roles/kubernetes/node; crictl.yaml; CRI-O, crio.conf; containerd, the
 * options of runc.
 */
export const FOREIGN_NAMES: Readonly<Record<string, string>> = {
  // kOps
  kubeconfigPath: '--kubeconfig',
  logFormat: 'logging.format',
  networkPluginName: '--network-plugin',
  resolverConfig: 'resolvConf',
  volumePluginDirectory: 'volumePluginDir',
  experimentalAllowedUnsafeSysctls: 'allowedUnsafeSysctls',
  // kOps, OpenShift, Bottlerocket
  logLevel: 'logging.verbosity',
  'logging.level': 'logging.verbosity',
  // kOps, kubeadm, k0s; Bottlerocket; K3s, RKE2
  taints: 'registerWithTaints',
  nodeTaints: 'registerWithTaints',
  // K3s, RKE2
  nodeName: '--hostname-override',
  // AKS
  containerLogMaxSizeMB: 'containerLogMaxSize',
  // GKE
  evictionMaxPodGracePeriodSeconds: 'evictionMaxPodGracePeriod',
  shutdownGracePeriodSeconds: 'shutdownGracePeriod',
  shutdownGracePeriodCriticalPodsSeconds: 'shutdownGracePeriodCriticalPods',
  insecureKubeletReadonlyPortEnabled: 'readOnlyPort',
  memoryManager: 'memoryManagerPolicy',
  topologyManager: 'topologyManagerPolicy topologyManagerScope',
  // GKE, eksctl
  maxPodsPerNode: 'maxPods',
  // Bottlerocket
  clusterDNSIP: 'clusterDNS',
  cpuCFSQuotaEnforced: 'cpuCFSQuota',
  memoryManagerReservedMemory: 'reservedMemory',
  shutdownGracePeriodForCriticalPods: 'shutdownGracePeriodCriticalPods',
  // Talos
  defaultRuntimeSeccompProfileEnabled: 'seccompDefault',
  // kubeadm
  criSocket: 'containerRuntimeEndpoint',
  dnsDomain: 'clusterDomain',
  imagePullSerial: 'serializeImagePulls',
  // Kubespray, after `kubelet_`
  statusUpdateFrequency: 'nodeStatusUpdateFrequency',
  // crictl, CRI-O, containerd
  runtimeEndpoint: 'containerRuntimeEndpoint',
  imageEndpoint: 'imageServiceEndpoint',
  cgroupManager: 'cgroupDriver',
  systemdCgroup: 'cgroupDriver',
  pidsLimit: 'podPidsLimit',
  // Between the flag `--pod-max-pids` and the field
  maxPids: 'podPidsLimit',
  rootDirectory: '--root-dir',
  'authorization.webhook.enabled': 'authorization.mode',
}
