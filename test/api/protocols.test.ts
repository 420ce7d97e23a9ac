// SPDX-License-Identifier: Apache-2.0
/**
 * HTTP/2 and HTTP/1.1 to the API server: how many connections there are, what each may do to the
 * requests that it carries, and how the agent changes from one to the other.
 */
import { constants } from 'node:http2'
import type { Test } from 'tap'
import t from 'tap'
import { nodeIdentity } from '../../demo/api-server/request.ts'
import type { ApiServer } from '../../demo/api-server/server.ts'
import { until } from '../until.ts'
import { startProxy } from './proxy.ts'
import { startRelay } from './relay.ts'
import { assertPaced, NODE, putConfigMap, putNode, startWorld, type WorldOptions } from './world.ts'

const NODE_PATH = `/api/v1/nodes/${NODE}`
const read = { method: 'GET', path: NODE_PATH } as const

async function start(t: Test, options: WorldOptions = {}) {
  const world = await startWorld(t, options)
  putNode(world.server, 'one')
  putConfigMap(world.server, 'one', 'a')
  const watches = () => world.server.requests.filter(({ verb }) => verb === 'watch').length
  return { ...world, watches }
}

/** An agent that has found its ConfigMap and watches it. */
async function startWatching(t: Test, options: WorldOptions = {}) {
  const world = await start(t, options)
  world.source.start(() => {})
  await until(() => world.seen() === 'one=a' && world.watches() === 2, 'all is well')
  return world
}

t.test('all watches and requests share one connection', async (t) => {
  const { api, server } = await startWatching(t)
  const answers = await Promise.all(Array.from({ length: 20 }, () => api.request(read)))
  t.ok(answers.every(({ kind }) => kind === 'ok'))
  t.equal(server.connections, 1)
  t.equal(server.sessions.size, 1)
})

t.test('requests that are made at once before there is a connection open one', async (t) => {
  const { api, server } = await start(t)
  await Promise.all(Array.from({ length: 20 }, () => api.request(read)))
  t.equal(server.connections, 1)
})

t.test('with DISABLE_HTTP2, as client-go knows it, each watch has a connection of HTTP/1.1', async (t) => {
  const { DISABLE_HTTP2: before } = process.env
  t.teardown(() => {
    if (before === undefined) delete process.env.DISABLE_HTTP2
    else process.env.DISABLE_HTTP2 = before
  })
  process.env.DISABLE_HTTP2 = '1'
  const { server, api } = await startWatching(t)
  t.equal((await api.request(read)).kind, 'ok')
  t.equal(server.sessions.size, 0)
  t.ok(server.connections >= 2)
})

t.test('a server that speaks HTTP/1.1 alone', async (t) => {
  const { server, api } = await startWatching(t, { server: { http2: false } })
  const answers = await Promise.all(Array.from({ length: 5 }, () => api.request(read)))
  t.ok(answers.every(({ kind }) => kind === 'ok'))
  t.ok(server.connections >= 2)
})

for (const [before, after] of [
  [true, false],
  [false, true],
] as const) {
  t.test(`a server that speaks HTTP/${before ? 2 : 1.1} and after a restart HTTP/${after ? 2 : 1.1}`, async (t) => {
    const world = await startWatching(t, { server: { http2: before } })
    const { server } = world
    await server.stop()
    server.http2 = after
    await server.start()
    putConfigMap(server, 'one', 'b')
    await until(() => world.seen() === 'one=b' && world.watches() === 4, 'found again')
    t.equal(server.sessions.size > 0, after)
    if (after) t.equal(server.connections, 1)
    assertPaced(t, world)
  })
}

t.test('GOAWAY: the watches run on, and requests go over another connection', async (t) => {
  const world = await startWatching(t)
  const { server, api } = world
  const [old] = server.sessions
  old?.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1)
  await until(async () => (await api.request(read)).kind === 'ok' && server.sessions.size === 2, 'another connection')
  putConfigMap(server, 'one', 'b')
  await until(() => world.seen() === 'one=b', 'the watches still hear')
  t.equal(world.watches(), 2, 'and are the same')
  t.equal(world.counts.reconnects, 0)
  await api.request(read)
  t.equal(server.connections, 2)
})

