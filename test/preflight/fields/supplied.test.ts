// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { NEWEST_MINOR } from '../../../src/kubelet/fields.ts'
import { inShort, judge } from './judge.ts'

type Place = Parameters<typeof judge>[1]
const verdicts = (config: object, place?: Place) =>
  inShort(judge(config, place), 'fields/static', 'fields/certificate', 'fields/endpoint', 'otherwise/no-certificate')

t.test('the static CPU policy needs a reservation', async (t) => {
  const refused = ['refuse fields/static-policy cpuManagerPolicy']
  const rounded = (system: string, kube: string) => ({
    cpuManagerPolicy: 'static',
    systemReserved: { cpu: system },
    kubeReserved: { cpu: kube },
  })
  const cases: [config: object, place: Place, findings: string[]][] = [
    [{ cpuManagerPolicy: 'static' }, {}, refused],
    [{ cpuManagerPolicy: 'static' }, { minor: null }, refused],
    [{ cpuManagerPolicy: 'static', kubeReserved: { cpu: '0' } }, {}, refused],
    [{ cpuManagerPolicy: 'static', kubeReserved: { memory: '1Gi' } }, {}, refused],
    [{ cpuManagerPolicy: 'static', kubeReserved: { cpu: '1m' } }, {}, []],
    [{ cpuManagerPolicy: 'static', reservedSystemCPUs: '0' }, {}, []],
    [{ cpuManagerPolicy: 'none' }, {}, []],
    [{ cpuManagerPolicy: 'static', featureGates: { CPUManager: false } }, { minor: 20 }, []],
    [{ cpuManagerPolicy: 'static' }, { flags: ['--system-reserved=cpu=1'] }, []],
    [{ cpuManagerPolicy: 'static' }, { flags: ['--reserved-cpus=0'] }, []],
    [{ cpuManagerPolicy: 'static' }, { unseen: 'flags' }, ['warn fields/static-policy cpuManagerPolicy']],
    [{ cpuManagerPolicy: 'static' }, { unseen: 'local' }, ['warn fields/static-policy cpuManagerPolicy']],
    // 1.37 rounds to thousandths, each field by itself.
    [rounded('0', '400u'), { minor: 36 }, []],
    [rounded('0', '400u'), { minor: 37 }, refused],
    [rounded('499u', '499u'), { minor: 37 }, refused],
    [rounded('0', '499001n'), { minor: 37 }, []],
    [rounded('0', '400u'), { minor: null }, []],
  ]
  for (const [config, place, findings] of cases) t.same(verdicts(config, place), findings, JSON.stringify([config, place]))
})

t.test('the static memory policy needs reservations that add up', async (t) => {
  const config = (limits: object, more = {}) => ({
    memoryManagerPolicy: 'Static',
    kubeReserved: { memory: '924Mi' },
    reservedMemory: [{ numaNode: 0, limits }],
    ...more,
  })
  const refused = ['refuse fields/static-policy reservedMemory']
  const warned = ['warn fields/static-policy reservedMemory']
  const cases: [config: object, place: Place, findings: string[]][] = [
    [config({ memory: '1Gi' }), {}, []],
    [config({ memory: '2Gi' }), {}, refused],
    [config({ memory: '924Mi' }), {}, refused],
    [config({ memory: '924Mi' }, { evictionHard: { 'memory.available': '0%' } }), {}, []],
    [config({ memory: '924Mi' }, { evictionHard: { 'nodefs.available': '10%' } }), {}, []],
    [config({ memory: '1Gi' }, { evictionHard: { 'memory.available': '10%' } }), {}, []],
    [config({ memory: '2Gi' }), { unseen: 'flags' }, warned],
    [config({ memory: '2Gi' }), { minor: null }, warned],
    [config({ memory: '2Gi' }), { minor: 20 }, []],
    [config({ memory: '2Gi' }), { minor: 21 }, []],
    [config({ memory: '2Gi' }), { flags: ['--kube-reserved=memory=1948Mi'] }, []],
    [config({ memory: '2Gi' }), { flags: ['--reserved-memory=0:memory=1Gi'] }, []],
    [config({ memory: '1Gi', 'hugepages-2Mi': '2Mi' }), {}, refused],
    [config({ memory: '1Gi', 'hugepages-2Mi': '2Mi' }), { unseen: 'flags' }, refused],
    [{ memoryManagerPolicy: 'Static' }, {}, ['refuse fields/static-policy memoryManagerPolicy']],
    [{ memoryManagerPolicy: 'Static' }, { unseen: 'local' }, ['warn fields/static-policy memoryManagerPolicy']],
    [{ memoryManagerPolicy: 'None' }, {}, []],
  ]
  for (const [given, place, findings] of cases) t.same(verdicts(given, place), findings, JSON.stringify([given, place]))
  const near = judge({ ...config({ memory: '1073741823' }) }).find(({ rule }) => rule === 'fields/static-policy')
  t.match(near?.problem, /adds up to 1073741823 bytes, but .* to 1073741824 bytes/, 'a difference that mebibytes do not show')
})

