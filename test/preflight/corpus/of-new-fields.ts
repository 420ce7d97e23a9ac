// SPDX-License-Identifier: Apache-2.0
/**
 * The fields that came after 1.20: each with a fitting value, with one of another type and with
 * null; and both sides of every limit and contradiction that a rule knows of. A kubelet that does
 * not know the field ignores it.
 */
import type { Field, FieldTable } from '../../../src/kubelet/field.ts'
import { FIELDS, isKnown, NEWEST_MINOR } from '../../../src/kubelet/fields.ts'
import { below, type Candidate, withFields } from './candidate.ts'
import { FITTING, UNFIT } from './of-fields.ts'

/** Where the value that fits the type does not fit the field. */
const FITS: Readonly<Record<string, unknown>> = {
  podLogsDir: '/var/log/pods',
  tlsCurvePreferences: [29],
  imagePullCredentialsVerificationPolicy: 'AlwaysVerify',
  imageMaximumGCAge: '3m',
  cpuManagerPolicyOptions: { 'full-pcpus-only': 'true' },
  memoryManagerPolicy: 'Static',
  topologyManagerPolicyOptions: { 'prefer-closest-numa-nodes': 'true' },
  maxParallelImagePulls: 1,
  swapBehavior: 'LimitedSwap',
  containerLogMonitorInterval: '10s',
  defaultPodSysctls: { 'net.core.somaxconn': '1024' },
  filePattern: 'kubelet',
  key: 'example.com/a',
  value: 'b',
  effect: 'NoSchedule',
  maxContainerRestartPeriod: '1m',
  limits: { memory: '1Gi' },
  memoryReservationPolicy: 'None',
  endpoint: 'localhost:4317',
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  imageServiceEndpoint: 'unix:///run/containerd/containerd.sock',
  idsPerPod: 65536,
}

interface NewField {
  readonly name: string
  readonly field: Field
  /** Puts its value into its place in a config. */
  readonly place: (value: unknown) => Readonly<Record<string, unknown>>
}

function listNew(fields: FieldTable, place: (inner: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>): NewField[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const here: NewField = { name, field, place: (value) => place({ [name]: value }) }
    const inner = field.fields ?? {}
    const below = listNew(inner, (object) => place({ [name]: field.type === 'objects' ? [object] : object }))
    return [...(field.since === undefined ? [] : [here]), ...below]
  })
}

/** No kubelet of a pre-release is in the records. */
function listAlone(): Candidate[] {
  const released = listNew(FIELDS, (fields) => fields).filter(({ field }) => isKnown(field, NEWEST_MINOR))
  return released.flatMap(({ name, field: { type }, place }) => [
    withFields(place(FITS[name] ?? FITTING[type])),
    withFields(place(UNFIT[type])),
    withFields(place(null)),
  ])
}

const gate = (name: string, isOn = true) => `featureGates: {${name}: ${isOn}}`

const NUMBERS: Readonly<Record<string, readonly (number | string)[]>> = {
  maxParallelImagePulls: [-1, 0, 1, 2],
  containerLogMaxWorkers: [-1, 0, 1, 2],
  containerLogMonitorInterval: ['-3s', '0s', '2.9s', '3s'],
  imageMinimumGCAge: ['-1s', '0s', '1s'],
  imageMaximumGCAge: ['-1s', '0s', '119s', '2m', '121s'],
  memoryThrottlingFactor: [-0.1, 0, 0.1, 1, 1.1],
  registerNode: ['true', 'false'],
  seccompDefault: ['true', 'false'],
  localStorageCapacityIsolation: ['true', 'false'],
  mergeDefaultEvictionSettings: ['true', 'false'],
  enableProfilingHandler: ['true', 'false'],
  failCgroupV1: ['true', 'false'],
  singleProcessOOMKill: ['true', 'false'],
  runOnce: ['true', 'false'],
}

