// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { validateConfig } from '../../demo/systemd/validate-config.ts'
import { FIELDS, LAST_IN_TABLES, NEWEST_MINOR } from '../../src/kubelet/fields.ts'
import { listGates, stateOf } from '../../src/kubelet/gates.ts'
import { collectFlags } from '../../src/preflight/change/kubelet-flags.ts'
import { checkFields } from '../../src/preflight/check-fields.ts'
import { readDocument } from '../../src/preflight/document.ts'
import type { Finding } from '../../src/preflight/finding.ts'
import { parseVersion } from '../../src/preflight/kubelet-version.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { HEAD } from './corpus/candidate.ts'

async function check(lines: string, version: string | undefined, unknownKeys: 'warn' | 'refuse' = 'warn'): Promise<Finding[]> {
  const read = await readDocument(`${HEAD}${lines}\n`, IN_PLACE)
  if (!read.ok) throw new Error(read.detail)
  const findings = checkFields(read.document, { version: version === undefined ? undefined : parseVersion(version), unknownKeys })
  // The rules of `otherwise/` have their own tests.
  return findings.filter(({ rule }) => rule.startsWith('fields/'))
}

const brief = (findings: readonly Finding[]) => findings.map(({ rule, severity }) => `${severity} ${rule}`)

t.test('a finding has position, problem and advice', async (t) => {
  t.strictSame(await check('kubeAPIQPS: -1\nmaxPod: 5\n', '1.20.2'), [
    {
      rule: 'fields/range',
      severity: 'refuse',
      reason: 'validate',
      path: ['kubeAPIQPS'],
      position: { line: 3, column: 1 },
      problem: 'kubeAPIQPS (--kube-api-qps) -1 must not be a negative number',
      advice: undefined,
    },
    {
      rule: 'fields/unknown-key',
      severity: 'warn',
      reason: 'validate',
      path: ['maxPod'],
      position: { line: 4, column: 1 },
      problem: 'unknown field maxPod: kubelet ignores it',
      advice: 'did you mean maxPods?',
    },
  ])
  t.match(await check('evictionSoft:\n  memory.available: 1Gi', '1.20.2'), [
    { position: { line: 4, column: 3 }, path: ['evictionSoft', 'memory.available'] },
  ])
  t.match(
    await check('cgroupsPerQOS: false', '1.20.2'),
    [{ position: { line: 3, column: 1 } }],
    'for a missing field, the field that requires it',
  )
})