t.test('GOAWAY as kube-apiserver does it: a connection whose streams have ended is closed', async (t) => {
  const { server, api } = await start(t)
  t.equal((await api.request(read)).kind, 'ok')
  for (const session of server.sessions) session.close()
  await until(() => server.connections === 0, 'closed')
  t.equal((await api.request(read)).kind, 'ok')
  t.equal(server.connections, 1)
})

t.test('GOAWAY in the middle of a request: it is answered where the server has taken it', async (t) => {
  const { server, api } = await start(t)
  server.fault = () => {
    server.fault = undefined
    for (const session of server.sessions) session.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1)
    return { kind: 'slow', bytes: 40, everyMs: 1 }
  }
  t.match(await api.request(read), { kind: 'ok', object: { metadata: { name: NODE } } })
  t.match(await api.request(read), { kind: 'ok' })
})

t.test('GOAWAY in the middle of a request that the server has not taken: it is asked again on another connection', async (t) => {
  const { server, api } = await start(t)
  t.equal((await api.request(read)).kind, 'ok')
  server.fault = () => {
    server.fault = undefined
    for (const session of server.sessions) session.goaway(constants.NGHTTP2_NO_ERROR, 1)
    return { kind: 'hang' }
  }
  const patch = {
    method: 'PATCH',
    path: NODE_PATH,
    body: { metadata: { labels: { a: 'b' } } },
    contentType: 'application/merge-patch+json',
  } as const
  t.match(await api.request(patch), { kind: 'ok', object: { metadata: { labels: { a: 'b' } } } })
  t.equal(server.requests.length, 3)
})

t.test('GOAWAY with an error', async (t) => {
  const world = await startWatching(t)
  const [old] = world.server.sessions
  old?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM)
  putConfigMap(world.server, 'one', 'b')
  await until(() => world.seen() === 'one=b', 'found again')
  assertPaced(t, world)
})

t.test('a refused stream is asked again on another connection, a few times', async (t) => {
  const { server, api } = await start(t)
  const refusal = { kind: 'reset', afterBytes: 0, code: constants.NGHTTP2_REFUSED_STREAM } as const
  server.fault = ({ path }) => {
    server.fault = undefined
    return path === NODE_PATH ? refusal : undefined
  }
  t.equal((await api.request(read)).kind, 'ok')
  t.equal(server.requests.length, 2)
  server.fault = () => refusal
  t.match(await api.request(read), { kind: 'unreachable', detail: `GET ${NODE_PATH}: the server refused the request (REFUSED_STREAM)` })
  t.equal(server.requests.length, 5)
})

for (const [name, code] of Object.entries({
  INTERNAL_ERROR: constants.NGHTTP2_INTERNAL_ERROR,
  CANCEL: constants.NGHTTP2_CANCEL,
  NO_ERROR: constants.NGHTTP2_NO_ERROR,
})) {
  t.test(`RST_STREAM (${name}) ends what it concerns, and nothing else on the connection`, async (t) => {
    const world = await startWatching(t)
    const { server, api } = world
    for (const afterBytes of [0, 20]) {
      server.fault = ({ method, path }) => (method === 'GET' && path === NODE_PATH ? { kind: 'reset', afterBytes, code } : undefined)
      t.match(await api.request(read), { kind: 'unreachable' }, `after ${afterBytes} bytes`)
    }
    server.fault = undefined
    putConfigMap(server, 'one', 'b')
    await until(() => world.seen() === 'one=b', 'the watches still hear')
    t.equal(world.watches(), 2)
    t.equal(server.connections, 1)
  })
}

