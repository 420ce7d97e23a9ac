// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { compareConfigs } from '../../../src/preflight/change/compare.ts'
import { collectFlags, findOverridden } from '../../../src/preflight/change/kubelet-flags.ts'
import { v } from './configs.ts'

function problems(after: object, ...args: string[]): string[] {
  return findOverridden(compareConfigs({}, { ...after }, v(20)), collectFlags(args)).map(({ problem }) => problem)
}

t.test('a flag that overrides the field is named', async (t) => {
  t.same(problems({ maxPods: 5 }, '--max-pods=7'), [
    'changing maxPods has no effect: kubelet is started with --max-pods, which overrides it',
  ])
  t.same(problems({ maxPods: 5 }, '--config=/x'), [])
  t.same(problems({}, '--max-pods=7'), [], 'nothing changes')
  t.same(problems({ kubeReserved: { cpu: '1', memory: '1Gi' } }, '--kube-reserved=cpu=1').length, 1, 'a map is reported once')
  t.match(problems({ authentication: { x509: { clientCAFile: '/x' } } }, '--client-ca-file=/y'), [
    /^changing authentication\.x509\.clientCAFile /,
  ])
  t.same(problems({ containerRuntimeEndpoint: 'unix:///x' }, '--container-runtime-endpoint=unix:///y'), [], '1.20 does not have the field')
})

t.test('of feature gates, only those that the flag names', async (t) => {
  t.match(problems({ featureGates: { A: true, B: true } }, '--feature-gates=B=false'), [/^changing featureGates\.B /])
})

t.test('a finding has the position of the field', async (t) => {
  const locate = ([field, key]: readonly unknown[]) => (field === 'evictionHard' && key === undefined ? { line: 7, column: 1 } : undefined)
  const changes = compareConfigs({}, { evictionHard: { 'memory.available': '1Gi' } }, v(20))
  const findings = findOverridden(changes, collectFlags(['--eviction-hard=memory.available<1Gi']), { locate })
  t.match(findings, [{ rule: 'change/overridden-by-flag', severity: 'warn', path: ['evictionHard'], position: { line: 7, column: 1 } }])
})