const MORE = [
  'maxParallelImagePulls: 1\nserializeImagePulls: true',
  'maxParallelImagePulls: 2\nserializeImagePulls: true',
  'maxParallelImagePulls: 2\nserializeImagePulls: false',
  ...['1m', '30s', '0s'].map((least) => `imageMinimumGCAge: ${least}\nimageMaximumGCAge: 1m`),
  `imageMaximumGCAge: 3m\n${gate('ImageMaximumGCAge')}`,
  `imageMaximumGCAge: 3m\n${gate('ImageMaximumGCAge', false)}`,
  ...['0', '1', '-1', 'much'].map((amount) => `reservedMemory: [{numaNode: 0, limits: {memory: "${amount}"}}]`),
  'reservedMemory: [{numaNode: 0, limits: {cpu: 1}}]',
  'reservedMemory: [{numaNode: 0, limits: {hugepages-2Mi: 2Mi, memory: 1Gi}}]',
  'reservedMemory: [{numaNode: 0, limits: {hugepages: 2Mi}}]',
  'reservedMemory: [{numaNode: -1, limits: {memory: 1Gi}}]',
  'reservedMemory: [{numaNode: 0}]',
  'reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}, {numaNode: 0, limits: {memory: 1Gi}}]',
  'reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}, {numaNode: 1, limits: {memory: 1Gi}}]',
  ...[
    '{key: "", effect: NoSchedule}',
    '{key: "a b", effect: NoSchedule}',
    '{key: -a, effect: NoSchedule}',
    '{key: example.com/a, effect: NoExecute}',
    '{key: Example.com/a, effect: NoExecute}',
    '{key: example.com/a/b, effect: NoExecute}',
    '{key: example.com/, effect: NoExecute}',
    `{key: ${'a'.repeat(63)}, effect: NoExecute}`,
    `{key: ${'a'.repeat(64)}, effect: NoExecute}`,
    '{key: a, value: "x y", effect: NoSchedule}',
    '{key: a, value: "", effect: PreferNoSchedule}',
    '{key: a, effect: Nope}',
    '{key: a, effect: ""}',
    '{key: a}',
    '{key: a, effect: NoSchedule, timeAdded: "2024-05-01T12:00:00Z"}',
    '{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}',
  ].map((taints) => `registerWithTaints: [${taints}]`),
  'crashLoopBackOff: {maxContainerRestartPeriod: 5m}',
  gate('KubeletCrashLoopBackOffMax'),
  ...['999ms', '1s', '5m', '301s', '-1s', 'null'].map(
    (period) => `crashLoopBackOff: {maxContainerRestartPeriod: ${period}}\n${gate('KubeletCrashLoopBackOffMax')}`,
  ),
  `crashLoopBackOff: {maxContainerRestartPeriod: 5m}\n${gate('KubeletCrashLoopBackOffMax', false)}`,
  ...['0', '-65536', '65535', '65536', '65537', '131072', '4294901760', '4294967296'].map((ids) => `userNamespaces: {idsPerPod: ${ids}}`),
  ...['NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify', 'Nope', '""'].flatMap((policy) => [
    `imagePullCredentialsVerificationPolicy: ${policy}`,
    `imagePullCredentialsVerificationPolicy: ${policy}\n${gate('KubeletEnsureSecretPulledImages')}`,
    `imagePullCredentialsVerificationPolicy: ${policy}\n${gate('KubeletEnsureSecretPulledImages', false)}`,
  ]),
  'preloadedImagesVerificationAllowlist: [reg.io/a]',
  `preloadedImagesVerificationAllowlist: [reg.io/a]\n${gate('KubeletEnsureSecretPulledImages')}`,
  `preloadedImagesVerificationAllowlist: [reg.io/a]\n${gate('KubeletEnsureSecretPulledImages', false)}`,
  ...['None', 'TieredReservation', 'Tiered', '""'].flatMap((policy) => [
    `memoryReservationPolicy: ${policy}`,
    `memoryReservationPolicy: ${policy}\n${gate('MemoryQoS')}`,
  ]),
  `memoryThrottlingFactor: null\n${gate('MemoryQoS')}`,
  ...[
    '/',
    '/var/log',
    '/var//log',
    '/var/log/',
    '/var/./log',
    '/var/../log',
    '/var/..log',
    'relative',
    './relative/',
    '/var/lög',
    'lög',
  ].map((path) => `podLogsDir: ${path}`),
  ...['""', 'NoSwap', 'LimitedSwap', 'UnlimitedSwap', 'Nope'].flatMap((behavior) => [
    `memorySwap: {swapBehavior: ${behavior}}`,
    `memorySwap: {swapBehavior: ${behavior}}\n${gate('NodeSwap')}`,
    `memorySwap: {swapBehavior: ${behavior}}\n${gate('NodeSwap', false)}`,
  ]),
  'enableSystemLogQuery: true',
  'enableSystemLogQuery: true\nenableSystemLogHandler: false',
  `enableSystemLogQuery: true\n${gate('NodeLogQuery')}`,
  `enableSystemLogQuery: true\n${gate('NodeLogQuery', false)}`,
  `enableSystemLogQuery: true\nenableSystemLogHandler: false\n${gate('NodeLogQuery')}`,
  ...[23, 24, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36].map((minor) => `showHiddenMetricsForVersion: "1.${minor}"`),
  ...['', 'shutdownGracePeriod: 30s\n', 'shutdownGracePeriodCriticalPods: 0s\n'].flatMap((before) => [
    `${before}shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 10}]`,
    `${before}shutdownGracePeriodByPodPriority: []`,
  ]),
  ...[true, false].map(
    (isOn) =>
      `shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 10}]\n${gate('GracefulNodeShutdownBasedOnPodPriority', isOn)}`,
  ),
  `shutdownGracePeriod: 30s\n${gate('GracefulNodeShutdown', false)}`,
  ...['system-reserved', 'kube-reserved'].flatMap((name) => {
    const cgroup = name === 'system-reserved' ? 'systemReservedCgroup: /s' : 'kubeReservedCgroup: /k'
    return [
      `enforceNodeAllocatable: [pods, ${name}-compressible]\n${cgroup}`,
      `enforceNodeAllocatable: [pods, ${name}-compressible]`,
      `enforceNodeAllocatable: [${name}, ${name}-compressible]\n${cgroup}`,
    ]
  }),
  'cgroupsPerQOS: false\nenforceNodeAllocatable: [none, none]',
  'tracing: {}',
  ...['-1', '0', '1000000', '1000001'].map((rate) => `tracing: {samplingRatePerMillion: ${rate}}`),
  ...[
    '""',
    'localhost:4317',
    'dns:///x',
    'unix:///run/x',
    'unix-abstract://x',
    'http://x:1',
    'https://x',
    '//x',
    'x y',
    ':',
    '"%"',
    'x:y',
    'x y@z',
    '[::1]:1',
    '[::1',
    'x/%zz',
    'x/ y',
    'unix://x',
    'unix:x//y',
    'dns://x',
    'dns://x/y',
    'dns:///',
    'dns:',
  ].map((endpoint) => `tracing: {endpoint: ${/[": ]/.test(endpoint) && !endpoint.startsWith('"') ? `"${endpoint}"` : endpoint}}`),
  `tracing: {samplingRatePerMillion: 1}\n${gate('KubeletTracing')}`,
  `tracing: {samplingRatePerMillion: 1000001}\n${gate('KubeletTracing')}`,
  `tracing: {samplingRatePerMillion: 1}\n${gate('KubeletTracing', false)}`,
  ...['-1s', '0s', '1ns', '-1', '0', '5000000000'].map((length) => `logging: {flushFrequency: ${length}}`),
  ...['0', '2147483647', '2147483648', '4294967295', '4294967296', '-1'].map((level) => `logging: {verbosity: ${level}}`),
  ...['""', '"a=b"', '"a,b"', 'a*'].map((pattern) => `logging: {vmodule: [{filePattern: ${pattern}, verbosity: 1}]}`),
  ...['2147483647', '2147483648'].map((level) => `logging: {vmodule: [{filePattern: a, verbosity: ${level}}]}`),
  'logging: {format: json, vmodule: [{filePattern: a, verbosity: 1}]}',
  'logging: {format: text, vmodule: [{filePattern: a, verbosity: 1}]}',
  'logging: {format: json, vmodule: []}',
  `logging: {format: json}\n${gate('LoggingBetaOptions', false)}`,
  ...['text', 'json'].flatMap((format) =>
    ['splitStream: true', 'splitStream: false', 'infoBufferSize: 1Ki', 'infoBufferSize: "0"'].flatMap((option) => [
      `logging: {format: ${format}, options: {${format}: {${option}}}}`,
      `logging: {format: ${format}, options: {${format}: {${option}}}}\n${gate('LoggingAlphaOptions')}`,
    ]),
  ),
  ...['""', 'null', '/run/x.sock', 'http://x', '5'].flatMap((endpoint) => [
    `containerRuntimeEndpoint: ${endpoint}`,
    `imageServiceEndpoint: ${endpoint}`,
  ]),
  ...['[]', '[29, 29]', '[5]', '[0]', '[23, 24, 25, 29, 4587, 4588, 4589]', '[65536]'].map((curves) => `tlsCurvePreferences: ${curves}`),
  ...['None', 'Static', 'nope', '""'].map((policy) => `memoryManagerPolicy: ${policy}`),
  `memoryManagerPolicy: nope\n${gate('MemoryManager', false)}`,
  ...['cpuManagerPolicyOptions', 'topologyManagerPolicyOptions'].map((field) => `${field}: {nope: "true"}`),
  ...['0us', '999us', '1ms', '50ms', '1s', '1001ms'].flatMap((period) => [
    `cpuCFSQuotaPeriod: ${period}`,
    `cpuCFSQuotaPeriod: ${period}\n${gate('CustomCPUCFSQuotaPeriod')}`,
    `cpuCFSQuotaPeriod: ${period}\n${gate('CustomCPUCFSQuotaPeriod', false)}`,
  ]),
  ...['kernel.msg*', 'kernel.msg_next_id', 'net.*', 'net/ipv4/ip_forward', 'vm.swappiness', 'NET.x'].map(
    (sysctl) => `allowedUnsafeSysctls: ["${sysctl}"]`,
  ),
  'allowedUnsafeSysctls: ["net*"]',
  ...['user.*', 'user*', 'user.max_user_namespaces', 'user/max_user_namespaces', 'kernel.domainname', 'kernel.domain*', 'kernel.sem*'].map(
    (sysctl) => `allowedUnsafeSysctls: ["${sysctl}"]`,
  ),
  'defaultPodSysctls: {}',
  `defaultPodSysctls: {}\n${gate('DefaultPodSysctls', false)}`,
  `defaultPodSysctls: {net.core.somaxconn: "1024"}\n${gate('DefaultPodSysctls', false)}`,
  ...[
    ...['net.core.somaxconn', 'net/ipv4/conf/eno2.100/rp_filter', 'user.max_user_namespaces', 'kernel.domainname', 'kernel.sem'],
    ...[
      'fs.mqueue.msg_max',
      'net.*',
      'net.',
      '.net',
      'NET.x',
      'vm.swappiness',
      'kernel.msg_next_id',
      'kernel.shm',
      `net.${'x'.repeat(250)}`,
    ],
  ].map((sysctl) => `defaultPodSysctls: {"${sysctl}": "1"}\n${gate('DefaultPodSysctls')}`),
  `defaultPodSysctls: {kernel.sem: "1", kernel/sem: "1"}\n${gate('DefaultPodSysctls')}`,
  `defaultPodSysctls: {kernel.sem: null}\n${gate('DefaultPodSysctls')}`,
  ...['0.8', '0.9', '0.90', '0', '1', '1.1', 'null'].flatMap((factor) => [
    `memoryThrottlingFactor: ${factor}\n${gate('MemoryQoS', false)}`,
    `memoryThrottlingFactor: ${factor}\n${gate('AllBeta', false)}`,
  ]),
  `memoryReservationPolicy: TieredReservation\n${gate('MemoryQoS', false)}`,
  ...['SidecarContainers', 'HostnameOverride', 'NodeDeclaredFeatures', 'DRADeviceTaints', 'DRAConsumableCapacity'].flatMap((name) => [
    gate(name),
    gate(name, false),
  ]),
  ...['101%', '10000%', '10001%'].map((share) => `evictionHard: {memory.available: ${share}}`),
  ...['containerfs.available', 'containerfs.inodesFree', 'imagefs.inodesFree', 'containerfs.free'].map(
    (signal) => `evictionHard: {${signal}: 10%}`,
  ),
  'tlsMinVersion: VersionTLS13\ntlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]',
  ...['AllAlpha', 'AllBeta'].flatMap((group) => [gate(group), gate(group, false)]),
  'featureGates: {AllAlpha: true, AllBeta: true}',
  'featureGates: {StorageVersionAPI: true, APIServerIdentity: false}',
  gate('GracefulNodeShutdown', false),
]