t.test('findings by version', async (t) => {
  const cases: [lines: string, version: string | undefined, findings: string[]][] = [
    ['authentication: {anonymous: {enable: false}}', '1.30', ['warn fields/unknown-key']],
    ['port: 1\nport: 2', '1.30', ['warn fields/repeated-key']],
    ['podLogsDir: /x', '1.29', ['warn fields/too-new']],
    ['podLogsDir: x', '1.29', ['warn fields/too-new']],
    ['podLogsDir: /x', '1.30', []],
    ['podLogsDir: /x', undefined, []],
    ['podLogsDir: x/', '1.30', []],
    ['podLogsDir: /x/', '1.30', ['refuse fields/value']],
    ['podLogsDir: /x/', undefined, ['warn fields/value']],
    ['podLogsDir: ä', '1.30', ['refuse fields/value']],
    ['podLogsDir: 5', '1.29', ['warn fields/too-new']],
    ['podLogsDir: 5', '1.30', ['refuse fields/type']],
    ['podLogsDir: 5', undefined, ['warn fields/type']],
    ['logging: {sanitization: true}', '1.23', []],
    ['logging: {sanitization: true}', '1.24', ['warn fields/gone']],
    ['logging: {verbosity: -1}', '1.22', ['warn fields/too-new']],
    ['logging: {verbosity: -1}', '1.23', ['refuse fields/type']],
    [
      'registerWithTaints: [{key: "a b", effect: Never, value: "a b", timeAdded: "2024-05-01T12:00:00Z"}]',
      '1.23',
      Array(4).fill('refuse fields/value'),
    ],
    ['logging: {verbosity: 2147483648}', '1.23', ['refuse fields/range']],
    ['logging: {verbosity: 2147483647}', '1.23', []],
    ['logging: {format: json, vmodule: [{filePattern: a, verbosity: 2}]}', '1.23', ['refuse fields/cross']],
    ['logging: {vmodule: [{filePattern: a, verbosity: 2}]}', '1.23', []],
    ['logging: {vmodule: [{filePattern: "a=b", verbosity: 2147483648}, {verbosity: 1}]}', '1.23', Array(3).fill('refuse fields/value')],
    ['logging: {options: {json: {splitStream: true}}}', '1.24', []],
    ['logging: {options: {json: {splitStream: true}}}', '1.25', []],
    ['logging: {options: {json: {infoBufferSize: 1Ki}}}', '1.24', []],
    ['logging: {options: {json: {infoBufferSize: 1Ki}}}', '1.25', ['refuse fields/cross']],
    ['logging: {options: {json: {infoBufferSize: 0}, text: {infoBufferSize: 1Ki}}}', '1.30', ['refuse fields/cross']],
    ['logging: {options: {json: {infoBufferSize: 1Ki}}}\nfeatureGates: {LoggingAlphaOptions: true}', '1.30', []],
    ['logging: {format: json}\nfeatureGates: {LoggingBetaOptions: false}', '1.30', ['refuse fields/cross']],
    ['logging: {flushFrequency: -1}', '1.24', []],
    ['logging: {flushFrequency: 5s}', '1.27', ['refuse fields/type']],
    ['logging: {flushFrequency: 5s}', '1.28', []],
    ['logging: {flushFrequency: 5s}', undefined, ['warn fields/type']],
    ['logging: {flushFrequency: -1}', '1.25', ['refuse fields/range']],
    ['logging: {flushFrequency: -5s}', '1.35', ['refuse fields/range']],
    ['logging: {flushFrequency: 0s}', '1.35', []],
    ['registerWithTaints: [{key: example.com/a, effect: NoSchedule}]', '1.23', []],
    ['containerLogMaxFiles: 1', '1.23', ['warn fields/range']],
    ['containerLogMaxFiles: 1', '1.24', ['refuse fields/range']],
    ['containerLogMaxSize: 10MB', '1.36', ['refuse fields/value']],
    ['syncFrequency: -1s', '1.20.2', ['refuse fields/range']],
    ['syncFrequency: -1s', '1.36', ['refuse fields/range']],
    ['syncFrequency: -1s', undefined, ['refuse fields/range']],
    ['syncFrequency: 0s', '1.36', []],
    ['containerLogMaxFiles: 1', undefined, ['warn fields/range']],
    ['containerLogMonitorInterval: 2s', '1.30', ['refuse fields/range']],
    ['runOnce: true', '1.31', []],
    ['runOnce: true', '1.32', ['refuse fields/gone']],
    ['maxParallelImagePulls: 2\nserializeImagePulls: true', '1.27', ['refuse fields/cross']],
    ['maxParallelImagePulls: 2', '1.27', []],
    ['maxParallelImagePulls: 0', '1.27', ['refuse fields/range']],
    ['memorySwap: {swapBehavior: UnlimitedSwap}', '1.22', ['refuse fields/cross']],
    ['memorySwap: {swapBehavior: UnlimitedSwap}\nfeatureGates: {NodeSwap: true}', '1.28', []],
    ['memorySwap: {swapBehavior: UnlimitedSwap}', '1.30', ['refuse fields/value']],
    ['memorySwap: {swapBehavior: NoSwap}', '1.30', []],
    ['memorySwap: {swapBehavior: NoSwap}', undefined, ['warn fields/value']],
    ['cgroupsPerQOS: false\nenforceNodeAllocatable: [none]', '1.30', ['refuse fields/cross']],
    ['cgroupsPerQOS: false\nenforceNodeAllocatable: [none]', '1.31', []],
    ['cgroupsPerQOS: false\nenforceNodeAllocatable: [none]', undefined, ['warn fields/cross']],
    [
      'enforceNodeAllocatable: [kube-reserved-compressible]\nkubeReservedCgroup: /k\nkubeReserved: {cpu: 1m}',
      '1.31',
      ['refuse fields/value'],
    ],
    ['enforceNodeAllocatable: [kube-reserved-compressible]\nkubeReservedCgroup: /k\nkubeReserved: {cpu: 1m}', '1.32', []],
    [
      'enforceNodeAllocatable: [kube-reserved, kube-reserved-compressible]\nkubeReservedCgroup: /k\nkubeReserved: {cpu: 1m}',
      '1.32',
      ['refuse fields/cross'],
    ],
    ['enforceNodeAllocatable: [pods, pods]', '1.30', []],
    ['enforceNodeAllocatable: [pods, pods]', '1.31', ['refuse fields/cross']],
    ['shutdownGracePeriod: 30s', '1.20.2', ['refuse fields/cross']],
    ['shutdownGracePeriod: 30s', '1.21', []],
    ['shutdownGracePeriod: 30s', undefined, []],
    ['shutdownGracePeriod: 30s\nfeatureGates: {AllBeta: false}', '1.21', ['refuse fields/cross']],
    ['shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 5}]', '1.23', ['refuse fields/cross']],
    ['shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 5}]', '1.24', []],
    [
      'shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 5}]\nshutdownGracePeriod: 5s',
      '1.24',
      ['refuse fields/cross'],
    ],
    ['cpuCFSQuotaPeriod: 50ms', '1.35', ['refuse fields/cross']],
    ['cpuCFSQuotaPeriod: 50ms', '1.36', []],
    ['cpuCFSQuotaPeriod: 50us\nfeatureGates: {CustomCPUCFSQuotaPeriod: true}', '1.25', []],
    ['cpuCFSQuotaPeriod: 50us\nfeatureGates: {CustomCPUCFSQuotaPeriod: true}', '1.26', ['refuse fields/range']],
    ['cpuCFSQuotaPeriod: 2s', undefined, ['refuse fields/range']],
    ['imageMaximumGCAge: 1h', '1.29', ['refuse fields/cross']],
    ['imageMaximumGCAge: 1h', '1.30', []],
    ['imageMaximumGCAge: 2m', '1.30', ['refuse fields/cross']],
    ['imageMaximumGCAge: -2m', '1.30', ['refuse fields/range']],
    ['imageMinimumGCAge: -2m', '1.35', []],
    ['imageMinimumGCAge: -2m', '1.36', ['refuse fields/range']],
    ['memoryThrottlingFactor: 1.5', '1.22', ['refuse fields/range']],
    ['memoryThrottlingFactor: 1.5', '1.21', ['warn fields/too-new']],
    ['memoryThrottlingFactor: 0.8\nfeatureGates: {MemoryQoS: false}', '1.36', []],
    ['memoryThrottlingFactor: 0.8\nfeatureGates: {MemoryQoS: false}', '1.37', ['refuse fields/cross']],
    ['memoryThrottlingFactor: 0.8\nfeatureGates: {AllBeta: false}', '1.37', ['refuse fields/cross']],
    ['memoryThrottlingFactor: 0.8\nfeatureGates: {MemoryQoS: false}', undefined, ['warn fields/cross']],
    ['memoryThrottlingFactor: 0.9\nfeatureGates: {MemoryQoS: false}', '1.37', []],
    ['memoryThrottlingFactor: 0.8', '1.37', []],
    ['memoryThrottlingFactor: 1.5\nfeatureGates: {MemoryQoS: false}', '1.37', ['refuse fields/range', 'refuse fields/cross']],
    ['reservedMemory: [{numaNode: 0, limits: {memory: 1Gi, hugepages-2Mi: 2Mi}}]', '1.21', []],
    [
      'reservedMemory: [{numaNode: 0, limits: {cpu: 1}}, {numaNode: 1, limits: {memory: 0}}]',
      '1.21',
      ['refuse fields/value', 'refuse fields/value'],
    ],
    ['reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}, {numaNode: 0, limits: {memory: 1Gi}}]', '1.21', ['refuse fields/value']],
    ['reservedSystemCPUs: 3-1', '1.21', ['warn fields/value']],
    ['reservedSystemCPUs: 3-1', '1.22', ['refuse fields/value']],
    ['reservedSystemCPUs: "0-"', undefined, ['refuse fields/value']],
    ['tracing: {samplingRatePerMillion: 5}', '1.25', ['refuse fields/cross']],
    ['tracing: {samplingRatePerMillion: 1000001}', '1.27', ['refuse fields/range']],
    ['tracing: {endpoint: "localhost:4317"}', '1.27', []],
    ['tracing: {endpoint: "unix-abstract:///a"}', '1.27', []],
    ['tracing: {endpoint: "http://localhost:4317"}', '1.27', ['refuse fields/value']],
    ['tracing: {endpoint: "local host"}', '1.34', ['refuse fields/value']],
    ['tracing: {endpoint: "localhost:http"}', '1.34', ['refuse fields/value']],
    ...['""', 'unix://x', 'dns:///'].flatMap((endpoint): [string, string, string[]][] => [
      [`tracing: {endpoint: ${endpoint}}`, '1.30', ['refuse fields/value']],
      [`tracing: {endpoint: ${endpoint}}`, '1.31', []],
    ]),
    ['tracing: {endpoint: "//localhost"}', '1.34', ['refuse fields/value']],
    ['crashLoopBackOff: {maxContainerRestartPeriod: 5m}', '1.34', ['refuse fields/cross']],
    ['crashLoopBackOff: {maxContainerRestartPeriod: 301s}', '1.35', ['refuse fields/range']],
    ['userNamespaces: {idsPerPod: 65537}', '1.33', ['refuse fields/range']],
    ['userNamespaces: {idsPerPod: 131072}', '1.35', []],
    ['imagePullCredentialsVerificationPolicy: AlwaysVerify', '1.34', ['refuse fields/cross']],
    ['imagePullCredentialsVerificationPolicy: AlwaysVerify', '1.35', []],
    ['imagePullCredentialsVerificationPolicy: Always', '1.35', ['refuse fields/value']],
    ['preloadedImagesVerificationAllowlist: [a]', '1.35', ['refuse fields/cross']],
    ...['" a"', '"*"', '/*', 'a.io/*/b', 'a.io/b:1', 'a.io/b@sha256:00', '""'].map((pattern): [string, string, string[]] => [
      `imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: [${pattern}]`,
      '1.35',
      ['refuse fields/value'],
    ]),
    [
      'imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: [a.io/*, "a.io:5000/b"]',
      '1.35',
      [],
    ],
    ...['busybox', 'library/busybox', 'docker.io/busybox', 'index.docker.io/library/busybox'].flatMap(
      (name): [string, string, string[]][] => {
        const lines = `imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: [${name}]`
        return [
          [lines, '1.35', ['refuse fields/value']],
          [lines, '1.36', []],
        ]
      },
    ),
    ...['a.io/B', 'a.io/b c', 'a.io/', '/b', `a.io/${'b'.repeat(256)}`].map((name): [string, string, string[]] => [
      `imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: ["${name}"]`,
      '1.36',
      ['refuse fields/value'],
    ]),
    ['enableSystemLogQuery: true', '1.30', ['refuse fields/cross']],
    ['enableSystemLogQuery: true\nenableSystemLogHandler: false', '1.36', ['refuse fields/cross']],
    ['memoryManagerPolicy: static', '1.20', ['warn fields/too-new']],
    ['memoryManagerPolicy: static', '1.21', []],
    ['memoryManagerPolicy: static', '1.22', ['refuse fields/value']],
    ['memoryManagerPolicy: static\nfeatureGates: {MemoryManager: false}', '1.22', []],
    ['memoryReservationPolicy: Tiered', '1.36', ['refuse fields/value']],
    ['memoryReservationPolicy: TieredReservation', '1.36', ['refuse fields/cross']],
    ['memoryReservationPolicy: TieredReservation\nfeatureGates: {MemoryQoS: true}', '1.36', []],
    ['memoryReservationPolicy: TieredReservation', '1.37', []],
    ['memoryReservationPolicy: TieredReservation\nfeatureGates: {MemoryQoS: false}', '1.37', ['refuse fields/cross']],
    ['defaultPodSysctls: {net.core.somaxconn: "1024"}', '1.36', ['warn fields/too-new']],
    ['defaultPodSysctls: {net.core.somaxconn: "1024"}', '1.37', ['refuse fields/cross']],
    ['defaultPodSysctls: {}', '1.37', []],
    ['showHiddenMetricsForVersion: "1.29"', '1.30', []],
    ['showHiddenMetricsForVersion: "1.30"', '1.30', ['refuse fields/value']],
    ['showHiddenMetricsForVersion: "1.30"', undefined, []],
    ['showHiddenMetricsForVersion: new', undefined, ['refuse fields/value']],
    ['evictionHard: {containerfs.available: 10%}', '1.28', ['refuse fields/value']],
    ['evictionHard: {containerfs.available: 10%}', '1.29', []],
    ['evictionHard: {containerfs.available: x}', '1.29', ['refuse fields/value']],
    ['evictionSoft: {containerfs.available: 10%}', '1.28', ['refuse fields/value']],
    ['evictionSoft: {containerfs.available: 10%}', '1.29', ['refuse fields/cross']],
    ['evictionSoft: {containerfs.available: 10%}', undefined, ['warn fields/value', 'warn fields/cross']],
    ['evictionSoft: {containerfs.inodesFree: 10%}\nevictionSoftGracePeriod: {containerfs.inodesFree: 1m}', '1.36', []],
    ['evictionSoft: {containerfs.available: 100%}', '1.36', []],
    ['reservedSystemCPUs: 0-1\nkubeReserved: {cpu: ""}\nsystemReserved: {cpu: "-1"}', '1.20.2', []],
    ['reservedSystemCPUs: 0-1\nkubeReserved: {cpu: ""}\nsystemReserved: {cpu: "-1"}', '1.36', []],
    ['reservedSystemCPUs: 0-1\nkubeReserved: {memory: ""}', '1.36', ['refuse fields/value']],
    ['reservedSystemCPUs: ""\nkubeReserved: {cpu: ""}', '1.36', ['refuse fields/value']],
    ['evictionHard: {memory.available: 150%}', '1.20', ['warn fields/value']],
    ['evictionHard: {memory.available: 150%}', '1.21', ['refuse fields/value']],
    ['evictionHard: {memory.available: 150%}', '1.36', ['refuse fields/value']],
    ['tlsCurvePreferences: [29, 4588]', '1.36', []],
    ['tlsCurvePreferences: [5]', '1.35', ['warn fields/too-new']],
    ['tlsCurvePreferences: [5, 0, 65536]', '1.36', Array(3).fill('refuse fields/value')],
    ['tlsCurvePreferences: [29, 29]', '1.36', ['refuse fields/value']],
    ['tlsCurvePreferences: [5]', '1.40', ['warn fields/value']],
    ['tlsCipherSuites: [TLS_OF_TOMORROW]', '1.30', ['refuse fields/value']],
    ['tlsCipherSuites: [TLS_OF_TOMORROW]', '1.40', ['warn fields/value']],
  ]
  for (const [lines, version, findings] of cases) t.strictSame(brief(await check(lines, version)), findings, `${version}: ${lines}`)
  const [tooNew] = await check('evictionHard: {containerfs.available: 10%}', '1.28')
  t.equal(tooNew?.advice, 'remove it, and set nodefs and imagefs', 'its own name is no hint')
})

