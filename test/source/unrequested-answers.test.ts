// SPDX-License-Identifier: Apache-2.0
/** Answers that are not what was requested: each is an error, and never an assignment. */
import type { Test } from 'tap'
import t from 'tap'
import { CONFIG_LABEL } from '../../src/decision/channels.ts'
import type { KubeAnswer, KubeApi, KubeWatchEnd, KubeWatchRequest } from '../../src/ports/kube-api.ts'
import type { Log } from '../../src/ports/log.ts'
import { type ChannelSettings, CONFIG_SOURCE_ONLY } from '../../src/source/channels/resolve.ts'
import { ClusterSource } from '../../src/source/cluster-source.ts'
import { until } from '../until.ts'

const META = { uid: 'u', resourceVersion: '1' }
const REF = { namespace: 'kube-system', name: 'one', kubeletConfigKey: 'kubelet' }
const NODE = { kind: 'Node', metadata: { ...META, name: 'n1' }, spec: { configSource: { configMap: REF } } }
const UNASSIGNED = { ...NODE, spec: {} }
const CONFIG_MAP = { kind: 'ConfigMap', metadata: { ...META, name: 'one', namespace: 'kube-system' }, data: { kubelet: 'a' } }
const FORBIDDEN: KubeAnswer = { kind: 'refused', status: 403, reason: 'Forbidden', detail: '403', retryAfterMs: undefined }
const SELECTOR: ChannelSettings = { ...CONFIG_SOURCE_ONLY, channels: ['selector'] }

const ok = (object: unknown): KubeAnswer => ({ kind: 'ok', object })
const listOf = (kind: string, ...items: readonly unknown[]) => ok({ kind: `${kind}List`, metadata: { resourceVersion: '1' }, items })
const without = (object: object, field: string) => Object.fromEntries(Object.entries(object).filter(([key]) => key !== field))
const named = <T extends { readonly metadata: object }>(object: T, metadata: object) => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
})

/** Objects that are not Node n1, and how each is described. */
const NOT_THE_NODE: readonly (readonly [unknown, string])[] = [
  [without(UNASSIGNED, 'spec'), 'Node "n1" without a spec'],
  [{ ...UNASSIGNED, spec: null }, 'Node "n1" without a spec'],
  [{ ...UNASSIGNED, spec: 'none' }, 'Node "n1" without a spec'],
  [{ ...UNASSIGNED, kind: 'Pod' }, 'Pod "n1"'],
  [{ ...UNASSIGNED, kind: 'a kind\n' }, '"a kind\\n" "n1"'],
  [{ kind: 'PartialObjectMetadata', metadata: UNASSIGNED.metadata }, 'PartialObjectMetadata "n1"'],
  [named(UNASSIGNED, { name: 'n2' }), 'Node "n2"'],
  [named(UNASSIGNED, { namespace: 'default' }), 'Node "default/n1"'],
  [without(UNASSIGNED, 'metadata'), 'Node without metadata.name'],
  [{ kind: 'Status', status: 'Success' }, 'Status without metadata.name'],
  [[], 'no JSON object'],
  [null, 'no JSON object'],
]
const NOT_THE_CONFIG_MAP: readonly (readonly [unknown, string])[] = [
  [{ ...CONFIG_MAP, kind: 'Secret' }, 'Secret "kube-system/one"'],
  [named(CONFIG_MAP, { name: 'two' }), 'ConfigMap "kube-system/two"'],
  [named(CONFIG_MAP, { namespace: 'default' }), 'ConfigMap "default/one"'],
  [without(CONFIG_MAP, 'metadata'), 'ConfigMap without metadata.name'],
  [{}, 'an object without a kind'],
]

interface Script {
  /** The server's version is 1.`minor`. */
  readonly minor?: string
  /** The answer to a patch. */
  readonly patched?: unknown
  readonly channels?: ChannelSettings
  /** The answer to a read, counted per path. undefined: as a server that is well. */
  read?(path: string, count: number, isList: boolean): KubeAnswer | undefined
  /** The events of a watch, counted per collection. undefined: none, and the watch stays open. */
  watch?(collection: string, count: number): readonly Parameters<KubeWatchRequest['onEvent']>[0][] | undefined
}

