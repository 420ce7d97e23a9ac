// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import t from 'tap'
import { errorEvent, type Fault, refusal } from '../../demo/api-server/reply.ts'
import { nodeIdentity } from '../../demo/api-server/request.ts'
import { startApiServer } from '../../demo/api-server/server.ts'
import { until } from '../until.ts'
import {
  assertPaced,
  NAMESPACE,
  NODE,
  PATIENT,
  putConfigMap,
  putNode,
  startWorld,
  type World,
  type WorldOptions,
  withGrowingLimit,
} from './world.ts'

async function startWatching(t: Test, options: WorldOptions = {}): Promise<World> {
  const world = await startWorld(t, options)
  putNode(world.server, 'one')
  putConfigMap(world.server, 'one', 'a')
  world.source.start(() => {})
  await until(() => world.seen() === 'one=a', 'found')
  await until(() => ['nodes', 'configmaps'].every((plural) => queries(world, 'watch', plural).length > 0), 'watched')
  return world
}

function queries({ server }: World, verb: string, plural: string): URLSearchParams[] {
  return server.requests.filter((request) => request.verb === verb && request.target?.resource.plural === plural).map(({ query }) => query)
}

t.test('a watch requests one object, bookmarks and a timeout of five to ten minutes', async (t) => {
  const world = await startWatching(t)
  for (const [plural, name] of [
    ['nodes', NODE],
    ['configmaps', 'one'],
  ] as const) {
    const [query] = queries(world, 'watch', plural)
    t.equal(query?.get('fieldSelector'), `metadata.name=${name}`)
    t.equal(query?.get('allowWatchBookmarks'), 'true')
    const seconds = Number(query?.get('timeoutSeconds'))
    t.ok(seconds >= 300 && seconds <= 600, `${seconds} s`)
    t.equal(queries(world, 'list', plural)[0]?.get('fieldSelector'), `metadata.name=${name}`)
  }
})

t.test('after the server ends a watch, the next continues from the last bookmark, without a read', async (t) => {
  const world = await startWatching(t, { server: { secondMs: 1, bookmarkSeconds: 20 } })
  const listed = queries(world, 'watch', 'configmaps')[0]?.get('resourceVersion')
  world.server.objects.put({ kind: 'ConfigMap', metadata: { name: 'unrelated' } })
  const bookmarked = String(world.server.store.revision)
  await until(() => queries(world, 'watch', 'configmaps').length >= 3, 'watched again')
  t.not(listed, bookmarked)
  t.equal(queries(world, 'watch', 'configmaps').at(-1)?.get('resourceVersion'), bookmarked)
  t.equal(queries(world, 'list', 'configmaps').length, 1)
  putConfigMap(world.server, 'one', 'b')
  await until(() => world.seen() === 'one=b', 'followed')
  t.ok(world.counts.reconnects >= 2)
  assertPaced(t, world)
})

t.test('watches that have worked and break go on from where they were, without a read', async (t) => {
  const world = await startWatching(t)
  await until(() => world.server.requests.filter(({ verb }) => verb === 'watch').length === 2, 'both are watched')
  await world.sleep(60_000, new AbortController().signal)
  world.server.disconnectAll()
  putConfigMap(world.server, 'one', 'b')
  await until(() => world.seen() === 'one=b', 'followed')
  putNode(world.server, undefined)
  await until(() => world.seen() === 'local', 'both')
  for (const plural of ['nodes', 'configmaps']) t.equal(queries(world, 'list', plural).length, 1, plural)
  t.equal(queries(world, 'watch', 'nodes').length, 2)
  assertPaced(t, world)
})

for (const [name, gone] of [
  ['a status', refusal(410, 'Expired')],
  ['an ERROR event', errorEvent(410, 'Expired')],
  ['the real thing: a compacted version', undefined],
] as const) {
  t.test(`410 as ${name}: the object is read again`, async (t) => {
    const world = await startWatching(t)
    const { server } = world
    // Every watch ends regularly, so the next one starts from a resourceVersion.
    server.fault = ({ verb }) => (verb === 'watch' ? (gone ?? { kind: 'end', afterMs: 1 }) : undefined)
    server.store.compact()
    server.disconnectAll()
    await until(() => queries(world, 'list', 'configmaps').length >= 3, 'read again')
    server.fault = undefined
    putConfigMap(server, 'one', 'b')
    await until(() => world.seen() === 'one=b', 'followed')
    assertPaced(t, world)
  })
}

