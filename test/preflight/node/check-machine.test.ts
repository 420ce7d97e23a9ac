import t from 'tap'
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
  t.same(verdicts(broken, { cgroups: new Map([...none, ['nope.slice', true]]) }), [], 'it exists as a slice')
  t.same(verdicts(broken, { cgroups: new Map() }), [], 'unknown')
  t.same(verdicts({ ...broken, cgroupsPerQOS: false }, { cgroups: none }), [], 'not needed')
  t.same(verdicts({ cgroupRoot: '/' }), [])
  const enforced = { enforceNodeAllocatable: ['pods', 'kube-reserved'], kubeReservedCgroup: '/nope', kubeReserved: { cpu: '1' } }
  t.same(verdicts(enforced, { cgroups: none }), ['refuse node/cgroup kubeReservedCgroup'])
  t.same(verdicts({ ...enforced, enforceNodeAllocatable: ['pods'] }, { cgroups: none }), [])
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