t.test('feature gates', async (t) => {
  const cases: [gate: string, version: string | undefined, findings: string[]][] = [
    ['DynamicKubeletConfig: true', '1.22', []],
    ['DynamicKubeletConfig: true', '1.23', ['warn fields/gate-going']],
    ['DynamicKubeletConfig: true', '1.24', ['refuse fields/gate-locked', 'warn fields/gate-going']],
    ['DynamicKubeletConfig: true', '1.25', ['refuse fields/gate-locked', 'warn fields/gate-going']],
    ['DynamicKubeletConfig: false', '1.25', ['warn fields/gate-going']],
    ['DynamicKubeletConfig: true', '1.26', ['refuse fields/gate-gone']],
    ['DynamicKubeletConfig: true', undefined, ['warn fields/gate-gone']],
    ['NodeSwap: true', '1.21', ['refuse fields/gate-too-new']],
    ['NodeSwap: true', '1.22', []],
    ['NodeSwap: true', undefined, ['warn fields/gate-gone']],
    ['SeparateCacheWatchRPC: true', '1.20', ['refuse fields/gate-too-new']],
    ['SeparateCacheWatchRPC: true', '1.21', ['refuse fields/gate-too-new']],
    ['ImageVolumeWithDigest: true', '1.35', ['refuse fields/gate-too-new']],
    ['LoggingAlphaOptions: true', '1.24', ['refuse fields/gate-too-new']],
    ['ComponentSLIs: true', '1.35', ['refuse fields/gate-gone']],
    ['LoggingStableOptions: true', '1.30', ['refuse fields/gate-unknown']],
    ['CSIInlineVolume: false', '1.25', ['refuse fields/gate-locked', 'warn fields/gate-going']],
    ['InOrderInformers: false', '1.36', ['refuse fields/gate-locked']],
    ['ExperimentalHostUserNamespaceDefaulting: true', '1.28', ['refuse fields/gate-locked', 'warn fields/gate-going']],
    ['StorageVersionAPI: true, APIServerIdentity: false', '1.34', []],
    ['StorageVersionAPI: true, APIServerIdentity: false', '1.35', ['refuse fields/gate-needs']],
    ['StorageVersionAPI: true, APIServerIdentity: false', undefined, []],
    ['StorageVersionAPI: true', '1.35', []],
    ['GracefulNodeShutdown: false', '1.34', []],
    ['GracefulNodeShutdown: false', '1.35', ['refuse fields/gate-needs', 'refuse fields/gate-needs']],
    ['AllBeta: false', '1.34', []],
    ['NoSuchGate: true', '1.20', ['refuse fields/gate-unknown']],
    ['NoSuchGate: true', '1.30', ['refuse fields/gate-unknown']],
    ['NoSuchGate: true', '1.36', ['refuse fields/gate-unknown']],
    ['NoSuchGate: true', '1.37', ['refuse fields/gate-unknown']],
    ['NoSuchGate: true', `1.${NEWEST_MINOR + 1}`, ['warn fields/gate-unknown']],
    ['SidecarContainers: true', '1.36', ['warn fields/gate-going']],
    ['SidecarContainers: true', '1.37', ['refuse fields/gate-gone']],
    ['HostnameOverride: false', '1.36', []],
    ['HostnameOverride: false', '1.37', ['refuse fields/gate-locked']],
    ['DefaultPodSysctls: true', '1.36', ['refuse fields/gate-too-new']],
    ['DefaultPodSysctls: true', '1.37', []],
    ['DRADeviceTaints: false', '1.36', []],
    ['DRADeviceTaints: false', '1.37', ['refuse fields/gate-needs']],
    ['ControllerManagerReleaseLeaderElectionLockOnExit: true', '1.35', ['refuse fields/gate-too-new']],
    ['ControllerManagerReleaseLeaderElectionLockOnExit: true', '1.36', ['warn fields/gate-going']],
    ['KubeletPSI: true', '1.32', ['refuse fields/gate-too-new']],
    ['KubeletPSI: true', '1.34', []],
    ['GitRepoVolumeDriver: true', '1.35', []],
    ['GitRepoVolumeDriver: true', '1.36', ['refuse fields/gate-locked']],
    ['GitRepoVolumeDriver: false', '1.36', []],
    ['NoSuchGate: true', undefined, ['warn fields/gate-unknown']],
    ['CloudControllerManagerWebhook: true', '1.34', []],
    ['TopologyManagerPolicyOptions: false', '1.34', []],
    ['MemoryManager: false', '1.31', []],
    ['MemoryManager: false', '1.34', ['refuse fields/gate-locked', 'warn fields/gate-going']],
    ['CPUManager: false', '1.25', []],
    ['CPUManager: false', '1.26', ['refuse fields/gate-locked']],
    ['CPUManager: true', '1.26', []],
    ['CPUManager: null', '1.26', ['refuse fields/gate-locked']],
    ['AllAlpha: true', '1.30', []],
    ['AllBeta: true', undefined, []],
  ]
  for (const [gate, version, findings] of cases)
    t.strictSame(brief(await check(`featureGates: {${gate}}`, version)), findings, `${version}: ${gate}`)
  t.match(await check('featureGates: {CPUManger: true}', '1.20'), [{ advice: 'did you mean CPUManager?' }])
})

