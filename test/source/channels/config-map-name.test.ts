import fc from 'fast-check'
import t from 'tap'
import { describeRef } from '../../../src/decision/config-source.ts'
import { readConfigMapName } from '../../../src/source/channels/config-map-name.ts'

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
