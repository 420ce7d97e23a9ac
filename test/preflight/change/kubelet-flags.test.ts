// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { collectFlags, overlayFlags } from '../../../src/preflight/change/kubelet-flags.ts'
import { v } from './configs.ts'

t.test('flags of a command line', async (t) => {
  const args =
    '--config=/a --max_pods 5 --fail-swap-on --port=1 --port 2 --unknown --v=4 -v 2 -v3 --oom-score-adj -999 --kube-reserved= last'
  t.same(
    [...collectFlags(args.split(' '))],
    [
      ['config', ['/a']],
      ['max-pods', ['5']],
      ['fail-swap-on', ['true']],
      ['port', ['1', '2']],
      ['unknown', ['true']],
      ['v', ['4', '2', '3']],
      ['oom-score-adj', ['-999']],
      ['kube-reserved', ['']],
    ],
  )
  t.same([...collectFlags(['--root-dir', '/x', '--', '--port=1'])], [['root-dir', ['/x']]])
  t.same(
    [...collectFlags(['--fail-swap-on', '--node-ip', '1.2.3.4'])].map(([name]) => name),
    ['fail-swap-on', 'node-ip'],
  )
  t.same([...collectFlags([])], [])
})

function overlay(config: object, args: readonly string[], minor = 20) {
  return overlayFlags({ ...config }, collectFlags(args), v(minor))
}

t.test('flags applied to a config', async (t) => {
  t.same(overlay({ maxPods: 1, port: 3 }, ['--max-pods=5']).config, { maxPods: 5, port: 3 })
  t.same(overlay({ kubeReserved: { cpu: '1' } }, ['--kube-reserved=memory=1Gi', '--kube-reserved', 'pid=10']).config, {
    kubeReserved: { memory: '1Gi', pid: '10' },
  })
  t.same(overlay({ evictionHard: { a: '1' } }, ['--eviction-hard=memory.available<5%,nodefs.available<1Gi']).config, {
    evictionHard: { 'memory.available': '5%', 'nodefs.available': '1Gi' },
  })
  t.same(overlay({ featureGates: { A: true, B: true } }, ['--feature-gates=B=false,C=true']).config, {
    featureGates: { A: true, B: false, C: true },
  })
  t.same(overlay({ authentication: { webhook: { enabled: true } } }, ['--anonymous-auth=false', '--client-ca-file', '/ca']).config, {
    authentication: { webhook: { enabled: true }, anonymous: { enabled: false }, x509: { clientCAFile: '/ca' } },
  })
  t.same(overlay({}, ['--cluster-dns=1.1.1.1,8.8.8.8', '--fail-swap-on=f']).config, {
    clusterDNS: ['1.1.1.1', '8.8.8.8'],
    failSwapOn: false,
  })
})

t.test('values that cannot be parsed are unknown', async (t) => {
  const { config, unknown } = overlay({ maxPods: 1, reservedMemory: [] }, ['--max-pods=many', '--reserved-memory', '0:memory=1Gi'], 21)
  t.same([...unknown], ['maxPods', 'reservedMemory'])
  t.same(config.maxPods, undefined)
  t.same(overlay({}, ['--container-runtime-endpoint=unix:///x']).config, {}, 'before 1.27 the field does not exist')
  t.same(overlay({}, ['--container-runtime-endpoint=unix:///x'], 27).config, { containerRuntimeEndpoint: 'unix:///x' })
})
