// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { NodeOptions } from '../../../src/preflight/node/node-view.ts'
import { type CgroupUse, type Listener, parseFibTrie } from '../../../src/preflight/node/surroundings.ts'
import { clientVerdicts, optionsOf, verdicts } from './node-options.ts'

const runs = (running: object, args: readonly string[] = [], more: Partial<NodeOptions> = {}) =>
  optionsOf(30, args, { running: { ...running }, ...more })

t.test('static pods: staticPodPath leaves a directory with manifests', async (t) => {
  const holds = (count: number) => ({ manifests: new Map([['/m', count]]) })
  const running = runs({ staticPodPath: '/m' })
  const refused = ['refuse guard/static-pods staticPodPath']
  t.same(verdicts({}, holds(4), running), refused, 'removed')
  t.same(verdicts({ staticPodPath: '' }, holds(4), running), refused, 'emptied')
  t.same(verdicts({ staticPodPath: '/n' }, holds(1), running), refused, 'moved')
  t.same(verdicts({}, holds(0), running), [], 'no manifest is there')
  t.same(verdicts({}, {}, running), [], 'whether there are manifests is unknown')
  t.same(verdicts({}, holds(4)), [], 'what runs is unknown')
  t.same(verdicts({}, holds(4), runs({})), [], 'what runs has none')
  t.same(verdicts({ staticPodPath: '/m' }, holds(4), running), [], 'it stays')
  t.same(verdicts({ staticPodPath: '/m/' }, holds(4), running), [], 'the same path to kubelet')
  t.same(verdicts({}, holds(4), runs({ staticPodPath: '/m' }, ['--pod-manifest-path=/m'])), [], 'a flag keeps it')
  t.same(verdicts({}, holds(4), runs({ staticPodPath: 'm' })), [], 'relative to an unknown directory')
})

t.test('healthz: an address that is none', async (t) => {
  const refused = ['refuse guard/healthz healthzBindAddress']
  const at = (healthzBindAddress: string, minor = 30) => clientVerdicts({ healthzBindAddress }, optionsOf(minor))
  for (const address of ['10.0.0.1/24', '10.0.0.1,', '[::1]', '10.0.0.256', '{{ ip }}', 'a b']) t.same(at(address), refused, address)
  for (const address of ['127.0.0.1', '::1', 'fe80::1%eth0', 'localhost', 'node-1.example.', '']) t.same(at(address), [], address)
  t.same(at('127.0.0.01', 23), refused, 'Go takes it for a name')
  t.same(at('127.0.0.01', 22), [])
  t.same(clientVerdicts({ healthzBindAddress: 'a b', healthzPort: 0 }), [], 'there is none')
  const before = runs({ healthzBindAddress: 'a b' })
  t.same(clientVerdicts({ healthzBindAddress: 'a b' }, before), ['warn guard/healthz healthzBindAddress'], 'as before')
})

t.test('run-once: kubelet ends', async (t) => {
  t.same(clientVerdicts({ runOnce: true }), ['refuse guard/run-once runOnce'])
  t.same(clientVerdicts({}, optionsOf(30, ['--runonce'])), ['refuse guard/run-once runOnce'], 'a flag')
  t.same(clientVerdicts({ runOnce: true }, runs({ runOnce: true })), ['warn guard/run-once runOnce'], 'as before')
  t.same(clientVerdicts({ runOnce: false }), [])
})

t.test('healthz: a port that another process has', async (t) => {
  const listening = (owner: Listener['owner'], address = '127.0.0.1') => ({ listeners: [{ port: 8080, owner, address }] })
  const config = { healthzPort: 8080 }
  const refused = ['refuse guard/healthz healthzPort']
  const warned = ['warn guard/healthz healthzPort']
  t.same(verdicts(config, listening('other')), refused)
  t.same(verdicts(config, listening('other'), runs({})), refused)
  t.same(verdicts(config, listening('kubelet'), runs({})), [])
  t.same(verdicts(config, listening('unknown'), runs({})), refused, 'no port of the running kubelet')
  t.same(verdicts(config, listening('unknown')), warned, 'it may be the running kubelet')
  t.same(verdicts(config, listening('unknown'), runs({}, ['--config-dir=/d'])), warned, 'drop-ins may give kubelet that port')
  t.same(verdicts(config, listening('unknown'), runs({ port: 8080 })), [], "the running kubelet's own")
  t.same(verdicts(config, listening('other'), runs(config)), warned, 'as before')
  t.same(verdicts(config, listening('other', '::'), runs({})), warned, 'perhaps for IPv6 only')
  const moved = { healthzPort: 8080, healthzBindAddress: '0.0.0.0' }
  t.same(verdicts(moved, listening('other', '10.0.0.5'), runs(config)), refused, 'another address of the port')
  t.same(verdicts(moved, listening('other'), runs(config)), warned, 'as before')
  t.same(verdicts({ healthzPort: 0 }, listening('other'), runs({})), [])
  t.same(verdicts(config, { listeners: undefined }, runs({})), [])
})