t.test('a request that times out is cancelled alone (RST_STREAM CANCEL)', async (t) => {
  const { server, api, watches } = await startWatching(t)
  const codes: number[] = []
  for (const session of server.sessions) session.on('stream', (stream) => stream.once('close', () => codes.push(stream.rstCode)))
  server.fault = ({ path }) => (path === NODE_PATH ? { kind: 'hang' } : undefined)
  t.match(await api.request({ ...read, timeoutMs: 20 }), { kind: 'unreachable', detail: `GET ${NODE_PATH}: no answer in 20 ms` })
  await until(() => codes.length === 1, 'the server has heard it')
  t.same(codes, [constants.NGHTTP2_CANCEL])
  const stopper = new AbortController()
  const ended = api.watch({ path: NODE_PATH, query: {}, inactivityMs: 60_000, signal: stopper.signal, onEvent() {} })
  await until(() => server.requests.length === 6, 'asked')
  stopper.abort()
  t.match(await ended, { kind: 'ended', detail: 'stopped' })
  await until(() => codes.length === 2, 'the server has heard it')
  t.same(codes, [constants.NGHTTP2_CANCEL, constants.NGHTTP2_CANCEL])
  t.equal(watches(), 3, 'none of the others began anew')
  t.equal(server.connections, 1)
})

for (const maxConcurrentStreams of [1, 0]) {
  t.test(`a server that takes ${maxConcurrentStreams} streams at once on a connection`, async (t) => {
    const world = await start(t, { server: { maxConcurrentStreams } })
    const { server, api, source } = world
    if (maxConcurrentStreams === 0) {
      t.match(await api.request({ ...read, timeoutMs: 200 }), { kind: 'unreachable' })
      t.ok(server.connections <= 3, `${server.connections} connections`)
      return
    }
    source.start(() => {})
    await until(() => world.seen() === 'one=a' && world.watches() === 2, 'watched')
    const answers = await Promise.all(Array.from({ length: 4 }, () => api.request(read)))
    t.same(
      answers.map(({ kind }) => kind),
      ['ok', 'ok', 'ok', 'ok'],
    )
    putConfigMap(server, 'one', 'b')
    await until(() => world.seen() === 'one=b', 'followed')
    t.equal(world.watches(), 2)
    t.ok(server.connections <= 7, `${server.connections} connections`)
  })
}

t.test('a peer that is frozen is noticed by a PING without an answer', async (t) => {
  const relay = await startRelay(t)
  const world = await start(t, {
    client: { health: { readIdleMs: 40, pingTimeoutMs: 400 } },
    kubeconfig: (server) => server.kubeconfig(nodeIdentity(NODE)).replace(server.url, relay.to(server)),
  })
  world.source.start(() => {})
  await until(() => world.seen() === 'one=a' && world.watches() === 2, 'all is well')
  t.equal(relay.connections, 1)
  await until(() => relay.bytesSent > 0, 'pings')
  relay.freeze()
  putConfigMap(world.server, 'one', 'b')
  await until(() => world.seen() === 'one=b', 'found over another connection')
  // On a busy machine the second connection may be late, too.
  t.ok(relay.connections > 1, `${relay.connections} connections`)
  t.ok(
    world.lines.some((line) => line.includes('no answer to a PING in 400 ms')),
    'the log says why',
  )
})

t.test('a peer that is alive and silent is kept', async (t) => {
  const relay = await startRelay(t)
  const world = await startWatching(t, {
    client: { health: { readIdleMs: 5, pingTimeoutMs: 60_000 } },
    kubeconfig: (server) => server.kubeconfig(nodeIdentity(NODE)).replace(server.url, relay.to(server)),
  })
  const before = relay.bytesSent
  await until(() => relay.bytesSent > before + 300, 'several pings')
  t.equal(relay.connections, 1)
  t.equal(world.counts.reconnects, 0)
})

t.test('a server that never finishes the handshake does not hold other requests up for ever', async (t) => {
  const relay = await startRelay(t)
  const { api } = await start(t, { kubeconfig: (server) => server.kubeconfig().replace(server.url, relay.to(server)) })
  relay.freeze()
  t.match(await api.request({ ...read, timeoutMs: 50 }), { kind: 'unreachable', detail: /no answer in 50 ms/ })
  await until(() => relay.open === 0, 'nobody waits for it')
  t.equal((await api.request(read)).kind, 'ok', 'another connection')
})

