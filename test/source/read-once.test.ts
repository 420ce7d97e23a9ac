// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { KubeAnswer } from '../../src/ports/kube-api.ts'
import { type ChannelSettings, CONFIG_SOURCE_ONLY } from '../../src/source/channels/resolve.ts'
import { readAssignmentOnce, readConfigMapOnce, readManifestsOnce } from '../../src/source/read-once.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

const REF = { namespace: 'kube-system', name: 'c', kubeletConfigKey: 'kubelet' }
const NODE = { kind: 'Node', metadata: { name: 'n1', uid: 'u' }, spec: { configSource: { configMap: REF } } }
const CONFIG_MAP = {
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'kube-system', uid: 'u2', resourceVersion: '7' },
  data: { kubelet: 'x' },
}
const refused = (status: number): KubeAnswer => ({ kind: 'refused', status, reason: '', detail: `${status}: no`, retryAfterMs: undefined })

const api = (answers: Readonly<Record<string, KubeAnswer>>) => ({
  request: async ({ path }: { path: string }): Promise<KubeAnswer> => answers[path] ?? refused(404),
})
const NODE_PATH = '/api/v1/nodes/n1'
const FLEET_PATH = '/api/v1/namespaces/kube-system/configmaps'
const MAP_PATH = '/api/v1/namespaces/kube-system/configmaps/c'

t.test('a Node and its ConfigMap', async (t) => {
  const answers = { [NODE_PATH]: { kind: 'ok', object: NODE }, [MAP_PATH]: { kind: 'ok', object: CONFIG_MAP } } as const
  t.match(await readAssignmentOnce(api(answers), 'n1', CONFIG_SOURCE_ONLY), {
    kind: 'config-map',
    ref: REF,
    object: { kind: 'found', uid: 'u2', resourceVersion: '7', data: { kubelet: 'x' } },
  })
})

t.test('a pause of the Node, or else of its ConfigMap', async (t) => {
  const pausedBy = async (nodeValue: string, mapValue: string) => {
    const paused = <T extends { readonly metadata: object }>(object: T, value: string) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'kubelet-cfg-agent.io/paused': value } },
    })
    const answers = {
      [NODE_PATH]: { kind: 'ok', object: paused(NODE, nodeValue) },
      [MAP_PATH]: { kind: 'ok', object: paused(CONFIG_MAP, mapValue) },
    } as const
    return (await readAssignmentOnce(api(answers), 'n1', CONFIG_SOURCE_ONLY)).channelState?.paused
  }
  t.equal(await pausedBy('false', 'false'), undefined)
  t.same(await pausedBy('false', 'true'), {
    on: 'ConfigMap',
    by: 'annotation kubelet-cfg-agent.io/paused of ConfigMap kube-system/c',
  })
  t.match(await pausedBy('true', 'true'), { on: 'Node' })
})

t.test('a Node without an assignment, or with an invalid one', async (t) => {
  const of = (object: unknown) => readAssignmentOnce(api({ [NODE_PATH]: { kind: 'ok', object } }), 'n1', CONFIG_SOURCE_ONLY)
  t.match(await of({ ...NODE, spec: {} }), { kind: 'local' })
  t.match(await of({ ...NODE, spec: { configSource: {} } }), { kind: 'invalid' })
  t.match(await of(NODE), { kind: 'config-map', object: { kind: 'unavailable', reason: 'not-found' } })
})

t.test('an unknown assignment is never local', async (t) => {
  t.match(await readAssignmentOnce(api({}), 'n1', CONFIG_SOURCE_ONLY), { kind: 'unknown', detail: 'Node n1 does not exist in the cluster' })
  t.match(await readAssignmentOnce(api({ [NODE_PATH]: refused(403) }), 'n1', CONFIG_SOURCE_ONLY), { kind: 'unknown', detail: /403: no/ })
  t.match(await readAssignmentOnce(api({ [NODE_PATH]: { kind: 'unreachable', detail: 'nobody' } }), 'n1', CONFIG_SOURCE_ONLY), {
    kind: 'unknown',
    detail: /nobody/,
  })
})

t.test('a fleet without ConfigMaps, whose items Go encodes as null, assigns nothing', async (t) => {
  const channels: ChannelSettings = { ...CONFIG_SOURCE_ONLY, channels: ['selector'] }
  const read = (list: unknown) =>
    readAssignmentOnce(api({ [NODE_PATH]: { kind: 'ok', object: NODE }, [FLEET_PATH]: { kind: 'ok', object: list } }), 'n1', channels)
  const list = { kind: 'PartialObjectMetadataList', metadata: { resourceVersion: '7' } }
  t.match(await read({ ...list, items: [] }), { kind: 'local' })
  t.match(await read({ ...list, items: null }), { kind: 'local' })
  t.match(await read({ ...list, items: 'none' }), { kind: 'invalid' })
  t.match(await read(list), { kind: 'invalid' }, 'items are never left out')
})

