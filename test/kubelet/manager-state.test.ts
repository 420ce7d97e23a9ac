// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import t from 'tap'
import { hasWrongChecksum, isOfPodLevel } from '../../src/kubelet/manager-checksum.ts'
import { listHolders, parseManagerState } from '../../src/kubelet/manager-state.ts'

/** Written by the code of these kubelets. */
const VERSIONS = ['1.24', '1.34', '1.37'] as const
const POD = '3f2b6f0e-0000-4000-8000-000000000001'

function filesOf(version: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(new URL(`manager-states/${version}.json`, import.meta.url), 'utf8'))
}

const parsed = (text = '') => parseManagerState(text) ?? {}

for (const version of VERSIONS) {
  t.test(`the files of kubelet ${version}`, async (t) => {
    const files = filesOf(version)
    for (const [name, text] of Object.entries(files)) {
      t.same(listHolders(parsed(text)), name.endsWith('-used') ? [POD] : [], name)
      t.equal(hasWrongChecksum(parsed(text)), false, name)
      t.notOk(isOfPodLevel(parsed(text)), name)
      // An older kubelet reads the file of a newer one by these.
      const { data, dataChecksum: _, ...before } = parsed(text)
      t.equal(hasWrongChecksum(before), false, name)
      t.equal(hasWrongChecksum({ ...before, policyName: 'other' }), true, name)
      if (data !== undefined)
        t.equal(hasWrongChecksum({ ...parsed(text), data: `${data} ` }), true, `${name}: kubelet 1.37 reads data alone`)
    }
  })
}

t.test('kubelet 1.36 with the gate PodLevelResourceManagers', async (t) => {
  for (const [name, text] of Object.entries(filesOf('1.36-pod-level'))) {
    const state = parsed(text)
    t.same(listHolders(state), name.endsWith('-used') ? [POD] : [], name)
    t.ok(isOfPodLevel(state), name)
    t.equal(hasWrongChecksum(state), name.includes('-pod-') ? undefined : false, name)
  }
})

t.test('pre-releases of kubelet 1.36 hash over another name', async (t) => {
  const state = { policyName: 'static', defaultCpuSet: '0,2-3', entries: { [POD]: { app: '1', b: '1' } }, checksum: 3636042176 }
  t.equal(hasWrongChecksum(state), false)
  t.notOk(isOfPodLevel(state))
})

t.test('the memory of several nodes and containers', async (t) => {
  const memory = { total: 2048, systemReserved: 512, allocatable: 1536, reserved: 512, free: 1024 }
  const entries = { pod: { container1: [{ numaAffinity: [0], type: 'memory', size: 512 }] } }
  const state = {
    policyName: 'static',
    machineState: { 0: { numberOfAssignments: 0, memoryMap: { memory }, cells: [] } },
    entries,
    checksum: 4215593881,
  }
  t.equal(hasWrongChecksum(state), false, 'as in the tests of kubelet')
  t.equal(hasWrongChecksum({ ...state, entries: {} }), true)
  const huge = { ...memory, free: 2 ** 64 }
  t.equal(
    hasWrongChecksum({ ...state, machineState: { 0: { memoryMap: { memory: huge } } } }),
    undefined,
    'a number that JavaScript rounds',
  )
})

t.test('a checksum that nobody can check is not wrong', async (t) => {
  t.equal(hasWrongChecksum({ policyName: 'none', defaultCpuSet: '' }), undefined, 'there is none')
  t.equal(hasWrongChecksum({ policyName: 'none', checksum: 7, podEntries: {} }), undefined, 'of another kubelet')
  t.equal(hasWrongChecksum({ policyName: 'static', checksum: 7, entries: { '8f2c': '1-2' } }), undefined, 'of kubelet 1.18')
})

t.test('pods as a whole', async (t) => {
  t.same(listHolders({ podEntries: { a: { cpuSet: '1' } } }), ['a'])
  t.same(listHolders({ entries: { a: {} }, data: '{"entries":{"a":{}},"podEntries":{"b":{}}}' }), ['a', 'b'])
})

t.test('what kubelet cannot decode', async (t) => {
  for (const text of ['', '{"policyNa', '[]', '{"policyName":1}', '{"policyName":"none","checksum":"7"}'])
    t.equal(parseManagerState(text), undefined, text)
})
