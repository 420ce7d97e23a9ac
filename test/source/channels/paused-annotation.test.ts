import t from 'tap'
import { metadataOf } from '../../../src/source/channels/metadata.ts'
import { readPause } from '../../../src/source/channels/paused-annotation.ts'

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
