// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { metadataOf, readBase, readConfigMapName, readPause } from '../../../src/source/channels/metadata.ts'
import { viewConfigMap } from '../../../src/source/kube-object.ts'
import { describeRef } from '../../../src/subject/config-source.ts'

const read = (annotations: Readonly<Record<string, string>>) => readPause({ labels: {}, annotations }, 'Node', 'n1')

t.test('only the annotation pauses', async (t) => {
  t.equal(read({}), undefined)
  t.equal(read({ 'kubelet-cfg-agent.io/paused': 'false' }), undefined)
  t.equal(read({ 'kubelet-cfg-agent.io/paused': '' }), undefined, 'an empty value says nothing')
  t.same(read({ 'kubelet-cfg-agent.io/paused': 'true' }), { on: 'Node', by: 'annotation kubelet-cfg-agent.io/paused of Node n1' })
  t.equal(readPause({ labels: { 'kubelet-cfg-agent.io/paused': 'true' }, annotations: {} }, 'Node', 'n1'), undefined)
})

t.test('a value that is neither true nor false pauses, and the message says so', async (t) => {
  for (const value of ['True', 'yes', '1', ' true', 'False'])
    t.match(read({ 'kubelet-cfg-agent.io/paused': value }), { by: /neither true nor false/ })
})

t.test('labels and annotations must be maps of strings', async (t) => {
  t.same(metadataOf({ metadata: {} }), { labels: {}, annotations: {} })
  t.same(metadataOf({ metadata: { labels: null, annotations: { a: 'b' } } }), { labels: {}, annotations: { a: 'b' } })
  for (const metadata of [{ labels: { a: true } }, { annotations: { a: null } }, { labels: [] }, { labels: 'a' }, undefined])
    t.equal(metadataOf({ metadata }), undefined)
  t.equal(metadataOf(null), undefined)
})

const BASE = 'kubelet-cfg-agent.io/base'
const withAnnotations = (annotations: unknown) => ({ metadata: { name: 'a', uid: 'u', resourceVersion: '1', annotations }, data: {} })

t.test('without the annotation, a ConfigMap is a whole config', async (t) => {
  t.equal(readBase(withAnnotations(undefined)), undefined)
  t.equal(readBase(withAnnotations({ 'kubelet-cfg-agent.io/paused': 'true' })), undefined)
  t.notOk('base' in viewConfigMap(withAnnotations({})))
})

t.test('local', async (t) => {
  t.same(viewConfigMap(withAnnotations({ [BASE]: 'local' })), {
    kind: 'found',
    uid: 'u',
    resourceVersion: '1',
    data: {},
    base: { kind: 'local', text: 'local' },
  })
})

t.test('anything else is an error that quotes it, and never "no base"', async (t) => {
  for (const text of ['', 'Local', ' local', 'lo\ncal', 'x'.repeat(500)]) {
    const base = readBase(withAnnotations({ [BASE]: text }))
    t.match(base, { kind: 'invalid', text, detail: /^annotation kubelet-cfg-agent.io\/base of the ConfigMap: "/ })
    t.ok(Object(base).detail.length < 200)
  }
  t.match(readBase(withAnnotations({ [BASE]: true })), { kind: 'invalid', detail: /not maps of strings/ })
})

t.test('a ConfigMap, with a key or without', async (t) => {
  const refOf = (text: string) => Object(readBase(withAnnotations({ [BASE]: text }))).ref
  t.same(refOf('ns/a.b'), { namespace: 'ns', name: 'a.b', kubeletConfigKey: undefined })
  t.same(refOf('ns/a:k.yaml'), { namespace: 'ns', name: 'a', kubeletConfigKey: 'k.yaml' })
  for (const text of ['ns/', '/a', 'ns/a:', 'ns/a:..', 'a', 'ns/a/b', '../a', 'NS/a'])
    t.match(readBase(withAnnotations({ [BASE]: text })), { kind: 'invalid', detail: /is neither local nor NAMESPACE\/NAME\[:KEY\]$/ }, text)
})

t.test('with and without a key', async (t) => {
  t.same(readConfigMapName('kube-system/kubelet-config'), { ok: true, namespace: 'kube-system', name: 'kubelet-config', key: undefined })
  t.same(readConfigMapName('a/kubelet-config-1.20:kubelet'), { ok: true, namespace: 'a', name: 'kubelet-config-1.20', key: 'kubelet' })
})

t.test('a formatted reference can be read back', async () => {
  const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,10}[a-z0-9])?$/)
  const name = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'))
  fc.assert(
    fc.property(label, name, fc.stringMatching(/^[a-z0-9_A-Z-][-._a-zA-Z0-9]{0,10}$/), (namespace, name, kubeletConfigKey) => {
      const reading = readConfigMapName(describeRef({ namespace, name, kubeletConfigKey }))
      return reading.ok && reading.namespace === namespace && reading.name === name && reading.key === kubeletConfigKey
    }),
  )
})

t.test('names that would change the request path are refused', async (t) => {
  for (const text of [
    '',
    'name',
    '/name',
    'ns/',
    'ns/name:',
    'ns/a/b',
    'ns/../x',
    'ns/..',
    '../ns/x',
    'ns/name:../k',
    'ns/name:..',
    'ns/name:k:l',
    'NS/name',
    'ns/Name',
    'ns/na me',
    'ns/name?x=1',
    'ns/name%2f',
    ' ns/name',
    'ns/name ',
    'ns/name\n',
    'a.b/name',
    `${'n'.repeat(64)}/name`,
    `ns/${'n'.repeat(254)}`,
  ])
    t.match(readConfigMapName(text), { ok: false }, JSON.stringify(text))
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (a, b, c) => {
      const reading = readConfigMapName(`${a}/${b}:${c}`)
      return !reading.ok || /^[a-z0-9-]+\/[a-z0-9.-]+(:[-._A-Za-z0-9]+)?$/.test(`${a}/${b}:${c}`)
    }),
  )
})
