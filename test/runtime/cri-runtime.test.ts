// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { CriRuntime } from '../../src/runtime/cri-runtime.ts'
import { CHANNEL_LIMITS, GrpcChannel } from '../../src/runtime/grpc-channel.ts'
import { until } from '../until.ts'
import { answerBytes, answerStatus, answerWith, type Behaviour, FakeRuntime } from './fake-runtime.ts'
import { containerMessage, frame, message, READY_STATUS, sandboxMessage } from './wire.ts'

const NOTHING = Buffer.alloc(0)

/** Patient, so that a slow machine fails no test that is not about time. */
const open = (limits: Partial<typeof CHANNEL_LIMITS> = {}) =>
  new CriRuntime((socket) => new GrpcChannel(socket, { ...CHANNEL_LIMITS, timeoutMs: 3_600_000, ...limits }))

const healthy: Behaviour = (stream, path) => {
  if (path.endsWith('/Status')) answerWith(stream, READY_STATUS)
  else if (path.endsWith('/ListPodSandbox')) answerWith(stream, message({ 1: [sandboxMessage({ id: 's', uid: 'u' })] }))
  else if (path.endsWith('/ListContainers')) answerWith(stream, message({ 1: [containerMessage({ id: 'c', sandboxId: 's' })] }))
  else answerStatus(stream, 12, 'unknown method')
}

/** Short: the path of a Unix socket has at most 107 bytes. */
function socketPath(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'cri-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 's')
}

async function fakeRuntime(t: Test, behaviour: Behaviour): Promise<FakeRuntime> {
  const fake = new FakeRuntime(socketPath(t), behaviour)
  await fake.listen()
  t.teardown(() => fake.close())
  return fake
}

t.test('a runtime that answers', async (t) => {
  const fake = await fakeRuntime(t, healthy)
  const runtime = open()
  t.strictSame(await runtime.probe(fake.socket), { ok: true, value: { runtimeReady: true } })
  t.same(fake.calls, ['/runtime.v1.RuntimeService/Status', '/runtime.v1.RuntimeService/ListPodSandbox'])
  t.match(fake.headers[0], { ':authority': 'localhost', te: 'trailers', 'content-type': 'application/grpc', ':method': 'POST' })
  t.match(await runtime.listPods(fake.socket), { ok: true, value: { sandboxes: [{ id: 's', uid: 'u' }], containers: [{ id: 'c' }] } })
  await until(() => fake.sessions.size === 0, 'no connection is left open')
})

t.test('a runtime that knows v1alpha2 alone is asked for that from then on', async (t) => {
  const fake = await fakeRuntime(t, (stream, path) => {
    if (path.startsWith('/runtime.v1alpha2.')) healthy(stream, path)
    else answerStatus(stream, 12, 'unknown service runtime.v1.RuntimeService')
  })
  const runtime = open()
  t.match(await runtime.probe(fake.socket), { ok: true })
  t.match(await runtime.listPods(fake.socket), { ok: true })
  const version = (path: string) => path.split('.')[1]
  t.same(fake.calls.map(version), ['v1', 'v1alpha2', 'v1alpha2', 'v1alpha2', 'v1alpha2'])
  fake.calls.length = 0
  fake.behaviour = (stream, path) => {
    if (path.startsWith('/runtime.v1.')) healthy(stream, path)
    else answerStatus(stream, 12)
  }
  t.match(await runtime.probe(fake.socket), { ok: true }, 'it was upgraded')
  t.match(await runtime.probe(fake.socket), { ok: true })
  t.same(fake.calls.map(version), ['v1alpha2', 'v1', 'v1', 'v1', 'v1'])
})

t.test('the cgroup driver', async (t) => {
  const fake = await fakeRuntime(t, healthy)
  const runtime = open()
  t.strictSame(await runtime.cgroupDriver(fake.socket), { ok: true, value: 'not-offered' }, 'containerd 1.7')
  fake.behaviour = (stream, path) => {
    if (path.endsWith('/RuntimeConfig')) answerWith(stream, message({ 1: message({ 1: 1 }) }))
    else healthy(stream, path)
  }
  t.strictSame(await runtime.cgroupDriver(fake.socket), { ok: true, value: 'cgroupfs' })
  fake.behaviour = (stream, path) => {
    if (path.endsWith('/RuntimeConfig')) answerStatus(stream, 14, 'unavailable')
    else healthy(stream, path)
  }
  t.match(await runtime.cgroupDriver(fake.socket), { ok: false, detail: /RuntimeConfig of .*: gRPC status 14: unavailable/ })
})

