import t from 'tap'
import { readBase } from '../../../src/source/channels/base-annotation.ts'
import { viewConfigMap } from '../../../src/source/kube-object.ts'

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