t.test('an outage of hours: the assignment stays in effect, and changes are found afterwards', async (t) => {
  const world = await startWatching(t)
  const { server, source, calls } = world
  await server.stop()
  const began = world.nowMs()
  await until(() => world.nowMs() - began > 3 * 3600_000, 'three hours')
  t.equal(world.seen(), 'one=a')
  t.ok(calls.filter(({ atMs }) => atMs > began).length < 3 * 3600, 'fewer than one request a second, for both objects')
  putConfigMap(server, 'one', 'b')
  await server.start()
  await until(() => world.seen() === 'one=b', 'found')
  t.equal(source.desired().kind, 'config-map')
  assertPaced(t, world)
})

t.test('the end of an outage calls onChange, although nothing was edited meanwhile', async (t) => {
  const world = await startWorld(t)
  const { server, source } = world
  putNode(server, 'one')
  putConfigMap(server, 'one', 'a')
  const isStale = () => 'stale' in source.desired()
  const told: boolean[] = []
  source.start(() => told.push(isStale()))
  await until(() => world.seen() === 'one=a', 'found')
  await server.stop()
  await until(isStale, 'nothing can be read')
  const before = told.length
  await server.start()
  await until(() => !isStale(), 'all of it is read again')
  t.equal(told.slice(before).at(-1), false)
  assertPaced(t, world)
})

t.test('down from the start: unknown, then found', async (t) => {
  const world = await startWorld(t)
  const { server, source, calls } = world
  putNode(server, 'one')
  putConfigMap(server, 'one', 'a')
  await server.stop()
  source.start(() => {})
  await until(() => calls.length > 5, 'tries')
  t.equal(world.seen(), 'unknown')
  await server.start()
  await until(() => world.seen() === 'one=a', 'found')
  assertPaced(t, world)
})

for (const [name, retryAfter, atLeastMs] of [
  ['seconds', () => '70', 70_000],
  ['a date', () => new Date(Date.now() + 200_000).toUTCString(), 120_000],
] as const) {
  t.test(`Retry-After in ${name} is honoured`, async (t) => {
    const world = await startWorld(t)
    const { server, source, calls } = world
    putNode(server, undefined)
    server.fault = () => refusal(429, 'TooManyRequests', { 'retry-after': retryAfter() })
    source.start(() => {})
    await until(() => calls.length >= 2, 'tried again')
    const [first, second] = calls
    t.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= atLeastMs)
  })
}

t.test('watch forbidden, reads allowed: polled about every minute, and watched again once that is granted', async (t) => {
  const world = await startWorld(t, { server: { authorize: ({ verb }) => verb !== 'watch' } })
  const { server, source } = world
  putNode(server, 'one')
  putConfigMap(server, 'one', 'a')
  source.start(() => {})
  await until(() => world.seen() === 'one=a', 'found')
  await until(() => queries(world, 'list', 'configmaps').length >= 5, 'polled')
  const polls = world.calls.filter(({ object, verb }) => verb === 'list' && object.endsWith('/one')).slice(2, 5)
  for (const [i, poll] of polls.slice(1).entries()) t.ok(poll.atMs - (polls[i]?.atMs ?? 0) >= 45_000)
  putConfigMap(server, 'one', 'b')
  await until(() => world.seen() === 'one=b', 'polled')
  server.authorize = () => true
  const before = server.requests.length
  await until(() => server.requests.slice(before).some(({ verb }) => verb === 'watch'), 'watched again')
  putConfigMap(server, 'one', 'c')
  await until(() => world.seen() === 'one=c', 'followed')
  assertPaced(t, world)
})

t.test('list forbidden, get and watch allowed', async (t) => {
  const world = await startWatching(t, { server: { authorize: ({ verb }) => verb !== 'list' } })
  putConfigMap(world.server, 'one', 'b')
  await until(() => world.seen() === 'one=b', 'followed')
  world.server.objects.remove('ConfigMap', 'one', NAMESPACE)
  await until(() => world.seen().includes('not-found'), 'deleted')
  world.server.disconnectAll()
  await until(() => queries(world, 'watch', 'configmaps').length >= 2, 'watched again')
  putConfigMap(world.server, 'one', 'c')
  await until(() => world.seen() === 'one=c', 'created again')
  assertPaced(t, world)
})

t.test('only get allowed, as kubeadm grants it', async (t) => {
  const world = await startWorld(t, { server: { authorize: ({ verb }) => verb === 'get' } })
  const { server, source } = world
  putNode(server, 'one')
  putConfigMap(server, 'one', 'a')
  source.start(() => {})
  await until(() => world.seen() === 'one=a', 'found')
  putConfigMap(server, 'one', 'b')
  await until(() => world.seen() === 'one=b', 'polled')
  assertPaced(t, world)
})

