// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { joinFields } from '../../scripts/fields/join-fields.ts'
import { packGates, packNeeds } from '../../scripts/fields/join-gates.ts'
import { parseRelease, type Release, type ReleaseField, type ReleaseGate } from '../../scripts/fields/release.ts'
import { modulesOf } from '../../scripts/fields/releases.ts'
import { defaultsModule, fieldsModule } from '../../scripts/fields/write-tables.ts'

const NONE = { fields: [], defaults: {}, dependent: {}, gates: {}, dependencies: {}, functions: {} }
const releases = (...each: Partial<Release>[]): Release[] => each.map((release, index) => ({ ...NONE, minor: 20 + index, ...release }))
const field = (path: string, type = 'int32', more: Partial<ReleaseField> = {}): ReleaseField => ({ path, type, ...more })

t.test('a field has the minors that know it, and stands in the newest order', async (t) => {
  const joined = joinFields(
    releases(
      { fields: [field('a'), field('old'), field('c')] },
      { fields: [field('a'), field('c')] },
      { fields: [field('c'), field('b'), field('a')] },
    ),
  )
  t.match(
    joined.map(({ path, since, gone }) => [path, since, gone]),
    [
      ['c', undefined, undefined],
      ['b', 22, undefined],
      ['a', undefined, undefined],
      ['old', undefined, 21],
    ],
  )
  t.throws(() => joinFields(releases({ fields: [field('a')] }, {}, { fields: [field('a')] })), /a went and came back/)
  t.throws(
    () => joinFields(releases({ fields: [field('a')] }, { fields: [field('a', 'string')] })),
    /a was of type int32 and is string since 1.21/,
  )
})

t.test('defaults by version: upstream sets them, or zero is the default', async (t) => {
  const one = (...each: [ReleaseField, Partial<Release>?][]) => {
    const [joined] = joinFields(releases(...each.map(([own, more = {}]) => ({ fields: [own], ...more }))))
    return [joined?.initial, joined?.zeroSince]
  }
  const ten: Partial<Release> = { defaults: { a: 10 } }
  t.strictSame(one([field('a'), ten], [field('a'), ten]), [[[20, 10]], undefined], 'zero means not set')
  t.strictSame(one([field('a'), ten], [field('a'), { defaults: { a: 50 } }])[0], [
    [20, 10],
    [21, 50],
  ])
  t.strictSame(one([field('a')]), [[[20, 0]], 20], 'nothing replaces zero')
  t.strictSame(one([field('a', 'string')]), [undefined, undefined])
  t.strictSame(one([field('a', 'int32', { pointer: true }), ten]), [[[20, 10]], 20])
  t.strictSame(one([field('a', 'int32', { pointer: true })]), [undefined, 20])
  t.strictSame(one([field('a', 'boolean', { pointer: true, zeroInside: true })]), [[[20, false]], 20])
  t.strictSame(one([field('a'), ten], [field('a', 'int32', { pointer: true }), ten]), [[[20, 10]], 21], 'becomes a pointer')
  t.strictSame(one([field('a'), ten], [field('a'), { dependent: { a: 'if b' } }])[0], [
    [20, 10],
    [21, undefined],
  ])
  t.strictSame(one([field('a', 'strings', { pointer: true })]), [undefined, undefined], 'no list is an empty list')
  t.strictSame(one([field('a', 'strings', { pointer: true }), { defaults: { a: ['pods'] } }]), [[[20, ['pods']]], 20])
})

t.test('fields of objects stand within them', async (t) => {
  const fields = [field('a', 'objects'), field('a[].b', 'string'), field('c', 'object'), field('c.d', 'boolean')]
  t.match(
    fieldsModule(releases({ fields })),
    ["a: { type: 'objects', fields: { b: { type: 'string' }, } },", "c: { type: 'object', fields: { d: { type: 'boolean' }, } },"].join(
      '\n',
    ),
  )
  t.match(defaultsModule(releases({ fields })), "= {\n'c.d': { initial: [[20, false]], zeroSince: 20 },\n}\n")
  t.throws(() => fieldsModule(releases({ fields: [field('a.b')] })), /a.b stands before a/)
})

t.test('a gate is one word, with a part for each change', async (t) => {
  const gates = (...states: (ReleaseGate | undefined)[]) =>
    packGates(releases(...states.map((state) => ({ gates: state === undefined ? {} : { Gate: state } }))))
  t.strictSame(
    gates(
      undefined,
      { stage: 'alpha', default: false },
      { stage: 'alpha', default: false },
      { stage: 'beta', default: true },
      { stage: 'ga', default: true, locked: true },
      undefined,
      { stage: 'deprecated', default: false },
    ),
    ['Gate:a21,B23,G24!,-25,d26'],
  )
  t.throws(() => packGates(releases({ gates: { Gate: JSON.parse('{"stage":"prealpha","default":false}') } })), /unknown stage .* prealpha/)
})

t.test('what a gate needs is a list for each change', async (t) => {
  t.strictSame(packNeeds(releases({}, { dependencies: { A: ['B', 'C'], D: [] } }, { dependencies: { A: ['B'] } }, {})), [
    'A:21>B,C;22>B;23>',
  ])
})

t.test('the reader prints a release', async (t) => {
  const text = '{"fields":[{"path":"a","type":"int32"}],"defaults":{"a":5},"dependent":{},"gates":{},"dependencies":{}}\n'
  t.strictSame(parseRelease(30, text), { ...NONE, minor: 30, fields: [{ path: 'a', type: 'int32' }], defaults: { a: 5 } })
  t.throws(() => parseRelease(30, '[]'), /no release for 1.30/)
})

t.test('modules of a release have versions of one patch', async (t) => {
  t.strictSame(
    [...modulesOf({ minor: 27, patch: 16 })],
    [
      ['k8s.io/kubernetes', 'v1.27.16'],
      ['k8s.io/kubelet', 'v0.27.16'],
      ['k8s.io/api', 'v0.27.16'],
      ['k8s.io/apiserver', 'v0.27.16'],
      ['k8s.io/component-base', 'v0.27.16'],
      ['k8s.io/cloud-provider', 'v0.27.16'],
      ['k8s.io/controller-manager', 'v0.27.16'],
    ],
  )
  t.notOk(modulesOf({ minor: 26, patch: 15 }).has('k8s.io/controller-manager'), 'kubelet 1.26 does not need it')
})
