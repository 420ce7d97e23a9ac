// SPDX-License-Identifier: Apache-2.0
import { Readable } from 'node:stream'
import type { Test } from 'tap'
import t from 'tap'
import type { Access } from '../../src/kube/access.ts'
import { type ConnectionMeans, Connections } from '../../src/kube/connections.ts'
import type { Answered, Dialled, Line, PoolLine, ServerTarget } from '../../src/kube/transport.ts'
import { RequestNotTaken } from '../../src/kube/transport.ts'

const OUTGOING = { method: 'GET', path: '/', headers: {}, body: undefined }
const ANSWERED: Answered = { status: 200, headers: {}, body: Readable.from([]), isWhole: () => true, cancel() {} }
const never = new AbortController().signal

function target(changes: Partial<Access['tls']> = {}, proxyUrl?: string): ServerTarget {
  const tls = { ca: 'ca', cert: 'one', key: 'one', servername: undefined, rejectUnauthorized: true, ...changes }
  return { server: new URL('https://api:6443'), access: { headers: {}, tls, proxyUrl, proxyAgent: undefined } }
}

interface FakeLine extends Line {
  readonly name: string
  room: number
  retired: boolean
  refuses: boolean
  end(): void
}

/** Each line takes `room` requests, which never end; the pool takes those that it adopted for. */
function world(protocol: 'h2' | 'http/1.1' = 'h2', room = 100) {
  const log: string[] = []
  const lines: FakeLine[] = []
  const dials: { open(): void; fail(error: Error): void; readonly signal: AbortSignal }[] = []
  const lineNamed = (name: string, end: () => void): FakeLine => {
    const line: FakeLine = {
      name,
      room,
      retired: false,
      refuses: false,
      ready: Promise.resolve(),
      isFree: () => line.room > 0,
      async send() {
        log.push(name)
        line.room -= 1
        if (line.refuses) throw new RequestNotTaken('refused')
        return ANSWERED
      },
      retire() {
        line.retired = true
      },
      end,
    }
    return line
  }
  const means: ConnectionMeans = {
    protocols: ['h2', 'http/1.1'],
    dialer: () => (_protocols, signal) =>
      new Promise((resolve, reject) => {
        dials.push({ signal, open: () => resolve({ protocol } as Dialled), fail: reject })
      }),
    openHttp2(_dialled, _server, onEnd) {
      const line = lineNamed(`line ${lines.length + 1}`, onEnd)
      lines.push(line)
      return line
    },
    openHttp1() {
      const pool = lineNamed('pool', () => {})
      pool.room = 0
      const adopt = (): void => {
        pool.room += 1
      }
      return Object.assign(pool, { adopt }) satisfies PoolLine
    },
  }
  const connections = new Connections(means)
  const send = (to = target(), signal = never) => connections.send(to, OUTGOING, signal)
  return { send, log, lines, dials }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const open = async ({ dials }: ReturnType<typeof world>, which: number) => {
  await settled()
  dials[which]?.open()
  await settled()
}

async function opened(t: Test, ...args: Parameters<typeof world>) {
  const made = world(...args)
  const first = made.send()
  await open(made, 0)
  t.equal(await first, ANSWERED)
  return made
}

t.test('one connection carries everything, also what came before it was open', async (t) => {
  const made = world()
  const answers = [made.send(), made.send(), made.send()]
  await open(made, 0)
  await Promise.all(answers)
  await made.send()
  t.same(made.log, ['line 1', 'line 1', 'line 1', 'line 1'])
  t.equal(made.dials.length, 1)
})

t.test('where it has no room, another is opened, and both are used', async (t) => {
  const made = await opened(t, 'h2', 1)
  const second = made.send()
  await open(made, 1)
  await second
  const [first] = made.lines
  if (first !== undefined) first.room = 1
  await made.send()
  t.same(made.log, ['line 1', 'line 2', 'line 1'])
})

t.test('a connection without any room takes the request for which it was opened', async (t) => {
  const made = await opened(t, 'h2', 0)
  t.same(made.log, ['line 1'])
})

t.test('HTTP/1.1: the connections go into the pool, one for each request', async (t) => {
  const made = world('http/1.1')
  const answers = [made.send(), made.send()]
  await open(made, 0)
  await open(made, 1)
  await Promise.all(answers)
  t.same(made.log, ['pool', 'pool'])
})

t.test('a request that was not taken goes over another connection, three times in all', async (t) => {
  const made = await opened(t)
  for (const line of made.lines) line.refuses = true
  const again = made.send()
  await open(made, 1)
  await again
  t.same(made.log, ['line 1', 'line 1', 'line 2'])
  for (const line of made.lines) line.refuses = true
  const last = made.send()
  last.catch(() => {})
  await settled()
  t.equal(made.dials.length, 3)
  made.dials[2]?.open()
  await Promise.resolve()
  await Promise.resolve()
  const [, , third] = made.lines
  if (third !== undefined) third.refuses = true
  await t.rejects(last, { message: 'refused' })
})

t.test('other certificates, another server name or proxy: other connections, and the old one is retired', async (t) => {
  for (const other of [
    target({ cert: 'two', key: 'two' }),
    target({ ca: 'two' }),
    target({ servername: 'two' }),
    target({}, 'http://proxy'),
  ]) {
    const made = await opened(t)
    const answer = made.send(other)
    await open(made, 1)
    await answer
    t.equal(made.lines[0]?.retired, true)
    t.equal(made.lines[1]?.retired, false)
  }
  const made = await opened(t)
  await made.send({ ...target(), access: { ...target().access, headers: { Authorization: 'Bearer two' } } })
  t.equal(made.dials.length, 1, 'another token needs none')
})

t.test('a connection that has ended is not used', async (t) => {
  const made = await opened(t)
  made.lines[0]?.end()
  const answer = made.send()
  await open(made, 1)
  await answer
  t.same(made.log, ['line 1', 'line 2'])
})

t.test('opening goes on while anyone waits for it', async (t) => {
  const made = world()
  const [one, two] = [new AbortController(), new AbortController()]
  const first = made.send(target(), one.signal)
  const second = made.send(target(), two.signal)
  await settled()
  one.abort('one is tired')
  await t.rejects(first, { message: 'one is tired' })
  t.equal(made.dials[0]?.signal.aborted, false)
  two.abort('two is tired')
  await t.rejects(second, { message: 'two is tired' })
  t.equal(made.dials[0]?.signal.aborted, true)
  made.dials[0]?.fail(new Error('stopped'))
  await settled()
  const third = made.send()
  await open(made, 1)
  t.equal(await third, ANSWERED)
})

t.test('what fails to open fails all who wait, and the next request tries again', async (t) => {
  const made = world()
  const answers = [made.send(), made.send()]
  for (const answer of answers) answer.catch(() => {})
  await settled()
  made.dials[0]?.fail(new Error('refused'))
  for (const answer of answers) await t.rejects(answer, { message: 'refused' })
  const again = made.send()
  await open(made, 1)
  t.equal(await again, ANSWERED)
})
