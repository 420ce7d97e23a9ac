// SPDX-License-Identifier: Apache-2.0
/**
 * The errors that kubelet only logs after it has validated its config, and goes on without, by a
 * field of it; and the fields that decide nothing until it serves.
 */
import type { LeafName } from '../../../src/kubelet/fields.ts'
import type { StartRow } from './row.ts'

const row = (
  fields: StartRow['fields'],
  when: string,
  without: string,
  source: string,
  found: StartRow['found'],
  range: Pick<StartRow, 'from' | 'to'> = {},
): StartRow => ({ fields, when, source, does: `goes on ${without}`, found, ...range })
const HEALTHZ = 'run, cmd/kubelet/app/server.go'

export const GOES_ON: readonly StartRow[] = [
  row(['healthzPort'], 'kubelet or another process has it', 'without a health endpoint', HEALTHZ, {
    ...{ rule: 'guard/healthz', example: { healthzPort: 8080 }, running: {}, severity: 'refuse' },
    node: { listeners: [{ address: '0.0.0.0', port: 8080, owner: 'other' }] },
  }),
  row(['healthzPort', 'port'], 'one port for both, and the server is the first', 'without a health endpoint', HEALTHZ, {
    ...{ rule: 'fields/cross', example: { healthzPort: 10250 }, severity: 'refuse' },
  }),
  row(['healthzBindAddress'], 'an address of another machine', 'without a health endpoint', HEALTHZ, {
    ...{ rule: 'guard/healthz', example: { healthzBindAddress: '10.0.0.2' }, node: { localAddresses: [] }, severity: 'refuse' },
  }),
  row(['healthzBindAddress'], 'neither an IP address nor a name', 'without a health endpoint', HEALTHZ, {
    ...{ rule: 'guard/healthz', example: { healthzBindAddress: '10.0.0.2/24' }, severity: 'refuse' },
  }),
  row(['cgroupDriver'], 'a word that is no driver', 'with cgroupfs', 'NewCgroupManager, pkg/kubelet/cm', {
    ...{ rule: 'otherwise/value', example: { cgroupDriver: 'Systemd' } },
  }),
  row(['tlsCipherSuites', 'tlsMinVersion'], 'VersionTLS13', 'with the suites of TLS 1.3', 'InitializeTLS, cmd/kubelet/app/server.go', {
    ...{ rule: 'otherwise/unused', severity: 'info' },
    example: { tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'], tlsMinVersion: 'VersionTLS13' },
  }),
  row(
    ...([['evictionHard', 'evictionSoft'], 'containerfs.*', 'with the thresholds of nodefs or imagefs'] as const),
    'UpdateContainerFsThresholds, pkg/kubelet/eviction',
    { rule: 'otherwise/unused', example: { evictionHard: { 'containerfs.available': '10%' } } },
    { from: 29 },
  ),
  row(
    ...([['userNamespaces.idsPerPod'], 'another number than 65536', 'with 65536'] as const),
    'GetUserNamespacesIDsPerPod, pkg/kubelet/kubelet_getters.go',
    { rule: 'otherwise/value', example: { userNamespaces: { idsPerPod: 131072 } } },
    { from: 33, to: 34 },
  ),
  row(['maxOpenFiles'], 'more than fs.nr_open', 'with the limit that it has', 'RunKubelet, cmd/kubelet/app/server.go', {
    ...{ rule: 'node/open-files', example: { maxOpenFiles: 2_000_000 }, node: { sysctls: new Map([['fs.nr_open', 1_048_576]]) } },
  }),
  row(['staticPodPath'], 'nothing is there', 'without static pods', 'listConfig, pkg/kubelet/config/file.go', {
    ...{ rule: 'node/missing-file', example: { staticPodPath: '/m' }, node: { paths: new Map([['/m', 'missing']]) } },
  }),
  row(['volumePluginDir'], 'a file is there', 'without volume plugins', 'InitPlugins, pkg/volume/plugins.go', {
    ...{ rule: 'node/missing-file', example: { volumePluginDir: '/v' }, node: { paths: new Map([['/v', 'file']]) } },
  }),
  row(['resolvConf'], 'nothing is there', 'and starts no pod that needs it', 'getHostDNSConfig, pkg/kubelet/network/dns', {
    ...{ rule: 'guard/resolv-conf', example: { resolvConf: '/r' }, node: { paths: new Map([['/r', 'missing']]) }, severity: 'refuse' },
  }),
  row(['contentType'], 'a type without an encoder', 'and reaches no API server', 'setContentTypeForClient, cmd/kubelet/app/server.go', {
    ...{ rule: 'guard/content-type', example: { contentType: 'text/plain' }, severity: 'refuse' },
  }),
  row(
    ['cgroupDriver'],
    "another one than the container runtime's",
    'and starts no pod',
    'getCgroupDriverFromCRI, cmd/kubelet/app/server.go',
    {
      ...{ rule: 'guard/cgroup-driver', example: { cgroupDriver: 'systemd' }, running: { cgroupDriver: 'cgroupfs' }, severity: 'refuse' },
      node: { runtime: { fault: undefined, cgroup: { driver: 'cgroupfs', from: 'file' } } },
    },
  ),
  row(['serverTLSBootstrap'], 'true, and no --kubeconfig', 'without a serving certificate', 'Start, k8s.io/client-go/util/certificate', {
    needs: 'a warning of the rules of the node',
  }),
  row(['clusterDNS'], 'no IP address', 'without this nameserver', 'NewMainKubelet, pkg/kubelet/kubelet.go', {
    ...{ rule: 'otherwise/cluster-dns', example: { clusterDNS: ['10.96.0.10:53'] } },
  }),
  row(['kubeletCgroups', 'kubeReservedCgroup'], 'the first is not within the second', 'and tells so', HEALTHZ, {
    needs: 'a warning of the rules of fields',
  }),
  row(['nodeStatusUpdateFrequency'], 'less than nothing', 'and no status gets through', HEALTHZ, {
    needs: 'a warning of the rules of fields',
  }),
  row(['kernelMemcgNotification'], 'true, and cgroup v2', 'without being notified', 'NewCgroupNotifier, pkg/kubelet/eviction', {
    needs: 'a warning of the rules of the node',
  }),
  row(['memoryThrottlingFactor', 'memoryReservationPolicy'], 'the gate MemoryQoS is on, and cgroup v1', 'without MemoryQoS', HEALTHZ, {
    needs: 'a warning of the rules of the node',
  }),
  row(
    ...([
      ['shutdownGracePeriod', 'shutdownGracePeriodByPodPriority'],
      'longer than logind lets it be',
      'without its shutdown manager',
    ] as const),
    'Start, pkg/kubelet/nodeshutdown',
    {
      ...{ rule: 'node/shutdown', example: { shutdownGracePeriod: '15m' } },
      node: { logind: { dropIns: new Map([['/usr/lib/systemd/logind.conf.d/z.conf', '[Login]\nInhibitDelayMaxSec=30\n']]), locks: [] } },
    },
    { from: 21 },
  ),
  row(['kubeletCgroups', 'systemCgroups'], 'processes cannot be moved there', 'and tries again', 'Start, pkg/kubelet/cm', {
    only: 'kubelet itself',
  }),
  row(['oomScoreAdj'], 'the kernel does not allow it', 'as it is', 'ApplyOOMScoreAdj, pkg/util/oom', { only: 'kubelet itself' }),
  row(['podCIDR'], 'the container runtime refuses it', 'without it', 'updatePodCIDR, pkg/kubelet/kubelet_network.go', {
    only: 'kubelet itself',
  }),
  row(['staticPodURL', 'staticPodURLHeader'], 'nothing is there', 'without these pods', 'extractFromURL, pkg/kubelet/config/http.go', {
    only: 'kubelet itself',
  }),
  row(['makeIPTablesUtilChains'], 'there is no iptables', 'without its chains', 'initNetworkUtil, pkg/kubelet', { only: 'kubelet itself' }),
  row(
    ['hairpinMode'],
    'the network of dockershim cannot do it',
    'with another mode',
    'effectiveHairpinMode, pkg/kubelet/dockershim',
    { only: 'kubelet itself' },
    { to: 23 },
  ),
]

/**
 * Of these, kubelet judges all that it judges before it starts, or takes any value and uses it only
 * for what it does later.
 */
export const QUIET: readonly LeafName[] = [
  ...(['httpCheckFrequency', 'clientCertificateKeyAlgorithm', 'serverCertificateKeyAlgorithm', 'authentication.webhook.cacheTTL'] as const),
  ...([
    'authentication.anonymous.enabled',
    'authorization.webhook.cacheAuthorizedTTL',
    'authorization.webhook.cacheUnauthorizedTTL',
  ] as const),
  ...(['registryPullQPS', 'registryBurst', 'imagePullCredentialsVerificationPolicy', 'preloadedImagesVerificationAllowlist'] as const),
  ...(['eventRecordQPS', 'eventBurst', 'enableDebuggingHandlers', 'enableContentionProfiling', 'clusterDomain'] as const),
  ...(['streamingConnectionIdleTimeout', 'nodeStatusReportFrequency', 'nodeLeaseDurationSeconds', 'imageMinimumGCAge'] as const),
  ...(['imageMaximumGCAge', 'imageGCHighThresholdPercent', 'imageGCLowThresholdPercent', 'volumeStatsAggPeriod'] as const),
  ...(['singleProcessOOMKill', 'failCgroupV1', 'cpuManagerReconcilePeriod', 'topologyManagerScope', 'podPidsLimit'] as const),
  ...(['cpuCFSQuota', 'cpuCFSQuotaPeriod', 'nodeStatusMaxImages', 'kubeAPIQPS', 'kubeAPIBurst', 'serializeImagePulls'] as const),
  ...(['maxParallelImagePulls', 'evictionPressureTransitionPeriod', 'evictionMaxPodGracePeriod', 'podsPerCore'] as const),
  ...(['enableControllerAttachDetach', 'featureGates', 'containerLogMaxWorkers', 'containerLogMonitorInterval'] as const),
  ...(['showHiddenMetricsForVersion', 'defaultPodSysctls', 'providerID', 'logging.format', 'logging.flushFrequency'] as const),
  ...(['logging.verbosity', 'logging.vmodule', 'logging.sanitization', 'logging.options.text.splitStream'] as const),
  ...(['logging.options.text.infoBufferSize', 'logging.options.json.splitStream', 'logging.options.json.infoBufferSize'] as const),
  ...(['enableSystemLogHandler', 'enableSystemLogQuery', 'shutdownGracePeriodCriticalPods'] as const),
  ...(['crashLoopBackOff.maxContainerRestartPeriod', 'enableProfilingHandler', 'enableDebugFlagsHandler'] as const),
  ...(['registerWithTaints', 'registerNode', 'tracing.samplingRatePerMillion'] as const),
]