t.test('where images are kept', async (t) => {
  const fake = await fakeRuntime(t, (stream, path) => {
    if (path === '/runtime.v1.ImageService/ImageFsInfo') answerWith(stream, message({ 1: message({ 1: 7, 2: message({ 1: '/images' }) }) }))
    else answerStatus(stream, 12)
  })
  t.strictSame(await open().imageDirectory(fake.socket), { ok: true, value: '/images' })
  for (const body of [message({}), message({ 1: message({ 1: 7 }) }), message({ 1: message({ 2: message({}) }) })]) {
    fake.behaviour = (stream) => answerWith(stream, body)
    t.strictSame(await open().imageDirectory(fake.socket), { ok: true, value: undefined })
  }
})

t.test('a runtime that is not there, or not a runtime', async (t) => {
  const runtime = open()
  const socket = socketPath(t)
  t.same(await runtime.probe(socket), { ok: false, why: 'down', detail: `Status of ${socket}: the socket does not exist` })

  for (const [what, onSocket] of Object.entries({
    nonsense: (socket: Socket) => socket.end('SSH-2.0-no\r\n'),
    reset: (socket: Socket) => socket.destroy(),
    'reset after some bytes': (socket: Socket) => socket.once('data', () => socket.destroy()),
  })) {
    const path = socketPath(t)
    const server = await listenWith(path, onSocket)
    t.match(await runtime.probe(path), { ok: false, detail: /^Status of .*: ./ }, what)
    await server.stop()
  }
})

t.test('a runtime that accepts connections and never answers is down, for each of its ways', async (t) => {
  const impatient = open({ timeoutMs: 300 })
  const path = socketPath(t)
  const server = await listenWith(path, () => {})
  t.same(await impatient.probe(path), { ok: false, why: 'down', detail: `Status of ${path}: no answer within 0.3 s` })
  await server.stop()

  const ways: Record<string, Behaviour> = {
    'says nothing': () => {},
    'says the headers alone': (stream) => stream.respond({ ':status': 200, 'content-type': 'application/grpc' }),
    'never ends': (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      stream.write(frame(READY_STATUS))
    },
  }
  for (const [what, behaviour] of Object.entries(ways)) {
    const fake = await fakeRuntime(t, behaviour)
    t.match(await impatient.probe(fake.socket), { ok: false, detail: /no answer within 0.3 s/ }, what)
    await until(() => fake.sessions.size === 0, 'the connection is given up')
    await fake.close()
  }
  const fake = await fakeRuntime(t, (stream, path) => {
    if (path.endsWith('/Status')) healthy(stream, path)
  })
  t.match(
    await impatient.probe(fake.socket),
    { ok: false, detail: /ListPodSandbox of .*no answer within 0.3 s/ },
    'Status alone proves little',
  )
})

t.test('answers that are none', async (t) => {
  const ways: [RegExp, Behaviour][] = [
    [/gRPC status 2: out of memory/, (stream) => answerStatus(stream, 2, 'out%20of%0Amemory')],
    [/gRPC status 13/, (stream) => answerBytes(stream, frame(NOTHING), { 'grpc-status': '13' })],
    [/gRPC status 12/, (stream) => answerStatus(stream, 12)],
    [/HTTP status 404/, (stream) => stream.respond({ ':status': 404 }, { endStream: true })],
    [/not gRPC/, (stream) => stream.respond({ ':status': 200, 'content-type': 'text/html' }, { endStream: true })],
    [/without a gRPC status/, (stream) => answerBytes(stream, frame(READY_STATUS), {})],
    [/not a number/, (stream) => answerBytes(stream, frame(READY_STATUS), { 'grpc-status': 'fine' })],
    [/no message/, (stream) => answerBytes(stream, NOTHING)],
    [/4 bytes where 9 were announced/, (stream) => answerBytes(stream, Buffer.from([0, 0, 0, 0, 9, 1, 2, 3, 4]))],
    [/compressed/, (stream) => answerBytes(stream, Buffer.from([1, 0, 0, 0, 0]))],
    [/it ends within/, (stream) => answerWith(stream, Buffer.from([10, 200]))],
    [/closed|refused|Stream|stream/, (stream) => stream.close(2)],
    [/closed|hang up|session|Session/, (stream) => stream.session?.destroy()],
    [/closed|Session|GOAWAY/i, (stream) => stream.session?.goaway(2)],
  ]
  for (const [why, behaviour] of ways) {
    const fake = await fakeRuntime(t, behaviour)
    const answer = await open().probe(fake.socket)
    t.match(answer, { ok: false, detail: why }, String(why))
    await fake.close()
  }
})

