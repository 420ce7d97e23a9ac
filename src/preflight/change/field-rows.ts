// SPDX-License-Identifier: Apache-2.0
/**
 * For every field of KubeletConfiguration: the risk class of changing it, and the kubelet flag that
 * overrides it. Data only. Sources, 1.20 to 1.37: the notes of 1.20 in
 * staging/src/k8s.io/kubelet/config/v1beta1/types.go; `AddKubeletConfigFlags`,
 * cmd/kubelet/app/options/options.go. Types and versions are in `kubelet/fields.ts`, defaults
 * in `kubelet/generated/defaults.ts`, defaults that depend on other fields in `effective.ts`.
 */
import type { Field, FieldDefaults, FieldType } from '../../kubelet/field.ts'
import type { FieldPath } from '../../kubelet/field-path.ts'
import { type LeafName, listLeaves } from '../../kubelet/fields.ts'
import { DEFAULT_TABLE } from '../../kubelet/generated/defaults.ts'
import type { RiskClass } from './change.ts'

interface ChangeRow {
  readonly risk: RiskClass
  /** Without `--`. */
  readonly flag?: string
  /**
   * The quantity that texts in the field measure, if its type does not tell: spellings can be
   * equivalent.
   */
  readonly measure?: 'duration' | 'quantity' | undefined
}

export interface FieldRow extends Field, FieldDefaults, ChangeRow {}

const DURATION = { measure: 'duration' } as const
const QUANTITY = { measure: 'quantity' } as const