/** Names of images, in the grammar of references. */
const IMAGES = [
  ...['busybox', 'library/busybox', 'docker.io/busybox', 'docker.io/library/busybox', 'index.docker.io/library/busybox'],
  ...['localhost', 'localhost/a', 'localhost:5000/a', 'reg', 'reg/a', 'Reg/a', 'reg.io', 'reg.io/', 'reg.io/a', 'REG.io/a', 'reg.io/A'],
  ...['reg.io/a b', 'reg.io/a/b', 'reg.io/a//b', '/a', 'a/', 'reg.io/-a', 'reg.io/a-', 'reg.io/a--b', 'reg.io/a.b', 'reg.io/a..b'],
  ...['reg.io/a_b', 'reg.io/a__b', 'reg.io/a___b', 'reg.io:5000/a', 'reg.io:/a', 'reg.io:x/a', 'reg..io/a', '-reg.io/a', 'reg-.io/a'],
  ...[
    '[::1]/a',
    '[::1]:5000/a',
    '[::1%1]/a',
    'reg.io/a:1',
    'reg.io:5000/a:1',
    `reg.io/a@sha256:${'0'.repeat(64)}`,
    'a:1',
    'a:1/b',
    '0'.repeat(64),
  ],
  ...[`reg.io/${'a'.repeat(255)}`, `reg.io/${'a'.repeat(256)}`, 'reg.io/ä', 'ä/a', '', ' reg.io/a', 'reg.io/a ', ' '],
  ...[
    '*',
    '/*',
    '*/*',
    'reg.io/*',
    'reg.io/a/*',
    'reg.io/a*',
    'reg.io/*/a',
    'reg.io/**',
    'reg.io*',
    'busybox/*',
    'A b/*',
    'reg.io//*',
    ' reg.io/*',
    'ä/*',
  ],
]

function listImages(): Candidate[] {
  return IMAGES.map((image) =>
    withFields({
      imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages',
      preloadedImagesVerificationAllowlist: [image],
      featureGates: { KubeletEnsureSecretPulledImages: true },
    }),
  )
}

export function listNewFieldCandidates(): Candidate[] {
  const numbers = Object.entries(NUMBERS).flatMap(([field, values]) => values.map((value) => `${field}: ${value}`))
  return [...listAlone(), ...[...numbers, ...MORE].map(below), ...listImages()]
}
