// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { parseDocuments } from '../../src/kubelet/yaml.ts'
import { type ChannelSettings, CONFIG_SOURCE_ONLY } from '../../src/source/channels/resolve.ts'
import { type ManifestFile, readManifest, resolveManifests, withVersion } from '../../src/source/manifests.ts'

const NODE = `apiVersion: v1
kind: Node
metadata:
  name: n1
spec:
  configSource:
    configMap: {namespace: kube-system, name: cfg, kubeletConfigKey: kubelet}
`
const PLAIN_NODE = 'apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n'
const CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: kube-system, name: cfg}\ndata: {kubelet: "a: 1"}\n'

function file(name: string, text: string): ManifestFile {
  const reading = readManifest(parseDocuments(text))
  return reading.kind === 'good'
    ? { name, objects: reading.objects, problem: undefined }
    : { name, objects: undefined, problem: reading.detail }
}
const resolve = (...texts: string[]) =>
  resolveManifests(
    texts.map((text, i) => file(`${i}.yaml`, text)),
    'n1',
    CONFIG_SOURCE_ONLY,
  ).desired

t.test('a Node and its ConfigMap, in one file or in several', (t) => {
  const desired = resolve(`${NODE}---\n${CONFIG_MAP}`)
  t.same(resolve(CONFIG_MAP, NODE), desired)
  t.same(resolve(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [] }), NODE, CONFIG_MAP), desired)
  t.match(desired, {
    kind: 'config-map',
    ref: { namespace: 'kube-system', name: 'cfg', kubeletConfigKey: 'kubelet' },
    object: { kind: 'found', data: { kubelet: 'a: 1' }, resourceVersion: /^[0-9a-f]{16}$/ },
  })
  t.match(desired, { object: { uid: /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/ } })
  t.end()
})

t.test('a Node without configSource is local; other objects and other nodes are ignored', (t) => {
  t.match(resolve(PLAIN_NODE, 'apiVersion: v1\nkind: Secret\nmetadata: {name: n1}\n', NODE.replace('n1', 'n2')), { kind: 'local' })
  t.equal(resolve(NODE.replace('n1', 'n2')).kind, 'unknown')
  t.equal(resolve().kind, 'unknown')
  t.end()
})

t.test('ambiguous and invalid manifests never mean local', (t) => {
  t.equal(resolve(PLAIN_NODE, PLAIN_NODE).kind, 'unknown')
  t.equal(resolve(PLAIN_NODE, NODE).kind, 'unknown')
  t.match(resolve(NODE, CONFIG_MAP, CONFIG_MAP), { object: { kind: 'unavailable', reason: 'malformed', detail: /1\.yaml, 2\.yaml/ } })
  t.match(resolve(PLAIN_NODE, 'a: [1'), { kind: 'unknown', detail: /1\.yaml/ })
  t.match(resolve(NODE, 'a: [1'), { object: { kind: 'unavailable', reason: 'malformed' } })
  t.match(resolve(NODE), { object: { kind: 'unavailable', reason: 'not-found' } })
  for (const text of ['just text', 'metadata: {}', 'apiVersion: v1\nkind: Node\n', CONFIG_MAP.replace('"a: 1"', '7')])
    t.equal(readManifest(parseDocuments(text)).kind, 'bad', text)
  t.end()
})

t.test('a file that no longer parses counts with its last good content', (t) => {
  const broken = { ...file('node.yaml', NODE), problem: 'line 1' }
  t.match(resolveManifests([broken, file('cfg.yaml', CONFIG_MAP)], 'n1', CONFIG_SOURCE_ONLY).desired, {
    kind: 'config-map',
    object: { kind: 'found' },
  })
  t.end()
})

t.test('a uid is kept if given, and else derived from the name; the resourceVersion is always derived from the data', (t) => {
  const versionOf = (metadata: object, data: object) =>
    withVersion({ kind: 'ConfigMap', metadata, data }).metadata as Record<string, string>
  const named = { namespace: 'a', name: 'b' }
  t.match(versionOf({ ...named, uid: 'u' }, {}), { uid: 'u' })
  const given = { ...named, resourceVersion: '5' }
  t.not(versionOf(given, { kubelet: '1' }).resourceVersion, versionOf(given, { kubelet: '2' }).resourceVersion, 'an edit')
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string()), fc.dictionary(fc.string(), fc.string()), (one, other) => {
      const a = versionOf(named, one)
      const reordered = Object.fromEntries(Object.entries(one).reverse())
      const b = versionOf(named, other)
      const same = JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort())
      return (
        a.uid === b.uid &&
        a.resourceVersion === versionOf(named, reordered).resourceVersion &&
        (a.resourceVersion === b.resourceVersion) === same
      )
    }),
  )
  t.not(versionOf({ name: 'b' }, {}).uid, versionOf(named, {}).uid)
  t.end()
})

