// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import type { NodeOptions } from '../../../src/preflight/node/node-view.ts'
import { GIBIBYTE, optionsOf, verdicts } from './node-options.ts'

t.test('memory', async (t) => {
  t.same(verdicts({ kubeReserved: { memory: '9Gi' } }), ['refuse node/reserved-memory kubeReserved'])
  t.same(
    verdicts({ kubeReserved: { memory: '8092Mi' } }),
    ['refuse node/reserved-memory kubeReserved'],
    'with 100 MiB for eviction nothing is left',
  )
  t.same(verdicts({ kubeReserved: { memory: '4Gi' }, systemReserved: { memory: '3.5Gi' } }), ['warn node/reserved-memory kubeReserved'])
  t.same(verdicts({ kubeReserved: { memory: '4Gi' } }), [])
  t.same(verdicts({ evictionHard: { 'memory.available': '95%' } }), ['warn node/reserved-memory evictionHard'])
  t.same(verdicts({ evictionHard: { 'memory.available': '100%' } }), [], 'the value turns the signal off')
  t.same(verdicts({ evictionHard: {}, kubeReserved: { memory: '8Gi' } }), ['refuse node/reserved-memory kubeReserved'])
  t.same(verdicts({ kubeReserved: { memory: 'banana' } }), [], 'reported by the field rules')
  t.same(verdicts({}, {}, optionsOf(30, ['--kube-reserved=memory=9Gi'])), ['refuse node/reserved-memory kubeReserved'], 'flags count')
  t.same(verdicts({ kubeReserved: { memory: '9Gi' } }, {}, optionsOf(30, ['--kube-reserved=memory=1Gi'])), [], 'and override')
  t.same(verdicts({ kubeReserved: { memory: '8Gi' } }, { memoryBytes: undefined }), [])
})

t.test('a flag of kubelet takes the hard eviction threshold out of the sum, in any spelling of Go', async (t) => {
  const all = { evictionHard: { 'memory.available': '2Gi' }, kubeReserved: { memory: '7.5Gi' } }
  const verdict = (...args: string[]) => verdicts(all, {}, optionsOf(30, args))
  for (const value of ['', '=true', '=True', '=1', '=t'])
    t.same(verdict(`--experimental-allocatable-ignore-eviction${value}`), ['warn node/reserved-memory kubeReserved'], value)
  for (const value of ['=false', '=0'])
    t.same(verdict(`--experimental-allocatable-ignore-eviction${value}`), ['refuse node/reserved-memory kubeReserved'], value)
})

t.test('a larger reservation is never refused less', async () => {
  const mebibytes = fc.integer({ min: 0, max: 20_000 })
  const rank = (memory: number) => ['warn', 'refuse'].indexOf(verdicts({ kubeReserved: { memory: `${memory}Mi` } })[0]?.split(' ')[0] ?? '')
  fc.assert(fc.property(mebibytes, mebibytes, (a, b) => a <= b === rank(a) <= rank(b) || rank(a) === rank(b)))
  fc.assert(fc.property(mebibytes, (memory) => (rank(memory) === 1) === memory + 100 >= 8192))
})

t.test('CPUs', async (t) => {
  t.same(verdicts({ kubeReserved: { cpu: '4' } }), ['refuse node/reserved-cpu kubeReserved'])
  t.same(verdicts({ kubeReserved: { cpu: '2' }, systemReserved: { cpu: '2500m' } }), ['refuse node/reserved-cpu systemReserved'])
  t.same(verdicts({ kubeReserved: { cpu: '3999m' } }), [])
  t.same(
    verdicts({ kubeReserved: { cpu: '3' } }, { onlineCpus: new Set([0, 1]) }),
    ['warn node/reserved-cpu kubeReserved'],
    'two are offline',
  )
  t.same(verdicts({ kubeReserved: { cpu: '9' }, reservedSystemCPUs: '0' }), [], 'reservedSystemCPUs replaces it')
})

t.test('CPU sets', async (t) => {
  t.same(verdicts({ reservedSystemCPUs: '0-1' }), [])
  t.same(verdicts({ reservedSystemCPUs: '0,4' }), ['refuse node/cpuset reservedSystemCPUs'])
  t.same(verdicts({ reservedSystemCPUs: '0-3' }), ['refuse node/cpuset reservedSystemCPUs'])
  t.same(verdicts({ reservedSystemCPUs: 'x' }), [], 'reported by the field rules')
})

t.test('CPUs that are offline, and gaps between the numbers', async (t) => {
  const anyVersion = { ...optionsOf(30), version: undefined }
  const offline = { onlineCpus: new Set([0, 1]) }
  const gap = { onlineCpus: new Set([0, 1, 4, 5]), presentCpus: new Set([0, 1, 4, 5]) }
  const check = (reservedSystemCPUs: string, found: object, options: NodeOptions) =>
    verdicts({ reservedSystemCPUs }, found, options).map((verdict) => verdict.split(' ')[0])
  for (const minor of [22, 30, 36]) {
    const options = optionsOf(minor)
    t.same(check('3', offline, options), ['refuse'], 'kubelet wants CPUs that are online')
    t.same(check('0-1', offline, options), ['refuse'], 'none that is online is left')
    t.same(check('0', offline, options), [])
    t.same(check('4', gap, options), [])
    t.same(check('2', gap, options), ['refuse'])
  }
  for (const minor of [20, 21]) {
    const options = optionsOf(minor)
    t.same(check('3', offline, options), ['warn'])
    t.same(check('0-1', offline, options), [])
    t.same(check('4', gap, options), ['refuse'], 'kubelet compares the largest number with the number of CPUs')
    t.same(check('2', gap, options), ['warn'])
  }
  t.same(check('3', offline, anyVersion), ['warn'])
  t.same(check('4', gap, anyVersion), [])
  t.same(check('2', gap, anyVersion), ['refuse'])
  t.same(check('0-1,4-5', gap, anyVersion), ['refuse'])
})

t.test('a CPU set that is not one', async (t) => {
  t.same(verdicts({ reservedSystemCPUs: 'x' }), [], 'reported by the field rules')
})

t.test('what of reservedMemory depends on the machine', async (t) => {
  const config = (limits: object, numaNode = 0) => ({
    memoryManagerPolicy: 'Static',
    kubeReserved: { memory: '924Mi' },
    reservedMemory: [{ numaNode, limits }],
  })
  const share = { evictionHard: { 'memory.available': '10%' } }
  t.same(verdicts(config({ memory: '2Gi' })), [], 'judged without the machine')
  t.same(verdicts(config({ memory: '1Gi' }, 1)), ['refuse node/static-policy reservedMemory'], 'the NUMA node does not exist')
  t.same(verdicts(config({ memory: '1Gi' }, 1), { numaNodes: undefined }), [])
  t.same(verdicts(config({ memory: '1Gi' }, 1), {}, { ...optionsOf(30), version: undefined }), ['warn node/static-policy reservedMemory'])
  t.same(verdicts(config({ memory: '1Gi' }, 1), {}, optionsOf(20)), [], '1.20 does not have the field')
  t.same(verdicts(config({ memory: '1Gi' }, 1), {}, optionsOf(21)), [], 'the gate is off in 1.21')
  t.same(
    verdicts({ ...config({ memory: '2Gi' }), ...share }, { memoryBytes: 8 * GIBIBYTE }),
    ['warn node/static-policy reservedMemory'],
    'a percentage is not exact to the byte',
  )
  t.same(verdicts({ ...config({ memory: '2Gi' }), ...share }, { memoryBytes: undefined }), [])
})
