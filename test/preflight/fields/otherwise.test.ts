// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import tap from 'tap'
import { parse } from 'yaml'
import { podsConfig, sharedConfig } from '../../../demo/configs.ts'
import { OTHERWISE } from '../../../src/decision/verdict.ts'
import { NEWEST_MINOR, OLDEST_MINOR } from '../../../src/kubelet/fields.ts'
import { isObject } from '../../../src/values/is-object.ts'
import { inShort, judge } from './judge.ts'

type Place = Parameters<typeof judge>[1]
const verdicts = (config: object, place?: Place) =>
  inShort(judge(config, place), 'otherwise/').map((verdict) => verdict.replace('otherwise/', ''))
/** The problem and the advice of the first finding. */
const say = (config: object, place?: Place) => {
  const [finding] = judge(config, place).filter(({ rule }) => rule.startsWith('otherwise/'))
  return `${finding?.problem}; ${finding?.advice}`
}

type Cases = readonly (readonly [config: object, place: Place, findings: readonly string[]])[]
const check = (t: Pick<typeof tap, 'same'>, cases: Cases) => {
  for (const [config, place, findings] of cases) t.same(verdicts(config, place), findings, JSON.stringify([config, place]))
}

tap.test('evictionHard with fewer thresholds than the defaults', async (t) => {
  const all = {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
    'imagefs.available': '15%',
    'imagefs.inodesFree': '5%',
  }
  const { 'imagefs.inodesFree': _, ...older } = all
  const ofProviders = { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%', 'pid.available': '10%' }
  const one = { evictionHard: { 'memory.available': '300Mi' } }
  const [warned, noted] = [['warn eviction-defaults evictionHard'], ['info eviction-defaults evictionHard']]
  check(t, [
    [one, {}, warned],
    [one, { minor: 20 }, warned],
    [one, { minor: null, unseen: 'flags' }, warned],
    [one, { unseen: 'local' }, warned],
    [{ ...one, mergeDefaultEvictionSettings: true }, { minor: 33 }, []],
    [{ ...one, mergeDefaultEvictionSettings: true }, { minor: null }, []],
    [{ ...one, mergeDefaultEvictionSettings: true }, { minor: 32 }, warned],
    [{ ...one, mergeDefaultEvictionSettings: true }, { isDropIn: true }, warned],
    [{ ...one, mergeDefaultEvictionSettings: false }, {}, warned],
    [{ evictionHard: all }, {}, []],
    [{ evictionHard: older }, { minor: 29 }, []],
    [{ evictionHard: older }, { minor: 30 }, noted],
    [{ evictionHard: ofProviders }, {}, noted],
    [{ evictionHard: { ...all, 'nodefs.inodesFree': '0%' } }, {}, []],
    [{ evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '0%' } }, {}, warned],
    [{ evictionHard: { 'nodefs.available': '0%', 'nodefs.inodesFree': '0%', 'imagefs.available': '0%' } }, {}, []],
    [{ evictionHard: {} }, {}, []],
    [{ evictionHard: { 'memory.free': '300Mi' } }, {}, []],
    [{ evictionHard: null }, {}, []],
    [{}, {}, []],
  ])
  t.equal(
    say({ evictionHard: { 'memory.available': '300Mi', 'nodefs.available': '10%' } }),
    'kubelet starts, and evicts nothing for nodefs.inodesFree, imagefs.available, imagefs.inodesFree: evictionHard replaces all ' +
      'default thresholds; add nodefs.inodesFree: 5%, imagefs.available: 15%, imagefs.inodesFree: 5%, or set ' +
      'mergeDefaultEvictionSettings: true, or write 0% for a threshold that should be off',
  )
  t.notMatch(say(one, { minor: 32 }), /mergeDefault/, 'this kubelet does not know it')
  t.match(say(one, { minor: null }), /from kubelet 1\.33 on set mergeDefaultEvictionSettings: true/)
  t.match(say(one, { unseen: 'local' }), /\(the node's local config .*; in a drop-in of kubelet these lines keep the defaults$/)
})

tap.test('a soft threshold that the hard one comes before', async (t) => {
  const soft = (amount: string, hard?: string) => ({
    evictionSoft: { 'memory.available': amount },
    evictionSoftGracePeriod: { 'memory.available': '1m' },
    mergeDefaultEvictionSettings: true,
    ...(hard !== undefined && { evictionHard: { 'memory.available': hard } }),
  })
  const warned = ['warn eviction-soft evictionSoft.memory.available']
  check(t, [
    [soft('300Mi', '500Mi'), {}, warned],
    [soft('500Mi', '500Mi'), {}, warned],
    [soft('0.5Gi', '512Mi'), {}, warned],
    [soft('5%', '10%'), {}, warned],
    [soft('501Mi', '500Mi'), {}, []],
    [soft('10%', '5%'), {}, []],
    [soft('5%', '500Mi'), {}, []],
    [soft('300Mi', '0%'), {}, []],
    [soft('50Mi'), {}, warned],
    [soft('50Mi'), { unseen: 'local' }, []],
    [soft('150Mi'), {}, []],
  ])
  t.match(say(soft('300Mi', '500Mi')), /the one in evictionHard is 500Mi, and comes first; set it above 500Mi/)
})

tap.test('clusterDNS', async (t) => {
  const dns = (...clusterDNS: (string | null)[]) => ({ clusterDNS })
  check(t, [
    [dns('10.96.0.10'), {}, []],
    [dns('10.96.0.10', 'fd00::a'), {}, []],
    [dns('010.96.0.010'), {}, []],
    [dns('10.96.0.10', '10.96.0.11,10.96.0.12'), {}, ['warn cluster-dns clusterDNS.1']],
    [dns('10.96.0.10:53'), {}, ['warn cluster-dns clusterDNS.0']],
    [dns('10.96.0.0/24'), {}, ['warn cluster-dns clusterDNS.0']],
    [dns('kube-dns.kube-system'), {}, ['warn cluster-dns clusterDNS.0']],
    [dns('10.96.0.256'), {}, ['warn cluster-dns clusterDNS.0']],
    [dns('fe80::1%eth0'), {}, ['warn cluster-dns clusterDNS.0']],
    [dns('::1]/x[', ''), {}, ['warn cluster-dns clusterDNS.0', 'warn cluster-dns clusterDNS.1']],
    [dns(null), {}, ['warn cluster-dns clusterDNS.0']],
    [dns('10.0.0.1', '10.0.0.2', '10.0.0.3'), {}, []],
    [dns('10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'), {}, ['warn cluster-dns clusterDNS']],
    [dns(), {}, []],
  ])
  t.match(say(dns('10.96.0.10:53')), /no address is left, so pods get the nameservers of the node; write 10\.96\.0\.10$/)
  t.match(say(dns('[fd00::a]:53')), /; write fd00::a$/)
  t.match(say(dns('10.96.0.10,10.96.0.11')), /; write each address as an item of the list$/)
  t.match(say(dns('10.96.0.10', 'name')), /since it is no IP address; write an IP address/)
})

tap.test('sizes that cannot be meant', async (t) => {
  const hard = (signal: string, amount: string) => ({ evictionHard: { [signal]: amount }, mergeDefaultEvictionSettings: true })
  const size = (path: string) => [`warn size ${path}`]
  check(t, [
    [{ systemReserved: { memory: '500m' } }, {}, size('systemReserved.memory')],
    [{ kubeReserved: { memory: '512' } }, {}, size('kubeReserved.memory')],
    [{ kubeReserved: { memory: '512Ki' } }, {}, size('kubeReserved.memory')],
    [{ kubeReserved: { memory: '1Mi' } }, {}, []],
    [{ kubeReserved: { memory: '0' } }, {}, []],
    [{ kubeReserved: { memory: '524288000' } }, {}, []],
    [{ kubeReserved: { memory: '1e9' } }, {}, []],
    [{ kubeReserved: { 'ephemeral-storage': '10' } }, {}, size('kubeReserved.ephemeral-storage')],
    [{ systemReserved: { pid: '100m' } }, {}, size('systemReserved.pid')],
    [{ systemReserved: { pid: '1500m' } }, {}, size('systemReserved.pid')],
    [{ systemReserved: { pid: '1' } }, {}, size('systemReserved.pid')],
    [{ systemReserved: { pid: '100Mi' } }, {}, size('systemReserved.pid')],
    [{ systemReserved: { pid: '1k' } }, {}, []],
    [hard('nodefs.available', '10'), {}, size('evictionHard.nodefs.available')],
    [hard('nodefs.available', '1Gi'), {}, []],
    [hard('nodefs.available', '0.5%'), {}, []],
    [hard('memory.available', '100m'), {}, size('evictionHard.memory.available')],
    [hard('imagefs.inodesFree', '5'), {}, size('evictionHard.imagefs.inodesFree')],
    [hard('imagefs.inodesFree', '500k'), {}, []],
    [hard('pid.available', '5Mi'), {}, size('evictionHard.pid.available')],
    [hard('pid.available', '1000'), {}, []],
    [{ evictionMinimumReclaim: { 'nodefs.available': '5' } }, {}, size('evictionMinimumReclaim.nodefs.available')],
    [{ evictionMinimumReclaim: { 'nodefs.available': '0Mi' } }, {}, []],
    [{ containerLogMaxSize: '10' }, {}, size('containerLogMaxSize')],
    [{ containerLogMaxSize: '10Ki' }, {}, []],
    // Kubelet exits.
    [{ containerLogMaxSize: '100m' }, {}, []],
    [{ kubeReserved: { cpu: '100m', memory: 'much' } }, {}, []],
  ])
  t.equal(
    say({ systemReserved: { memory: '1500m' } }),
    'kubelet starts, and takes "1500m" for 2 bytes: m stands for thousandths; write 1500Mi for mebibytes',
  )
  t.match(say(hard('nodefs.available', '10')), /takes "10" for 10 bytes; write 10% for a share, or 10Gi for gibibytes/)
  t.match(say(hard('nodefs.available', '500m')), /; write 500Gi for gibibytes$/, 'no share has 500%')
  t.match(say(hard('nodefs.inodesFree', '500')), /; write a larger number$/)
  t.match(say({ systemReserved: { 'ephemeral-storage': '10' } }), /; write 10Mi for mebibytes, or 10Gi for gibibytes$/, 'without shares')
  for (const pid of ['1', '5000000']) t.match(say({ systemReserved: { pid } }), /; write a number of processes, at most 4194304$/, pid)
  t.match(say({ systemReserved: { pid: '100m' } }), /takes "100m" for 1 process: m stands for thousandths; write 100: processes/)
})

tap.test('more CPUs than a machine has are judged on the node by its CPUs', async (t) => {
  const ranges = (cpu: string, place?: Place) => inShort(judge({ kubeReserved: { cpu } }, place), 'fields/range')
  t.same(ranges('200Mi', { unseen: 'flags' }), ['refuse fields/range kubeReserved.cpu'])
  t.same(ranges('500', { unseen: 'flags' }), ['warn fields/range kubeReserved.cpu'])
  t.same(ranges('499', { unseen: 'flags' }), [])
  t.same(ranges('200Mi'), [])
  const replaced = judge({ kubeReserved: { cpu: '200Mi' }, reservedSystemCPUs: '0' }, { unseen: 'flags' })
  t.same(inShort(replaced, 'fields'), [], 'kubelet does not read it')
})

tap.test('a zero that means the default', async (t) => {
  check(t, [
    [{ maxPods: 0 }, {}, ['warn zero maxPods']],
    [{ port: 0, nodeLeaseDurationSeconds: 0 }, {}, ['warn zero port', 'warn zero nodeLeaseDurationSeconds']],
    [{ readOnlyPort: 0, podsPerCore: 0, registryPullQPS: 0, podPidsLimit: 0, imageGCLowThresholdPercent: 0 }, {}, []],
    [{ syncFrequency: '0s', logging: { verbosity: 0, flushFrequency: 0 } }, {}, []],
    [{ maxPods: 0 }, { isDropIn: true, minor: 31 }, []],
    [{ maxPods: 0 }, { isDropIn: true, minor: 32 }, ['warn zero maxPods']],
  ])
  t.match(say({ maxPods: 0 }), /^kubelet starts, and takes the default 110 for maxPods: 0 means that it is not set;/)
})

tap.test('more pods than addresses', async (t) => {
  const pods = (maxPods: number, podCIDR: string) => ({ maxPods, podCIDR })
  check(t, [
    [pods(500, '10.1.0.0/24'), {}, ['warn pod-addresses maxPods']],
    [pods(250, '10.1.0.0/24'), {}, []],
    [pods(500, '10.1.0.0/16'), {}, []],
    [pods(500, 'fd00::/64,10.1.0.0/24'), {}, ['warn pod-addresses maxPods']],
    [pods(500, 'fd00::/64'), {}, []],
    [pods(500, '10.1.0.0/33'), {}, []],
    [pods(500, 'none'), {}, []],
    [{ podCIDR: '10.1.0.0/26' }, {}, ['warn pod-addresses podCIDR']],
    [{ podCIDR: '10.1.0.0/26' }, { unseen: 'local' }, []],
    [{ maxPods: 500 }, {}, []],
  ])
  t.match(say(pods(500, '10.1.0.0/24')), /takes 500 pods \(maxPods\), while podCIDR "10\.1\.0\.0\/24" has 256 addresses/)
})

tap.test('a serving certificate that somebody has to approve', async (t) => {
  check(t, [
    [{ serverTLSBootstrap: true }, {}, ['info serving-certificate serverTLSBootstrap']],
    [{ serverTLSBootstrap: false }, {}, []],
  ])
})

tap.test('fields that are nothing without others', async (t) => {
  const unused = (path: string, severity = 'warn') => [`${severity} unused ${path}`]
  const reserved = [{ numaNode: 0, limits: { memory: '100Mi' } }]
  const reclaim = { evictionMinimumReclaim: { 'nodefs.available': '500Mi' } }
  const hard = { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '0%' }, mergeDefaultEvictionSettings: true }
  check(t, [
    [{ evictionMaxPodGracePeriod: 60 }, {}, unused('evictionMaxPodGracePeriod', 'info')],
    [{ evictionMaxPodGracePeriod: 0 }, {}, []],
    [{ staticPodURLHeader: { a: ['b'] } }, {}, unused('staticPodURLHeader')],
    [{ staticPodURLHeader: { a: ['b'] }, staticPodURL: 'https://x' }, {}, []],
    [{ staticPodURLHeader: {} }, {}, []],
    [{ topologyManagerPolicyOptions: { 'prefer-closest-numa-nodes': 'true' } }, {}, unused('topologyManagerPolicyOptions')],
    [{ topologyManagerPolicyOptions: { 'prefer-closest-numa-nodes': 'true' }, topologyManagerPolicy: 'restricted' }, {}, []],
    [{ reservedMemory: reserved }, {}, unused('reservedMemory')],
    [{ reservedMemory: reserved, memoryManagerPolicy: 'Static' }, {}, []],
    [{ qosReserved: { memory: '50%' } }, {}, unused('qosReserved')],
    [{ qosReserved: { memory: '50%' }, featureGates: { QOSReserved: true } }, {}, []],
    [{ memorySwap: { swapBehavior: 'LimitedSwap' } }, {}, unused('memorySwap.swapBehavior')],
    [{ memorySwap: { swapBehavior: 'LimitedSwap' }, failSwapOn: false }, {}, []],
    [{ memorySwap: { swapBehavior: 'NoSwap' } }, {}, []],
    [{ tlsCipherSuites: ['TLS_AES_128_GCM_SHA256'], tlsMinVersion: 'VersionTLS13' }, {}, unused('tlsCipherSuites', 'info')],
    [{ topologyManagerScope: 'pod' }, {}, unused('topologyManagerScope', 'info')],
    [{ topologyManagerScope: 'container' }, {}, []],
    [{ topologyManagerScope: 'pod', topologyManagerPolicy: 'restricted' }, {}, []],
    [{ memoryThrottlingFactor: 0.8 }, { minor: 36 }, unused('memoryThrottlingFactor')],
    [{ memoryThrottlingFactor: 0.8, featureGates: { MemoryQoS: true } }, { minor: 36 }, []],
    [{ memoryThrottlingFactor: 0.9 }, { minor: 36 }, []],
    [{ memoryThrottlingFactor: 0.8 }, { minor: 37 }, []],
    [{ kubeReservedCgroup: '/k' }, {}, unused('kubeReservedCgroup', 'info')],
    [{ kubeReservedCgroup: '/k', enforceNodeAllocatable: ['pods', 'kube-reserved-compressible'] }, {}, []],
    [{ systemReservedCgroup: '/s' }, {}, unused('systemReservedCgroup', 'info')],
    [{ logging: { options: { json: { splitStream: true } } } }, {}, unused('logging.options.json.splitStream')],
    [{ logging: { options: { json: { splitStream: true } } } }, { flags: ['--log-json-split-stream'] }, []],
    [{ logging: { options: { text: { splitStream: false } } } }, {}, []],
    [{ evictionSoftGracePeriod: { 'memory.available': '1m' } }, {}, unused('evictionSoftGracePeriod.memory.available')],
    [{ ...reclaim }, {}, []],
    [{ ...reclaim, ...hard }, {}, []],
    [{ ...reclaim, evictionHard: { 'imagefs.available': '0%' } }, {}, unused('evictionMinimumReclaim.nodefs.available')],
    [{ evictionMinimumReclaim: { 'pid.available': '0' } }, {}, []],
    [{ evictionMinimumReclaim: { 'pid.available': '100' } }, {}, unused('evictionMinimumReclaim.pid.available')],
    [{ evictionMinimumReclaim: { 'pid.available': '100' } }, { unseen: 'local' }, []],
    [{ evictionSoft: { 'containerfs.available': '10%' } }, { minor: 29 }, unused('evictionSoft.containerfs.available')],
    [{ evictionSoft: { 'containerfs.available': '10%' } }, { minor: 28 }, []],
    [{ evictionSoft: { 'containerfs.available': '100%' } }, {}, []],
    [{ evictionMinimumReclaim: { 'containerfs.available': '1Gi' } }, {}, unused('evictionMinimumReclaim.containerfs.available')],
    [{ reservedSystemCPUs: '0-3', systemReserved: { cpu: '500m' } }, {}, unused('systemReserved.cpu')],
    [{ reservedSystemCPUs: '0-3', kubeReserved: { cpu: '1' } }, {}, unused('kubeReserved.cpu')],
    [{ reservedSystemCPUs: '0-3', systemReserved: { cpu: '4' } }, {}, []],
    [{ reservedSystemCPUs: '0-3', systemReserved: { memory: '1Gi' } }, {}, []],
  ])
  t.equal(
    say({ staticPodURLHeader: { a: ['b'] } }, { unseen: 'local' }),
    "kubelet starts, and ignores staticPodURLHeader: staticPodURL is not set (the node's local config or a flag of kubelet " +
      'may supply what is missing); set staticPodURL, or remove it',
  )
})

tap.test('each begins alike, and none refuses', async (t) => {
  const config = { clusterDNS: ['x'], maxPods: 0, evictionHard: { 'nodefs.available': '10' }, systemReserved: { memory: '1m' } }
  const findings = judge(config).filter(({ rule }) => rule.startsWith('otherwise/'))
  t.ok(findings.length >= 4)
  for (const { problem, severity } of findings) t.ok(problem.startsWith(`${OTHERWISE} `) && severity !== 'refuse', problem)
})

/** As kubeadm 1.30 to 1.36 write it. */
const KUBEADM = `
authentication: {anonymous: {enabled: false}, webhook: {cacheTTL: 0s, enabled: true}, x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}}
authorization: {mode: Webhook, webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}}
cgroupDriver: systemd
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
logging: {flushFrequency: 0, options: {json: {infoBufferSize: "0"}, text: {infoBufferSize: "0"}}, verbosity: 0}
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
`
const KIND = `${KUBEADM}
cgroupRoot: /kubelet
failSwapOn: false
imageGCHighThresholdPercent: 100
evictionHard: {imagefs.available: 0%, nodefs.available: 0%, nodefs.inodesFree: 0%}
`

tap.test('configs that are in order have no finding', async (t) => {
  const file = readFileSync(join(import.meta.dirname, '../../../deploy/node-config.yaml'), 'utf8')
  const manifest: unknown = parse(file)
  const data = isObject(manifest) && isObject(manifest.data) ? manifest.data.kubelet : undefined
  const texts = { KUBEADM, KIND, deploy: String(data), pods: podsConfig(10248, 53), shared: sharedConfig(53) }
  for (const [name, text] of Object.entries(texts)) {
    const config: unknown = parse(text)
    if (!isObject(config)) throw new Error(name)
    for (let minor = OLDEST_MINOR; minor <= NEWEST_MINOR; minor += 1)
      for (const unseen of [undefined, 'flags', 'local'] as const)
        t.same(
          judge(config, { minor, unseen }).filter(({ rule }) => rule !== 'fields/too-new'),
          [],
          `${name} on 1.${minor}, unseen: ${unseen}`,
        )
  }
})

/** In the shape of what distributions write, where a note is true and a warning would be none. */
const DISTRIBUTIONS = {
  eks: `
evictionHard: {memory.available: 100Mi, nodefs.available: 10%, nodefs.inodesFree: 5%}
kubeReserved: {cpu: 70m, ephemeral-storage: 1Gi, memory: 442Mi}
kubeReservedCgroup: /runtime
systemReservedCgroup: /system
maxPods: 29
serverTLSBootstrap: true
clusterDNS: [10.100.0.10]
shutdownGracePeriod: 45s
shutdownGracePeriodCriticalPods: 15s
`,
  gke: `
evictionHard: {memory.available: 100Mi, nodefs.available: 10%, nodefs.inodesFree: 5%, pid.available: 10%}
kubeReserved: {cpu: 1060m, ephemeral-storage: 41Gi, memory: 1019Mi}
clusterDNS: [10.4.0.10]
readOnlyPort: 10255
`,
  aks: `
evictionHard: {memory.available: 100Mi, nodefs.available: 10%, nodefs.inodesFree: 5%, pid.available: "2000"}
kubeReserved: {cpu: 100m, memory: 1638Mi, pid: "1000"}
containerLogMaxSize: 50M
tlsCertFile: /etc/kubernetes/certs/kubeletserver.crt
tlsPrivateKeyFile: /etc/kubernetes/certs/kubeletserver.key
`,
  kops: `
evictionHard: {memory.available: 100Mi, nodefs.available: 10%, nodefs.inodesFree: 5%, imagefs.available: 10%, imagefs.inodesFree: 5%}
shutdownGracePeriod: 30s
`,
  openshift: `
systemReserved: {cpu: 500m, memory: 1Gi, ephemeral-storage: 1Gi}
cgroupRoot: /
systemCgroups: /system.slice
serverTLSBootstrap: true
maxPods: 250
memorySwap: {}
tlsMinVersion: VersionTLS12
tlsCipherSuites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
`,
  talos: `
systemReserved: {cpu: 50m, memory: 384Mi, pid: "100", ephemeral-storage: 256Mi}
tlsMinVersion: VersionTLS13
shutdownGracePeriod: 30s
shutdownGracePeriodCriticalPods: 10s
podPidsLimit: -1
`,
  kubespray: `
kubeReserved: {cpu: 100m, memory: 256Mi, ephemeral-storage: 500Mi, pid: "1000"}
kubeReservedCgroup: /kube.slice
enforceNodeAllocatable: [pods]
clusterDNS: [169.254.25.10]
containerLogMaxSize: 10Mi
`,
} as const

tap.test('the configs of distributions have notes at most', async (t) => {
  for (const [name, text] of Object.entries(DISTRIBUTIONS)) {
    const config: unknown = parse(text)
    if (!isObject(config)) throw new Error(name)
    for (const minor of [24, 30, NEWEST_MINOR])
      for (const unseen of [undefined, 'flags', 'local'] as const)
        t.same(
          judge(config, { minor, unseen }).filter(({ severity }) => severity !== 'info'),
          [],
          `${name} on 1.${minor}`,
        )
  }
})