t.test('only get and watch allowed: a ConfigMap from before the server started is watched too', async (t) => {
  const world = await startWorld(t, { server: { authorize: ({ verb }) => verb === 'get' || verb === 'watch' } })
  const { server, source } = world
  putNode(server, 'one')
  putConfigMap(server, 'one', 'a')
  putConfigMap(server, 'other', 'later')
  server.store.compact()
  source.start(() => {})
  await until(() => queries(world, 'watch', 'configmaps').at(-1)?.get('resourceVersion') === null, 'watched without a resourceVersion')
  const gets = queries(world, 'get', 'configmaps').length
  putConfigMap(server, 'one', 'b')
  await until(() => world.seen() === 'one=b', 'received')
  t.equal(queries(world, 'get', 'configmaps').length, gets, 'and not by reading')
  assertPaced(t, world)
})

t.test('a ConfigMap that is forbidden for a moment after the assignment is not reported', async (t) => {
  let denials = 0
  const authorize = ({ target }: { target: { resource: { plural: string } } | undefined }) =>
    target?.resource.plural !== 'configmaps' || ++denials > 3
  const world = await startWorld(t, { server: { authorize } })
  const views = new Set<string>()
  putNode(world.server, 'one')
  putConfigMap(world.server, 'one', 'a')
  world.source.start(() => views.add(world.seen()))
  await until(() => world.seen() === 'one=a', 'found')
  t.same([...views], ['{"kind":"pending"}', 'one=a'])
})

t.test('a ConfigMap that stays forbidden is reported, and found once it is granted', async (t) => {
  const world = await startWorld(t, { server: { authorize: ({ target }) => target?.resource.plural !== 'configmaps' } })
  putNode(world.server, 'one')
  putConfigMap(world.server, 'one', 'a')
  world.source.start(() => {})
  await until(() => world.seen().includes('forbidden'), 'reported')
  world.server.authorize = () => true
  await until(() => world.seen() === 'one=a', 'found')
  assertPaced(t, world)
})

t.test('the Node appears late, is deleted, and is registered again', async (t) => {
  const world = await startWorld(t)
  const { server, source, lines } = world
  source.start(() => {})
  await until(() => queries(world, 'watch', 'nodes').length > 0, 'watched')
  t.equal(world.seen(), 'unknown')
  putNode(server, undefined)
  await until(() => world.seen() === 'local', 'registered')
  putNode(server, 'one')
  await until(() => world.seen().includes('not-found'), 'a missing ConfigMap is assigned')
  putConfigMap(server, 'one', 'a')
  await until(() => world.seen() === 'one=a', 'found')
  server.objects.remove('Node', NODE)
  await until(() => world.seen() === 'unknown', 'deleted')
  putNode(server, undefined)
  await until(() => world.seen() === 'local', 'registered again')
  t.equal(lines.filter((line) => line.includes('registered again without a configSource')).length, 1)
  assertPaced(t, world)
})

t.test('a Node that is deleted and registered again during an outage', async (t) => {
  const world = await startWatching(t)
  const { server, lines } = world
  await server.stop()
  server.objects.remove('Node', NODE)
  putNode(server, undefined)
  await server.start()
  await until(() => world.seen() === 'local', 'registered again')
  t.equal(lines.filter((line) => line.includes('registered again without a configSource')).length, 1)
})

t.test('the ConfigMap is edited, deleted, created again, and its metadata edited', async (t) => {
  const world = await startWatching(t)
  const { server, source, lines } = world
  const versionNow = () => {
    const desired = source.desired()
    return desired.kind === 'config-map' && desired.object.kind === 'found' ? `${desired.object.uid}/${desired.object.resourceVersion}` : ''
  }
  const first = versionNow()
  server.objects.remove('ConfigMap', 'one', NAMESPACE)
  await until(() => world.seen().includes('not-found'), 'deleted')
  putConfigMap(server, 'one', 'a')
  await until(() => world.seen() === 'one=a', 'created again')
  t.not(versionNow().split('/')[0], first.split('/')[0])
  const second = versionNow()
  server.objects.edit('ConfigMap', 'one', NAMESPACE, (object) => ({ ...object, metadata: { ...object.metadata, labels: { a: 'b' } } }))
  await until(() => versionNow() !== second, 'a new version')
  for (const line of [
    'assigned ConfigMap was deleted',
    'assigned ConfigMap was updated',
    'attempting to download /api/v1/namespaces/kube-system/configmaps/one',
  ])
    t.ok(
      lines.some((logged) => logged.startsWith(line)),
      line,
    )
  t.ok(
    lines.some((logged) =>
      logged.startsWith(
        `successfully downloaded /api/v1/namespaces/kube-system/configmaps/one, UID: ${first.split('/')[0]}, ResourceVersion:`,
      ),
    ),
  )
})

