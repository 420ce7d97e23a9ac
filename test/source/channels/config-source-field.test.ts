// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { readAssignment } from '../../../src/source/channels/config-source-field.ts'
import { isConfigMapKey, isNamespace, isObjectName } from '../../../src/values/kubernetes-names.ts'

const REF = { namespace: 'kube-system', name: 'my-node-config', kubeletConfigKey: 'kubelet' }
const nodeWith = (configSource: unknown) => ({ metadata: { name: 'n1' }, spec: { configSource } })

t.test('a Node without configSource is local', (t) => {
  for (const node of [{ metadata: {} }, { spec: null }, { spec: {} }, nodeWith(undefined), nodeWith(null)])
    t.same(readAssignment(node), { kind: 'local' })
  t.end()
})

t.test('a ConfigMap needs namespace, name and key, and nothing else', (t) => {
  t.same(readAssignment(nodeWith({ configMap: { ...REF, uid: '', other: 1 } })), { kind: 'config-map', ref: REF })
  t.end()
})

t.test("a configSource without a known subfield is refused with upstream's message", (t) => {
  const expected = { kind: 'invalid', detail: 'invalid NodeConfigSource, exactly one subfield must be non-nil, but all were nil' }
  for (const source of [{}, { configMap: null }, { secret: { name: 'x' } }]) t.same(readAssignment(nodeWith(source)), expected)
  t.end()
})

t.test('a ConfigMap without a key that it needs: the message names that key', (t) => {
  for (const field of ['namespace', 'name', 'kubeletConfigKey'])
    for (const nothing of [undefined, null, ''])
      t.same(readAssignment(nodeWith({ configMap: { ...REF, [field]: nothing } })), {
        kind: 'invalid',
        detail: `invalid NodeConfigSource, configMap.${field} is missing`,
      })
  t.end()
})

t.test('a malformed configSource is neither local nor a ConfigMap', (t) => {
  const wrong: unknown[] = [
    'text',
    [],
    { configMap: 'text' },
    { configMap: {} },
    { configMap: { ...REF, namespace: '../etc' } },
    { configMap: { ...REF, namespace: 'a.b' } },
    { configMap: { ...REF, name: 'Upper' } },
    { configMap: { ...REF, name: '..' } },
    { configMap: { ...REF, kubeletConfigKey: '..' } },
    { configMap: { ...REF, kubeletConfigKey: 'a/b' } },
    { configMap: { ...REF, kubeletConfigKey: 7 } },
    { configMap: { ...REF, uid: 'u' } },
    { configMap: { ...REF, resourceVersion: '1' } },
  ]
  for (const source of wrong) t.equal(readAssignment(nodeWith(source)).kind, 'invalid', JSON.stringify(source))
  for (const node of [null, 'text', 7, { spec: 'text' }, { spec: [] }]) t.equal(readAssignment(node).kind, 'invalid', JSON.stringify(node))
  t.end()
})

t.test('for any Node: local only without a configSource, and names are safe in paths', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (configSource) => {
      const assignment = readAssignment(nodeWith(configSource))
      return (assignment.kind === 'local') === (configSource === null)
    }),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      for (const accepts of [isNamespace, isObjectName, isConfigMapKey])
        if (accepts(text) && (text.includes('/') || text.startsWith('..') || text === '.' || text === '' || text.includes('\0')))
          return false
      return true
    }),
  )
  t.end()
})