t.test('channels in manifests', (t) => {
  const channels: ChannelSettings = {
    channels: ['config-source', 'label', 'annotation', 'selector'],
    namespace: 'kube-system',
    key: 'kubelet',
    defaultConfigMap: undefined,
  }
  const node = (metadata: string) => `apiVersion: v1\nkind: Node\nmetadata: {name: n1, ${metadata}}\n`
  const member = CONFIG_MAP.replace(
    'name: cfg',
    'name: cfg, labels: {kubelet-cfg-agent.io/fleet: "true"}, annotations: {kubelet-cfg-agent.io/node-selector: zone=a}',
  )
  const desiredFrom = (...texts: string[]) =>
    resolveManifests(
      texts.map((text, i) => file(`${i}.yaml`, text)),
      'n1',
      channels,
    ).desired
  const label = 'labels: {kubelet-cfg-agent.node-restriction.kubernetes.io/config: cfg}'
  const found = (channel: string) => ({ kind: 'config-map', ref: { name: 'cfg' }, object: { kind: 'found' }, channelState: { channel } })
  t.match(desiredFrom(node(label), CONFIG_MAP), found('label'))
  t.match(desiredFrom(node('annotations: {kubelet-cfg-agent.io/config-source: kube-system/cfg}'), CONFIG_MAP), found('annotation'))
  t.match(desiredFrom(node('labels: {zone: a}'), member), found('selector'))
  t.match(desiredFrom(node('labels: {zone: b}'), member), { kind: 'local', channelState: { channel: undefined } })
  t.match(desiredFrom(node('labels: {zone: a}'), member, 'a: ['), {
    kind: 'invalid',
    detail: /2\.yaml cannot be read/,
    channelState: { channel: 'selector' },
  })
  t.match(desiredFrom(node('labels: {zone: a}'), member, member), { kind: 'invalid', detail: /same priority/ })
  const paused = 'annotations: {kubelet-cfg-agent.io/paused: "true"}'
  t.match(desiredFrom(node(paused)), { kind: 'local', channelState: { paused: { on: 'Node' } } })
  t.match(desiredFrom(node(label), CONFIG_MAP.replace('name: cfg', `name: cfg, ${paused}`)), {
    channelState: { paused: { on: 'ConfigMap' } },
  })
  t.match(readManifest(parseDocuments(node('annotations: {kubelet-cfg-agent.io/paused: true}'))), {
    kind: 'bad',
    detail: /of Node n1 are not maps of strings/,
  })
  t.end()
})

t.test('a part and the ConfigMaps under it', async (t) => {
  const part = CONFIG_MAP.replace('name: cfg}', 'name: cfg, annotations: {kubelet-cfg-agent.io/base: ns/pool}}')
  const pool = CONFIG_MAP.replace(
    'namespace: kube-system, name: cfg}',
    'namespace: ns, name: pool, annotations: {kubelet-cfg-agent.io/base: local}}',
  )
  t.match(resolve(NODE, part, pool), {
    object: {
      base: { kind: 'config-map' },
      bases: { views: [{ ref: { namespace: 'ns', name: 'pool' }, object: { base: { kind: 'local' } } }] },
    },
  })
  t.match(resolve(NODE, part), { object: { bases: { views: [{ object: { kind: 'unavailable', reason: 'not-found' } }] } } })
  const channels = { ...CONFIG_SOURCE_ONLY, channels: ['selector'] as const }
  const member = (name: string, layer: string): string =>
    CONFIG_MAP.replace(
      'name: cfg}',
      `name: ${name}, labels: {kubelet-cfg-agent.io/fleet: "true"}, annotations: {kubelet-cfg-agent.io/node-selector: "", ` +
        `kubelet-cfg-agent.io/priority: "${name.length}", kubelet-cfg-agent.io/layer: "${layer}"}}`,
    )
  const files = [PLAIN_NODE, member('a', 'false'), member('ccc', 'true'), member('bb', 'true')].map((text, i) => file(`${i}.yaml`, text))
  t.match(resolveManifests(files, 'n1', channels).desired, {
    ref: { name: 'a' },
    object: {
      layers: [
        { ref: { name: 'bb' }, object: { kind: 'found' } },
        { ref: { name: 'ccc' }, object: { kind: 'found' } },
      ],
    },
  })
  t.match(resolve(NODE, part.replace('ns/pool', 'kube-system/cfg')), { object: { bases: { problem: /cycle/ } } })
})
