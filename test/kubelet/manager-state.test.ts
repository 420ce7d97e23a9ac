// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import t from 'tap'
import { hasWrongChecksum, listHolders, parseManagerState } from '../../src/kubelet/manager-state.ts'

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
      if (!name.startsWith('cpu')) continue
      t.equal(hasWrongChecksum(parsed(text)), version === '1.37' ? undefined : false, name)
      // An older kubelet reads the file of a newer one by these.
      const { data: _, dataChecksum: __, ...before } = parsed(text)
      t.equal(hasWrongChecksum(before), false, name)
      t.equal(hasWrongChecksum({ ...before, defaultCpuSet: '7' }), true, name)
    }
  })
}

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