t.test('a finding about an unknown field says what was meant, for every kubelet', async (t) => {
  const cases: [lines: string, version: string | undefined, rule: string, advice: string | undefined][] = [
    ['podMaxPids: 100', '1.34', 'unknown-key', 'did you mean podPidsLimit?'],
    ['clientCAFile: /x', undefined, 'unknown-key', 'did you mean authentication.x509.clientCAFile?'],
    ['authentication: {anonymous: {enable: false}}', '1.30', 'unknown-key', 'did you mean enabled?'],
    ['logging: {format: text, maxPods: 5}', '1.30', 'unknown-key', 'did you mean maxPods at the top of the config?'],
    ['imageGCPolicy: {}', '1.34', 'unknown-key', undefined],
    ['swapBehavior: NoSwap', '1.45', 'unlisted-key', 'did you mean memorySwap.swapBehavior?'],
    ['max-pods: 5', '2.1', 'unlisted-key', 'did you mean maxPods?'],
  ]
  for (const [lines, version, rule, advice] of cases) t.match(await check(lines, version), [{ rule: `fields/${rule}`, advice }], lines)
})

t.test('unsafe sysctls must be namespaced', async (t) => {
  const cases: [sysctl: string, version: string | undefined, findings: string[]][] = [
    ['vm.nr_hugepages', '1.20', ['refuse fields/value']],
    ['vm.nr_hugepages', '1.36', ['refuse fields/value']],
    ['vm.nr_hugepages', undefined, ['refuse fields/value']],
    ['vm.*', '1.34', ['refuse fields/value']],
    ['net.core.somaxconn', '1.20', []],
    ['net.*', '1.36', []],
    ['net*', '1.36', ['refuse fields/value']],
    ['fs.mqueue.*', undefined, []],
    ['fs.file-max', '1.34', ['refuse fields/value']],
    ['kernel.sem', undefined, []],
    ['kernel.shm*', undefined, []],
    ['kernel.msgmax', undefined, []],
    ['kernel.msg_next_id', '1.28', []],
    ['kernel.msg_next_id', '1.29', ['refuse fields/value']],
    ['kernel.msg_next_id', undefined, ['warn fields/value']],
    ['net/ipv4/tcp_rmem', '1.22', ['refuse fields/value']],
    ['net/ipv4/conf/eno2.100/rp_filter', '1.23', []],
    ['vm/nr_hugepages', '1.34', ['refuse fields/value']],
    ['net.*.x', '1.34', ['refuse fields/value']],
    ['NET.x', undefined, ['refuse fields/value']],
    [`net.${'x'.repeat(250)}`, '1.34', ['refuse fields/value']],
    ...['user.max_user_namespaces', 'user.*', 'kernel.domainname'].flatMap((name): [string, string | undefined, string[]][] => [
      [name, '1.36', ['refuse fields/value']],
      [name, '1.37', []],
      [name, undefined, ['warn fields/value']],
    ]),
    ['user/max_user_namespaces', '1.37', []],
    ['user*', '1.37', ['refuse fields/value']],
    ['kernel.domain*', '1.37', ['refuse fields/value']],
    ['kernel.domainname2', '1.37', ['refuse fields/value']],
  ]
  for (const [sysctl, version, findings] of cases)
    t.strictSame(brief(await check(`allowedUnsafeSysctls: ["${sysctl}"]`, version)), findings, `${version}: ${sysctl}`)
  const [first] = await check('allowedUnsafeSysctls:\n- net.core.somaxconn\n- vm.nr_hugepages', '1.34')
  t.match(first, {
    path: ['allowedUnsafeSysctls', 1],
    position: { line: 5, column: 3 },
    problem: 'the sysctl "vm.nr_hugepages" is not known to be namespaced',
  })
  t.strictSame(
    brief(await check('allowedUnsafeSysctls: [vm.x]\nfeatureGates: {Sysctls: false}', '1.20')),
    ['warn fields/gate-going'],
    'kubelet does not read it',
  )
})

