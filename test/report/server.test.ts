// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, Server as NetServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { type ProbeResult, ReportServer } from '../../src/report/server.ts'
import type { ListenAddress } from '../../src/values/go-syntax.ts'
import { until } from '../until.ts'
import { FakeLog } from './fakes.ts'

const LOOPBACK = { host: '127.0.0.1', port: 0 }
/** No machine has it. */
const NOWHERE = { host: '192.0.2.1', port: 1 }

async function eventually<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function serve(t: Test, address: ListenAddress = LOOPBACK, limits: { readonly limitMs?: number; readonly freshMs?: number } = {}) {
  const log = new FakeLog()
  const state = {
    alive: true,
    isAlive: (): ProbeResult => ({ ok: state.alive, detail: state.alive ? 'ok' : 'the loop is stuck' }),
    ready: false,
    rendered: 0,
    render: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'metric 1\n' }),
  }
  const server = new ReportServer({
    ...{ address, log, ...limits },
    render: () => {
      state.rendered++
      return state.render()
    },
    isAlive: () => state.isAlive(),
    isReady: () => ({ ok: state.ready, detail: state.ready ? 'ok' : 'the assignment is not known' }),
    retryMs: 10,
  })
  t.teardown(() => server.stop())
  server.start()
  return { server, log, state }
}

/** Of any server in this process, in their order. */
type Listens = readonly { readonly server: NetServer; readonly port: number }[]

function watchListens(t: Test): Listens {
  const listens: { server: NetServer; port: number }[] = []
  const { listen } = NetServer.prototype
  t.teardown(() => Object.assign(NetServer.prototype, { listen }))
  Object.assign(NetServer.prototype, {
    listen(this: NetServer, ...args: [{ port: number }]) {
      listens.push({ server: this, port: args[0].port })
      return Reflect.apply(listen, this, args)
    },
  })
  return listens
}

/**
 * Returns when a server that begins now has tried three times. Timers of one length fire in their
 * order, so that a retry that was due before has been made.
 */
async function letRetriesPass(t: Test, listens: Listens): Promise<void> {
  const before = listens.length
  const { server } = await serve(t, NOWHERE)
  const own = listens[before]?.server
  await until(() => listens.filter((each) => each.server === own).length > 2, 'it tries again')
  await server.stop()
}

async function fetchPage({ host, port }: ListenAddress, path: string, method = 'GET') {
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    request({ host, port, path, method, agent: false }, resolve).on('error', reject).end()
  })
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

/** A client that sends this at once, and reads nothing before it is told to. */
async function open(t: Test, { host, port }: ListenAddress, sent: string): Promise<Socket> {
  const socket = connect(port, host).on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(sent)
  return socket
}

async function readAll(socket: Socket): Promise<string> {
  let read = ''
  socket.on('data', (chunk) => {
    read += chunk
  })
  if (!socket.closed) await once(socket, 'close')
  return read
}

t.test('pages', async (t) => {
  const { server, state, log } = await serve(t, LOOPBACK, { freshMs: 0 })
  const address = await eventually(() => server.boundTo)
  t.match(await fetchPage(address, '/metrics'), {
    status: 200,
    body: 'metric 1\n',
    headers: { 'content-type': 'text/plain; version=0.0.4' },
  })
  t.match(await fetchPage(address, '/metrics?name[]=x'), { status: 200 })
  t.match(await fetchPage(address, '/metrics', 'HEAD'), { status: 200, body: '', headers: { 'content-length': '9' } })
  t.match(await fetchPage(address, '/healthz'), { status: 200, body: 'ok\n' })
  t.match(await fetchPage(address, '/readyz'), { status: 503, body: 'the assignment is not known\n' })
  Object.assign(state, { alive: false, ready: true })
  t.match(await fetchPage(address, '/healthz'), { status: 503, body: 'the loop is stuck\n' })
  t.match(await fetchPage(address, '/readyz'), { status: 200 })
  for (const path of ['/', '/metrics/', '/toString', '/__proto__', '//']) t.match(await fetchPage(address, path), { status: 404 }, path)
  t.match(await fetchPage(address, '/metrics', 'POST'), { status: 405, headers: { allow: 'GET, HEAD', connection: 'close' } })
  state.render = async () => {
    throw new Error('secret detail')
  }
  const failed = await fetchPage(address, '/metrics')
  t.equal(failed.status, 500)
  t.notMatch(failed.body, 'secret')
  t.equal(log.said('error').length, 1)
  state.isAlive = () => {
    throw new Error('secret detail')
  }
  t.match(await fetchPage(address, '/healthz'), { status: 500, body: 'internal error, see the log\n' })
  t.equal(log.said('error').length, 2)
})

t.test('an address in use is logged once, and used when it is free', async (t) => {
  const listens = watchListens(t)
  const first = await serve(t)
  const address = await eventually(() => first.server.boundTo)
  const second = await serve(t, address)
  await until(() => listens.filter(({ port }) => port === address.port).length > 3, 'it has failed some times')
  t.equal(second.log.said('warn').length, 1)
  t.equal(second.server.boundTo, undefined)
  await first.server.stop()
  await eventually(() => second.server.boundTo)
  t.match(await fetchPage(address, '/healthz'), { status: 200 })
  t.match(second.log.said('info'), ['serving metrics'])
})

