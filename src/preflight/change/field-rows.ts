/**
 * Every field of KubeletConfiguration with what a change of it needs to know: its default, whether it may say "zero" on purpose, what changing it costs, and
 * which flag of kubelet wins over it. Data only, and the one home of it. Sources, all 1.20 to 1.36: `SetDefaults_KubeletConfiguration`,
 * pkg/kubelet/apis/config/v1beta1/defaults.go; pointers of staging/src/k8s.io/kubelet/config/v1beta1/types.go; `AddKubeletConfigFlags`,
 * cmd/kubelet/app/options/options.go. Defaults that hang on other fields are in `with-defaults.ts`.
 */
import type { FieldType } from '../../kubelet/fields.ts'
import type { FieldPath } from '../finding.ts'
import type { RiskClass } from './risk-classes.ts'

export interface FieldRow {
  readonly risk: RiskClass
  /** By the minor version that brought it; the last one that is not too new holds. */
  readonly initial?: readonly (readonly [sinceMinor: number, value: unknown])[]
  /** From this minor on, zero and empty are values of their own (a pointer upstream). Elsewhere they mean "not set". */
  readonly zeroSince?: number
  /** The first minor that knows the field. */
  readonly since?: number
  /** The first minor that does not. */
  readonly until?: number
  /** Without `--`. */
  readonly flag?: string
  /** Of a field within another one. */
  readonly type?: FieldType
  /** What its text, or the texts in it, measure: two spellings can mean the same. */
  readonly measure?: 'duration' | 'quantity'
}

