/**
 * For every field of KubeletConfiguration: its default, whether zero is a value of its own, the
 * risk class of changing it, and the kubelet flag that overrides it. Data only. Sources, 1.20 to
 * 1.36: `SetDefaults_KubeletConfiguration`, pkg/kubelet/apis/config/v1beta1/defaults.go; pointers
 * in staging/src/k8s.io/kubelet/config/v1beta1/types.go; `AddKubeletConfigFlags`,
 * cmd/kubelet/app/options/options.go. Defaults that depend on other fields are in `effective.ts`;
 * types and versions in `kubelet/fields.ts`.
 */
import type { Field, FieldType } from '../../kubelet/field.ts'
import type { FieldPath } from '../../kubelet/field-path.ts'
import { type LeafName, listLeaves, OLDEST_MINOR } from '../../kubelet/fields.ts'
import type { RiskClass } from './risk-classes.ts'

interface ChangeRow {
  readonly risk: RiskClass
  /**
   * Defaults by the minor version that introduced them; the last one that is not too new applies.
   */
  readonly initial?: readonly (readonly [sinceMinor: number, value: unknown])[]
  /**
   * From this minor on, zero and empty are values of their own (a pointer upstream). Without it
   * they mean "not set".
   */
  readonly zeroSince?: number
  /** Without `--`. */
  readonly flag?: string
  /**
   * What the texts in the field measure, if its type does not tell: spellings can be equivalent.
   */
  readonly measure?: 'duration' | 'quantity' | undefined
}

export interface FieldRow extends Field, ChangeRow {}