t.test('the assignment moves to another ConfigMap, another key, and back: the old one is no longer requested', async (t) => {
  const world = await startWatching(t)
  const { server, calls } = world
  putConfigMap(server, 'two', 'z')
  putNode(server, 'two')
  await until(() => world.seen() === 'two=z', 'moved')
  const before = calls.length
  putConfigMap(server, 'one', 'b')
  putConfigMap(server, 'two', 'y')
  await until(() => world.seen() === 'two=y', 'followed')
  t.notOk(calls.slice(before).some(({ object }) => object.endsWith('/one')))
  for (let i = 0; i < 10; i++) {
    putNode(server, i % 2 === 0 ? 'one' : 'two')
    await until(() => world.seen() === (i % 2 === 0 ? 'one=b' : 'two=y'), 'moved')
  }
  assertPaced(t, world)
})

t.test('heartbeats of the Node do not call onChange', async (t) => {
  const world = await startWorld(t)
  let wakes = 0
  putNode(world.server, undefined)
  world.source.start(() => wakes++)
  await until(() => world.seen() === 'local', 'found')
  await until(() => queries(world, 'watch', 'nodes').length > 0, 'watched')
  for (let i = 0; i < 50; i++) {
    world.server.objects.edit('Node', NODE, undefined, (node) => ({
      ...node,
      status: { conditions: [{ type: 'Ready', lastHeartbeatTime: String(i) }] },
    }))
  }
  const { synced } = world.counts
  await until(() => world.counts.synced > synced + 20, 'heartbeats arrived')
  t.equal(wakes, 1)
})

t.test('a server with an unknown authority is not trusted; one of a new kubeconfig is', async (t) => {
  const impostor = await startApiServer()
  t.teardown(() => impostor.stop())
  putNode(impostor, undefined)
  const world = await startWorld(t, { kubeconfig: (server) => server.kubeconfig(nodeIdentity(NODE)).replace(server.url, impostor.url) })
  putNode(world.server, 'one')
  putConfigMap(world.server, 'one', 'a')
  world.source.start(() => {})
  await until(() => world.calls.length > 5, 'tries')
  t.equal(impostor.requests.length, 0, 'no request is made')
  t.match(world.source.desired(), { kind: 'unknown', detail: /certificate|signature|issuer/i })
  writeFileSync(world.kubeconfigPath, world.server.kubeconfig(nodeIdentity(NODE)))
  await until(() => world.seen() === 'one=a', 'found')
  assertPaced(t, world)
})

t.test('stopping does not wait for a server that hangs', async (t) => {
  const world = await startWorld(t, { server: { fault: () => ({ kind: 'hang' }) } })
  putNode(world.server, 'one')
  world.source.start(() => {})
  await until(() => world.server.requests.length > 0, 'asked')
  await world.source.stop()
  t.pass('no request ever times out here, and it has stopped')
})

t.test('a watch that is answered and then silent goes on from where it was: where nothing changes there are no bookmarks', async (t) => {
  await withGrowingLimit(t, async (inactivityMs) => {
    const world = await startWorld(t, { limits: { ...PATIENT, inactivityMs } })
    const { server, source, calls } = world
    putNode(server, 'one')
    putConfigMap(server, 'one', 'a')
    source.start(() => {})
    await until(() => calls.filter(({ verb }) => verb === 'watch').length >= 8, 'watches')
    const reads = calls.filter(({ verb }) => verb !== 'watch').length
    if (reads !== 2) {
      await source.stop()
      return false
    }
    for (const { query } of calls.filter(({ verb }) => verb === 'watch')) t.match(query.resourceVersion, /^\d+$/)
    putConfigMap(server, 'one', 'b')
    await until(() => world.seen() === 'one=b', 'nothing is missed')
    assertPaced(t, world)
    return true
  })
})

t.test('the opening of a watch is reported once, when the server has accepted it', async (t) => {
  const { server, api } = await startWorld(t)
  putNode(server, 'one')
  const openings = async (fault: Fault | undefined, ends: boolean): Promise<string> => {
    const stopper = new AbortController()
    const seen: string[] = []
    server.fault = () => fault
    const before = server.requests.length
    const end = api.watch({
      path: '/api/v1/nodes',
      query: {},
      inactivityMs: 3600_000,
      signal: stopper.signal,
      onOpen: (serverMs) => void seen.push(serverMs !== undefined && Math.abs(serverMs - Date.now()) < 60_000 ? 'open' : 'no time'),
      onEvent: ({ type }) => void seen.push(type),
    })
    if (!ends) await until(() => server.requests.length > before && (fault !== undefined || seen.length === 2), 'watched')
    if (!ends) stopper.abort()
    await end
    return seen.join()
  }
  t.equal(await openings(undefined, false), 'open,ADDED')
  t.equal(await openings({ kind: 'end', afterMs: 1 }, true), 'open,ADDED')
  t.equal(await openings({ kind: 'hang' }, false), '')
  for (const status of [401, 403, 410, 429, 504]) t.equal(await openings(refusal(status, ''), true), '', String(status))
})