t.test('default sysctls of pods are named, namespaced, and set once', async (t) => {
  const cases: [names: string[], findings: string[]][] = [
    [['net.core.somaxconn', 'kernel.sem', 'user.max_user_namespaces', 'kernel.domainname', 'net/ipv4/conf/eno2.100/rp_filter'], []],
    [['net.*'], ['refuse fields/value']],
    [['NET.x'], ['refuse fields/value']],
    [[''], ['refuse fields/value']],
    [[`net.${'x'.repeat(250)}`], ['refuse fields/value']],
    [['vm.swappiness'], ['refuse fields/value']],
    [['kernel.msg_next_id'], ['refuse fields/value']],
    [['kernel.sem', 'kernel/sem'], ['refuse fields/value']],
  ]
  for (const [names, findings] of cases) {
    const set = names.map((name) => `"${name}": "1"`).join()
    t.strictSame(brief(await check(`defaultPodSysctls: {${set}}\nfeatureGates: {DefaultPodSysctls: true}`, '1.37')), findings, set)
  }
})

t.test('flags override the config', async (t) => {
  const read = await readDocument(
    `${HEAD}systemCgroups: /s\nshutdownGracePeriod: 30s\nport: -1\nfeatureGates: {CPUManager: true}\n`,
    IN_PLACE,
  )
  if (!read.ok) throw new Error(read.detail)
  const flags = collectFlags(['--cgroup-root=/', '--port=1', '--feature-gates=GracefulNodeShutdown=true'])
  const options = { version: parseVersion('1.20.2'), unknownKeys: 'warn' } as const
  t.strictSame(brief(checkFields(read.document, options)), ['refuse fields/cross', 'refuse fields/cross', 'refuse fields/range'])
  t.strictSame(brief(checkFields(read.document, { ...options, flags })), [])
})

