// SPDX-License-Identifier: Apache-2.0
/** Writes messages of CRI in the protocol buffers wire format, for tests. */

type Value = number | bigint | string | Buffer | readonly (string | Buffer)[]

/** Fields by their numbers; a list is a repeated field. */
export function message(fields: Readonly<Record<number, Value>>): Buffer {
  return Buffer.concat(Object.entries(fields).flatMap(([number, value]) => fieldOf(Number(number), value)))
}

export function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  return Buffer.from([...bytes, Number(rest)])
}

function fieldOf(number: number, value: Value): Buffer[] {
  if (typeof value === 'number' || typeof value === 'bigint') return [varint(BigInt(number) << 3n), varint(BigInt(value))]
  if (typeof value === 'string') return fieldOf(number, Buffer.from(value))
  if (Buffer.isBuffer(value)) return [varint((BigInt(number) << 3n) | 2n), varint(BigInt(value.length)), value]
  return value.flatMap((item) => fieldOf(number, item))
}

const mapOf = (entries: Readonly<Record<string, string>>) => Object.entries(entries).map(([key, value]) => message({ 1: key, 2: value }))

export const frame = (body: Buffer) => {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

export const READY_STATUS = message({
  1: message({ 1: [message({ 1: 'RuntimeReady', 2: 1 }), message({ 1: 'NetworkReady', 3: 'no CNI' })] }),
})

interface SandboxFacts {
  readonly id: string
  readonly uid: string
  readonly name?: string
  readonly namespace?: string
  readonly attempt?: number
  readonly notReady?: boolean
  readonly createdAtMs?: number
  readonly annotations?: Readonly<Record<string, string>>
}

export function sandboxMessage(facts: SandboxFacts): Buffer {
  const { id, uid, name = 'pod', namespace = 'default', attempt = 0, notReady = false, createdAtMs = 0, annotations = {} } = facts
  return message({
    1: id,
    2: message({ 1: name, 2: uid, 3: namespace, 4: attempt }),
    3: notReady ? 1 : 0,
    4: BigInt(createdAtMs) * 1_000_000n,
    5: mapOf({ label: 'x' }),
    6: mapOf(annotations),
    7: 'runc',
  })
}

export function containerMessage({
  id,
  sandboxId,
  state = 1,
  attempt = 0,
}: {
  id: string
  sandboxId: string
  state?: number
  attempt?: number
}): Buffer {
  return message({
    1: id,
    2: sandboxId,
    3: message({ 1: 'main', 2: attempt }),
    4: message({ 1: 'image' }),
    6: state,
    7: 5_000_000n,
    9: mapOf({ a: 'b' }),
  })
}
