/**
 * Every field of KubeletConfiguration with its JSON type and the minor versions of kubelet that
 * added and removed it. Data only. Source: staging/src/k8s.io/kubelet/config/v1beta1/types.go, all
 * versions from 1.20 to 1.36 and 1.37 so far, in the order of the file. No top-level field has ever
 * been removed. A kubelet older than a field ignores it, whatever its value.
 */
import type { Field, Fields } from './field.ts'
import {
  AUTHENTICATION,
  AUTHORIZATION,
  CRASH_LOOP,
  LOGGING,
  MEMORY_SWAP,
  RESERVED_MEMORY,
  SHUTDOWN_BY_PRIORITY,
  TAINT,
  TRACING,
  USER_NAMESPACES,
} from './nested-fields.ts'

/** The oldest minor of 1.x that this table covers. */
export const OLDEST_MINOR = 20
/** The newest one whose rules, defaults and feature gates are known as released. */
export const NEWEST_MINOR = 36

export const FIELDS = {
  enableServer: { type: 'boolean' },
  staticPodPath: { type: 'string' },
  podLogsDir: { type: 'string', since: 30 },
  syncFrequency: { type: 'duration' },
  fileCheckFrequency: { type: 'duration' },
  httpCheckFrequency: { type: 'duration' },
  staticPodURL: { type: 'string' },
  staticPodURLHeader: { type: 'strings-map' },
  address: { type: 'string' },
  port: { type: 'int32' },
  readOnlyPort: { type: 'int32' },
  tlsCertFile: { type: 'string' },
  tlsPrivateKeyFile: { type: 'string' },
  tlsCipherSuites: { type: 'strings' },
  tlsCurvePreferences: { type: 'int32s', since: 36 },
  tlsMinVersion: { type: 'string' },
  rotateCertificates: { type: 'boolean' },
  serverTLSBootstrap: { type: 'boolean' },
  authentication: { type: 'object', fields: AUTHENTICATION },
  authorization: { type: 'object', fields: AUTHORIZATION },
  registryPullQPS: { type: 'int32' },
  registryBurst: { type: 'int32' },
  imagePullCredentialsVerificationPolicy: { type: 'string', since: 33 },
  preloadedImagesVerificationAllowlist: { type: 'strings', since: 33 },
  eventRecordQPS: { type: 'int32' },
  eventBurst: { type: 'int32' },
  enableDebuggingHandlers: { type: 'boolean' },
  enableContentionProfiling: { type: 'boolean' },
  healthzPort: { type: 'int32' },
  healthzBindAddress: { type: 'string' },
  oomScoreAdj: { type: 'int32' },
  clusterDomain: { type: 'string' },
  clusterDNS: { type: 'strings' },
  streamingConnectionIdleTimeout: { type: 'duration' },
  nodeStatusUpdateFrequency: { type: 'duration' },
  nodeStatusReportFrequency: { type: 'duration' },
  nodeLeaseDurationSeconds: { type: 'int32' },
  imageMinimumGCAge: { type: 'duration' },
  imageMaximumGCAge: { type: 'duration', since: 29 },
  imageGCHighThresholdPercent: { type: 'int32' },
  imageGCLowThresholdPercent: { type: 'int32' },
  volumeStatsAggPeriod: { type: 'duration' },
  kubeletCgroups: { type: 'string' },
  systemCgroups: { type: 'string' },
  cgroupRoot: { type: 'string' },
  cgroupsPerQOS: { type: 'boolean' },
  cgroupDriver: { type: 'string' },
  cpuManagerPolicy: { type: 'string' },
  singleProcessOOMKill: { type: 'boolean', since: 32 },
  cpuManagerPolicyOptions: { type: 'string-map', since: 22 },
  cpuManagerReconcilePeriod: { type: 'duration' },
  memoryManagerPolicy: { type: 'string', since: 21 },
  topologyManagerPolicy: { type: 'string' },
  topologyManagerScope: { type: 'string' },
  topologyManagerPolicyOptions: { type: 'string-map', since: 26 },
  qosReserved: { type: 'string-map' },
  runtimeRequestTimeout: { type: 'duration' },
  hairpinMode: { type: 'string' },
  maxPods: { type: 'int32' },
  podCIDR: { type: 'string' },
  podPidsLimit: { type: 'int64' },
  resolvConf: { type: 'string' },
  runOnce: { type: 'boolean' },
  cpuCFSQuota: { type: 'boolean' },
  cpuCFSQuotaPeriod: { type: 'nullable-duration' },
  nodeStatusMaxImages: { type: 'int32' },
  maxOpenFiles: { type: 'int64' },
  contentType: { type: 'string' },
  kubeAPIQPS: { type: 'int32' },
  kubeAPIBurst: { type: 'int32' },
  serializeImagePulls: { type: 'boolean' },
  maxParallelImagePulls: { type: 'int32', since: 27 },
  evictionHard: { type: 'string-map' },
  evictionSoft: { type: 'string-map' },
  evictionSoftGracePeriod: { type: 'string-map' },
  evictionPressureTransitionPeriod: { type: 'duration' },
  evictionMaxPodGracePeriod: { type: 'int32' },
  evictionMinimumReclaim: { type: 'string-map' },
  mergeDefaultEvictionSettings: { type: 'boolean', since: 33 },
  podsPerCore: { type: 'int32' },
  enableControllerAttachDetach: { type: 'boolean' },
  protectKernelDefaults: { type: 'boolean' },
  makeIPTablesUtilChains: { type: 'boolean' },
  iptablesMasqueradeBit: { type: 'int32' },
  iptablesDropBit: { type: 'int32' },
  featureGates: { type: 'boolean-map' },
  failSwapOn: { type: 'boolean' },
  memorySwap: { type: 'object', since: 22, fields: MEMORY_SWAP },
  containerLogMaxSize: { type: 'string' },
  containerLogMaxFiles: { type: 'int32' },
  containerLogMaxWorkers: { type: 'int32', since: 30 },
  containerLogMonitorInterval: { type: 'nullable-duration', since: 30 },
  configMapAndSecretChangeDetectionStrategy: { type: 'string' },
  systemReserved: { type: 'string-map' },
  kubeReserved: { type: 'string-map' },
  reservedSystemCPUs: { type: 'string' },
  showHiddenMetricsForVersion: { type: 'string' },
  systemReservedCgroup: { type: 'string' },
  kubeReservedCgroup: { type: 'string' },
  enforceNodeAllocatable: { type: 'strings' },
  allowedUnsafeSysctls: { type: 'strings' },
  defaultPodSysctls: { type: 'string-map', since: 37 },
  volumePluginDir: { type: 'string' },
  providerID: { type: 'string' },
  kernelMemcgNotification: { type: 'boolean' },
  logging: { type: 'object', fields: LOGGING },
  enableSystemLogHandler: { type: 'boolean' },
  enableSystemLogQuery: { type: 'boolean', since: 27 },
  shutdownGracePeriod: { type: 'duration' },
  shutdownGracePeriodCriticalPods: { type: 'duration' },
  shutdownGracePeriodByPodPriority: { type: 'objects', since: 23, fields: SHUTDOWN_BY_PRIORITY },
  crashLoopBackOff: { type: 'object', since: 32, fields: CRASH_LOOP },
  reservedMemory: { type: 'objects', since: 21, fields: RESERVED_MEMORY },
  enableProfilingHandler: { type: 'boolean', since: 21 },
  enableDebugFlagsHandler: { type: 'boolean', since: 21 },
  seccompDefault: { type: 'boolean', since: 22 },
  memoryThrottlingFactor: { type: 'number', since: 22 },
  memoryReservationPolicy: { type: 'string', since: 36 },
  registerWithTaints: { type: 'objects', since: 23, fields: TAINT },
  registerNode: { type: 'boolean', since: 23 },
  tracing: { type: 'object', since: 25, fields: TRACING },
  localStorageCapacityIsolation: { type: 'boolean', since: 25 },
  containerRuntimeEndpoint: { type: 'string', since: 27 },
  imageServiceEndpoint: { type: 'string', since: 27 },
  failCgroupV1: { type: 'boolean', since: 31 },
  userNamespaces: { type: 'object', since: 33, fields: USER_NAMESPACES },
} as const satisfies Fields