t.test('unknown keys can be refused', async (t) => {
  t.strictSame(brief(await check('maxPod: 5\nport: 1\nport: 2\npodLogsDir: /x', '1.20', 'refuse')), [
    'refuse fields/unknown-key',
    'refuse fields/repeated-key',
    'refuse fields/too-new',
  ])
})

t.test('number and length of findings are bounded', async (t) => {
  const many = Array.from({ length: 3000 }, (_, index) => `key${index}: 1\nkey${index}: 2\n`).join('')
  const findings = await check(many, '1.20')
  t.ok(findings.length <= 41, `${findings.length}`)
  t.match(findings.at(-1), { problem: '2980 more keys that kubelet does not know', position: undefined })
  const long = 'x'.repeat(900)
  for (const { problem } of await check(
    `${long}: 1\nfeatureGates: {${long}: true}\nevictionHard: {${long}: ${long}}\nhairpinMode: ${long}`,
    '1.20',
  )) {
    t.ok(problem.length < 400, `${problem.length}`)
  }
})

t.test('without a version it refuses only what every version refuses', async () => {
  const field = fc.constantFrom(...Object.keys(FIELDS))
  const value = fc.oneof(
    fc.constantFrom('', 'none', '-1h', '0s', '50ms', '1h', '2s', '3-1', '150%', 'pods', true, false, null),
    fc.integer({ min: -3, max: 70000 }),
    fc.constantFrom(
      [],
      ['none'],
      ['pods', 'pods'],
      [{}],
      {},
      { 'memory.available': '150%' },
      { swapBehavior: 'NoSwap' },
      { AllAlpha: true },
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.dictionary(field, value, { maxKeys: 6 }), async (fields) => {
      const text = JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields })
      const read = await readDocument(text, IN_PLACE)
      if (!read.ok) return
      const refusals = (minor: number | undefined) =>
        checkFields(read.document, { version: minor === undefined ? undefined : { major: 1, minor, patch: 0 }, unknownKeys: 'warn' })
          .filter(({ severity }) => severity === 'refuse')
          .map(({ problem }) => problem)
      const always = refusals(undefined)
      if (always.length === 0) return
      for (let minor = 20; minor <= NEWEST_MINOR; minor += 1) {
        if (refusals(minor).length === 0) throw new Error(`1.${minor} accepts a config that is refused for ${always.join('; ')}`)
      }
    }),
    { numRuns: 400 },
  )
})

t.test('configs that fail the validation of every kubelet', async (t) => {
  const cases: [config: Record<string, unknown>, problems: string[]][] = [
    [{}, []],
    [
      { port: 0, maxPods: 0, nodeLeaseDurationSeconds: 0, healthzPort: 0, readOnlyPort: 0, oomScoreAdj: -1000, nodeStatusMaxImages: -1 },
      [],
    ],
    [{ port: 65536 }, ['port (--port) 65536 must be between 0 and 65535']],
    [{ healthzPort: -1 }, ['healthzPort (--healthz-port) -1']],
    [{ oomScoreAdj: 1001 }, ['oomScoreAdj (--oom-score-adj) 1001 must be between -1000 and 1000']],
    [{ nodeStatusMaxImages: -2 }, ['must be -1 or greater']],
    [{ nodeLeaseDurationSeconds: -1, eventBurst: -1, iptablesDropBit: 32 }, ['nodeLease', 'eventBurst', 'iptablesDropBit']],
    [{ hairpinMode: 'x', topologyManagerPolicy: 'best-effort', topologyManagerScope: '' }, ['hairpinMode']],
    [{ imageGCHighThresholdPercent: 75 }, ['80 must be less than']],
    [{ imageGCHighThresholdPercent: 75, imageGCLowThresholdPercent: 70 }, []],
    [{ imageGCHighThresholdPercent: 101 }, ['must be between 0 and 100']],
    [{ cgroupsPerQOS: false }, ['is not supported unless cgroupsPerQOS']],
    [{ cgroupsPerQOS: false, enforceNodeAllocatable: [] }, []],
    [{ cgroupsPerQOS: false, enforceNodeAllocatable: ['none'] }, []],
    [{ enforceNodeAllocatable: ['none', 'pods'] }, ['may not contain']],
    [{ enforceNodeAllocatable: ['pods', 'system-reserved'] }, ['systemReservedCgroup must be']],
    [{ enforceNodeAllocatable: ['kube-reserved-compressible'], kubeReservedCgroup: '/k' }, []],
    [{ enforceNodeAllocatable: ['everything'] }, ['option "everything"']],
    [{ systemCgroups: '/s' }, ['systemCgroups (--system-cgroups) was specified']],
    [{ systemCgroups: '/s', cgroupRoot: '/' }, []],
    [{ reservedSystemCPUs: '0', kubeReservedCgroup: '/k' }, ['reservedSystemCPUs']],
    [{ shutdownGracePeriod: '30s', shutdownGracePeriodCriticalPods: '10s' }, []],
    [{ shutdownGracePeriod: '30s', shutdownGracePeriodCriticalPods: '1m' }, ['must be <= shutdownGracePeriod']],
    [{ shutdownGracePeriod: '500ms' }, ['>= 1 sec']],
    [{ shutdownGracePeriod: '-1h', shutdownGracePeriodCriticalPods: '-2h' }, []],
    [
      { port: 65536, podLogsDir: 'x', cpuCFSQuotaPeriod: '2s' },
      [
        'port (--port) 65536 must be between 0 and 65535, inclusive',
        'cpuCFSQuotaPeriod (--cpu-cfs-quota-period) 2s must be between 1usec and 1sec, inclusive',
      ],
    ],
    [{ cgroupRoot: '/nope', cgroupsPerQOS: true, enforceNodeAllocatable: [] }, []],
  ]
  for (const [config, problems] of cases) {
    const found = validateConfig(config)
    t.equal(found.length, problems.length, JSON.stringify(config))
    for (const [index, problem] of problems.entries()) t.match(found[index], problem)
  }
})

