// SPDX-License-Identifier: Apache-2.0
/**
 * With the real dbus-daemon, where this machine has one, in which a test stands in for systemd; and
 * with servers that are none.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { encodeCall } from '../../src/systemd/bus-message.ts'
import { BusSignals } from '../../src/systemd/bus-signals.ts'
import { until } from '../until.ts'
import { encodeMessage } from './bus-messages.ts'

const DAEMON = '/usr/bin/dbus-daemon'
const SEND = '/usr/bin/dbus-send'
const BUS = 'org.freedesktop.DBus'
const PACE = { answerMs: 300_000, firstRetryMs: 1, lastRetryMs: 20 }
const nowUs = () => Number(process.hrtime.bigint() / 1000n)

/** The path of a socket has at most 107 characters. */
function makeDirectory(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'bus-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  return dir
}

function listen(t: Test, socket: string, pace = PACE) {
  const heard = { hints: 0, log: [] as string[] }
  const say = (message: string) => void heard.log.push(message)
  const signals = new BusSignals({
    socket,
    unit: 'kubelet.service',
    clock: { now: () => ({ bootId: 'b', monotonicUs: nowUs(), wallMs: 0 }) },
    log: { debug: say, info: say, warn: say, error: say },
    onHint: () => {
      heard.hints += 1
    },
    pace,
  })
  t.teardown(() => signals.stop())
  signals.start()
  return { signals, heard }
}

