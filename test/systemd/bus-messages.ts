// SPDX-License-Identifier: Apache-2.0
/** Messages as a bus sends them, for tests. */
const TYPES = { call: 1, return: 2, error: 3, signal: 4 } as const

export interface TestMessage {
  readonly type: keyof typeof TYPES
  readonly sender?: string | undefined
  readonly member?: string | undefined
  readonly replySerial?: number | undefined
  readonly bodyLength?: number
  /** The length of the body that is to follow separately. */
  readonly announced?: number
  readonly bigEndian?: boolean
}

export function encodeMessage({ type, sender, member, replySerial, bodyLength = 0, announced, bigEndian = false }: TestMessage): Buffer {
  const uint32 = (value: number) => {
    const bytes = Buffer.alloc(4)
    if (bigEndian) bytes.writeUInt32BE(value)
    else bytes.writeUInt32LE(value)
    return bytes
  }
  const text = (value: string) => Buffer.concat([uint32(Buffer.byteLength(value)), Buffer.from(`${value}\0`)])
  const pad = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)])
  const fields = [
    Buffer.concat([Buffer.from('\x01\x01o\0'), text('/some/path')]),
    ...(member === undefined ? [] : [Buffer.concat([Buffer.from('\x03\x01s\0'), text(member)])]),
    ...(replySerial === undefined ? [] : [Buffer.concat([Buffer.from('\x05\x01u\0'), uint32(replySerial)])]),
    ...(sender === undefined ? [] : [Buffer.concat([Buffer.from('\x07\x01s\0'), text(sender)])]),
    Buffer.from('\x08\x01g\0\x03a{s\0'),
  ]
  const array = fields.reduce((before, field) => Buffer.concat([pad(before), field]), Buffer.alloc(0))
  const fixed = Buffer.from([bigEndian ? 0x42 : 0x6c, TYPES[type], 0, 1])
  const header = pad(Buffer.concat([fixed, uint32(announced ?? bodyLength), uint32(7), uint32(array.length), array]))
  return Buffer.concat([header, Buffer.alloc(bodyLength, 0x6c)])
}
