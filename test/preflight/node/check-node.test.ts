// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { checkNode, findNeeds } from '../../../src/preflight/node/check-node.ts'
import { NOTHING_KNOWN } from '../../../src/preflight/node/surroundings.ts'
import { anyConfig, anyVersion } from '../change/configs.ts'
import { MACHINE, NOWHERE, optionsOf, verdicts } from './node-options.ts'

t.test('no findings for a good config on a good machine', async (t) => {
  t.same(verdicts({}), [])
  t.same(verdicts({ kubeReserved: { cpu: '100m', memory: '500Mi' }, cgroupDriver: 'systemd', maxPods: 50 }), [])
})

t.test('needs only the facts that the candidate is about', async (t) => {
  t.same(findNeeds({}, optionsOf(20)), {
    memory: true,
    topology: false,
    cgroups: [],
    paths: ['/etc/resolv.conf', '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/'],
    runtimeSocket: undefined,
    imageSocket: undefined,
    fileSystems: ['/var/lib/kubelet'],
    manifests: [],
    cgroupUse: ['.'],
    localAddresses: false,
    texts: ['/var/lib/kubelet/cpu_manager_state'],
    listeners: true,
    kubeletPid: undefined,
    sysctls: [],
    logind: false,
  })
  const needs = findNeeds(
    {
      authentication: { x509: { clientCAFile: 'ca.crt' } },
      tlsCertFile: '../x.crt',
      tlsPrivateKeyFile: 'x.key',
      cgroupRoot: '/a/b',
      protectKernelDefaults: true,
      reservedSystemCPUs: '0',
      containerRuntimeEndpoint: 'unix:///run/x.sock',
    },
    optionsOf(30, ['--root-dir=/data/kubelet/', '--volume-plugin-dir=plugins'], { kubeletPid: 7 }),
  )
  t.match(needs, {
    topology: true,
    cgroups: ['a/b', 'a.slice/a-b.slice'],
    runtimeSocket: '/run/x.sock',
    texts: ['/data/kubelet/cpu_manager_state', '/data/kubelet/memory_manager_state'],
    kubeletPid: 7,
  })
  t.same(needs.sysctls.length, 6)
  t.same(needs.paths, ['/var/lib/x/checkpoints/u/x.crt', '/var/lib/x/checkpoints/u/1/x.key', '/etc/resolv.conf', '/var/log/pods'])
})

t.test('unknown facts refuse nothing', async (t) => {
  const config = {
    failSwapOn: true,
    kubeReserved: { memory: '1000Gi', cpu: '1000' },
    reservedSystemCPUs: '900',
    authentication: { x509: { clientCAFile: '/nope' } },
    cgroupRoot: '/nope',
    protectKernelDefaults: true,
    failCgroupV1: true,
    cpuManagerPolicy: 'static',
  }
  t.same(checkNode(config, NOWHERE, NOTHING_KNOWN, optionsOf(35)), [])
})

t.test('never throws, for any config and machine', async () => {
  const machine = fc.record({
    ...Object.fromEntries(Object.entries(NOTHING_KNOWN).map(([name, value]) => [name, fc.constant(value)])),
    memoryBytes: fc.option(fc.integer({ min: 0 }), { nil: undefined }),
    swapBytes: fc.constantFrom(undefined, 0, 1),
    cgroupVersion: fc.constantFrom(undefined, 1 as const, 2 as const),
  })
  fc.assert(
    fc.property(anyConfig, anyVersion, machine, (config, version, found) => {
      const options = { ...optionsOf(20), version }
      findNeeds(config, options)
      return checkNode(config, NOWHERE, { ...MACHINE, ...found }, options).every(
        ({ problem, rule }) => problem !== '' && rule.startsWith('node/'),
      )
    }),
  )
})
