// SPDX-License-Identifier: Apache-2.0
/**
 * The agent's conversation on the system bus: it asks systemd for signals
 * (org.freedesktop.systemd1(5)), and takes each signal about kubelet's unit for a hint that
 * something happened. Pure.
 */
import { codedError } from '../values/errors.ts'
import { type BusMessage, BusReader, encodeCall } from './bus-message.ts'

const BUS = 'org.freedesktop.DBus'
const SYSTEMD = 'org.freedesktop.systemd1'
const FROM_SYSTEMD = `type='signal',sender='${SYSTEMD}'`
const HELLO = { destination: BUS, path: '/org/freedesktop/DBus', interface: BUS, member: 'Hello' }
const ADD_MATCH = { ...HELLO, member: 'AddMatch' }
const SUBSCRIBE = {
  destination: SYSTEMD,
  path: '/org/freedesktop/systemd1',
  interface: `${SYSTEMD}.Manager`,
  member: 'Subscribe',
}
const MOST_GREETING_BYTES = 512
/**
 * A restart of kubelet takes some 20 KB. Anyone on the node may send signals to the agent's
 * connection; they are not heeded, but it costs CPU to read them.
 */
const MOST_BYTES = 1 << 20
const BYTES_IN_US = 10e6

interface Reaction {
  /** To send. */
  readonly write: readonly Buffer[]
  /** Something happened to the unit, or may have happened. */
  readonly hint: boolean
}

export class BusConversation {
  readonly #rules: readonly string[]
  readonly #reader = new BusReader()
  #greeting: Buffer | undefined = Buffer.alloc(0)
  #lastSerial = 0
  /** Calls without an answer. */
  readonly #calls = new Set<number>()
  #subscription = 0
  /** The name that systemd's connection has: only this one's signals count. */
  #systemd: string | undefined
  #quietSinceUs: number | undefined
  #bytes = { sinceUs: 0, count: 0 }

  constructor(unit: string) {
    this.#rules = [
      `${FROM_SYSTEMD},interface='org.freedesktop.DBus.Properties',path='/org/freedesktop/systemd1/unit/${escapeName(unit)}'`,
      `${FROM_SYSTEMD},interface='${SYSTEMD}.Manager',member='Reloading'`,
      `type='signal',sender='${BUS}',interface='${BUS}',member='NameOwnerChanged',arg0='${SYSTEMD}'`,
    ]
  }

  /** As `UnitSignals` has it. */
  get quietSinceUs(): number | undefined {
    return this.#systemd === undefined || this.#calls.size > 0 ? undefined : this.#quietSinceUs
  }

  /**
   * The first bytes on the bus. The bus knows who is on the other side of its socket, and compares.
   */
  greet(uid: number): Buffer {
    return Buffer.from(`\0AUTH EXTERNAL ${Buffer.from(String(uid)).toString('hex')}\r\n`)
  }

  /** Throws if the connection is of no use: the bus refuses, floods, or is none. */
  hear(chunk: Buffer, nowUs: number): Reaction {
    this.#count(chunk.length, nowUs)
    if (this.#greeting !== undefined) return this.#hearGreeting(Buffer.concat([this.#greeting, chunk]), nowUs)
    return this.#hearMessages(chunk, nowUs)
  }

  #count(bytes: number, nowUs: number): void {
    if (nowUs - this.#bytes.sinceUs > BYTES_IN_US) this.#bytes = { sinceUs: nowUs, count: 0 }
    this.#bytes.count += bytes
    if (this.#bytes.count > MOST_BYTES) throw codedError('bus-flood', 'the bus sends too much')
  }

  #hearGreeting(greeting: Buffer, nowUs: number): Reaction {
    const end = greeting.indexOf('\r\n')
    this.#greeting = end < 0 ? greeting : undefined
    if (end < 0 && greeting.length <= MOST_GREETING_BYTES) return { write: [], hint: false }
    if (!greeting.subarray(0, end).toString('latin1').startsWith('OK '))
      throw codedError('bus-refused', 'the bus does not let the agent in')
    const calls = [HELLO, ...this.#rules.map((argument) => ({ ...ADD_MATCH, argument }))].map((call) => {
      const serial = this.#nextSerial()
      this.#calls.add(serial)
      return encodeCall({ ...call, serial })
    })
    const { write, hint } = this.#hearMessages(greeting.subarray(end + 2), nowUs)
    return { write: [Buffer.from('BEGIN\r\n'), ...calls, this.#subscribe(), ...write], hint }
  }

  #hearMessages(chunk: Buffer, nowUs: number): Reaction {
    const reactions = this.#reader.read(chunk).map((message) => this.#hearMessage(message, nowUs))
    return { write: reactions.flatMap(({ write }) => write), hint: reactions.some(({ hint }) => hint) }
  }

  #hearMessage({ type, replySerial, sender, member }: BusMessage, nowUs: number): Reaction {
    const nothing: Reaction = { write: [], hint: false }
    if (type === 'return' || type === 'error') {
      // The error that somebody has subscribed already comes from systemd itself, and is as good.
      if (replySerial === this.#subscription && sender?.startsWith(':')) {
        this.#systemd = sender
        this.#quietSinceUs = nowUs
      } else if (replySerial !== undefined && this.#calls.delete(replySerial)) {
        if (type === 'error') throw codedError('bus-refused', 'the bus does not let the agent listen')
        this.#quietSinceUs = nowUs
      }
      return nothing
    }
    if (type !== 'signal') return nothing
    if (sender === BUS && member === 'NameOwnerChanged') {
      // systemd has executed itself again, or comes back to its bus.
      this.#systemd = undefined
      return { write: [this.#subscribe()], hint: true }
    }
    if (sender === undefined || sender !== this.#systemd) return nothing
    this.#quietSinceUs = nowUs
    return { write: [], hint: true }
  }

  #subscribe(): Buffer {
    this.#subscription = this.#nextSerial()
    return encodeCall({ ...SUBSCRIBE, serial: this.#subscription })
  }

  #nextSerial(): number {
    this.#lastSerial += 1
    return this.#lastSerial
  }
}

/** As systemd names the path of an object (sd_bus_path_encode(3)). */
function escapeName(name: string): string {
  return [...Buffer.from(name)]
    .map((byte, at) => {
      const char = String.fromCharCode(byte)
      return (at === 0 ? /[A-Za-z]/ : /[A-Za-z0-9]/).test(char) ? char : `_${byte.toString(16).padStart(2, '0')}`
    })
    .join('')
}

const TOGETHER_US = 50e3
const SLOW_US = 1e6
const MOST = 20
const MOST_IN_US = 20e6

/**
 * How fast hints wake the loop. The first one does at once, since an exit of kubelet must not wait.
 * A restart then brings some ten signals within moments, which together are worth one look more. A
 * unit that changes all the time is looked at once a second, as without signals.
 */
export class HintPace {
  /** The latest, oldest first. */
  #wokenAtUs: readonly number[] = []

  /** When to wake for a hint that comes now. */
  dueUs(nowUs: number): number {
    const lastUs = this.#wokenAtUs.at(-1)
    if (lastUs === undefined) return nowUs
    const recent = this.#wokenAtUs.filter((atUs) => nowUs - atUs < MOST_IN_US)
    return Math.max(nowUs, lastUs + (recent.length < MOST ? TOGETHER_US : SLOW_US))
  }

  woken(nowUs: number): void {
    this.#wokenAtUs = [...this.#wokenAtUs, nowUs].slice(-MOST)
  }
}