const OLDEST = 20
const is = (value: unknown, ...later: readonly (readonly [number, unknown])[]) => ({ initial: [[OLDEST, value] as const, ...later] })
const from = (since: number, value?: unknown) => (value === undefined ? { since } : { since, initial: [[since, value] as const] })
const ZERO = { zeroSince: OLDEST } as const
const DURATION = { measure: 'duration' } as const
const QUANTITY = { measure: 'quantity' } as const
const EVICTION = { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%', 'imagefs.available': '15%' }

export const FIELD_ROWS = {
  enableServer: { risk: 'server-clients', ...is(true), ...ZERO, flag: 'enable-server' },
  staticPodPath: { risk: 'static-pods', flag: 'pod-manifest-path' },
  podLogsDir: { risk: 'drain', ...from(30, '/var/log/pods') },
  syncFrequency: { risk: 'load', ...is('1m'), ...DURATION, flag: 'sync-frequency' },
  fileCheckFrequency: { risk: 'load', ...is('20s'), ...DURATION, flag: 'file-check-frequency' },
  httpCheckFrequency: { risk: 'load', ...is('20s'), ...DURATION, flag: 'http-check-frequency' },
  staticPodURL: { risk: 'static-pods', flag: 'manifest-url' },
  staticPodURLHeader: { risk: 'static-pods', flag: 'manifest-url-header' },
  address: { risk: 'server-clients', ...is('0.0.0.0'), flag: 'address' },
  port: { risk: 'server-clients', ...is(10250), flag: 'port' },
  readOnlyPort: { risk: 'server-clients', ...is(0), ...ZERO, flag: 'read-only-port' },
  tlsCertFile: { risk: 'server-clients', flag: 'tls-cert-file' },
  tlsPrivateKeyFile: { risk: 'server-clients', flag: 'tls-private-key-file' },
  tlsCipherSuites: { risk: 'server-clients', flag: 'tls-cipher-suites' },
  tlsCurvePreferences: { risk: 'server-clients', ...from(36) },
  tlsMinVersion: { risk: 'server-clients', flag: 'tls-min-version' },
  rotateCertificates: { risk: 'cert-expiry', ...is(false), ...ZERO, flag: 'rotate-certificates' },
  serverTLSBootstrap: { risk: 'server-clients', ...is(false), ...ZERO, flag: 'rotate-server-certificates' },
  'authentication.x509.clientCAFile': { risk: 'server-clients', type: 'string', flag: 'client-ca-file' },
  'authentication.webhook.enabled': { risk: 'server-clients', type: 'boolean', ...is(true), ...ZERO, flag: 'authentication-token-webhook' },
  'authentication.webhook.cacheTTL': {
    risk: 'server-clients',
    type: 'duration',
    ...is('2m'),
    ...DURATION,
    flag: 'authentication-token-webhook-cache-ttl',
  },
  'authentication.anonymous.enabled': { risk: 'server-clients', type: 'boolean', ...is(false), ...ZERO, flag: 'anonymous-auth' },
  'authorization.mode': { risk: 'server-clients', type: 'string', ...is('Webhook'), flag: 'authorization-mode' },
  'authorization.webhook.cacheAuthorizedTTL': {
    risk: 'server-clients',
    type: 'duration',
    ...is('5m'),
    ...DURATION,
    flag: 'authorization-webhook-cache-authorized-ttl',
  },
  'authorization.webhook.cacheUnauthorizedTTL': {
    risk: 'server-clients',
    type: 'duration',
    ...is('30s'),
    ...DURATION,
    flag: 'authorization-webhook-cache-unauthorized-ttl',
  },
  registryPullQPS: { risk: 'load', ...is(5), ...ZERO, flag: 'registry-qps' },
  registryBurst: { risk: 'load', ...is(10), flag: 'registry-burst' },
  imagePullCredentialsVerificationPolicy: { risk: 'restart', ...from(33) },
  preloadedImagesVerificationAllowlist: { risk: 'restart', ...from(33) },
  eventRecordQPS: { risk: 'load', ...is(5, [27, 50]), ...ZERO, flag: 'event-qps' },
  eventBurst: { risk: 'load', ...is(10, [27, 100]), flag: 'event-burst' },
  enableDebuggingHandlers: { risk: 'server-clients', ...is(true), ...ZERO, flag: 'enable-debugging-handlers' },
  enableContentionProfiling: { risk: 'load', ...is(false), ...ZERO, flag: 'contention-profiling' },
  healthzPort: { risk: 'server-clients', ...is(10248), ...ZERO, flag: 'healthz-port' },
  healthzBindAddress: { risk: 'server-clients', ...is('127.0.0.1'), flag: 'healthz-bind-address' },
  oomScoreAdj: { risk: 'restart', ...is(-999), ...ZERO, flag: 'oom-score-adj' },
  clusterDomain: { risk: 'cluster-wide', flag: 'cluster-domain' },
  clusterDNS: { risk: 'drain', flag: 'cluster-dns' },
  streamingConnectionIdleTimeout: { risk: 'server-clients', ...is('4h'), ...DURATION, flag: 'streaming-connection-idle-timeout' },
  nodeStatusUpdateFrequency: { risk: 'load', ...is('10s'), ...DURATION, flag: 'node-status-update-frequency' },
  nodeStatusReportFrequency: { risk: 'load', ...DURATION },
  nodeLeaseDurationSeconds: { risk: 'restart', ...is(40) },
  imageMinimumGCAge: { risk: 'restart', ...is('2m'), ...DURATION, flag: 'minimum-image-ttl-duration' },
  imageMaximumGCAge: { risk: 'restart', ...from(29, '0s'), ...DURATION },
  imageGCHighThresholdPercent: { risk: 'restart', ...is(85), ...ZERO, flag: 'image-gc-high-threshold' },
  imageGCLowThresholdPercent: { risk: 'restart', ...is(80), ...ZERO, flag: 'image-gc-low-threshold' },
  volumeStatsAggPeriod: { risk: 'load', ...is('1m'), ...DURATION, flag: 'volume-stats-agg-period' },
  kubeletCgroups: { risk: 'reboot', flag: 'kubelet-cgroups' },
  systemCgroups: { risk: 'reboot', flag: 'system-cgroups' },
  cgroupRoot: { risk: 'reboot', flag: 'cgroup-root' },
  cgroupsPerQOS: { risk: 'reboot', ...is(true), ...ZERO, flag: 'cgroups-per-qos' },
  cgroupDriver: { risk: 'reboot', ...is('cgroupfs'), flag: 'cgroup-driver' },
  cpuManagerPolicy: { risk: 'reboot', ...is('none'), flag: 'cpu-manager-policy' },
  singleProcessOOMKill: { risk: 'container-restart', ...from(32), zeroSince: 32 },
  cpuManagerPolicyOptions: { risk: 'drain', ...from(22), flag: 'cpu-manager-policy-options' },
  cpuManagerReconcilePeriod: { risk: 'load', ...is('10s'), ...DURATION, flag: 'cpu-manager-reconcile-period' },
  memoryManagerPolicy: { risk: 'drain', ...from(21, 'None'), flag: 'memory-manager-policy' },
  topologyManagerPolicy: { risk: 'reboot', ...is('none'), flag: 'topology-manager-policy' },
  topologyManagerScope: { risk: 'drain', ...is('container'), flag: 'topology-manager-scope' },
  topologyManagerPolicyOptions: { risk: 'drain', ...from(26), flag: 'topology-manager-policy-options' },
  qosReserved: { risk: 'reboot', flag: 'qos-reserved' },
  runtimeRequestTimeout: { risk: 'server-clients', ...is('2m'), ...DURATION, flag: 'runtime-request-timeout' },
  hairpinMode: { risk: 'maybe-reboot', ...is('promiscuous-bridge'), flag: 'hairpin-mode' },
  maxPods: { risk: 'pod-admission', ...is(110), flag: 'max-pods' },
  podCIDR: { risk: 'standalone-only', flag: 'pod-cidr' },
  podPidsLimit: { risk: 'pod-forks', ...is(-1), ...ZERO, flag: 'pod-max-pids' },
  resolvConf: { risk: 'drain', ...is('/etc/resolv.conf'), zeroSince: 23, flag: 'resolv-conf' },
  runOnce: { risk: 'crash-loop', ...is(false), ...ZERO, flag: 'runonce' },
  cpuCFSQuota: { risk: 'restart', ...is(true), ...ZERO, flag: 'cpu-cfs-quota' },
  cpuCFSQuotaPeriod: { risk: 'container-restart', ...is('100ms'), ...ZERO, ...DURATION, flag: 'cpu-cfs-quota-period' },
  nodeStatusMaxImages: { risk: 'restart', ...is(50), ...ZERO, flag: 'node-status-max-images' },
  maxOpenFiles: { risk: 'restart', ...is(1000000), flag: 'max-open-files' },
  contentType: { risk: 'can-cut-api', ...is('application/vnd.kubernetes.protobuf'), flag: 'kube-api-content-type' },
  kubeAPIQPS: { risk: 'load', ...is(5, [27, 50]), ...ZERO, flag: 'kube-api-qps' },
  kubeAPIBurst: { risk: 'load', ...is(10, [27, 100]), flag: 'kube-api-burst' },
  serializeImagePulls: { risk: 'load', ...ZERO, flag: 'serialize-image-pulls' },
  maxParallelImagePulls: { risk: 'load', ...from(27), zeroSince: 27 },
  evictionHard: {
    risk: 'evictions',
    ...is(EVICTION, [30, { ...EVICTION, 'imagefs.inodesFree': '5%' }]),
    ...ZERO,
    ...QUANTITY,
    flag: 'eviction-hard',
  },
  evictionSoft: { risk: 'evictions', ...QUANTITY, flag: 'eviction-soft' },
  evictionSoftGracePeriod: { risk: 'evictions', ...DURATION, flag: 'eviction-soft-grace-period' },
  evictionPressureTransitionPeriod: { risk: 'restart', ...is('5m'), ...DURATION, flag: 'eviction-pressure-transition-period' },
  evictionMaxPodGracePeriod: { risk: 'evictions', ...is(0), ...ZERO, flag: 'eviction-max-pod-grace-period' },
  evictionMinimumReclaim: { risk: 'restart', ...QUANTITY, flag: 'eviction-minimum-reclaim' },
  mergeDefaultEvictionSettings: { risk: 'evictions', ...from(33, false), zeroSince: 33 },
  podsPerCore: { risk: 'pod-admission', ...is(0), ...ZERO, flag: 'pods-per-core' },
  enableControllerAttachDetach: { risk: 'drain', ...is(true), ...ZERO, flag: 'enable-controller-attach-detach' },
  protectKernelDefaults: { risk: 'crash-loop', ...is(false), ...ZERO, flag: 'protect-kernel-defaults' },
  makeIPTablesUtilChains: { risk: 'restart', ...is(true), ...ZERO, flag: 'make-iptables-util-chains' },
  iptablesMasqueradeBit: { risk: 'coordinate', ...is(14), ...ZERO, flag: 'iptables-masquerade-bit' },
  iptablesDropBit: { risk: 'coordinate', ...is(15), ...ZERO, flag: 'iptables-drop-bit' },
  featureGates: { risk: 'maybe-reboot', flag: 'feature-gates' },
  failSwapOn: { risk: 'crash-loop', ...is(true), ...ZERO, flag: 'fail-swap-on' },
  'memorySwap.swapBehavior': { risk: 'container-restart', type: 'string', ...from(22) },
  containerLogMaxSize: { risk: 'restart', ...is('10Mi'), ...QUANTITY, flag: 'container-log-max-size' },
  containerLogMaxFiles: { risk: 'log-loss', ...is(5), ...ZERO, flag: 'container-log-max-files' },
  containerLogMaxWorkers: { risk: 'load', ...from(30, 1), zeroSince: 30 },
  containerLogMonitorInterval: { risk: 'load', ...from(30, '10s'), zeroSince: 30, ...DURATION },
  configMapAndSecretChangeDetectionStrategy: { risk: 'load', ...is('Watch') },
  systemReserved: { risk: 'cgroup-resize', ...QUANTITY, flag: 'system-reserved' },
  kubeReserved: { risk: 'cgroup-resize', ...QUANTITY, flag: 'kube-reserved' },
  reservedSystemCPUs: { risk: 'drain', flag: 'reserved-cpus' },
  showHiddenMetricsForVersion: { risk: 'restart' },
  systemReservedCgroup: { risk: 'reboot', flag: 'system-reserved-cgroup' },
  kubeReservedCgroup: { risk: 'reboot', flag: 'kube-reserved-cgroup' },
  enforceNodeAllocatable: { risk: 'oom-risk', ...is(['pods']), ...ZERO, flag: 'enforce-node-allocatable' },
  allowedUnsafeSysctls: { risk: 'pod-admission', flag: 'allowed-unsafe-sysctls' },
  defaultPodSysctls: { risk: 'drain', ...from(37) },
  volumePluginDir: { risk: 'restart', ...is('/usr/libexec/kubernetes/kubelet-plugins/volume/exec/'), flag: 'volume-plugin-dir' },
  providerID: { risk: 'restart', flag: 'provider-id' },
  kernelMemcgNotification: { risk: 'restart', ...is(false), ...ZERO, flag: 'kernel-memcg-notification' },
  'logging.format': { risk: 'restart', type: 'string', ...is('text'), flag: 'logging-format' },
  'logging.sanitization': { risk: 'restart', type: 'boolean', ...is(false), ...ZERO, until: 24, flag: 'experimental-logging-sanitization' },
  'logging.flushFrequency': { risk: 'restart', type: 'duration', ...from(23, '5s'), ...DURATION, flag: 'log-flush-frequency' },
  'logging.verbosity': { risk: 'load', type: 'int64', ...from(23, 0), ...ZERO, flag: 'v' },
  'logging.vmodule': { risk: 'load', type: 'objects', ...from(23), flag: 'vmodule' },
  'logging.options.json.splitStream': { risk: 'restart', type: 'boolean', ...from(23, false), ...ZERO, flag: 'log-json-split-stream' },
  'logging.options.json.infoBufferSize': {
    risk: 'restart',
    type: 'string',
    ...from(23, '0'),
    ...QUANTITY,
    flag: 'log-json-info-buffer-size',
  },
  'logging.options.text.splitStream': { risk: 'restart', type: 'boolean', ...from(30, false), ...ZERO, flag: 'log-text-split-stream' },
  'logging.options.text.infoBufferSize': {
    risk: 'restart',
    type: 'string',
    ...from(30, '0'),
    ...QUANTITY,
    flag: 'log-text-info-buffer-size',
  },
  enableSystemLogHandler: { risk: 'server-clients', ...is(true), ...ZERO },
  enableSystemLogQuery: { risk: 'server-clients', ...from(27, false), zeroSince: 27 },
  shutdownGracePeriod: { risk: 'restart', ...is('0s'), ...ZERO, ...DURATION },
  shutdownGracePeriodCriticalPods: { risk: 'restart', ...is('0s'), ...ZERO, ...DURATION },
  shutdownGracePeriodByPodPriority: { risk: 'restart', ...from(23) },
  'crashLoopBackOff.maxContainerRestartPeriod': { risk: 'load', type: 'duration', ...from(32), zeroSince: 32, ...DURATION },
  reservedMemory: { risk: 'drain', ...from(21), ...QUANTITY, flag: 'reserved-memory' },
  enableProfilingHandler: { risk: 'server-clients', ...from(21, true), zeroSince: 21 },
  enableDebugFlagsHandler: { risk: 'server-clients', ...from(21, true), zeroSince: 21 },
  seccompDefault: { risk: 'container-restart', ...from(22, false), zeroSince: 22, flag: 'seccomp-default' },
  memoryThrottlingFactor: {
    risk: 'cgroup-resize',
    since: 22,
    initial: [
      [22, 0.8],
      [27, 0.9],
      [37, undefined],
    ],
    zeroSince: 22,
  },
  memoryReservationPolicy: { risk: 'cgroup-resize', ...from(36, 'None') },
  registerWithTaints: { risk: 'restart', ...from(23), flag: 'register-with-taints' },
  registerNode: { risk: 'restart', ...from(23, true), zeroSince: 23, flag: 'register-node' },
  'tracing.endpoint': { risk: 'restart', type: 'string', ...from(25) },
  'tracing.samplingRatePerMillion': { risk: 'load', type: 'int32', ...from(25) },
  localStorageCapacityIsolation: { risk: 'evictions', ...from(25, true), zeroSince: 25, flag: 'local-storage-capacity-isolation' },
  containerRuntimeEndpoint: { risk: 'drain', ...from(27, 'unix:///run/containerd/containerd.sock'), flag: 'container-runtime-endpoint' },
  imageServiceEndpoint: { risk: 'drain', ...from(27), flag: 'image-service-endpoint' },
  failCgroupV1: {
    risk: 'crash-loop',
    since: 31,
    initial: [
      [31, false],
      [35, true],
    ],
    zeroSince: 31,
  },
  'userNamespaces.idsPerPod': { risk: 'drain', type: 'int64', ...from(33), zeroSince: 33 },
} as const satisfies Readonly<Record<string, FieldRow>>

export type RowName = keyof typeof FIELD_ROWS

/** For those who look rows up by a name that may be none. */
export const ROWS: ReadonlyMap<string, FieldRow> = new Map(Object.entries(FIELD_ROWS))

/** The row that a place belongs to: of `featureGates.X` that of the map. undefined: no kubelet knows it. */
export function rowAt(path: FieldPath): { readonly name: string; readonly row: FieldRow } | undefined {
  let name = ''
  for (const step of path) {
    name = name === '' ? String(step) : `${name}.${step}`
    const row = ROWS.get(name)
    if (row !== undefined) return { name, row }
  }
  return undefined
}