t.test('stop ends idle and half-open connections, and a pending retry', async (t) => {
  const { server } = await serve(t)
  const address = await eventually(() => server.boundTo)
  const socket = connect(address.port, address.host)
  await new Promise((resolve) => socket.write('GET /metr', resolve))
  await server.stop()
  t.equal(server.boundTo, undefined)
  await new Promise((resolve) => (socket.closed ? resolve(undefined) : socket.on('close', resolve).on('error', () => {})))
  const listens = watchListens(t)
  const never = await serve(t, NOWHERE)
  await eventually(() => never.log.said('warn')[0])
  await never.server.stop()
  const tried = listens.length
  await letRetriesPass(t, listens)
  t.notOk(listens.slice(tried).some((each) => each.server === listens[0]?.server))
})

t.test('a connection that cannot be accepted ends nothing', async (t) => {
  const listens = watchListens(t)
  const { server, log } = await serve(t)
  const address = await eventually(() => server.boundTo)
  listens[0]?.server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  t.equal(log.said('warn').length, 1)
  await letRetriesPass(t, listens)
  t.match(await fetchPage(address, '/healthz'), { status: 200 })
})

t.test('one that is stopped while it looks its host up never listens', async (t) => {
  const listens = watchListens(t)
  const { server, log } = await serve(t, { host: 'localhost', port: 0 })
  const [listen] = listens
  if (listen === undefined) return t.fail('it has not begun')
  const foundHost = once(listen.server, 'listening')
  await server.stop()
  await foundHost
  t.equal(server.boundTo, undefined)
  t.same(log.said('info'), [])
})

t.test('a connection has one answer, however many requests it sends at once and never reads', async (t) => {
  const { server, state } = await serve(t)
  const address = await eventually(() => server.boundTo)
  const pipelined = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3000)
  const greedy = await Promise.all(Array.from({ length: 8 }, () => open(t, address, pipelined)))
  t.match(await fetchPage(address, '/healthz'), { status: 200 })
  for (const socket of greedy) t.ok((await readAll(socket)).split('HTTP/1.1 ').length <= 2)
  t.ok(state.rendered < 8, `${state.rendered} renderings`)
})

t.test('one rendering a second is shared by all, and probes render nothing', async (t) => {
  const { server, state, log } = await serve(t, LOOPBACK, { freshMs: 60_000 })
  const address = await eventually(() => server.boundTo)
  await fetchPage(address, '/healthz')
  await fetchPage(address, '/readyz')
  t.equal(state.rendered, 0)
  const all = await Promise.all(Array.from({ length: 20 }, () => fetchPage(address, '/metrics')))
  t.ok(all.every(({ body }) => body === 'metric 1\n'))
  t.equal(state.rendered, 1)
  const failing = await serve(t)
  failing.state.render = async () => {
    throw new Error('no')
  }
  const other = await eventually(() => failing.server.boundTo)
  for (let i = 0; i < 5; i++) t.match(await fetchPage(other, '/metrics'), { status: 500 })
  t.ok(failing.log.said('error').length < 5, 'a failure is shared too')
  t.same(log.said('error'), [])
})

t.test('a client that is slow or silent is disconnected', async (t) => {
  const { server } = await serve(t, LOOPBACK, { limitMs: 100 })
  const address = await eventually(() => server.boundTo)
  for (const sent of ['', 'GET /metr', 'GET /metrics HTTP/1.1\r\nHost: x\r\n']) t.equal(await readAll(await open(t, address, sent)), '')
})

t.test('a client that does not speak HTTP, or too much of it, has one answer', async (t) => {
  const { server } = await serve(t)
  const address = await eventually(() => server.boundTo)
  t.match(await readAll(await open(t, address, 'hello\r\n\r\n')), /^HTTP\/1.1 400 /)
  t.match(await readAll(await open(t, address, `GET / HTTP/1.1\r\nX: ${'x'.repeat(8200)}`)), /^HTTP\/1.1 431 |^$/)
  for (const request of ['HEAD /none HTTP/1.1', 'HEAD /metrics HTTP/2.0', 'HEAD x'])
    t.match(await readAll(await open(t, address, `${request}\r\n\r\n`)), /^HTTP\/1.1 40[04] (.+\r\n)+\r\n$/, `${request}: no body`)
})

t.test('a new connection takes the place of the oldest one beyond the limit', async (t) => {
  const { server } = await serve(t, LOOPBACK, { limitMs: 60_000 })
  const address = await eventually(() => server.boundTo)
  const idle: Socket[] = []
  for (let i = 0; i < 32; i++) idle.push(await open(t, address, ''))
  t.match(await fetchPage(address, '/healthz'), { status: 200 })
  const [oldest, ...others] = idle
  if (oldest !== undefined) await readAll(oldest)
  t.notOk(others.some((socket) => socket.closed))
})

t.test('a client that waits for its answer keeps its place before one that has not asked', async (t) => {
  const { server, state } = await serve(t, LOOPBACK, { limitMs: 60_000 })
  const address = await eventually(() => server.boundTo)
  let finish = () => {}
  state.render = () =>
    new Promise((resolve) => {
      finish = () => resolve({ contentType: 'text/plain', body: 'metric 1\n' })
    })
  const waiting = readAll(await open(t, address, 'GET /metrics HTTP/1.1\r\n\r\n'))
  await until(() => state.rendered === 1, 'it is being answered')
  for (let i = 0; i < 40; i++) await open(t, address, '')
  t.match(await fetchPage(address, '/healthz'), { status: 200 })
  finish()
  t.match(await waiting, /metric 1/)
})
