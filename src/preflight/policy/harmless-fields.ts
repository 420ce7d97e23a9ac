/**
 * The fields that the policy `guarded` lets change, each with the reason. Data only. A field is
 * here if none of its values gives anybody code, files, credentials, access to an API or a place
 * in the network. Harm that a trial sees and a rollback undoes does not keep a field out. Fields
 * that need a reboot are out, and those that leave a state with which the former config does not
 * start. `memoryThrottlingFactor` is out: from 1.37 on it slows pods down, which no trial sees.
 */
import type { LeafName } from '../../kubelet/fields.ts'

export const HARMLESS_FIELDS = {
  syncFrequency: 'how often running pods are compared with what is wanted',
  fileCheckFrequency: 'how often a directory is read, and not which',
  httpCheckFrequency: 'how often an address is asked, and not which',
  registryPullQPS: 'the rate of pulls; which images and with which credentials stays',
  registryBurst: 'as registryPullQPS',
  eventRecordQPS: 'the rate of events',
  eventBurst: 'as eventRecordQPS',
  enableContentionProfiling: 'what a profile holds, and not who may read it',
  oomScoreAdj: 'which process the kernel kills first',
  nodeStatusUpdateFrequency: 'how often the node reports',
  nodeStatusReportFrequency: 'as nodeStatusUpdateFrequency',
  nodeLeaseDurationSeconds: 'how soon the node counts as gone',
  imageMinimumGCAge: 'when images that nothing uses are deleted',
  imageMaximumGCAge: 'as imageMinimumGCAge',
  imageGCHighThresholdPercent: 'as imageMinimumGCAge',
  imageGCLowThresholdPercent: 'as imageMinimumGCAge',
  volumeStatsAggPeriod: 'how often the use of disks is measured',
  singleProcessOOMKill: 'whether the kernel kills one process of a container or all',
  cpuManagerReconcilePeriod: 'how often CPUs are assigned again, and not by which rules',
  topologyManagerScope: 'whether a container or a pod is aligned with the hardware',
  topologyManagerPolicyOptions: 'how CPUs, memory and devices are aligned with the hardware',
  runtimeRequestTimeout: 'how long kubelet waits for the container runtime, and not which',
  maxPods: 'how many pods fit',
  podsPerCore: 'as maxPods',
  podPidsLimit: 'how many processes a pod may have',
  cpuCFSQuota: 'whether limits of CPU are kept',
  cpuCFSQuotaPeriod: 'as cpuCFSQuota',
  nodeStatusMaxImages: 'how many images the Node lists',
  maxOpenFiles: 'how many files kubelet may have open',
  kubeAPIQPS: 'the rate of requests, and not what is asked or who asks',
  kubeAPIBurst: 'as kubeAPIQPS',
  serializeImagePulls: 'how many pulls run at once',
  maxParallelImagePulls: 'as serializeImagePulls',
  evictionHard: 'when pods are evicted',
  evictionSoft: 'as evictionHard',
  evictionSoftGracePeriod: 'as evictionHard',
  evictionPressureTransitionPeriod: 'as evictionHard',
  evictionMaxPodGracePeriod: 'as evictionHard',
  evictionMinimumReclaim: 'as evictionHard',
  mergeDefaultEvictionSettings: 'as evictionHard',
  containerLogMaxSize: 'how much of the logs of a container is kept',
  containerLogMaxFiles: 'as containerLogMaxSize',
  containerLogMaxWorkers: 'as containerLogMaxSize',
  containerLogMonitorInterval: 'as containerLogMaxSize',
  configMapAndSecretChangeDetectionStrategy: 'how soon a change of what pods use is seen, and not what they may use',
  systemReserved: 'what is left for pods',
  kubeReserved: 'as systemReserved',
  showHiddenMetricsForVersion: 'which metrics there are, and not who may read them',
  kernelMemcgNotification: 'how soon a lack of memory is seen',
  'logging.format': 'how a line of the log is written; what is in it stays',
  'logging.flushFrequency': 'when a line of the log is written',
  'logging.options.json.splitStream': 'which of its two streams kubelet writes to; both go to the same log',
  'logging.options.json.infoBufferSize': 'as logging.flushFrequency',
  'logging.options.text.splitStream': 'as logging.options.json.splitStream',
  'logging.options.text.infoBufferSize': 'as logging.flushFrequency',
  shutdownGracePeriod:
    'how long a shutdown waits for pods; InhibitDelayMaxSec stays in /etc/systemd/logind.conf.d after a rollback, and only limits a wait',
  shutdownGracePeriodCriticalPods: 'as shutdownGracePeriod',
  shutdownGracePeriodByPodPriority: 'as shutdownGracePeriod',
  'crashLoopBackOff.maxContainerRestartPeriod': 'how long a container that crashes waits',
  memoryReservationPolicy: 'whose memory the kernel takes first',
  localStorageCapacityIsolation: 'whether limits of local storage are kept',
  failCgroupV1: 'whether kubelet starts on an old kernel interface',
} as const satisfies Partial<Readonly<Record<LeafName, string>>>

/** @param name of a row. undefined: no table has the field */
export function isHarmless(name: string | undefined): boolean {
  return name !== undefined && Object.hasOwn(HARMLESS_FIELDS, name)
}