export const FIELD_ROWS = {
  enableServer: { risk: 'server-clients', flag: 'enable-server' },
  staticPodPath: { risk: 'static-pods', flag: 'pod-manifest-path' },
  podLogsDir: { risk: 'drain' },
  syncFrequency: { risk: 'load', flag: 'sync-frequency' },
  fileCheckFrequency: { risk: 'load', flag: 'file-check-frequency' },
  httpCheckFrequency: { risk: 'load', flag: 'http-check-frequency' },
  staticPodURL: { risk: 'static-pods', flag: 'manifest-url' },
  staticPodURLHeader: { risk: 'static-pods', flag: 'manifest-url-header' },
  address: { risk: 'server-clients', flag: 'address' },
  port: { risk: 'server-clients', flag: 'port' },
  readOnlyPort: { risk: 'server-clients', flag: 'read-only-port' },
  tlsCertFile: { risk: 'server-clients', flag: 'tls-cert-file' },
  tlsPrivateKeyFile: { risk: 'server-clients', flag: 'tls-private-key-file' },
  tlsCipherSuites: { risk: 'server-clients', flag: 'tls-cipher-suites' },
  tlsCurvePreferences: { risk: 'server-clients' },
  tlsMinVersion: { risk: 'server-clients', flag: 'tls-min-version' },
  rotateCertificates: { risk: 'cert-expiry', flag: 'rotate-certificates' },
  serverTLSBootstrap: { risk: 'server-clients', flag: 'rotate-server-certificates' },
  clientCertificateKeyAlgorithm: { risk: 'cert-expiry' },
  serverCertificateKeyAlgorithm: { risk: 'server-clients' },
  'authentication.x509.clientCAFile': { risk: 'server-clients', flag: 'client-ca-file' },
  'authentication.webhook.enabled': { risk: 'server-clients', flag: 'authentication-token-webhook' },
  'authentication.webhook.cacheTTL': { risk: 'server-clients', flag: 'authentication-token-webhook-cache-ttl' },
  'authentication.anonymous.enabled': { risk: 'server-clients', flag: 'anonymous-auth' },
  'authorization.mode': { risk: 'server-clients', flag: 'authorization-mode' },
  'authorization.webhook.cacheAuthorizedTTL': { risk: 'server-clients', flag: 'authorization-webhook-cache-authorized-ttl' },
  'authorization.webhook.cacheUnauthorizedTTL': {
    risk: 'server-clients',
    flag: 'authorization-webhook-cache-unauthorized-ttl',
  },
  registryPullQPS: { risk: 'load', flag: 'registry-qps' },
  registryBurst: { risk: 'load', flag: 'registry-burst' },
  imagePullCredentialsVerificationPolicy: { risk: 'restart' },
  preloadedImagesVerificationAllowlist: { risk: 'restart' },
  eventRecordQPS: { risk: 'load', flag: 'event-qps' },
  eventBurst: { risk: 'load', flag: 'event-burst' },
  enableDebuggingHandlers: { risk: 'server-clients', flag: 'enable-debugging-handlers' },
  enableContentionProfiling: { risk: 'load', flag: 'contention-profiling' },
  healthzPort: { risk: 'server-clients', flag: 'healthz-port' },
  healthzBindAddress: { risk: 'server-clients', flag: 'healthz-bind-address' },
  oomScoreAdj: { risk: 'restart', flag: 'oom-score-adj' },
  clusterDomain: { risk: 'cluster-wide', flag: 'cluster-domain' },
  clusterDNS: { risk: 'drain', flag: 'cluster-dns' },
  streamingConnectionIdleTimeout: { risk: 'server-clients', flag: 'streaming-connection-idle-timeout' },
  nodeStatusUpdateFrequency: { risk: 'load', flag: 'node-status-update-frequency' },
  nodeStatusReportFrequency: { risk: 'load' },
  nodeLeaseDurationSeconds: { risk: 'restart' },
  imageMinimumGCAge: { risk: 'restart', flag: 'minimum-image-ttl-duration' },
  imageMaximumGCAge: { risk: 'restart' },
  imageGCHighThresholdPercent: { risk: 'restart', flag: 'image-gc-high-threshold' },
  imageGCLowThresholdPercent: { risk: 'restart', flag: 'image-gc-low-threshold' },
  volumeStatsAggPeriod: { risk: 'load', flag: 'volume-stats-agg-period' },
  kubeletCgroups: { risk: 'reboot', flag: 'kubelet-cgroups' },
  systemCgroups: { risk: 'reboot', flag: 'system-cgroups' },
  cgroupRoot: { risk: 'reboot', flag: 'cgroup-root' },
  cgroupsPerQOS: { risk: 'reboot', flag: 'cgroups-per-qos' },
  cgroupDriver: { risk: 'reboot', flag: 'cgroup-driver' },
  cpuManagerPolicy: { risk: 'reboot', flag: 'cpu-manager-policy' },
  singleProcessOOMKill: { risk: 'container-restart' },
  cpuManagerPolicyOptions: { risk: 'drain', flag: 'cpu-manager-policy-options' },
  cpuManagerReconcilePeriod: { risk: 'load', flag: 'cpu-manager-reconcile-period' },
  memoryManagerPolicy: { risk: 'drain', flag: 'memory-manager-policy' },
  topologyManagerPolicy: { risk: 'reboot', flag: 'topology-manager-policy' },
  topologyManagerScope: { risk: 'drain', flag: 'topology-manager-scope' },
  topologyManagerPolicyOptions: { risk: 'drain', flag: 'topology-manager-policy-options' },
  qosReserved: { risk: 'reboot', flag: 'qos-reserved' },
  runtimeRequestTimeout: { risk: 'server-clients', flag: 'runtime-request-timeout' },
  hairpinMode: { risk: 'maybe-reboot', flag: 'hairpin-mode' },
  maxPods: { risk: 'pod-admission', flag: 'max-pods' },
  podCIDR: { risk: 'standalone-only', flag: 'pod-cidr' },
  podPidsLimit: { risk: 'pod-forks', flag: 'pod-max-pids' },
  resolvConf: { risk: 'drain', flag: 'resolv-conf' },
  runOnce: { risk: 'crash-loop', flag: 'runonce' },
  cpuCFSQuota: { risk: 'restart', flag: 'cpu-cfs-quota' },
  cpuCFSQuotaPeriod: { risk: 'container-restart', flag: 'cpu-cfs-quota-period' },
  nodeStatusMaxImages: { risk: 'restart', flag: 'node-status-max-images' },
  maxOpenFiles: { risk: 'restart', flag: 'max-open-files' },
  contentType: { risk: 'can-cut-api', flag: 'kube-api-content-type' },
  kubeAPIQPS: { risk: 'load', flag: 'kube-api-qps' },
  kubeAPIBurst: { risk: 'load', flag: 'kube-api-burst' },
  serializeImagePulls: { risk: 'load', flag: 'serialize-image-pulls' },
  maxParallelImagePulls: { risk: 'load' },
  evictionHard: {
    risk: 'evictions',
    ...QUANTITY,
    flag: 'eviction-hard',
  },
  evictionSoft: { risk: 'evictions', ...QUANTITY, flag: 'eviction-soft' },
  evictionSoftGracePeriod: { risk: 'evictions', ...DURATION, flag: 'eviction-soft-grace-period' },
  evictionPressureTransitionPeriod: { risk: 'restart', flag: 'eviction-pressure-transition-period' },
  evictionMaxPodGracePeriod: { risk: 'evictions', flag: 'eviction-max-pod-grace-period' },
  evictionMinimumReclaim: { risk: 'restart', ...QUANTITY, flag: 'eviction-minimum-reclaim' },
  mergeDefaultEvictionSettings: { risk: 'evictions' },
  podsPerCore: { risk: 'pod-admission', flag: 'pods-per-core' },
  enableControllerAttachDetach: { risk: 'drain', flag: 'enable-controller-attach-detach' },
  protectKernelDefaults: { risk: 'crash-loop', flag: 'protect-kernel-defaults' },
  makeIPTablesUtilChains: { risk: 'restart', flag: 'make-iptables-util-chains' },
  iptablesMasqueradeBit: { risk: 'coordinate', flag: 'iptables-masquerade-bit' },
  iptablesDropBit: { risk: 'coordinate', flag: 'iptables-drop-bit' },
  featureGates: { risk: 'maybe-reboot', flag: 'feature-gates' },
  failSwapOn: { risk: 'crash-loop', flag: 'fail-swap-on' },
  'memorySwap.swapBehavior': { risk: 'container-restart' },
  containerLogMaxSize: { risk: 'restart', ...QUANTITY, flag: 'container-log-max-size' },
  containerLogMaxFiles: { risk: 'log-loss', flag: 'container-log-max-files' },
  containerLogMaxWorkers: { risk: 'load' },
  containerLogMonitorInterval: { risk: 'load' },
  configMapAndSecretChangeDetectionStrategy: { risk: 'load' },
  systemReserved: { risk: 'cgroup-resize', ...QUANTITY, flag: 'system-reserved' },
  kubeReserved: { risk: 'cgroup-resize', ...QUANTITY, flag: 'kube-reserved' },
  reservedSystemCPUs: { risk: 'drain', flag: 'reserved-cpus' },
  showHiddenMetricsForVersion: { risk: 'restart' },
  systemReservedCgroup: { risk: 'reboot', flag: 'system-reserved-cgroup' },
  kubeReservedCgroup: { risk: 'reboot', flag: 'kube-reserved-cgroup' },
  enforceNodeAllocatable: { risk: 'oom-risk', flag: 'enforce-node-allocatable' },
  allowedUnsafeSysctls: { risk: 'pod-admission', flag: 'allowed-unsafe-sysctls' },
  defaultPodSysctls: { risk: 'drain' },
  volumePluginDir: { risk: 'restart', flag: 'volume-plugin-dir' },
  providerID: { risk: 'registration', flag: 'provider-id' },
  kernelMemcgNotification: { risk: 'restart', flag: 'kernel-memcg-notification' },
  'logging.format': { risk: 'restart', flag: 'logging-format' },
  'logging.sanitization': { risk: 'restart', flag: 'experimental-logging-sanitization' },
  'logging.flushFrequency': { risk: 'restart', flag: 'log-flush-frequency' },
  'logging.verbosity': { risk: 'load', flag: 'v' },
  'logging.vmodule': { risk: 'load', flag: 'vmodule' },
  'logging.options.json.splitStream': { risk: 'restart', flag: 'log-json-split-stream' },
  'logging.options.json.infoBufferSize': { risk: 'restart', flag: 'log-json-info-buffer-size' },
  'logging.options.text.splitStream': { risk: 'restart', flag: 'log-text-split-stream' },
  'logging.options.text.infoBufferSize': { risk: 'restart', flag: 'log-text-info-buffer-size' },
  enableSystemLogHandler: { risk: 'server-clients' },
  enableSystemLogQuery: { risk: 'server-clients' },
  shutdownGracePeriod: { risk: 'restart' },
  shutdownGracePeriodCriticalPods: { risk: 'restart' },
  shutdownGracePeriodByPodPriority: { risk: 'restart' },
  'crashLoopBackOff.maxContainerRestartPeriod': { risk: 'load' },
  reservedMemory: { risk: 'drain', ...QUANTITY, flag: 'reserved-memory' },
  enableProfilingHandler: { risk: 'server-clients' },
  enableDebugFlagsHandler: { risk: 'server-clients' },
  seccompDefault: { risk: 'container-restart', flag: 'seccomp-default' },
  memoryThrottlingFactor: { risk: 'throttling' },
  memoryReservationPolicy: { risk: 'cgroup-resize' },
  registerWithTaints: { risk: 'registration', flag: 'register-with-taints' },
  registerNode: { risk: 'registration', flag: 'register-node' },
  'tracing.endpoint': { risk: 'restart' },
  'tracing.samplingRatePerMillion': { risk: 'load' },
  localStorageCapacityIsolation: { risk: 'evictions', flag: 'local-storage-capacity-isolation' },
  containerRuntimeEndpoint: { risk: 'drain', flag: 'container-runtime-endpoint' },
  imageServiceEndpoint: { risk: 'drain', flag: 'image-service-endpoint' },
  failCgroupV1: { risk: 'crash-loop', flag: 'fail-cgroupv1' },
  'userNamespaces.idsPerPod': { risk: 'drain' },
} as const satisfies Readonly<Record<LeafName, ChangeRow>>

