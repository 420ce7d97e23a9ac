// SPDX-License-Identifier: Apache-2.0
/**
 * The errors that end kubelet after it has validated its config, by a field of it: each error that
 * `run` and the container manager return before there is a kubelet, 1.20 to 1.37, in the order in
 * which they come.
 */
import { exits, SERVER, type StartRow } from './row.ts'

const CA = '/etc/kubernetes/pki/ca.crt'

/** Before it has a container runtime. */
const DEPENDENCIES: readonly StartRow[] = [
  exits(['tlsCipherSuites'], 'a name that Go has no suite for', `InitializeTLS, ${SERVER}`, {
    rule: 'fields/value',
    example: { tlsCipherSuites: ['ECDHE-RSA-AES128-GCM-SHA256'] },
  }),
  exits(
    ['tlsCurvePreferences'],
    'a number that Go has no curve for',
    `InitializeTLS, ${SERVER}`,
    {
      ...{ rule: 'fields/value', example: { tlsCurvePreferences: [0] } },
    },
    { from: 36 },
  ),
  exits(
    ['tlsCertFile', 'tlsPrivateKeyFile'],
    'neither is set, and only one of both is in --cert-dir',
    'CanReadCertAndKey, k8s.io/client-go/util/cert',
    {
      needs: 'the files in --cert-dir',
    },
  ),
  exits(['tracing.endpoint'], 'the exporter cannot be made', `newTracerProvider, ${SERVER}`, { only: 'kubelet itself' }, { from: 25 }),
  exits(
    ['authentication.webhook.enabled', 'authorization.mode'],
    'they need a client, and there is no --kubeconfig',
    'BuildAuthn and BuildAuthz, cmd/kubelet/app/auth.go',
    { rule: 'node/no-client', example: {}, flags: ['--config=/c'] },
  ),
  exits(['authorization.mode'], 'a word that is no mode', 'BuildAuthz, cmd/kubelet/app/auth.go', {
    ...{ rule: 'fields/value', example: { authorization: { mode: 'RBAC' } } },
  }),
  exits(['authentication.x509.clientCAFile'], 'the file does not exist', 'BuildAuthn, cmd/kubelet/app/auth.go', {
    ...{
      rule: 'node/missing-file',
      example: { authentication: { x509: { clientCAFile: CA } } },
      node: { paths: new Map([[CA, 'missing']]) },
    },
  }),
  exits(['authentication.x509.clientCAFile'], 'the file has no certificate', 'BuildAuthn, cmd/kubelet/app/auth.go', {
    needs: 'the text of the file',
  }),
  exits(['rotateCertificates'], 'its kubeconfig and --bootstrap-kubeconfig give it no client', `buildKubeletClientConfig, ${SERVER}`, {
    only: 'kubelet itself',
  }),
  exits(['runtimeRequestTimeout'], 'less than nothing', 'PreInitRuntimeService, pkg/kubelet/kubelet.go', {
    ...{ rule: 'fields/range', example: { runtimeRequestTimeout: '-1s' } },
  }),
  exits(
    ['containerRuntimeEndpoint', 'imageServiceEndpoint'],
    'not a Unix socket',
    'GetAddressAndDialer, k8s.io/cri-client/pkg/util',
    { rule: 'fields/endpoint', example: { containerRuntimeEndpoint: 'tcp://127.0.0.1:1' } },
    { from: 27 },
  ),
  exits(
    ['containerRuntimeEndpoint'],
    'nothing answers there',
    'PreInitRuntimeService, pkg/kubelet/kubelet.go',
    {
      rule: 'guard/runtime-endpoint',
      example: { containerRuntimeEndpoint: 'unix:///run/b.sock' },
      running: { containerRuntimeEndpoint: 'unix:///run/a.sock' },
      node: { runtime: { fault: { why: 'down', detail: 'ENOENT' }, cgroup: undefined } },
    },
    { from: 27 },
  ),
  exits(
    ['imageServiceEndpoint'],
    'nothing answers there',
    'PreInitRuntimeService, pkg/kubelet/kubelet.go',
    {
      rule: 'guard/runtime-endpoint',
      example: { imageServiceEndpoint: 'unix:///run/b.sock' },
      running: {},
      node: { imageService: { fault: { why: 'down', detail: 'ENOENT' } } },
    },
    { from: 27 },
  ),
]