t.test('what kubelet meets only after it has validated its config is marked, of one newer than the tables', async (t) => {
  const later = `1.${LAST_IN_TABLES.minor + 1}`
  const isAtStart = async (lines: string, version: string) => (await check(lines, version)).map((finding) => finding.isAtStart === true)
  // Kubelet 1.37 takes these as it validates its config: corpus/verdicts-1.37.json.
  const late = ['cpuManagerPolicy: dynamic', 'memoryManagerPolicy: nope', 'authorization: {mode: RBAC}']
  for (const lines of [...late, 'configMapAndSecretChangeDetectionStrategy: Poll', 'systemReserved: {gpu: "1"}']) {
    t.same(await isAtStart(lines, later), [true], lines)
    t.same(await isAtStart(lines, '1.37'), [false], lines)
  }
  for (const lines of ['topologyManagerPolicy: best_effort', 'hairpinMode: veth', 'tlsMinVersion: TLS1.2', 'logging: {format: JSON}'])
    t.same(await isAtStart(lines, later), [false], lines)
})

t.test(
  'a pre-release refuses what the newest release refuses too, and of the rest it only warns',
  { skip: LAST_IN_TABLES.minor === NEWEST_MINOR && 'no pre-release is in the tables' },
  async (t) => {
    const next = LAST_IN_TABLES.version
    const cases: [lines: string, findings: readonly string[]][] = [
      ['maxPods: -1', ['refuse fields/range']],
      ['systemReserved: {gpu: "1"}', ['refuse fields/value']],
      ['memorySwap: {swapBehavior: Nope}', ['refuse fields/value']],
      ['featureGates: {SidecarContainers: true}', ['refuse fields/gate-gone']],
      ['featureGates: {NodeSwap: true}', ['warn fields/gate-gone']],
      ['featureGates: {NoSuchGate: true}', ['warn fields/gate-unknown']],
      ['featureGates: {DRADeviceTaints: false}', ['warn fields/gate-locked', 'refuse fields/gate-needs']],
      ['serverCertificateKeyAlgorithm: RSA-1024', ['warn fields/value']],
      ['serverCertificateKeyAlgorithm: 5', ['warn fields/type']],
      ['foo: 1', ['warn fields/unlisted-key']],
      ['allowedUnsafeSysctls: [user.max_user_namespaces, kernel.domainname]', []],
      ['featureGates: {DynamicResourceAllocation: true}\nmaxPods: 5', ['warn fields/gate-gone']],
    ]
    for (const [lines, findings] of cases) t.strictSame(brief(await check(lines, next)), findings, lines)
    t.match(await check('featureGates: {NodeSwap: true}', next), [
      { problem: `unrecognized feature gate: NodeSwap (1.${LAST_IN_TABLES.minor} is not released: judged by ${next})`, isUnsettled: true },
    ])
    t.strictSame(brief(await check('foo: 1', next, 'refuse')), ['warn fields/unlisted-key'], 'the release may know it')
  },
)

t.test('a name that a list lacks, which has grown before, only warns of a kubelet that may have a longer one', async (t) => {
  const cases: [lines: string, newest: readonly string[]][] = [
    ['featureGates: {NoSuchGate: true}', ['refuse fields/gate-unknown']],
    ['allowedUnsafeSysctls: [kernel.foo]', ['refuse fields/value']],
    ['featureGates: {DefaultPodSysctls: true}\ndefaultPodSysctls: {kernel.foo: "1"}', ['refuse fields/value']],
    ['cpuManagerPolicy: static\ncpuManagerPolicyOptions: {new-thing: "true"}\nreservedSystemCPUs: "0"', ['refuse fields/value']],
    ['topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions: {new-thing: "true"}', ['refuse fields/value']],
    ['tlsCurvePreferences: [4590]', ['refuse fields/value']],
    ['tlsCipherSuites: [TLS_NEW_SUITE]', ['refuse fields/value']],
    ['evictionHard: {newfs.available: 1Gi}', ['refuse fields/value']],
  ]
  for (const [lines, newest] of cases) {
    t.strictSame(brief(await check(lines, `1.${NEWEST_MINOR}`)), newest, lines)
    for (const version of [`1.${NEWEST_MINOR + 1}`, `1.${LAST_IN_TABLES.minor + 1}`]) {
      const found = await check(lines, version)
      t.strictSame(brief(found), [newest[0]?.replace('refuse', 'warn')], `${lines} in ${version}`)
      t.match(found, [{ isUnsettled: true }], `${lines} in ${version}`)
    }
  }
})

