// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { CONFIG_LABEL, CONFIG_SOURCE_ANNOTATION } from '../../../src/decision/channels.ts'
import { hashNode } from '../../../src/source/channels/to-desired.ts'

const ALL = { channels: ['config-source', 'label', 'annotation', 'selector'] } as const
const NODE = { metadata: { name: 'n1', labels: { zone: 'a', role: 'worker' }, annotations: { heartbeat: '1' } }, spec: {} }
const withLabels = (labels: object) => ({ ...NODE, metadata: { ...NODE.metadata, labels } })
const withAnnotations = (annotations: object) => ({ ...NODE, metadata: { ...NODE.metadata, annotations } })
const configMap = { namespace: 'kube-system', name: 'a', kubeletConfigKey: 'kubelet' }

t.test('it changes with everything by which the Node takes part in its assignment', async (t) => {
  const hashes = [
    NODE,
    { ...NODE, spec: { configSource: { configMap } } },
    { ...NODE, spec: { configSource: {} } },
    withLabels({ zone: 'b', role: 'worker' }),
    withLabels({ ...NODE.metadata.labels, [CONFIG_LABEL]: 'a' }),
    withAnnotations({ [CONFIG_SOURCE_ANNOTATION]: 'kube-system/a:kubelet' }),
  ].map((node) => hashNode(node, ALL))
  t.equal(new Set(hashes).size, hashes.length)
})

t.test('order of labels, other annotations and the status of the Node change nothing', async (t) => {
  const hash = hashNode(NODE, ALL)
  t.equal(hashNode(withLabels({ role: 'worker', zone: 'a' }), ALL), hash, 'the order of labels')
  t.equal(hashNode(withAnnotations({ heartbeat: '2' }), ALL), hash, 'another annotation')
  t.equal(hashNode({ ...NODE, status: { conditions: [] } }, ALL), hash, 'the status')
  t.equal(hashNode({ metadata: NODE.metadata }, ALL), hash, 'the metadata of the Node alone')
  const byLabel = { channels: ['label'] } as const
  t.equal(hashNode(withLabels({ zone: 'b' }), byLabel), hashNode(NODE, byLabel), 'labels, where no selector looks at them')
})