export type FieldName = keyof typeof FIELDS

export function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(FIELDS, name)
}

/** Whether kubelet 1.`minor` knows a field; without a minor, whether all versions do. */
export function isKnown({ since, gone }: Pick<Field, 'since' | 'gone'>, minor: number | undefined): boolean {
  if (minor === undefined) return since === undefined && gone === undefined
  return (since ?? 0) <= minor && minor < (gone ?? Number.POSITIVE_INFINITY)
}

type LeafOf<Table extends Fields> = {
  [Name in keyof Table & string]: Table[Name] extends { readonly type: 'object'; readonly fields: infer Inner extends Fields }
    ? `${Name}.${LeafOf<Inner>}`
    : Name
}[keyof Table & string]

/**
 * The path with dots of a field that is set as a whole. An object with fields of its own is not a
 * leaf; a list of such objects is.
 */
export type LeafName = LeafOf<typeof FIELDS>

/** The paths that enclose a dotted path: of `a.b.c`, these are `a` and `a.b`. */
export function listParents(name: string): string[] {
  return [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index))
}

/** Each with its LeafName, in the order of the table. */
export function listLeaves(fields: Fields = FIELDS): (readonly [name: string, field: Field])[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field.type === 'object' && field.fields !== undefined
      ? listLeaves(field.fields).map(([inner, leaf]) => [`${name}.${inner}`, leaf] as const)
      : [[name, field] as const],
  )
}