t.test(
  'a pre-release is sure of a complaint only where the newest release has the same, not another about that gate',
  { skip: LAST_IN_TABLES.minor === NEWEST_MINOR && 'no pre-release is in the tables' },
  async (t) => {
    const twice = 'allowedUnsafeSysctls: [Kernel..foo]\ntlsCurvePreferences: [29, 29]\ntlsCipherSuites: [nope]'
    t.strictSame(brief(await check(twice, LAST_IN_TABLES.version)), Array(3).fill('refuse fields/value'), 'no list decides that')
    const found = await check('featureGates: {AllAlpha: true, NodeDeclaredFeatures: false}', LAST_IN_TABLES.version)
    const severityOf = (gate: string) => found.find(({ problem }) => problem.startsWith(`${gate} is enabled, but depends on`))?.severity
    t.equal(severityOf('DRAOptionalNodeOperations'), 'refuse')
    t.equal(severityOf('DynamicNodeLocalEphemeralVolumes'), 'warn', 'the beta alone has it')
  },
)

t.test('a field that a release has removed is known to be gone for a newer kubelet too', async (t) => {
  const lines = 'logging: {sanitization: true}'
  for (const version of [`1.${NEWEST_MINOR}`, `1.${NEWEST_MINOR + 1}`, `1.${LAST_IN_TABLES.minor + 1}`, '2.0']) {
    const found = await check(lines, version)
    t.strictSame(brief(found), ['warn fields/gone'], version)
    t.match(found, [{ problem: /^kubelet 1\.24 removed logging\.sanitization: kubelet \S+ ignores it$/, advice: 'remove it' }])
    t.notOk(found[0]?.isUnsettled, version)
  }
  t.match(await check(lines, `1.${NEWEST_MINOR + 1}`, 'refuse'), [{ severity: 'warn', isUnsettled: true }])
})

t.test(
  'gates that a pre-release no longer has are named before an upgrade',
  { skip: LAST_IN_TABLES.minor === NEWEST_MINOR && 'no pre-release is in the tables' },
  async (t) => {
    const problem = `kubelet 1.${LAST_IN_TABLES.minor} (as of ${LAST_IN_TABLES.version}) removes feature gate NodeSwap and does not start with it`
    for (const version of ['1.35.4', '1.37.2']) {
      t.match(await check('featureGates: {NodeSwap: true}', version), [{ rule: 'fields/gate-going', severity: 'warn', problem }], version)
    }
    const going = listGates().filter(
      (name) => stateOf(name, NEWEST_MINOR) !== undefined && stateOf(name, LAST_IN_TABLES.minor) === undefined,
    )
    t.equal(going.length, 29, going.join())
    for (const name of ['KubeletTracing', 'SystemdWatchdog', 'ExecProbeTimeout', 'InPlacePodVerticalScaling', 'DynamicResourceAllocation'])
      t.ok(going.includes(name), name)
  },
)

t.test('the algorithms of the keys of certificates', async (t) => {
  const cases: [lines: string, findings: readonly string[]][] = [
    ['clientCertificateKeyAlgorithm: ML-DSA-65', []],
    ['clientCertificateKeyAlgorithm: ""', ['warn fields/value']],
    ['serverCertificateKeyAlgorithm: ECDSA-P384', []],
    ['serverCertificateKeyAlgorithm: ML-DSA-44', ['warn fields/cross']],
    ['serverCertificateKeyAlgorithm: ML-DSA-44\ntlsMinVersion: VersionTLS12', ['warn fields/cross']],
    ['serverCertificateKeyAlgorithm: ML-DSA-44\ntlsMinVersion: VersionTLS13', []],
    ['serverCertificateKeyAlgorithm: ML-DSA-44\ntlsMinVersion: Nope', ['refuse fields/value']],
  ]
  for (const [lines, findings] of cases) t.strictSame(brief(await check(lines, LAST_IN_TABLES.version)), findings, lines)
  t.strictSame(brief(await check('serverCertificateKeyAlgorithm: RSA-1024', '1.37')), ['warn fields/too-new'], 'kubelet ignores it')
})

t.test('the rules of the newest minor warn of a later kubelet, which may take more', async (t) => {
  const later = `1.${LAST_IN_TABLES.minor + 1}`
  const cases: [lines: string, findings: readonly string[]][] = [
    ['maxPods: -1', ['refuse fields/range']],
    ['systemReserved: {gpu: "1"}', ['warn fields/value']],
    ['topologyManagerPolicy: later', ['warn fields/value']],
    ['featureGates: {SidecarContainers: true}', ['warn fields/gate-gone']],
    ['serverCertificateKeyAlgorithm: 5', ['warn fields/type']],
    ['allowedUnsafeSysctls: [user.max_user_namespaces]', []],
    ['preloadedImagesVerificationAllowlist: [busybox]\nimagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages', []],
    ['showHiddenMetricsForVersion: "1.38"', []],
    ['logging: {flushFrequency: 5s}', []],
    ['foo: 1', ['warn fields/unlisted-key']],
  ]
  for (const [lines, findings] of cases) t.strictSame(brief(await check(lines, later)), findings, lines)
  t.match(await check('topologyManagerPolicy: later', later), [
    { problem: new RegExp(`\\(as of ${LAST_IN_TABLES.version}: kubelet ${later}.0 may take it\\)$`) },
  ])
  t.strictSame(brief(await check('maxPods: -1\nfoo: 1', '2.0')), ['refuse fields/range', 'warn fields/unlisted-key'])
})
