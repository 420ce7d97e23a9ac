// SPDX-License-Identifier: Apache-2.0
/** Which changes wait until no pod has CPUs or memory of its own. */
import t from 'tap'
import { formatPath } from '../../../src/kubelet/field-path.ts'
import { compareConfigs } from '../../../src/preflight/change/compare.ts'
import { collectFlags } from '../../../src/preflight/change/kubelet-flags.ts'
import { findManagerChanges } from '../../../src/preflight/change/manager-changes.ts'

type Config = Readonly<Record<string, unknown>>

const VERSION = { major: 1, minor: 34, patch: 0, text: '1.34.0' }

function waiting(before: Config, after: Config, ...words: readonly string[]): readonly string[] {
  const changes = compareConfigs(before, after, VERSION)
  const compared = { changes, before, after, flags: collectFlags(words), version: VERSION }
  return findManagerChanges(compared, { locate: () => undefined }).map(({ path }) => formatPath(path))
}

const STATIC = { cpuManagerPolicy: 'static', reservedSystemCPUs: '0' }

t.test('another policy', async (t) => {
  t.same(waiting({}, { maxPods: 20 }), [])
  t.same(waiting({}, { cpuManagerPolicy: 'none', memoryManagerPolicy: 'None', topologyManagerPolicy: 'none' }), [], 'the defaults')
  t.same(waiting({}, STATIC), ['cpuManagerPolicy', 'reservedSystemCPUs'])
  t.same(waiting(STATIC, {}), ['cpuManagerPolicy'])
  t.same(waiting({}, { memoryManagerPolicy: 'Static' }), ['memoryManagerPolicy'])
  t.same(waiting({}, { topologyManagerPolicy: 'restricted' }), ['topologyManagerPolicy'])
})

t.test('what else a manager goes by, where there is one', async (t) => {
  t.same(waiting({}, { reservedSystemCPUs: '0-1' }), [])
  t.same(waiting(STATIC, { ...STATIC, reservedSystemCPUs: '0-1' }), ['reservedSystemCPUs'])
  t.same(waiting(STATIC, { ...STATIC, cpuManagerPolicyOptions: { 'full-pcpus-only': 'true' } }), [
    'cpuManagerPolicyOptions.full-pcpus-only',
  ])
  const counted = (cpu: string) => ({ cpuManagerPolicy: 'static', kubeReserved: { cpu } })
  t.same(waiting(counted('500m'), counted('1500m')), ['kubeReserved.cpu'])
  t.same(waiting(counted('500m'), counted('900m')), [], 'one CPU as before')
  t.same(waiting({ ...STATIC, kubeReserved: { cpu: '1' } }, { ...STATIC, kubeReserved: { cpu: '3' } }), [], 'the list counts')
  const memory = (size: string) => ({ memoryManagerPolicy: 'Static', reservedMemory: [{ numaNode: 0, limits: { memory: size } }] })
  t.same(waiting(memory('1Gi'), memory('2Gi')), ['reservedMemory'])
  t.same(waiting({}, { topologyManagerScope: 'pod' }), [])
  t.same(waiting({ topologyManagerPolicy: 'restricted' }, { topologyManagerPolicy: 'restricted', topologyManagerScope: 'pod' }), [
    'topologyManagerScope',
  ])
})

t.test('a flag wins', async (t) => {
  t.same(waiting({}, { cpuManagerPolicy: 'static' }, '--cpu-manager-policy=none'), [])
})