const is = (value: unknown, ...later: readonly (readonly [number, unknown])[]) => ({ initial: [[OLDEST_MINOR, value] as const, ...later] })
const ZERO = { zeroSince: OLDEST_MINOR } as const
const DURATION = { measure: 'duration' } as const
const QUANTITY = { measure: 'quantity' } as const
const EVICTION = { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%', 'imagefs.available': '15%' }

export const FIELD_ROWS = {
  enableServer: { risk: 'server-clients', ...is(true), ...ZERO, flag: 'enable-server' },
  staticPodPath: { risk: 'static-pods', flag: 'pod-manifest-path' },
  podLogsDir: { risk: 'drain', ...is('/var/log/pods') },
  syncFrequency: { risk: 'load', ...is('1m'), flag: 'sync-frequency' },
  fileCheckFrequency: { risk: 'load', ...is('20s'), flag: 'file-check-frequency' },
  httpCheckFrequency: { risk: 'load', ...is('20s'), flag: 'http-check-frequency' },
  staticPodURL: { risk: 'static-pods', flag: 'manifest-url' },
  staticPodURLHeader: { risk: 'static-pods', flag: 'manifest-url-header' },
  address: { risk: 'server-clients', ...is('0.0.0.0'), flag: 'address' },
  port: { risk: 'server-clients', ...is(10250), flag: 'port' },
  readOnlyPort: { risk: 'server-clients', ...is(0), ...ZERO, flag: 'read-only-port' },
  tlsCertFile: { risk: 'server-clients', flag: 'tls-cert-file' },
  tlsPrivateKeyFile: { risk: 'server-clients', flag: 'tls-private-key-file' },
  tlsCipherSuites: { risk: 'server-clients', flag: 'tls-cipher-suites' },
  tlsCurvePreferences: { risk: 'server-clients' },
  tlsMinVersion: { risk: 'server-clients', flag: 'tls-min-version' },
  rotateCertificates: { risk: 'cert-expiry', ...is(false), ...ZERO, flag: 'rotate-certificates' },
  serverTLSBootstrap: { risk: 'server-clients', ...is(false), ...ZERO, flag: 'rotate-server-certificates' },
  'authentication.x509.clientCAFile': { risk: 'server-clients', flag: 'client-ca-file' },
  'authentication.webhook.enabled': { risk: 'server-clients', ...is(true), ...ZERO, flag: 'authentication-token-webhook' },
  'authentication.webhook.cacheTTL': { risk: 'server-clients', ...is('2m'), flag: 'authentication-token-webhook-cache-ttl' },
  'authentication.anonymous.enabled': { risk: 'server-clients', ...is(false), ...ZERO, flag: 'anonymous-auth' },
  'authorization.mode': { risk: 'server-clients', ...is('Webhook'), flag: 'authorization-mode' },
  'authorization.webhook.cacheAuthorizedTTL': { risk: 'server-clients', ...is('5m'), flag: 'authorization-webhook-cache-authorized-ttl' },
  'authorization.webhook.cacheUnauthorizedTTL': {
    risk: 'server-clients',
    ...is('30s'),
    flag: 'authorization-webhook-cache-unauthorized-ttl',
  },
  registryPullQPS: { risk: 'load', ...is(5), ...ZERO, flag: 'registry-qps' },
  registryBurst: { risk: 'load', ...is(10), flag: 'registry-burst' },
  imagePullCredentialsVerificationPolicy: { risk: 'restart' },
  preloadedImagesVerificationAllowlist: { risk: 'restart' },
  eventRecordQPS: { risk: 'load', ...is(5, [27, 50]), ...ZERO, flag: 'event-qps' },
  eventBurst: { risk: 'load', ...is(10, [27, 100]), flag: 'event-burst' },
  enableDebuggingHandlers: { risk: 'server-clients', ...is(true), ...ZERO, flag: 'enable-debugging-handlers' },
  enableContentionProfiling: { risk: 'load', ...is(false), ...ZERO, flag: 'contention-profiling' },
  healthzPort: { risk: 'server-clients', ...is(10248), ...ZERO, flag: 'healthz-port' },
  healthzBindAddress: { risk: 'server-clients', ...is('127.0.0.1'), flag: 'healthz-bind-address' },
  oomScoreAdj: { risk: 'restart', ...is(-999), ...ZERO, flag: 'oom-score-adj' },
  clusterDomain: { risk: 'cluster-wide', flag: 'cluster-domain' },
  clusterDNS: { risk: 'drain', flag: 'cluster-dns' },
  streamingConnectionIdleTimeout: { risk: 'server-clients', ...is('4h'), flag: 'streaming-connection-idle-timeout' },
  nodeStatusUpdateFrequency: { risk: 'load', ...is('10s'), flag: 'node-status-update-frequency' },
  nodeStatusReportFrequency: { risk: 'load' },
  nodeLeaseDurationSeconds: { risk: 'restart', ...is(40) },
  imageMinimumGCAge: { risk: 'restart', ...is('2m'), flag: 'minimum-image-ttl-duration' },
  imageMaximumGCAge: { risk: 'restart', ...is('0s') },
  imageGCHighThresholdPercent: { risk: 'restart', ...is(85), ...ZERO, flag: 'image-gc-high-threshold' },
  imageGCLowThresholdPercent: { risk: 'restart', ...is(80), ...ZERO, flag: 'image-gc-low-threshold' },
  volumeStatsAggPeriod: { risk: 'load', ...is('1m'), flag: 'volume-stats-agg-period' },
  kubeletCgroups: { risk: 'reboot', flag: 'kubelet-cgroups' },
  systemCgroups: { risk: 'reboot', flag: 'system-cgroups' },
  cgroupRoot: { risk: 'reboot', flag: 'cgroup-root' },
  cgroupsPerQOS: { risk: 'reboot', ...is(true), ...ZERO, flag: 'cgroups-per-qos' },
  cgroupDriver: { risk: 'reboot', ...is('cgroupfs'), flag: 'cgroup-driver' },
  cpuManagerPolicy: { risk: 'reboot', ...is('none'), flag: 'cpu-manager-policy' },
  singleProcessOOMKill: { risk: 'container-restart', ...ZERO },
  cpuManagerPolicyOptions: { risk: 'drain', flag: 'cpu-manager-policy-options' },
  cpuManagerReconcilePeriod: { risk: 'load', ...is('10s'), flag: 'cpu-manager-reconcile-period' },
  memoryManagerPolicy: { risk: 'drain', ...is('None'), flag: 'memory-manager-policy' },
  topologyManagerPolicy: { risk: 'reboot', ...is('none'), flag: 'topology-manager-policy' },
  topologyManagerScope: { risk: 'drain', ...is('container'), flag: 'topology-manager-scope' },
  topologyManagerPolicyOptions: { risk: 'drain', flag: 'topology-manager-policy-options' },
  qosReserved: { risk: 'reboot', flag: 'qos-reserved' },
  runtimeRequestTimeout: { risk: 'server-clients', ...is('2m'), flag: 'runtime-request-timeout' },
  hairpinMode: { risk: 'maybe-reboot', ...is('promiscuous-bridge'), flag: 'hairpin-mode' },
  maxPods: { risk: 'pod-admission', ...is(110), flag: 'max-pods' },
  podCIDR: { risk: 'standalone-only', flag: 'pod-cidr' },
  podPidsLimit: { risk: 'pod-forks', ...is(-1), ...ZERO, flag: 'pod-max-pids' },
  resolvConf: { risk: 'drain', ...is('/etc/resolv.conf'), zeroSince: 23, flag: 'resolv-conf' },
  runOnce: { risk: 'crash-loop', ...is(false), ...ZERO, flag: 'runonce' },
  cpuCFSQuota: { risk: 'restart', ...is(true), ...ZERO, flag: 'cpu-cfs-quota' },
  cpuCFSQuotaPeriod: { risk: 'container-restart', ...is('100ms'), ...ZERO, flag: 'cpu-cfs-quota-period' },
  nodeStatusMaxImages: { risk: 'restart', ...is(50), ...ZERO, flag: 'node-status-max-images' },
  maxOpenFiles: { risk: 'restart', ...is(1000000), flag: 'max-open-files' },
  contentType: { risk: 'can-cut-api', ...is('application/vnd.kubernetes.protobuf'), flag: 'kube-api-content-type' },
  kubeAPIQPS: { risk: 'load', ...is(5, [27, 50]), ...ZERO, flag: 'kube-api-qps' },
  kubeAPIBurst: { risk: 'load', ...is(10, [27, 100]), flag: 'kube-api-burst' },
  serializeImagePulls: { risk: 'load', ...ZERO, flag: 'serialize-image-pulls' },
  maxParallelImagePulls: { risk: 'load', ...ZERO },
  evictionHard: {
    risk: 'evictions',
    ...is(EVICTION, [30, { ...EVICTION, 'imagefs.inodesFree': '5%' }]),
    ...ZERO,
    ...QUANTITY,
    flag: 'eviction-hard',
  },
  evictionSoft: { risk: 'evictions', ...QUANTITY, flag: 'eviction-soft' },
  evictionSoftGracePeriod: { risk: 'evictions', ...DURATION, flag: 'eviction-soft-grace-period' },
  evictionPressureTransitionPeriod: { risk: 'restart', ...is('5m'), flag: 'eviction-pressure-transition-period' },
  evictionMaxPodGracePeriod: { risk: 'evictions', ...is(0), ...ZERO, flag: 'eviction-max-pod-grace-period' },
  evictionMinimumReclaim: { risk: 'restart', ...QUANTITY, flag: 'eviction-minimum-reclaim' },
  mergeDefaultEvictionSettings: { risk: 'evictions', ...is(false), ...ZERO },
  podsPerCore: { risk: 'pod-admission', ...is(0), ...ZERO, flag: 'pods-per-core' },
  enableControllerAttachDetach: { risk: 'drain', ...is(true), ...ZERO, flag: 'enable-controller-attach-detach' },
  protectKernelDefaults: { risk: 'crash-loop', ...is(false), ...ZERO, flag: 'protect-kernel-defaults' },
  makeIPTablesUtilChains: { risk: 'restart', ...is(true), ...ZERO, flag: 'make-iptables-util-chains' },
  iptablesMasqueradeBit: { risk: 'coordinate', ...is(14), ...ZERO, flag: 'iptables-masquerade-bit' },
  iptablesDropBit: { risk: 'coordinate', ...is(15), ...ZERO, flag: 'iptables-drop-bit' },
  featureGates: { risk: 'maybe-reboot', flag: 'feature-gates' },
  failSwapOn: { risk: 'crash-loop', ...is(true), ...ZERO, flag: 'fail-swap-on' },
  'memorySwap.swapBehavior': { risk: 'container-restart' },
  containerLogMaxSize: { risk: 'restart', ...is('10Mi'), ...QUANTITY, flag: 'container-log-max-size' },
  containerLogMaxFiles: { risk: 'log-loss', ...is(5), ...ZERO, flag: 'container-log-max-files' },
  containerLogMaxWorkers: { risk: 'load', ...is(1), ...ZERO },
  containerLogMonitorInterval: { risk: 'load', ...is('10s'), ...ZERO },
  configMapAndSecretChangeDetectionStrategy: { risk: 'load', ...is('Watch') },
  systemReserved: { risk: 'cgroup-resize', ...QUANTITY, flag: 'system-reserved' },
  kubeReserved: { risk: 'cgroup-resize', ...QUANTITY, flag: 'kube-reserved' },
  reservedSystemCPUs: { risk: 'drain', flag: 'reserved-cpus' },
  showHiddenMetricsForVersion: { risk: 'restart' },
  systemReservedCgroup: { risk: 'reboot', flag: 'system-reserved-cgroup' },
  kubeReservedCgroup: { risk: 'reboot', flag: 'kube-reserved-cgroup' },
  enforceNodeAllocatable: { risk: 'oom-risk', ...is(['pods']), ...ZERO, flag: 'enforce-node-allocatable' },
  allowedUnsafeSysctls: { risk: 'pod-admission', flag: 'allowed-unsafe-sysctls' },
  defaultPodSysctls: { risk: 'drain' },
  volumePluginDir: { risk: 'restart', ...is('/usr/libexec/kubernetes/kubelet-plugins/volume/exec/'), flag: 'volume-plugin-dir' },
  providerID: { risk: 'restart', flag: 'provider-id' },
  kernelMemcgNotification: { risk: 'restart', ...is(false), ...ZERO, flag: 'kernel-memcg-notification' },
  'logging.format': { risk: 'restart', ...is('text'), flag: 'logging-format' },
  'logging.sanitization': { risk: 'restart', ...is(false), ...ZERO, flag: 'experimental-logging-sanitization' },
  'logging.flushFrequency': { risk: 'restart', ...is('5s'), flag: 'log-flush-frequency' },
  'logging.verbosity': { risk: 'load', ...is(0), ...ZERO, flag: 'v' },
  'logging.vmodule': { risk: 'load', flag: 'vmodule' },
  'logging.options.json.splitStream': { risk: 'restart', ...is(false), ...ZERO, flag: 'log-json-split-stream' },
  'logging.options.json.infoBufferSize': { risk: 'restart', ...is('0'), flag: 'log-json-info-buffer-size' },
  'logging.options.text.splitStream': { risk: 'restart', ...is(false), ...ZERO, flag: 'log-text-split-stream' },
  'logging.options.text.infoBufferSize': { risk: 'restart', ...is('0'), flag: 'log-text-info-buffer-size' },
  enableSystemLogHandler: { risk: 'server-clients', ...is(true), ...ZERO },
  enableSystemLogQuery: { risk: 'server-clients', ...is(false), ...ZERO },
  shutdownGracePeriod: { risk: 'restart', ...is('0s'), ...ZERO },
  shutdownGracePeriodCriticalPods: { risk: 'restart', ...is('0s'), ...ZERO },
  shutdownGracePeriodByPodPriority: { risk: 'restart' },
  'crashLoopBackOff.maxContainerRestartPeriod': { risk: 'load', ...ZERO },
  reservedMemory: { risk: 'drain', ...QUANTITY, flag: 'reserved-memory' },
  enableProfilingHandler: { risk: 'server-clients', ...is(true), ...ZERO },
  enableDebugFlagsHandler: { risk: 'server-clients', ...is(true), ...ZERO },
  seccompDefault: { risk: 'container-restart', ...is(false), ...ZERO, flag: 'seccomp-default' },
  memoryThrottlingFactor: { risk: 'cgroup-resize', ...is(0.8, [27, 0.9], [37, undefined]), ...ZERO },
  memoryReservationPolicy: { risk: 'cgroup-resize', ...is('None') },
  registerWithTaints: { risk: 'restart', flag: 'register-with-taints' },
  registerNode: { risk: 'restart', ...is(true), ...ZERO, flag: 'register-node' },
  'tracing.endpoint': { risk: 'restart' },
  'tracing.samplingRatePerMillion': { risk: 'load' },
  localStorageCapacityIsolation: { risk: 'evictions', ...is(true), ...ZERO, flag: 'local-storage-capacity-isolation' },
  containerRuntimeEndpoint: { risk: 'drain', ...is('unix:///run/containerd/containerd.sock'), flag: 'container-runtime-endpoint' },
  imageServiceEndpoint: { risk: 'drain', flag: 'image-service-endpoint' },
  failCgroupV1: { risk: 'crash-loop', ...is(false, [35, true]), ...ZERO },
  'userNamespaces.idsPerPod': { risk: 'drain', ...ZERO },
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
  return { measure: measureOf(field.type), ...field, ...FIELD_ROWS[name] }
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
  for (const step of path) {
    name = name === '' ? String(step) : `${name}.${step}`
    const row = ROWS.get(name)
    if (row !== undefined) return { name, row }
  }
  return undefined
}