t.test('an answer without end is given up at its limit', async (t) => {
  let sent = 0
  const chunk = Buffer.alloc(1 << 16)
  const fake = await fakeRuntime(t, (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    const more = () => {
      while (!stream.destroyed && stream.write(chunk)) sent += chunk.length
    }
    stream.on('drain', more)
    more()
  })
  t.match(await open().probe(fake.socket), { ok: false, detail: /takes more than 16777216 bytes/ })
  await until(() => fake.sessions.size === 0, 'the connection is given up')
  t.ok(sent < 64 << 20, 'and nothing more is read')
})

t.test('what says nothing of the runtime is told apart', async (t) => {
  const fake = await fakeRuntime(t, (stream) => answerStatus(stream, 12, 'unknown service'))
  t.match(await open().probe(fake.socket), { ok: false, why: 'not-cri', detail: /gRPC status 12: unknown service/ }, "Docker's containerd")
  const denied = new CriRuntime(() => ({ call: async () => ({ kind: 'denied', detail: 'permission denied' }), close: () => {} }))
  t.match(await denied.probe('/s'), { ok: false, why: 'not-allowed', detail: 'Status of /s: permission denied' })
})

/** RFC 9113, section 4.1: length, type, flags, stream. */
function http2Frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

t.test('an answer in parts of one byte is given up long before their number fills the memory', async (t) => {
  const path = socketPath(t)
  // RFC 7541, appendix A: `:status` 200, and `content-type` with another value.
  const type = Buffer.from('application/grpc')
  const headers = Buffer.concat([Buffer.from([0x88, 0x0f, 0x10, type.length]), type])
  const parts = Array.from({ length: 10_000 }, () => http2Frame(0, 0, 1, Buffer.from([0])))
  const sent = Buffer.concat([http2Frame(4, 0, 0, NOTHING), http2Frame(1, 4, 1, headers), ...parts])
  const server = await listenWith(path, (socket) => socket.once('data', () => socket.write(sent)))
  t.match(await open({ maxAnswerBytes: 1 << 20 }).probe(path), { ok: false, detail: /takes more than 1048576 bytes/ })
  await server.stop()
})

t.test('whatever bytes come back, a call ends within its time', async (t) => {
  const impatient = open({ timeoutMs: 100 })
  const path = socketPath(t)
  let bytes = Buffer.alloc(0)
  const server = await listenWith(path, (socket) => socket.once('data', () => socket.end(bytes)))
  const anyFrame = fc
    .tuple(fc.nat(12), fc.nat(255), fc.constantFrom(0, 1, 1, 1, 2, 3), fc.uint8Array({ maxLength: 40 }))
    .map(([type, flags, stream, payload]) => http2Frame(type, flags, stream, payload))
  const frames = fc.array(anyFrame, { maxLength: 8 }).map((list) => Buffer.concat([http2Frame(4, 0, 0, Buffer.alloc(0)), ...list]))
  const garbage = fc.uint8Array({ maxLength: 100 }).map((list) => Buffer.from(list))
  await fc.assert(
    fc.asyncProperty(fc.oneof(frames, garbage), async (sent) => {
      bytes = sent
      const answer = await impatient.probe(path)
      return !answer.ok && answer.detail.length > 10
    }),
    { numRuns: 60 },
  )
  await server.stop()
})

async function listenWith(path: string, onSocket: (socket: Socket) => void) {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    stop: async () => {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