/** A bus of its own, with a policy that lets any of its users be systemd. */
async function startBus(t: Test, dir: string): Promise<ChildProcess> {
  const policy = '<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>'
  writeFileSync(join(dir, 'bus.conf'), `<busconfig><type>system</type><listen>unix:path=${dir}/bus</listen>${policy}</busconfig>\n`)
  rmSync(join(dir, 'bus'), { force: true })
  const daemon = spawn(DAEMON, ['--nofork', '--nopidfile', `--config-file=${join(dir, 'bus.conf')}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  daemon.stderr.on('data', (chunk) => {
    said += chunk
  })
  t.teardown(() => void daemon.kill())
  await until(() => {
    if (hasEnded(daemon)) throw new Error(`${DAEMON} ended early (${daemon.signalCode ?? `exit code ${daemon.exitCode}`}): ${said}`)
    return isListening(join(dir, 'bus'))
  }, 'the bus listens')
  return daemon
}

/** dbus-daemon makes its socket a moment before it listens. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Enough of systemd to be subscribed to. */
async function standInForSystemd(t: Test, dir: string): Promise<{ signal(path?: string): void; end(): void }> {
  const socket = connect(join(dir, 'bus'))
  t.teardown(() => void socket.destroy())
  const toBus = { destination: BUS, path: '/org/freedesktop/DBus', interface: BUS }
  let serial = 0
  const call = (member: string, argument?: string) => {
    serial += 1
    socket.write(encodeCall({ ...toBus, serial, member, ...(argument !== undefined && { argument }) }))
  }
  socket.write(`\0AUTH EXTERNAL ${Buffer.from(String(process.getuid?.())).toString('hex')}\r\n`)
  const text = () => received.toString('latin1')
  let received = Buffer.alloc(0)
  let answered = 0
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    // Each call of Subscribe is answered, with a body of nothing.
    for (const found of text().matchAll(/Subscribe\0/g)) {
      if (found.index < answered) continue
      answered = found.index + 1
      const begin = received.lastIndexOf(Buffer.from([0x6c, 1]), found.index)
      const sender = /:1\.\d+/.exec(text().slice(found.index))?.[0] ?? /(:1\.\d+)/.exec(text().slice(begin))?.[0] ?? ''
      serial += 1
      socket.write(encodeReply(serial, received.readUInt32LE(begin + 8), sender))
    }
  })
  const isTold = (isSo: () => boolean) => () => {
    if (socket.closed && !isSo()) throw new Error(`the bus closed the connection after: ${JSON.stringify(text())}`)
    return isSo()
  }
  await until(
    isTold(() => text().includes('OK ')),
    'the bus lets it in',
  )
  socket.write('BEGIN\r\n')
  call('Hello')
  serial += 1
  socket.write(encodeRequestName(serial))
  await until(
    isTold(() => text().split('NameAcquired').length > 2),
    'it has the name of systemd',
  )
  const signal = (path = '/org/freedesktop/systemd1/unit/kubelet_2eservice') => {
    serial += 1
    socket.write(encodeSignal(serial, path))
  }
  return { signal, end: () => void socket.destroy() }
}

const pad = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)])
const uint32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
const text = (value: string) => Buffer.concat([uint32(value.length), Buffer.from(`${value}\0`)])
const field = (code: number, type: string, value: Buffer) => Buffer.concat([Buffer.from([code, 1]), Buffer.from(`${type}\0`), value])

function encode(type: number, serial: number, fields: readonly Buffer[], body = Buffer.alloc(0)): Buffer {
  const array = fields.reduce((before, next) => Buffer.concat([pad(before), next]), Buffer.alloc(0))
  return Buffer.concat([
    pad(Buffer.concat([Buffer.from([0x6c, type, 1, 1]), uint32(body.length), uint32(serial), uint32(array.length), array])),
    body,
  ])
}

const encodeReply = (serial: number, replySerial: number, to: string) =>
  encode(2, serial, [field(5, 'u', uint32(replySerial)), field(6, 's', text(to))])

const encodeSignal = (serial: number, path: string) =>
  encode(4, serial, [
    field(1, 'o', text(path)),
    field(2, 's', text('org.freedesktop.DBus.Properties')),
    field(3, 's', text('PropertiesChanged')),
  ])

const encodeRequestName = (serial: number) => {
  const fields = [
    field(1, 'o', text('/org/freedesktop/DBus')),
    field(2, 's', text(BUS)),
    field(3, 's', text('RequestName')),
    field(6, 's', text(BUS)),
    field(8, 'g', Buffer.from('\x02su\0')),
  ]
  const name = text('org.freedesktop.systemd1')
  return encode(1, serial, fields, Buffer.concat([name, Buffer.alloc((4 - (name.length % 4)) % 4), uint32(0)]))
}

t.test('on a real bus', { skip: existsSync(DAEMON) ? false : `no ${DAEMON}` }, async (t) => {
  t.test('a signal about the unit is heard, and about no other', async (t) => {
    const dir = makeDirectory(t)
    await startBus(t, dir)
    const systemd = await standInForSystemd(t, dir)
    const { signals, heard } = listen(t, join(dir, 'bus'))
    await until(() => signals.quietSinceUs() !== undefined, 'it listens')
    t.strictSame(heard.log, ["subscribed to systemd's signals about kubelet"])
    const before = signals.quietSinceUs() ?? 0
    systemd.signal('/org/freedesktop/systemd1/unit/other_2eservice')
    systemd.signal()
    await until(() => heard.hints > 0, 'a hint')
    t.equal(heard.hints, 1)
    t.ok((signals.quietSinceUs() ?? 0) > before)
  })

  t.test('without systemd on it nothing is heard; it is once systemd is there, and when it comes back', async (t) => {
    const dir = makeDirectory(t)
    await startBus(t, dir)
    const { signals, heard } = listen(t, join(dir, 'bus'))
    const first = await standInForSystemd(t, dir)
    await until(() => signals.quietSinceUs() !== undefined, 'it listens')
    first.end()
    await until(() => signals.quietSinceUs() === undefined, 'systemd is gone')
    const second = await standInForSystemd(t, dir)
    await until(() => signals.quietSinceUs() !== undefined, 'it listens again')
    const { hints } = heard
    second.signal()
    await until(() => heard.hints > hints, 'a hint')
  })

  t.test('a bus that is restarted is listened to again', async (t) => {
    const dir = makeDirectory(t)
    const daemon = await startBus(t, dir)
    await standInForSystemd(t, dir)
    const { signals, heard } = listen(t, join(dir, 'bus'))
    await until(() => signals.quietSinceUs() !== undefined, 'it listens')
    daemon.kill('SIGKILL')
    await until(() => signals.quietSinceUs() === undefined, 'the bus is gone')
    await startBus(t, dir)
    await standInForSystemd(t, dir)
    await until(() => signals.quietSinceUs() !== undefined, 'it listens again')
    t.match(heard.log.at(-1), /^subscribed to/)
  })

  t.test('a signal that another program sends to the agent is not heeded', { skip: existsSync(SEND) ? false : `no ${SEND}` }, async (t) => {
    const dir = makeDirectory(t)
    await startBus(t, dir)
    const systemd = await standInForSystemd(t, dir)
    const { signals, heard } = listen(t, join(dir, 'bus'))
    await until(() => signals.quietSinceUs() !== undefined, 'it listens')
    const before = signals.quietSinceUs()
    const args = [`--bus=unix:path=${dir}/bus`, '--type=signal', '--dest=:1.1', '/org/freedesktop/systemd1/unit/kubelet_2eservice']
    const sender = spawn(SEND, [...args, 'org.freedesktop.DBus.Properties.PropertiesChanged'], { stdio: 'ignore' })
    await new Promise((resolve) => sender.once('exit', resolve))
    t.equal(signals.quietSinceUs(), before)
    t.equal(heard.hints, 0)
    systemd.signal()
    await until(() => heard.hints === 1, 'a hint of systemd')
  })
})

async function serve(t: Test, onSocket: (socket: Socket) => void): Promise<string> {
  const path = join(makeDirectory(t), 'bus')
  const server = createServer((socket) => {
    socket.on('error', () => {})
    t.teardown(() => void socket.destroy())
    onSocket(socket)
  })
  t.teardown(() => void server.close())
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return path
}

t.test('no bus: it says so once, and tries again', async (t) => {
  const socket = join(makeDirectory(t), 'bus')
  const { signals, heard } = listen(t, socket)
  await until(() => heard.log.length > 0, 'it says so')
  let connections = 0
  const server = createServer(() => {
    connections += 1
  })
  t.teardown(() => void server.close())
  server.listen(socket)
  await until(() => connections > 0, 'it tries again')
  const said = heard.log.filter((line) =>
    line.startsWith("cannot receive systemd's signals about kubelet, so it is asked more often: connect ENOENT"),
  )
  t.equal(said.length, 1)
  t.equal(signals.quietSinceUs(), undefined)
})

t.test('a bus that hangs is given up, and tried again', async (t) => {
  let connections = 0
  const socket = await serve(t, () => {
    connections += 1
  })
  const { heard } = listen(t, socket, { ...PACE, answerMs: 20 })
  await until(() => connections > 2, 'several attempts')
  t.match(heard.log, [/: the bus does not answer$/])
})

t.test('a server that is no bus, refuses or floods', async (t) => {
  for (const [answer, why] of [
    ['HTTP/1.1 400 Bad Request\r\n', 'the bus does not let the agent in'],
    ['REJECTED EXTERNAL\r\n', 'the bus does not let the agent in'],
    ['OK 12\r\nnonsense that is long enough', 'the bus sent what is not D-Bus'],
    [Buffer.concat([Buffer.from('OK 12\r\n'), encodeMessage({ type: 'signal', bodyLength: 2 << 20 })]), 'the bus sends too much'],
  ] as const) {
    const socket = await serve(t, (connection) => void connection.once('data', () => void connection.write(answer)))
    const { heard } = listen(t, socket)
    await until(() => heard.log.length > 0, why)
    t.match(heard.log[0], why)
  }
})

t.test('once it is stopped, its connection is gone, and it says nothing of that', async (t) => {
  let [opened, closed] = [0, 0]
  const socket = await serve(t, (connection) => {
    opened += 1
    connection.resume().once('close', () => {
      closed += 1
    })
  })
  const { signals, heard } = listen(t, socket)
  await until(() => opened === 1, 'it connects')
  signals.stop()
  await until(() => closed === 1, 'its connection is gone')
  t.strictSame(heard, { hints: 0, log: [] })
})