export type RowName = keyof typeof FIELD_ROWS

/** By any string, known or not; in the order of upstream's file. */
export const ROWS: ReadonlyMap<string, FieldRow> = new Map(
  listLeaves().flatMap(([name, field]) => (isRowName(name) ? [[name, join(name, field)]] : [])),
)

function isRowName(name: string): name is RowName {
  return Object.hasOwn(FIELD_ROWS, name)
}

function join(name: RowName, field: Field): FieldRow {
  return { measure: measureOf(field.type), ...field, ...DEFAULT_TABLE[name], ...FIELD_ROWS[name] }
}

function measureOf(type: FieldType): FieldRow['measure'] {
  if (type === 'duration' || type === 'nullable-duration' || type === 'nanoseconds') return 'duration'
  return type === 'quantity' || type === 'quantity-map' ? 'quantity' : undefined
}

/**
 * The row of a path: for `featureGates.X` that of the map. undefined: no kubelet knows the field.
 */
export function rowAt(path: FieldPath): { readonly name: string; readonly row: FieldRow } | undefined {
  let name = ''
  for (const [index, step] of path.entries()) {
    // A key that contains a dot is not a path.
    if (String(step).includes('.')) return undefined
    name = name === '' ? String(step) : `${name}.${step}`
    const row = ROWS.get(name)
    const below = path.length - index - 1
    if (row !== undefined) return below === 0 || (below === 1 && row.type.endsWith('-map')) ? { name, row } : undefined
  }
  return undefined
}