t.test('an answer that is not what was requested is unknown, never local', async (t) => {
  const read = (object: unknown) => readAssignmentOnce(api({ [NODE_PATH]: { kind: 'ok', object } }), 'n1', CONFIG_SOURCE_ONLY)
  const { kind, metadata } = NODE
  for (const [object, detail] of [
    [{ kind, metadata }, 'expected Node n1, got Node "n1" without a spec'],
    [{ kind: 'Pod', metadata, spec: {} }, 'expected Node n1, got Pod "n1"'],
    [{ kind, metadata: { ...metadata, name: 'n2' }, spec: {} }, 'expected Node n1, got Node "n2"'],
    [{ kind, spec: {} }, 'expected Node n1, got Node without metadata.name'],
    [{ spec: {} }, 'expected Node n1, got an object without a kind'],
  ] as const)
    t.match(await read(object), { kind: 'unknown', detail: `Node n1 cannot be read: ${detail}` })
})

t.test('why a ConfigMap is unavailable', async (t) => {
  const reason = async (answer: KubeAnswer) => {
    const view = await readConfigMapOnce(api({ [MAP_PATH]: answer }), REF)
    return view.kind === 'unavailable' ? view.reason : view.kind
  }
  t.equal(await reason(refused(404)), 'not-found')
  t.equal(await reason(refused(403)), 'forbidden')
  t.equal(await reason(refused(401)), 'unauthenticated', 'no right is missing')
  t.equal(await reason(refused(500)), 'unreachable')
  t.equal(await reason({ kind: 'unreachable', detail: '' }), 'unreachable')
  t.equal(await reason({ kind: 'ok', object: {} }), 'malformed')
  t.equal(await reason({ kind: 'ok', object: { ...CONFIG_MAP, kind: 'Secret' } }), 'malformed')
  t.equal(await reason({ kind: 'ok', object: { ...CONFIG_MAP, metadata: { ...CONFIG_MAP.metadata, name: 'd' } } }), 'malformed')
  t.equal(await reason({ kind: 'ok', object: { ...CONFIG_MAP, metadata: { ...CONFIG_MAP.metadata, namespace: 'd' } } }), 'malformed')
})

t.test('a directory of manifests', async (t) => {
  const facts = { mode: 0o644, uid: 0, gid: 0, size: 1, mtimeMs: 0, identity: 'i' }
  const readOnce = (entries: Readonly<Record<string, string | undefined>>) =>
    readManifestsOnce(
      '/m',
      'n1',
      CONFIG_SOURCE_ONLY,
      {
        list: () => Object.keys(entries),
        stat: (path) => ({ ...facts, kind: entries[path.slice(3)] === undefined ? 'directory' : 'file' }),
        read: (path) => Buffer.from(entries[path.slice(3)] ?? ''),
      },
      IN_PLACE.all,
    )
  const manifests = {
    'node.yaml': JSON.stringify(NODE),
    'map.json': JSON.stringify(CONFIG_MAP),
    'a.yaml': undefined,
    'README.md': '[',
    '.x.yaml': '[',
  }
  const node = { ...NODE, apiVersion: 'v1' }
  const all = { ...manifests, 'node.yaml': JSON.stringify(node), 'map.json': JSON.stringify({ ...CONFIG_MAP, apiVersion: 'v1' }) }
  t.match(await readOnce(all), { kind: 'config-map', ref: REF, object: { kind: 'found', data: { kubelet: 'x' } } })
  t.match(await readOnce({ ...all, 'node.yaml': '[' }), { kind: 'unknown', detail: /node\.yaml cannot be read/ })
  t.match(await readOnce({}), { kind: 'unknown' })
  const none = { list: () => undefined, stat: () => undefined, read: () => undefined }
  t.match(await readManifestsOnce('/m', 'n1', CONFIG_SOURCE_ONLY, none, IN_PLACE.all), { kind: 'unknown', detail: /does not exist/ })
  const failing = {
    ...none,
    list: () => {
      throw new Error('EIO: no')
    },
  }
  t.match(await readManifestsOnce('/m', 'n1', CONFIG_SOURCE_ONLY, failing, IN_PLACE.all), { kind: 'unknown', detail: /EIO/ })
})
