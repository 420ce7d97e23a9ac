// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Field } from '../../src/kubelet/field.ts'
import { FIELDS, isFieldName, isKnown, listLeaves } from '../../src/kubelet/fields.ts'

t.test('which versions know a field', async (t) => {
  const always: Field = { type: 'string' }
  const later: Field = { type: 'string', since: 23, gone: 30 }
  for (const minor of [18, 20, 37]) t.ok(isKnown(always, minor), `1.${minor}`)
  t.same(
    [22, 23, 29, 30].map((minor) => isKnown(later, minor)),
    [false, true, true, false],
  )
  t.ok(isKnown(always, undefined))
  for (const field of [later, { type: 'string', since: 23 }, { type: 'string', gone: 24 }] satisfies Field[])
    t.notOk(isKnown(field, undefined))
})

t.test('leaves are the fields that are set as a whole', async (t) => {
  const leaves = new Map(listLeaves())
  t.equal(leaves.size, listLeaves().length, 'each once')
  for (const name of [
    'maxPods',
    'featureGates',
    'reservedMemory',
    'authentication.x509.clientCAFile',
    'logging.options.json.infoBufferSize',
    'logging.vmodule',
  ])
    t.ok(leaves.has(name), name)
  for (const name of ['authentication', 'authentication.x509', 'logging', 'reservedMemory.limits']) t.notOk(leaves.has(name), name)
  for (const name of leaves.keys()) t.ok(isFieldName(name.split('.')[0] ?? ''), name)
  const tops = new Set([...leaves.keys()].map((name) => name.split('.')[0]))
  t.same([...tops], Object.keys(FIELDS), 'all fields have leaves')
})