t.test('a certificate goes with its key', async (t) => {
  const cases: [config: object, place: Place, findings: string[]][] = [
    [{ tlsCertFile: '/c', tlsPrivateKeyFile: '/k' }, {}, []],
    [{ tlsCertFile: '/c' }, { minor: 35 }, ['refuse fields/certificate-pair tlsCertFile']],
    [{ tlsPrivateKeyFile: '/k' }, { minor: 20 }, ['refuse fields/certificate-pair tlsPrivateKeyFile']],
    [{ tlsCertFile: '/c', serverTLSBootstrap: true }, { minor: 35 }, ['refuse fields/certificate-pair tlsCertFile']],
    [{ tlsCertFile: '/c', serverTLSBootstrap: true }, { minor: 36 }, []],
    [{ tlsCertFile: '/c' }, { minor: 36 }, ['warn otherwise/no-certificate tlsCertFile']],
    [{ tlsCertFile: '/c' }, { minor: null }, ['warn fields/certificate-pair tlsCertFile']],
    [{ tlsCertFile: '/c' }, { minor: 30, unseen: 'flags' }, ['warn fields/certificate-pair tlsCertFile']],
    [{ tlsCertFile: '/c' }, { minor: 30, flags: ['--tls-private-key-file=/k'] }, []],
    [{ tlsCertFile: '/c', enableServer: false }, { minor: 30 }, []],
  ]
  for (const [config, place, findings] of cases) t.same(verdicts(config, place), findings, JSON.stringify([config, place]))
})

t.test('kubelet reaches its container runtime through a Unix socket', async (t) => {
  const refused = ['tcp://127.0.0.1:2376', 'http://x', 'npipe:////./pipe/containerd', 'TCP://x:1', 'localhost:2376']
  const taken = ['unix:///run/containerd/containerd.sock', '/run/x.sock', 'UNIX:///run/x', 'unix:/run/x', '']
  for (const at of ['containerRuntimeEndpoint', 'imageServiceEndpoint']) {
    for (const endpoint of refused) {
      t.same(verdicts({ [at]: endpoint }, { unseen: 'flags' }), [`refuse fields/endpoint ${at}`], endpoint)
      t.same(verdicts({ [at]: endpoint }, { minor: null }), [`warn fields/endpoint ${at}`], 'kubelets up to 1.26 ignore it')
      t.same(verdicts({ [at]: endpoint }, { minor: 26 }), [])
    }
    for (const endpoint of taken) t.same(verdicts({ [at]: endpoint }), [], endpoint)
  }
})

t.test('off the node, the cgroup of a service is not what systemd makes of its name', async (t) => {
  const unit = {
    ...{ enforceNodeAllocatable: ['kube-reserved'], kubeReserved: { cpu: '1m' } },
    ...{ kubeReservedCgroup: '/system.slice/kubelet.service', cgroupDriver: 'systemd' },
  }
  const found = (more: object) => inShort(judge({ ...unit, ...more }, { unseen: 'flags' }), 'fields/')
  t.same(found({}), ['warn fields/value kubeReservedCgroup'])
  t.same(inShort(judge(unit), 'fields/'), [], 'on a node, another rule looks for it')
  t.same(found({ cgroupDriver: 'cgroupfs' }), [])
  t.same(found({ kubeReservedCgroup: '/system.slice/kubelet.slice' }), [])
  t.same(found({ enforceNodeAllocatable: ['pods'] }), [])
})

t.test('off the node a finding says who may supply what is missing', async (t) => {
  const problems = (unseen?: 'flags' | 'local') => judge({ cpuManagerPolicy: 'static' }, { unseen }).map(({ problem }) => problem)
  const problem = 'cpuManagerPolicy is static, but no CPU is reserved: kubelet does not start'
  t.same(problems(), [problem])
  t.same(problems('flags'), [`${problem} (a flag of kubelet may supply what is missing)`])
  t.same(problems('local'), [`${problem} (the node's local config or a flag of kubelet may supply what is missing)`])
})

t.test('a kubelet that is newer than the rules meets it after it has loaded the config', async (t) => {
  const [finding] = judge({ cpuManagerPolicy: 'static' }, { minor: NEWEST_MINOR + 1 })
  t.match(finding, { severity: 'refuse', isAtStart: true })
})
