// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { type CgroupField, pathsOf } from '../../../src/preflight/node/cgroup-names.ts'
import { optionsOf, verdicts } from './node-options.ts'

t.test('swap', async (t) => {
  t.same(verdicts({}, { swapBytes: 1 }), ['refuse node/swap failSwapOn'], 'by default')
  t.same(verdicts({ failSwapOn: false }, { swapBytes: 1 }), [])
  t.same(verdicts({}, { swapBytes: 1 }, optionsOf(30, ['--fail-swap-on=false'])), [])
  t.same(verdicts({}, { swapBytes: undefined }), [])
  const limited = { memorySwap: { swapBehavior: 'LimitedSwap' } }
  t.same(verdicts(limited, { cgroupVersion: 1 }), ['refuse node/swap memorySwap.swapBehavior'])
  t.same(verdicts(limited, { cgroupVersion: 1 }, optionsOf(25)), ['warn node/swap memorySwap.swapBehavior'])
  t.same(verdicts(limited, { cgroupVersion: 2 }), [])
})

t.test('cgroup v1', async (t) => {
  t.same(verdicts({}, { cgroupVersion: 1 }, optionsOf(35)), ['refuse node/cgroup failCgroupV1'], 'by default, from 1.35 on')
  t.same(verdicts({}, { cgroupVersion: 1 }, optionsOf(34)), [])
  t.same(verdicts({ failCgroupV1: true }, { cgroupVersion: 1 }, optionsOf(31)), ['refuse node/cgroup failCgroupV1'])
  t.same(verdicts({ failCgroupV1: true }, { cgroupVersion: 1 }, optionsOf(20)), [], '1.20 does not have the field')
  t.same(verdicts({ failCgroupV1: true }, { cgroupVersion: undefined }, optionsOf(31)), [])
  const unknown = optionsOf(31, [], { version: undefined })
  t.same(verdicts({}, { cgroupVersion: 1 }, unknown), [], 'without a version the default is unknown')
  t.same(verdicts({ failCgroupV1: true }, { cgroupVersion: 1 }, unknown), ['warn node/cgroup failCgroupV1'])
})

t.test('singleProcessOOMKill on cgroup v1', async (t) => {
  const apart = { singleProcessOOMKill: false }
  t.same(verdicts(apart, { cgroupVersion: 1 }, optionsOf(34)), ['refuse node/cgroup singleProcessOOMKill'])
  t.same(verdicts({ singleProcessOOMKill: true }, { cgroupVersion: 1 }, optionsOf(34)), [])
  t.same(verdicts({ ...apart, failCgroupV1: false }, { cgroupVersion: 1 }, optionsOf(36)), ['refuse node/cgroup singleProcessOOMKill'])
  t.same(verdicts({}, { cgroupVersion: 1 }, optionsOf(34)), [], 'not set')
  t.same(verdicts(apart, { cgroupVersion: 2 }, optionsOf(34)), [])
  t.same(verdicts(apart, { cgroupVersion: undefined }, optionsOf(34)), [])
  t.same(verdicts(apart, { cgroupVersion: 1 }, optionsOf(31)), [], '1.31 does not have the field')
  t.same(verdicts(apart, { cgroupVersion: 1 }, optionsOf(34, [], { version: undefined })), ['warn node/cgroup singleProcessOOMKill'])
})

t.test('cgroupDriver cgroupfs on cgroup v2', async (t) => {
  const warned = ['warn node/cgroup cgroupDriver']
  t.same(verdicts({ cgroupDriver: 'cgroupfs' }, {}, optionsOf(22)), warned)
  t.same(verdicts({}, {}, optionsOf(22, [], { running: { cgroupDriver: 'systemd' } })), warned, 'the setting was dropped')
  t.same(verdicts({}, {}, optionsOf(22)), [], 'unchanged default')
  t.same(verdicts({ cgroupDriver: 'cgroupfs' }, {}, optionsOf(31)), [])
  t.same(verdicts({ cgroupDriver: 'systemd' }, {}, optionsOf(22)), [])
})

t.test('cgroups that must exist', async (t) => {
  const none = new Map(['nope', 'nope.slice'].map((name) => [name, false] as const))
  const broken = { cgroupsPerQOS: true, enforceNodeAllocatable: [], cgroupRoot: '/nope' }
  t.same(verdicts(broken, { cgroups: none }, optionsOf(30)), ['refuse node/cgroup cgroupRoot'])
  t.same(verdicts(broken, { cgroups: new Map() }), [], 'unknown')
  t.same(verdicts({ ...broken, cgroupsPerQOS: false }, { cgroups: none }), [], 'not needed')
  t.same(verdicts({ cgroupRoot: '/' }), [])
  const enforced = { enforceNodeAllocatable: ['pods', 'kube-reserved'], kubeReservedCgroup: '/nope', kubeReserved: { cpu: '1' } }
  t.same(verdicts(enforced, { cgroups: none }), ['refuse node/cgroup kubeReservedCgroup'])
  t.same(verdicts({ ...enforced, enforceNodeAllocatable: ['pods'] }, { cgroups: none }), [])
})