for (const http2 of [true, false]) {
  t.test(`a proxy that opens tunnels (CONNECT), HTTP/${http2 ? 2 : 1.1} in them`, async (t) => {
    const proxy = await startProxy(t)
    const kubeconfig = (server: ApiServer) => server.kubeconfig(nodeIdentity(NODE)).replace(/( *)server:/, `$1proxy-url: ${proxy.url}\n$&`)
    const world = await startWatching(t, { kubeconfig, server: { http2 } })
    t.equal((await world.api.request(read)).kind, 'ok')
    if (http2) t.equal(proxy.tunnels, 1)
    else t.ok(proxy.tunnels >= 2)
    t.equal(world.server.connections, proxy.tunnels)
    proxy.refuses = true
    world.server.disconnectAll()
    const says = async () => JSON.stringify(await world.api.request(read))
    await until(async () => /the proxy opens no tunnel: .*403/.test(await says()), 'the answer of the proxy')
  })
}

t.test('an API server with an IPv6 address behind a proxy: brackets for the tunnel, none for its certificate', async (t) => {
  const proxy = await startProxy(t)
  const address = (server: ApiServer) => server.kubeconfig(nodeIdentity(NODE)).replace('//127.0.0.1:', '//[::1]:')
  const through = (server: ApiServer) => address(server).replace(/( *)server:/, `$1proxy-url: ${proxy.url}\n$&`)
  const named = (name: string) => (server: ApiServer) => through(server).replace(/( *)server:/, `$1tls-server-name: ${name}\n$&`)
  t.equal((await (await start(t, { kubeconfig: through })).api.request(read)).kind, 'ok')
  t.equal(proxy.tunnels, 1)
  t.equal((await (await start(t, { kubeconfig: named('localhost') })).api.request(read)).kind, 'ok')
  const other = await (await start(t, { kubeconfig: named('other') })).api.request(read)
  t.match(other, { kind: 'unreachable', detail: /certificate's altnames.*other/ })
  const unlisted = (server: ApiServer) => through(server).replace('//[::1]:', '//[::2]:')
  t.match(await (await start(t, { kubeconfig: unlisted })).api.request(read), { kind: 'unreachable' })
})

t.test('an API server with an IPv6 address is named with brackets, as a URL names it (RFC 9113, 8.3.1)', async (t) => {
  const proxy = await startProxy(t)
  const kubeconfig = (server: ApiServer) =>
    server
      .kubeconfig(nodeIdentity(NODE))
      .replace('//127.0.0.1:', '//[::1]:')
      .replace(/( *)server:/, `$1proxy-url: ${proxy.url}\n$&`)
  const { server, api } = await start(t, { kubeconfig })
  t.equal((await api.request(read)).kind, 'ok')
  const authorities: unknown[] = []
  for (const session of server.sessions) session.on('stream', (_stream, headers) => authorities.push(headers[':authority']))
  t.equal((await api.request(read)).kind, 'ok')
  t.same(authorities, [`[::1]:${server.port}`])
})

t.test('answers that are larger than all windows together', async (t) => {
  const { server, api } = await start(t)
  const large = 'x'.repeat(7_000_000)
  server.objects.put({ kind: 'ConfigMap', metadata: { name: 'large', namespace: 'x' }, data: { large } })
  const ask = () => api.request({ method: 'GET', path: '/api/v1/namespaces/x/configmaps/large' })
  for (const answer of await Promise.all(Array.from({ length: 6 }, ask))) t.match(answer, { kind: 'ok', object: { data: { large } } })
  t.equal(server.connections, 1)
})

t.test('an answer that is too long is told apart from none', async (t) => {
  const { server, api } = await start(t)
  const large = 'x'.repeat(8 * 1024 * 1024)
  server.objects.put({ kind: 'ConfigMap', metadata: { name: 'large', namespace: 'x' }, data: { large } })
  const answer = await api.request({ method: 'GET', path: '/api/v1/namespaces/x/configmaps/large' })
  t.match(answer, { kind: 'unreachable', reason: 'too-long', detail: /has more than 8388608 characters$/ })
  await server.stop()
  t.notOk('reason' in (await api.request(read)))
})

t.test('headers without end are refused', async (t) => {
  const { server, api } = await start(t)
  t.match(await api.request(read), { kind: 'ok' })
  server.fault = () => ({ kind: 'answer', status: 200, headers: { 'x-a': 'x'.repeat(40_000) }, body: '{}' })
  t.match(await api.request(read), { kind: 'unreachable' })
  server.fault = undefined
  t.match(await api.request(read), { kind: 'ok' })
  t.equal(server.connections, 1)
})