interface Run {
  readonly source: ClusterSource
  readonly warnings: string[]
  readonly reads: readonly { readonly path: string; readonly atMs: number }[]
  /** Of the watches. */
  readonly forms: readonly string[]
  /** Resolves after this many reads of a path that ends so. */
  reading(path: string, count: number): Promise<void>
}

/** A source whose server answers by this script, in a time that passes at once. */
function start(t: Test, script: Script): Run {
  let nowMs = 0
  const warnings: string[] = []
  const record = (message: string) => void warnings.push(message)
  const log: Log = { debug: () => {}, info: () => {}, warn: record, error: record }
  const reads: { path: string; atMs: number }[] = []
  const watches: string[] = []
  const forms: string[] = []
  const healthy = (path: string): KubeAnswer => {
    if (path.endsWith('/n1')) return ok(NODE)
    if (path.endsWith('/one')) return ok(CONFIG_MAP)
    return path === '/api/v1/nodes' ? listOf('Node', NODE) : listOf('ConfigMap', CONFIG_MAP)
  }
  const api: KubeApi = {
    async request({ method, path, query }) {
      if (path === '/version') return ok({ major: '1', minor: script.minor ?? '20' })
      if (method === 'PATCH') return 'patched' in script ? ok(script.patched) : FORBIDDEN
      reads.push({ path, atMs: nowMs })
      const count = reads.filter((read) => read.path === path).length
      return script.read?.(path, count, query !== undefined) ?? healthy(path)
    },
    watch: ({ path, onEvent, signal, as }) => {
      watches.push(path)
      forms.push(as === undefined ? 'whole' : 'metadata')
      const events = script.watch?.(path, watches.filter((other) => other === path).length)
      return new Promise<KubeWatchEnd>((resolve) => {
        signal.addEventListener('abort', () => resolve({ kind: 'ended', detail: 'stopped' }), { once: true })
        for (const event of events ?? []) onEvent(event)
      })
    },
  }
  const sleep = async (ms: number): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve))
    nowMs += ms
  }
  const source = new ClusterSource({
    nodeName: 'n1',
    api,
    pace: { nowMs: () => nowMs, random: () => 0.5, sleep },
    log,
    counters: { watchReconnected: () => {}, synced: () => {} },
    ...(script.channels && { channels: script.channels }),
  })
  t.teardown(() => source.stop())
  source.start(() => {})
  return {
    source,
    warnings,
    reads,
    forms,
    async reading(path, count) {
      while (reads.filter((read) => read.path.endsWith(path)).length < count) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

const FOUND = { kind: 'config-map', ref: REF, object: { kind: 'found', data: { kubelet: 'a' } } }

t.test('from the start: unknown, logged once with what was expected and what came, and retried ever more slowly', async (t) => {
  for (const [object, came] of NOT_THE_NODE) {
    const { source, warnings, reads, reading } = start(t, { read: () => listOf('Node', object) })
    await reading('/nodes', 9)
    const detail = `expected Node n1, got ${came}`
    t.match(source.desired(), { kind: 'unknown', detail: `Node n1 cannot be read: ${detail}`, silence: 'unreachable' })
    t.same(warnings, [`/api/v1/nodes/n1 cannot be followed: ${detail}; retrying at least once a minute`])
    const waits = reads.slice(1).map(({ atMs }, i) => atMs - (reads[i]?.atMs ?? 0))
    t.same(waits.slice(0, 8), [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
    await source.stop()
  }
})

t.test('the same by get', async (t) => {
  for (const [object, came] of NOT_THE_NODE) {
    const { source, reading } = start(t, { read: (_path, _count, isList) => (isList ? FORBIDDEN : ok(object)) })
    await reading('/nodes/n1', 3)
    t.match(source.desired(), { kind: 'unknown', detail: `Node n1 cannot be read: expected Node n1, got ${came}` })
    await source.stop()
  }
})

t.test('lists that are not lists of Nodes', async (t) => {
  const metadata = { resourceVersion: '1' }
  for (const [list, came] of [
    [{ kind: 'PodList', metadata, items: [] }, 'PodList'],
    [{ kind: 'PartialObjectMetadataList', metadata, items: [] }, 'PartialObjectMetadataList'],
    [{ metadata, items: [] }, 'an object without a kind'],
    [{ kind: 'NodeList', metadata }, 'a NodeList without items'],
    [{ kind: 'NodeList', items: [] }, 'a NodeList without a resourceVersion'],
    [NODE, 'Node'],
    ['', 'no JSON object'],
  ] as const) {
    const { source, warnings, reading } = start(t, { read: () => ok(list) })
    await reading('/nodes', 3)
    t.match(source.desired(), { kind: 'unknown', detail: `Node n1 cannot be read: expected a NodeList, got ${came}` })
    t.equal(warnings.length, 1)
    await source.stop()
  }
})

/** What has changed since is not known, so all is read again. */
const EXPIRED = { kind: 'Status', code: 410, message: 'too old resource version' }

t.test('what was known stays in effect while reads find something else', async (t) => {
  for (const [object, came] of NOT_THE_NODE) {
    const { source, warnings, reading } = start(t, {
      read: (path, count) => (path === '/api/v1/nodes' && count > 1 ? listOf('Node', object) : undefined),
      watch: (path, count) => (path === '/api/v1/nodes' && count === 1 ? [{ type: 'ERROR', object: EXPIRED }] : undefined),
    })
    await reading('/nodes', 4)
    t.match(source.desired(), { ...FOUND, stale: { what: 'Node', reason: 'unreachable' } })
    t.same(warnings, [`/api/v1/nodes/n1 cannot be followed: expected Node n1, got ${came}; retrying at least once a minute`])
    await source.stop()
  }
})

t.test('an event about something else ends the watch, and the Node is read again', async (t) => {
  for (const [object, came] of NOT_THE_NODE.filter(([object]) => (object as { metadata?: unknown } | null)?.metadata !== undefined)) {
    for (const type of ['ADDED', 'MODIFIED', 'DELETED']) {
      const { source, warnings, reading } = start(t, {
        watch: (path, count) => (path === '/api/v1/nodes' && count < 3 ? [{ type, object }] : undefined),
      })
      await reading('/nodes', 3)
      t.match(source.desired(), FOUND)
      t.same(warnings, [
        `/api/v1/nodes/n1 cannot be followed: ${type} event: expected Node n1, got ${came}; retrying at least once a minute`,
      ])
      await source.stop()
    }
  }
})

t.test('a ConfigMap: what was known stays in effect', async (t) => {
  const PATH = '/api/v1/namespaces/kube-system/configmaps'
  for (const [object, came] of NOT_THE_CONFIG_MAP) {
    const detail = `expected ConfigMap kube-system/one, got ${came}`
    const never = start(t, { read: (path) => (path === PATH ? listOf('ConfigMap', object) : undefined) })
    await never.reading('/configmaps', 3)
    // As the items of a real list, it has the kind of the list if it has none.
    const listed = came.startsWith('an object') ? 'expected ConfigMap kube-system/one, got ConfigMap without metadata.name' : detail
    t.match(never.source.desired(), { kind: 'config-map', object: { kind: 'unavailable', reason: 'unreachable', detail: listed } })
    const later = start(t, {
      read: (path, count) => (path === PATH && count > 1 ? listOf('ConfigMap', object) : undefined),
      watch: (path, count) => (path === PATH && count === 1 ? [{ type: 'ERROR', object: EXPIRED }] : undefined),
    })
    await later.reading('/configmaps', 3)
    t.match(later.source.desired(), { ...FOUND, stale: { what: 'ConfigMap' } })
    await Promise.all([never.source.stop(), later.source.stop()])
  }
  const other = named(CONFIG_MAP, { name: 'two' })
  const watched = start(t, { watch: (path, count) => (path === PATH && count < 3 ? [{ type: 'MODIFIED', object: other }] : undefined) })
  await watched.reading('/configmaps', 3)
  t.match(watched.source.desired(), FOUND)
  t.equal(watched.warnings.filter((line) => line.includes('got ConfigMap "kube-system/two"')).length, 1)
})

t.test('a fleet that is not one never means local', async (t) => {
  const partial = { kind: 'PartialObjectMetadata', metadata: { ...META, name: 'm', namespace: 'kube-system' } }
  for (const [list, came] of [
    [{ kind: 'PodList', metadata: META, items: [] }, 'expected a PartialObjectMetadataList, got PodList'],
    [{ kind: 'ConfigMapList', metadata: META }, 'expected a PartialObjectMetadataList, got a ConfigMapList without items'],
    [
      { kind: 'PartialObjectMetadataList', metadata: META, items: [named(partial, { namespace: 'default' })] },
      'expected the metadata of a ConfigMap in kube-system, got PartialObjectMetadata "default/m"',
    ],
    [
      { kind: 'PartialObjectMetadataList', metadata: META, items: [{}] },
      'expected the metadata of a ConfigMap in kube-system, got PartialObjectMetadata without metadata.name',
    ],
  ] as const) {
    const read = (path: string) => (path.endsWith('/configmaps') ? ok(list) : undefined)
    const { source, warnings, reading } = start(t, { channels: SELECTOR, read })
    await reading('/configmaps', 3)
    t.match(source.desired(), { kind: 'unknown', detail: new RegExp(`cannot be listed: ${came}`) })
    t.equal(warnings.filter((line) => line.includes('cannot be followed')).length, 1)
    await source.stop()
  }
  const { source, reading } = start(t, {
    channels: SELECTOR,
    read: (path) => (path.endsWith('/configmaps') ? listOf('PartialObjectMetadata', partial) : undefined),
    watch: (path, count) =>
      path.endsWith('/configmaps') && count < 3 ? [{ type: 'DELETED', object: { ...partial, kind: 'Pod' } }] : undefined,
  })
  await reading('/configmaps', 3)
  t.equal(source.desired().kind, 'local', 'the only member has no selector')
})

t.test('an empty spec, and items without a kind, are what an API server sends', async (t) => {
  const { source } = start(t, { read: (path) => (path === '/api/v1/nodes' ? listOf('Node', without(UNASSIGNED, 'kind')) : undefined) })
  await until(() => source.desired().kind !== 'unknown', 'read')
  t.equal(source.desired().kind, 'local')
})

t.test('where metadata is enough, whole Nodes are taken too, and nothing else', async (t) => {
  const labelled = named({ ...UNASSIGNED, kind: 'PartialObjectMetadata' }, { labels: { [CONFIG_LABEL]: 'one' } })
  const watch = (object: unknown) => (path: string, count: number) =>
    path === '/api/v1/nodes' && count === 1 ? [{ type: 'MODIFIED', object }] : undefined
  const channels: ChannelSettings = { ...CONFIG_SOURCE_ONLY, channels: ['config-source', 'label'] }
  const read = (path: string) => (path === '/api/v1/nodes' ? listOf('Node', UNASSIGNED) : undefined)
  for (const object of [without(labelled, 'spec'), { ...labelled, kind: 'Node' }]) {
    const { source, forms } = start(t, { channels, minor: '32', read, watch: watch(object) })
    await until(() => source.desired().kind === 'config-map', 'assigned by the label')
    t.same(forms, ['metadata', 'whole'], 'the Node and the ConfigMap')
    await source.stop()
  }
  for (const object of [{ ...labelled, kind: 'Pod' }, without({ ...labelled, kind: 'Node' }, 'spec')]) {
    const { source, warnings, reading } = start(t, { channels, minor: '32', read, watch: watch(object) })
    await reading('/nodes', 2)
    t.equal(source.desired().kind, 'local')
    t.match(warnings, [/: MODIFIED event: expected the metadata of Node n1, got /])
    await source.stop()
  }
})

t.test('a dry run that is answered with something else does not show that the server drops configSource', async (t) => {
  const read = (path: string) => (path === '/api/v1/nodes' ? listOf('Node', UNASSIGNED) : undefined)
  for (const [patched, form] of [
    [UNASSIGNED, 'metadata'],
    [{ kind: 'Status', status: 'Success' }, 'whole'],
    [named(UNASSIGNED, { name: 'n2' }), 'whole'],
    [null, 'whole'],
  ]) {
    const { source, forms } = start(t, { read, patched })
    await until(() => forms.length > 0, 'watched')
    t.same(forms, [form])
    await source.stop()
  }
})
