// SPDX-License-Identifier: Apache-2.0
/**
 * The little of D-Bus's wire protocol (D-Bus Specification, "Message Protocol") that it takes to
 * hear signals: method calls with strings, and the headers of what comes. Bodies are skipped and
 * never kept. Pure.
 */
import { codedError } from '../values/errors.ts'

interface BusCall {
  /** Not 0, and another for each call. */
  readonly serial: number
  readonly destination: string
  readonly path: string
  readonly interface: string
  readonly member: string
  /** The one string that the call takes. Absent: none. */
  readonly argument?: string
}

export interface BusMessage {
  readonly type: 'call' | 'return' | 'error' | 'signal' | 'other'
  /** The serial of the call that this answers. */
  readonly replySerial: number | undefined
  /** The bus itself sets it: nobody can send in the name of another. */
  readonly sender: string | undefined
  readonly member: string | undefined
}

const TYPES = ['other', 'call', 'return', 'error', 'signal'] as const
const FIELD = { path: 1, interface: 2, member: 3, replySerial: 5, destination: 6, sender: 7, signature: 8 } as const
/** Up to the length of the header's fields. */
const FIXED_BYTES = 16
/** The names in a header have at most 255 bytes each; only a path could be longer. */
const MOST_HEADER_BYTES = 8 << 10
/** As the specification has it. */
const MOST_BODY_BYTES = 128 << 20
const LITTLE_ENDIAN = 'l'.charCodeAt(0)
const BIG_ENDIAN = 'B'.charCodeAt(0)

export function encodeCall({ serial, destination, path, interface: iface, member, argument }: BusCall): Buffer {
  const body = argument === undefined ? Buffer.alloc(0) : encodeString(argument)
  const fields = [
    encodeField(FIELD.path, 'o', encodeString(path)),
    encodeField(FIELD.interface, 's', encodeString(iface)),
    encodeField(FIELD.member, 's', encodeString(member)),
    encodeField(FIELD.destination, 's', encodeString(destination)),
    ...(argument === undefined ? [] : [encodeField(FIELD.signature, 'g', Buffer.from('\x01s\0'))]),
  ]
  // Each field begins at a multiple of 8, and the last one is not padded within the array.
  const array = fields.reduce((before, field) => Buffer.concat([pad8(before), field]), Buffer.alloc(0))
  const fixed = Buffer.from([LITTLE_ENDIAN, TYPES.indexOf('call'), 0, 1])
  return Buffer.concat([pad8(Buffer.concat([fixed, uint32(body.length), uint32(serial), uint32(array.length), array])), body])
}

function encodeField(code: number, signature: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([code]), Buffer.from(`\x01${signature}\0`), value])
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([uint32(bytes.length), bytes, Buffer.alloc(1)])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const align = (at: number, to: number) => Math.ceil(at / to) * to
const pad8 = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(align(bytes.length, 8) - bytes.length)])

/** Takes a stream of messages apart. It keeps no more of it than one header. */
export class BusReader {
  #rest: Buffer = Buffer.alloc(0)
  /** Bytes that are left of a body. */
  #skip = 0

  /** Throws if this is no D-Bus. */
  read(chunk: Buffer): BusMessage[] {
    const messages: BusMessage[] = []
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (;;) {
      const skipped = Math.min(this.#skip, this.#rest.length)
      this.#skip -= skipped
      this.#rest = this.#rest.subarray(skipped)
      const header = this.#skip === 0 ? takeHeader(this.#rest) : undefined
      if (header === undefined) break
      messages.push(header.message)
      this.#rest = this.#rest.subarray(header.length)
      this.#skip = header.bodyLength
    }
    // Not a part of a larger chunk, which would stay in memory as a whole.
    this.#rest = Buffer.from(this.#rest)
    return messages
  }
}

/** undefined: it is not complete yet. */
function takeHeader(bytes: Buffer): { message: BusMessage; length: number; bodyLength: number } | undefined {
  if (bytes.length < FIXED_BYTES) return undefined
  const fields = new FieldReader(bytes)
  const [type = 0, , version] = bytes.subarray(1)
  const bodyLength = fields.uint32At(4)
  const end = FIXED_BYTES + fields.uint32At(12)
  if (version !== 1 || end > MOST_HEADER_BYTES || bodyLength > MOST_BODY_BYTES) throw protocolError('its header is not valid')
  const length = align(end, 8)
  if (bytes.length < length) return undefined
  return { message: { type: TYPES[type] ?? 'other', ...fields.read(end) }, length, bodyLength }
}

/** Reads the fields of one header, each a byte and a variant of a simple type. */
class FieldReader {
  readonly #bytes: Buffer
  readonly #isLittle: boolean
  #at = FIXED_BYTES

  constructor(bytes: Buffer) {
    if (bytes[0] !== LITTLE_ENDIAN && bytes[0] !== BIG_ENDIAN) throw protocolError('a message begins with neither l nor B')
    this.#bytes = bytes
    this.#isLittle = bytes[0] === LITTLE_ENDIAN
  }

  uint32At(at: number): number {
    return this.#isLittle ? this.#bytes.readUInt32LE(at) : this.#bytes.readUInt32BE(at)
  }

  read(end: number): Omit<BusMessage, 'type'> {
    const values = new Map<number, string | number>()
    while (this.#at < end) {
      this.#at = align(this.#at, 8)
      const code = this.#bytes[this.#take(1, end)] ?? 0
      values.set(code, this.#readVariant(end))
    }
    const text = (code: number) => {
      const value = values.get(code)
      return typeof value === 'string' ? value : undefined
    }
    const replySerial = values.get(FIELD.replySerial)
    return {
      replySerial: typeof replySerial === 'number' ? replySerial : undefined,
      sender: text(FIELD.sender),
      member: text(FIELD.member),
    }
  }

  #readVariant(end: number): string | number {
    switch (this.#readText(1, end)) {
      case 'g':
        return this.#readText(1, end)
      case 's':
      case 'o':
        this.#at = align(this.#at, 4)
        return this.#readText(4, end)
      case 'u':
        this.#at = align(this.#at, 4)
        return this.uint32At(this.#take(4, end))
      default:
        throw protocolError('a field of a header has a type that headers do not have')
    }
  }

  /** @param size of its length */
  #readText(size: 1 | 4, end: number): string {
    const at = this.#take(size, end)
    const length = size === 1 ? (this.#bytes[at] ?? 0) : this.uint32At(at)
    const from = this.#take(length + 1, end)
    return this.#bytes.toString('utf8', from, from + length)
  }

  #take(length: number, end: number): number {
    const at = this.#at
    this.#at += length
    if (this.#at > end) throw protocolError('a field of a header is longer than its header')
    return at
  }
}

function protocolError(what: string): Error {
  return codedError('bus-protocol', `the bus sent what is not D-Bus: ${what}`)
}