/** `run` before it has a container manager, and that. */
const CONTAINER_MANAGER: readonly StartRow[] = [
  exits(['reservedSystemCPUs'], 'a CPU that this machine does not have', `getReservedCPUs, ${SERVER}`, {
    ...{ rule: 'node/cpuset', example: { reservedSystemCPUs: '9' } },
  }),
  ...(['systemReserved', 'kubeReserved'] as const).map((field) =>
    exits([field], 'a resource that cannot be reserved, or no quantity', `parseResourceList, ${SERVER}`, {
      ...{ rule: 'fields/value', example: { [field]: { cpu: 'banana' } } },
    }),
  ),
  exits(
    ['evictionHard', 'mergeDefaultEvictionSettings'],
    'an unknown signal, or a threshold that is no quantity and no percentage',
    'ParseThresholdConfig, pkg/kubelet/eviction',
    {
      ...{ rule: 'fields/value', example: { evictionHard: { 'memory.free': '1Gi' } } },
    },
  ),
  exits(['qosReserved'], 'another resource than memory, or no percentage', 'ParseQOSReserved, pkg/kubelet/cm', {
    ...{ rule: 'fields/value', example: { qosReserved: { memory: '150%' } } },
  }),
  exits(
    ['topologyManagerPolicyOptions'],
    'the gate TopologyManagerPolicyOptions is off',
    `run, ${SERVER}`,
    {
      rule: 'fields/cross',
      example: {
        topologyManagerPolicyOptions: { 'prefer-closest-numa-nodes': 'true' },
        featureGates: { TopologyManagerPolicyOptions: false },
      },
    },
    { from: 26 },
  ),
  exits(
    ['memorySwap.swapBehavior'],
    'LimitedSwap, and cgroup v1',
    `run, ${SERVER}`,
    {
      ...{ rule: 'node/swap', example: { memorySwap: { swapBehavior: 'LimitedSwap' } }, node: { cgroupVersion: 1 } },
    },
    { from: 30 },
  ),
  exits(['failSwapOn'], 'swap is on', 'NewContainerManager, pkg/kubelet/cm', { rule: 'node/swap', example: {}, node: { swapBytes: 1 } }),
  exits(['cgroupRoot', 'cgroupsPerQOS', 'cgroupDriver'], 'there is no such cgroup', 'NewContainerManager, pkg/kubelet/cm', {
    ...{
      rule: 'node/cgroup',
      example: { cgroupRoot: '/nope' },
      node: {
        cgroups: new Map([
          ['nope', false],
          ['nope.slice', false],
        ]),
      },
    },
  }),
  exits(
    ['cgroupRoot', 'systemReservedCgroup', 'kubeReservedCgroup', 'cgroupDriver'],
    'no slice of systemd can have this name',
    'ToSystemd, pkg/kubelet/cm',
    {
      rule: 'node/cgroup',
      example: { cgroupRoot: '/a//b', cgroupDriver: 'systemd' },
      node: { runtime: { fault: undefined, cgroup: { driver: 'systemd', from: 'answer' } } },
    },
  ),
  exits(
    ['topologyManagerPolicy', 'topologyManagerPolicyOptions'],
    'more NUMA nodes than 8, or than the option says',
    'NewManager, pkg/kubelet/cm/topologymanager',
    {
      ...{ rule: 'node/numa', example: { topologyManagerPolicy: 'restricted' }, node: { numaNodes: new Set([0, 1, 2, 3, 4, 5, 6, 7, 8]) } },
    },
  ),
  exits(
    ['topologyManagerPolicyOptions'],
    'an option that it does not know',
    'NewPolicyOptions, pkg/kubelet/cm/topologymanager',
    {
      ...{ rule: 'fields/value', example: { topologyManagerPolicy: 'restricted', topologyManagerPolicyOptions: { nope: 'true' } } },
    },
    { from: 28 },
  ),
  exits(['cpuManagerPolicy'], 'a word that is no policy', 'NewManager, pkg/kubelet/cm/cpumanager', {
    rule: 'fields/value',
    example: { cpuManagerPolicy: 'dynamic' },
  }),
  exits(
    ['cpuManagerPolicyOptions'],
    'options without the static policy',
    'NewNonePolicy, pkg/kubelet/cm/cpumanager',
    {
      ...{ rule: 'fields/cross', example: { cpuManagerPolicyOptions: { 'full-pcpus-only': 'true' } } },
    },
    { from: 22 },
  ),
  exits(
    ['cpuManagerPolicy', 'systemReserved', 'kubeReserved', 'reservedSystemCPUs'],
    'static, and no CPU is reserved',
    'NewManager, pkg/kubelet/cm/cpumanager',
    {
      ...{ rule: 'fields/static-policy', example: { cpuManagerPolicy: 'static' } },
    },
  ),
  exits(
    ['memoryManagerPolicy'],
    'a word that is no policy',
    'NewManager, pkg/kubelet/cm/memorymanager',
    {
      ...{ rule: 'fields/value', example: { memoryManagerPolicy: 'static' } },
    },
    { from: 22 },
  ),
  exits(
    ['memoryManagerPolicy', 'reservedMemory', 'evictionHard'],
    'Static, and the sums differ',
    'validateReservedMemory, pkg/kubelet/cm/memorymanager',
    {
      ...{
        rule: 'fields/static-policy',
        example: { memoryManagerPolicy: 'Static', reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi' } }] },
      },
    },
    { from: 22 },
  ),
]

export const EARLY_EXITS: readonly StartRow[] = [...DEPENDENCIES, ...CONTAINER_MANAGER]
