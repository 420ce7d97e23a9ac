// SPDX-License-Identifier: Apache-2.0
/**
 * The errors that end kubelet after it has validated its config, by a field of it: each error with
 * which it ends while it makes its parts, starts its container manager and begins to serve, 1.20 to
 * 1.37, in the order in which they come.
 */
import { GIBIBYTE } from '../node/node-options.ts'
import { exits, SERVER, type StartRow } from './row.ts'

/** `NewMainKubelet` and `RunKubelet`. */
const KUBELET: readonly StartRow[] = [
  exits(
    ['cgroupDriver'],
    'another one than that of Docker',
    'NewDockerService, pkg/kubelet/dockershim',
    { needs: 'the cgroup driver of Docker' },
    { to: 23 },
  ),
  exits(
    ['seccompDefault'],
    'the gate SeccompDefault is off',
    `RunKubelet, ${SERVER}`,
    {
      ...{ rule: 'fields/cross', example: { seccompDefault: true, featureGates: { SeccompDefault: false } } },
    },
    { from: 22, to: 26 },
  ),
  exits(['syncFrequency'], 'less than nothing', 'NewMainKubelet, pkg/kubelet/kubelet.go', {
    rule: 'fields/range',
    example: { syncFrequency: '-1s' },
  }),
  exits(
    ['iptablesMasqueradeBit', 'iptablesDropBit', 'makeIPTablesUtilChains'],
    'one bit for both',
    'NewMainKubelet, pkg/kubelet/kubelet.go',
    {
      ...{ rule: 'fields/cross', example: { iptablesMasqueradeBit: 15 } },
    },
    { to: 27 },
  ),
  exits(['staticPodPath', 'fileCheckFrequency'], 'a path, and less than nothing', 'newSourceFile, pkg/kubelet/config/file.go', {
    ...{ rule: 'fields/range', example: { staticPodPath: '/m', fileCheckFrequency: '-1s' } },
  }),
  exits(['evictionSoft', 'evictionSoftGracePeriod'], 'a threshold without its period', 'ParseThresholdConfig, pkg/kubelet/eviction', {
    ...{ rule: 'fields/cross', example: { evictionSoft: { 'memory.available': '1Gi' } } },
  }),
  exits(['evictionMinimumReclaim'], 'an unknown signal, or less than nothing', 'ParseThresholdConfig, pkg/kubelet/eviction', {
    ...{ rule: 'fields/value', example: { evictionMinimumReclaim: { 'memory.available': '-1' } } },
  }),
  exits(['configMapAndSecretChangeDetectionStrategy'], 'a word that is no strategy', 'NewMainKubelet, pkg/kubelet/kubelet.go', {
    ...{ rule: 'fields/value', example: { configMapAndSecretChangeDetectionStrategy: 'watch' } },
  }),
  exits(
    ['containerLogMaxSize'],
    'no whole number of bytes',
    'NewContainerLogManager, pkg/kubelet/logs',
    {
      ...{ rule: 'fields/value', example: { containerLogMaxSize: '10MB' } },
    },
    { from: 24 },
  ),
  exits(
    ['containerLogMaxFiles'],
    'fewer than two',
    'NewContainerLogManager, pkg/kubelet/logs',
    { rule: 'fields/range', example: { containerLogMaxFiles: 1 } },
    { from: 24 },
  ),
  exits(['serverTLSBootstrap'], 'the certificate in --cert-dir is damaged', 'NewKubeletServerCertificateManager, pkg/kubelet/certificate', {
    needs: 'the files in --cert-dir',
  }),
  exits(['tlsCertFile', 'tlsPrivateKeyFile'], 'a file does not exist', 'NewMainKubelet, and up to 1.35 its server', {
    rule: 'node/missing-file',
    example: { tlsCertFile: '/a.crt', tlsPrivateKeyFile: '/a.key' },
    node: {
      paths: new Map([
        ['/a.crt', 'missing'],
        ['/a.key', 'missing'],
      ]),
    },
  }),
  exits(['tlsCertFile', 'tlsPrivateKeyFile'], 'they are no pair', 'NewMainKubelet, and up to 1.35 its server', {
    needs: 'the texts of the files',
  }),
  exits(
    ['tlsCertFile', 'tlsPrivateKeyFile'],
    'only one is set',
    'ListenAndServeKubeletServer, pkg/kubelet/server',
    {
      ...{ rule: 'fields/certificate-pair', example: { tlsCertFile: '/a.crt' } },
    },
    { to: 35 },
  ),
  exits(['allowedUnsafeSysctls'], 'a sysctl without a namespace', 'NewAllowlist, pkg/kubelet/sysctl', {
    ...{ rule: 'fields/value', example: { allowedUnsafeSysctls: ['vm.swappiness'] } },
  }),
  exits(
    ['maxPods'],
    'more pods than there are user namespaces',
    'MakeUserNsManager, pkg/kubelet/userns',
    { rule: 'fields/cross', example: { maxPods: 65536 } },
    { from: 30 },
  ),
  exits(
    ['maxPods', 'userNamespaces.idsPerPod'],
    'more ids than there are',
    'MakeUserNsManager, pkg/kubelet/userns',
    {
      ...{ rule: 'fields/cross', example: { userNamespaces: { idsPerPod: 67108864 } } },
    },
    { from: 35 },
  ),
  exits(
    ['userNamespaces.idsPerPod'],
    'no power of two, and the node gives kubelet no ids that fit',
    'MakeUserNsManager, pkg/kubelet/userns',
    {
      ...{ rule: 'fields/range', example: { userNamespaces: { idsPerPod: 196608 } }, severity: 'warn' },
    },
    { from: 35 },
  ),
  exits(
    ['podLogsDir'],
    'the path is a file',
    'setupDataDirs, pkg/kubelet/kubelet.go',
    {
      ...{ rule: 'node/missing-file', example: { podLogsDir: '/a' }, node: { paths: new Map([['/a', 'file']]) } },
    },
    { from: 30 },
  ),
  exits(['runOnce'], 'true: it ends without an error, and from 1.32 on its validation refuses it', `RunKubelet, ${SERVER}`, {
    rule: 'guard/run-once',
    example: { runOnce: true },
  }),
]

