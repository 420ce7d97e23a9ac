/**
 * Reads the protocol buffers wire format (protobuf.dev/programming-guides/encoding), as far as
 * proto3 uses it: varints, fixed 32 and 64 bits, and length-delimited values. Pure. A message that
 * does not follow the format, or has more fields than allowed, throws; nothing is read beyond its
 * end.
 */

export type WireValue =
  | { readonly kind: 'varint'; readonly value: bigint }
  | { readonly kind: 'bytes'; readonly value: Buffer }
  /** 32 or 64 bits: no message that is read here has such a field. */
  | { readonly kind: 'fixed' }

export type WireField = WireValue & { readonly number: number }

/** How many more fields may be read. One count for a message and all that it contains. */
export interface FieldBudget {
  left: number
}

const VARINT = 0
const FIXED_64 = 1
const LENGTH_DELIMITED = 2
const FIXED_32 = 5
const LONGEST_VARINT = 10
const LARGEST_FIELD = 2 ** 29 - 1

export function* fieldsOf(message: Buffer, budget: FieldBudget): Generator<WireField> {
  const reader = new WireReader(message)
  while (!reader.isAtEnd()) {
    if (budget.left <= 0) throw new Error('it has too many fields')
    budget.left--
    yield reader.field()
  }
}

class WireReader {
  readonly #message: Buffer
  #at = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  isAtEnd(): boolean {
    return this.#at >= this.#message.length
  }

  field(): WireField {
    const tag = this.#varint()
    const number = Number(tag >> 3n)
    if (number < 1 || number > LARGEST_FIELD) throw new Error(`${number} is not a field number`)
    return { number, ...this.#value(Number(tag & 7n)) }
  }

  #value(wireType: number): WireValue {
    switch (wireType) {
      case VARINT:
        return { kind: 'varint', value: this.#varint() }
      case LENGTH_DELIMITED:
        return { kind: 'bytes', value: this.#take(this.#varint()) }
      case FIXED_64:
        this.#take(8n)
        return { kind: 'fixed' }
      case FIXED_32:
        this.#take(4n)
        return { kind: 'fixed' }
      default:
        throw new Error(`${wireType} is not a wire type of proto3`)
    }
  }

  #take(length: bigint): Buffer {
    if (length > BigInt(this.#message.length - this.#at)) throw new Error('it ends within a value')
    const start = this.#at
    this.#at += Number(length)
    return this.#message.subarray(start, this.#at)
  }

  /** Bits beyond the 64th are dropped, as the format wants it. */
  #varint(): bigint {
    let value = 0n
    for (let index = 0; index < LONGEST_VARINT; index++) {
      const byte = this.#message[this.#at]
      if (byte === undefined) throw new Error('it ends within a number')
      this.#at++
      value |= BigInt(byte & 0x7f) << BigInt(7 * index)
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new Error(`a number has more than ${LONGEST_VARINT} bytes`)
  }
}