/** The kernel's table of a machine with 10.0.0.5/24 and the loopback, shortened. */
const TRIE = `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.0.0.0/24 2 0 2
        |-- 10.0.0.0
           /24 link UNICAST
        |-- 10.0.0.5
           /32 host LOCAL
        |-- 10.0.0.255
           /32 link BROADCAST
     +-- 127.0.0.0/8 2 0 2
        |-- 127.0.0.0
           /8 host LOCAL
`

t.test('healthz: an address that is not of this machine', async (t) => {
  const known = { localAddresses: parseFibTrie(TRIE) }
  const refused = ['refuse guard/healthz healthzBindAddress']
  const bind = (healthzBindAddress: string) => ({ healthzBindAddress })
  t.same(verdicts(bind('10.0.0.6'), known, runs({})), refused)
  t.same(verdicts(bind('10.0.0.255'), known), refused, 'what runs does not matter')
  t.same(verdicts(bind('fd00::1'), known, runs({})), refused)
  for (const address of ['10.0.0.5', '127.0.0.1', '127.9.9.9', '0.0.0.0', '::', '::1', 'localhost'])
    t.same(verdicts(bind(address), known, runs({})), [], address)
  t.same(verdicts(bind('10.0.0.6'), {}, runs({})), [], 'the addresses are unknown')
  t.same(verdicts(bind('10.0.0.6'), known, runs(bind('10.0.0.6'))), ['warn guard/healthz healthzBindAddress'], 'as before')
  t.same(verdicts({ ...bind('10.0.0.6'), healthzPort: 0 }, known, runs({})), [], 'no endpoint')
})

t.test('reservation: less than a cgroup uses now', async (t) => {
  const use = (name: string, found: Partial<CgroupUse>) => ({
    cgroupUse: new Map([[name, { memoryBytes: undefined, processes: undefined, ...found }]]),
  })
  const config = (reserved: object, option = 'system-reserved') => ({
    enforceNodeAllocatable: ['pods', option],
    systemReservedCgroup: '/system.slice',
    systemReserved: reserved,
  })
  const refused = ['refuse guard/reservation systemReserved.memory']
  const half = use('system.slice', { memoryBytes: 512 * 2 ** 20 })
  t.same(verdicts(config({ memory: '500Mi' }), half, runs({})), refused)
  t.same(verdicts(config({ memory: '500Mi' }), half), refused, 'the use is a fact, whatever runs')
  t.same(verdicts(config({ memory: '512Mi' }), half, runs({})), [])
  t.same(verdicts(config({ cpu: '1' }), half, runs({})), [], 'memory is not limited')
  t.same(verdicts(config({ memory: '500Mi' }), {}, runs({})), [], 'the use is unknown')
  t.same(
    verdicts(config({ memory: '500Mi' }, 'system-reserved-compressible'), half, optionsOf(32, [], { running: {} })),
    [],
    'only CPU is shared out',
  )
  t.same(verdicts({ ...config({ memory: '500Mi' }), enforceNodeAllocatable: ['pods'] }, half, runs({})), [], 'not enforced')
  t.same(verdicts(config({ pid: '100' }), use('system.slice', { processes: 200 }), runs({})), [
    'refuse guard/reservation systemReserved.pid',
  ])
  const warned = ['warn guard/reservation systemReserved.memory']
  t.same(verdicts(config({ memory: '500Mi' }), half, runs(config({ memory: '400Mi' }))), warned, 'the limit in force is lower')
  t.same(verdicts(config({ memory: '500Mi' }), half, runs(config({ memory: '1Gi' }))), refused)
  const kube = { enforceNodeAllocatable: ['kube-reserved'], kubeReservedCgroup: '/kube', kubeReserved: { memory: '1Mi' } }
  const slice = use('kube.slice', { memoryBytes: 2 ** 21 })
  const running = runs({ cgroupDriver: 'systemd' })
  t.same(verdicts({ ...kube, cgroupDriver: 'systemd' }, slice, running), ['refuse guard/reservation kubeReserved.memory'])
  t.same(verdicts(kube, slice, runs({})), [], 'the use of another cgroup')
})