/** The container manager's start, which waits for the container runtime, and the servers. */
const SERVING: readonly StartRow[] = [
  exits(
    ['cpuManagerPolicy', 'reservedSystemCPUs'],
    'another policy or other CPUs than in the state file',
    'restoreState, pkg/kubelet/cm/cpumanager/state',
    {
      rule: 'node/cpu-manager-state',
      example: { cpuManagerPolicy: 'static', systemReserved: { cpu: '1' } },
      node: { texts: new Map([['/var/lib/kubelet/cpu_manager_state', '{"policyName":"none","defaultCpuSet":""}']]) },
    },
  ),
  exits(
    ['memoryManagerPolicy', 'reservedMemory'],
    'another policy or other memory than in the state file',
    'restoreState, pkg/kubelet/cm/memorymanager/state',
    {
      rule: 'node/memory-manager-state',
      example: {},
      node: { texts: new Map([['/var/lib/kubelet/memory_manager_state', '{"policyName":"Static"}']]) },
    },
    { from: 22 },
  ),
  exits(['systemReserved', 'kubeReserved', 'evictionHard'], 'more memory than there is', 'validateNodeAllocatable, pkg/kubelet/cm', {
    ...{ rule: 'node/reserved-memory', example: { systemReserved: { memory: '9Gi' } }, node: { memoryBytes: 8 * GIBIBYTE } },
  }),
  exits(['systemReserved', 'kubeReserved'], 'more CPUs than there are', 'validateNodeAllocatable, pkg/kubelet/cm', {
    ...{ rule: 'node/reserved-cpu', example: { systemReserved: { cpu: '9' } } },
  }),
  exits(
    ['systemReserved', 'kubeReserved', 'evictionHard', 'localStorageCapacityIsolation'],
    'more ephemeral storage than there is',
    'validateNodeAllocatable, pkg/kubelet/cm',
    {
      needs: 'a rule of the node, over the size of the file system of --root-dir',
    },
  ),
  exits(
    ['localStorageCapacityIsolation'],
    'true, and the file system of --root-dir is not known to cAdvisor',
    'Start, pkg/kubelet/cm',
    { only: 'kubelet itself' },
    { from: 25 },
  ),
  exits(['protectKernelDefaults'], 'true, and a setting of the kernel differs', 'setupKernelTunables, pkg/kubelet/cm', {
    ...{ rule: 'node/kernel', example: { protectKernelDefaults: true }, node: { sysctls: new Map([['kernel.panic', 0]]) } },
  }),
  ...(['system-reserved', 'kube-reserved', 'system-reserved-compressible', 'kube-reserved-compressible'] as const).map((option) => {
    const isSystem = option.startsWith('system')
    const [cgroup, map] = isSystem
      ? (['systemReservedCgroup', 'systemReserved'] as const)
      : (['kubeReservedCgroup', 'kubeReserved'] as const)
    const example = { enforceNodeAllocatable: [option], [cgroup]: '/a' }
    const range = option.endsWith('compressible') ? { from: 32 } : {}
    return exits(
      ['enforceNodeAllocatable', map],
      `${option}, and nothing is reserved`,
      'enforceExistingCgroup, pkg/kubelet/cm',
      { rule: 'fields/cross', example, unlessFlag: true },
      range,
    )
  }),
  ...(['systemReserved', 'kubeReserved'] as const).map((map) => {
    const at = `${map}Cgroup` as const
    const example = {
      enforceNodeAllocatable: [map.replace('R', '-r')],
      [at]: '/a.slice/b.service',
      [map]: { cpu: '1m' },
      cgroupDriver: 'systemd',
    }
    const runtime = { fault: undefined, cgroup: { driver: 'systemd', from: 'answer' } } as const
    return exits(
      [at, 'cgroupDriver'],
      'there is no such cgroup; with systemd, no slice of the last part of its path',
      'enforceExistingCgroup, pkg/kubelet/cm',
      {
        rule: 'node/cgroup',
        example,
        node: {
          runtime,
          cgroups: new Map([
            ['a.slice/b.service', true],
            ['b.service.slice', false],
          ]),
        },
      },
    )
  }),
  exits(
    ['cgroupRoot', 'systemReservedCgroup', 'kubeReservedCgroup'],
    'the cgroup lacks a controller that the root has',
    'Validate, pkg/kubelet/cm/cgroup_v2_manager_linux.go',
    {
      needs: 'cgroup.controllers of the cgroup',
    },
  ),
  exits(['systemCgroups'], 'the root', 'setupNode, pkg/kubelet/cm', {
    rule: 'fields/cross',
    example: { systemCgroups: '/', cgroupRoot: '/' },
  }),
  exits(['address', 'enableServer', 'readOnlyPort'], 'no IP address', 'ListenAndServeKubeletServer, pkg/kubelet/server', {
    ...{ rule: 'fields/value', example: { address: 'localhost' } },
  }),
  exits(['address'], 'an address of another machine', 'ListenAndServeKubeletServer, pkg/kubelet/server', {
    ...{ rule: 'node/address', example: { address: '10.0.0.2' }, node: { localAddresses: [] } },
  }),
  ...(['port', 'readOnlyPort'] as const).map((at) =>
    exits([at], 'another process has it', 'ListenAndServeKubeletServer, pkg/kubelet/server', {
      ...{ rule: 'node/port', example: { [at]: 8080 }, node: { listeners: [{ address: '::', port: 8080, owner: 'other' }] } },
      severity: 'warn',
    }),
  ),
  exits(['port', 'readOnlyPort'], 'one port for both', 'ListenAndServeKubeletReadOnlyServer, pkg/kubelet/server', {
    ...{ rule: 'fields/cross', example: { readOnlyPort: 10250 } },
  }),
  exits(['tlsCipherSuites', 'tlsMinVersion'], 'no suite that HTTP/2 needs', 'http2ConfigureServer, net/http', {
    ...{ rule: 'fields/cross', example: { tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'] } },
  }),
  exits(
    ['tlsCipherSuites'],
    'a suite of HTTP/2 after another one, where Go is 1.16 or older',
    'http2ConfigureServer, net/http',
    {
      rule: 'fields/cross',
      example: { tlsCipherSuites: ['TLS_RSA_WITH_AES_128_CBC_SHA', 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'] },
      severity: 'warn',
    },
    { to: 23 },
  ),
  exits(
    ['address'],
    'leading zeros, where Go is 1.17 or newer',
    `startKubelet, ${SERVER}`,
    {
      ...{ rule: 'fields/value', example: { address: '010.0.0.1' }, severity: 'warn' },
    },
    { to: 22 },
  ),
]

export const LATE_EXITS: readonly StartRow[] = [...KUBELET, ...SERVING]