t.test('kubelet looks for a cgroup at the path that its driver makes of the name', async (t) => {
  type Case = [at: CgroupField, name: string, driver: 'cgroupfs' | 'systemd', path: string | undefined]
  const cases: Case[] = [
    ['kubeReservedCgroup', '/kubelet.slice', 'cgroupfs', 'kubelet.slice'],
    ['kubeReservedCgroup', '/kubelet.slice', 'systemd', 'kubelet.slice'],
    ['kubeReservedCgroup', '/kubelet', 'systemd', 'kubelet.slice'],
    ['kubeReservedCgroup', '/system.slice/kubelet.service', 'cgroupfs', 'system.slice/kubelet.service'],
    ['kubeReservedCgroup', '/system.slice/kubelet.service', 'systemd', 'kubelet.service.slice'],
    ['systemReservedCgroup', 'a/pod-runtime.slice/', 'systemd', 'pod.slice/pod-runtime.slice'],
    ['systemReservedCgroup', '/', 'systemd', undefined],
    ['systemReservedCgroup', '/a--b', 'systemd', undefined],
    ['cgroupRoot', '/kubelet', 'systemd', 'kubelet.slice'],
    ['cgroupRoot', '/kubelet.slice', 'systemd', 'kubelet.slice.slice'],
    ['cgroupRoot', '/a-b/c', 'systemd', 'a_b.slice/a_b-c.slice'],
    ['cgroupRoot', '/kubelet/', 'systemd', undefined],
    ['cgroupRoot', '/kubelet/', 'cgroupfs', 'kubelet'],
    ['cgroupRoot', '/', 'systemd', ''],
  ]
  for (const [at, name, driver, path] of cases)
    t.same(pathsOf(at, name, driver), path === undefined ? [] : [path], `${at} ${name} by ${driver}`)
})

t.test('the driver that counts', async (t) => {
  const config = {
    ...{ enforceNodeAllocatable: ['kube-reserved'], kubeReserved: { cpu: '1' } },
    kubeReservedCgroup: '/system.slice/kubelet.service',
  }
  const cgroups = new Map([
    ['system.slice/kubelet.service', true],
    ['kubelet.service.slice', false],
  ])
  const byAnswer = (driver: 'cgroupfs' | 'systemd') => ({ fault: undefined, cgroup: { driver, from: 'answer' } }) as const
  const refused = ['refuse node/cgroup kubeReservedCgroup']
  const systemd = { ...config, cgroupDriver: 'systemd' }
  t.same(verdicts(systemd, { cgroups }, optionsOf(27)), refused)
  t.same(verdicts(config, { cgroups }, optionsOf(27)), [])
  t.same(verdicts(systemd, { cgroups, runtime: byAnswer('systemd') }, optionsOf(34)), refused)
  t.same(verdicts(config, { cgroups, runtime: byAnswer('systemd') }, optionsOf(34)), refused, 'the runtime tells it')
  t.same(verdicts(systemd, { cgroups }, optionsOf(34)), [], 'the runtime may tell another one')
  const root = { cgroupRoot: '/kubelet/', cgroupDriver: 'systemd' }
  t.same(verdicts(root, { cgroups: new Map() }, optionsOf(27)), ['refuse node/cgroup cgroupRoot'], 'no slice has this name')
})

t.test('NUMA nodes with a topology manager', async (t) => {
  const numaNodes = new Set(Array.from({ length: 9 }, (_, node) => node))
  const refused = ['refuse node/numa topologyManagerPolicy']
  const policy = { topologyManagerPolicy: 'best-effort' }
  const raised = { ...policy, topologyManagerPolicyOptions: { 'max-allowable-numa-nodes': '9' } }
  t.same(verdicts(policy, { numaNodes }), refused)
  t.same(verdicts(policy, {}), [])
  t.same(verdicts({}, { numaNodes }), [])
  t.same(verdicts(raised, { numaNodes }, optionsOf(31)), [])
  t.same(verdicts(raised, { numaNodes }, optionsOf(30)), refused, 'before the option')
  t.same(verdicts(policy, { numaNodes: undefined }), [], 'unknown')
})

t.test('more open files than the kernel allows', async (t) => {
  const sysctls = new Map([['fs.nr_open', 1048576]])
  t.same(verdicts({ maxOpenFiles: 2_000_000 }, { sysctls }), ['warn node/open-files maxOpenFiles'])
  t.same(verdicts({ maxOpenFiles: 1048576 }, { sysctls }), [])
})

t.test('systemd nests slices by dashes, so kubelet writes those of cgroupRoot as underscores', async (t) => {
  const onlyExists = (path: string) => ({ cgroups: new Map(SPELLINGS.map((name) => [name, name === path] as const)) })
  const SPELLINGS = ['kube-node', 'kube-node.slice', 'kube.slice/kube-node.slice', 'kube_node.slice', 'kube_node.slice/kube_node-a.slice']
  const deep = ['kube-node/a', 'kube-node.slice/kube-node-a.slice', 'a.slice']
  const root = (cgroupRoot: string) => ({ cgroupRoot, cgroupDriver: 'systemd' })
  t.same(verdicts(root('/kube-node'), onlyExists('kube_node.slice')), [])
  t.same(verdicts(root('/kube-node'), onlyExists('none')), ['refuse node/cgroup cgroupRoot'])
  const found = onlyExists('kube_node.slice/kube_node-a.slice').cgroups
  t.same(verdicts(root('/kube-node/a'), { cgroups: new Map([...found, ...deep.map((name) => [name, false] as const)]) }), [])
})

t.test('kernel settings with protectKernelDefaults', async (t) => {
  const sysctls = new Map([
    ['vm.overcommit_memory', 0],
    ['kernel.panic', 10],
  ])
  t.same(verdicts({ protectKernelDefaults: true }, { sysctls }), ['refuse node/kernel protectKernelDefaults'])
  t.same(verdicts({}, { sysctls }), [])
  t.same(verdicts({ protectKernelDefaults: true }, { sysctls: new Map([['kernel.panic', 10]]) }), [], 'the rest is unknown')
})
