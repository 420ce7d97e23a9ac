// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { BusReader, encodeCall } from '../../src/systemd/bus-message.ts'
import { encodeMessage } from './bus-messages.ts'

const CALL = { serial: 1, destination: 'a.b', path: '/c', interface: 'a.b', member: 'Do' }

t.test('a call is encoded as the specification has it', async (t) => {
  const bytes = encodeCall({ ...CALL, argument: 'x' })
  const expected = [
    ...[0x6c, 1, 0, 1, 6, 0, 0, 0, 1, 0, 0, 0, 71, 0, 0, 0],
    ...[1, 1, 0x6f, 0, 2, 0, 0, 0, 0x2f, 0x63, 0, 0, 0, 0, 0, 0],
    ...[2, 1, 0x73, 0, 3, 0, 0, 0, 0x61, 0x2e, 0x62, 0, 0, 0, 0, 0],
    ...[3, 1, 0x73, 0, 2, 0, 0, 0, 0x44, 0x6f, 0, 0, 0, 0, 0, 0],
    ...[6, 1, 0x73, 0, 3, 0, 0, 0, 0x61, 0x2e, 0x62, 0, 0, 0, 0, 0],
    ...[8, 1, 0x67, 0, 1, 0x73, 0, 0],
    ...[1, 0, 0, 0, 0x78, 0],
  ]
  t.strictSame([...bytes], expected)
})

t.test('its own calls can be read', async (t) => {
  const bytes = Buffer.concat([encodeCall(CALL), encodeCall({ ...CALL, serial: 2, argument: 'x'.repeat(1000) }), encodeCall(CALL)])
  const expected = { type: 'call', replySerial: undefined, sender: undefined, member: 'Do' }
  t.strictSame(new BusReader().read(bytes), [expected, expected, expected])
})

t.test('headers are read in either byte order, whatever pieces they come in, and bodies are skipped', async (t) => {
  const message = fc.record({
    type: fc.constantFrom('return' as const, 'error' as const, 'signal' as const),
    sender: fc.option(fc.constantFrom(':1.0', 'org.freedesktop.DBus'), { nil: undefined }),
    member: fc.option(fc.constantFrom('PropertiesChanged', 'é'), { nil: undefined }),
    replySerial: fc.option(fc.nat(), { nil: undefined }),
    bodyLength: fc.nat(100),
    bigEndian: fc.boolean(),
  })
  const property = fc.property(fc.array(message), fc.integer({ min: 1, max: 50 }), (messages, size) => {
    const bytes = Buffer.concat(messages.map(encodeMessage))
    const reader = new BusReader()
    const read = []
    for (let at = 0; at < bytes.length; at += size) read.push(...reader.read(bytes.subarray(at, at + size)))
    const headers = messages.map(({ type, sender, member, replySerial }) => ({ type, replySerial, sender, member }))
    t.strictSame(read, headers)
  })
  fc.assert(property)
})

t.test('a body of any length is skipped, and not kept', async (t) => {
  const [begin, end] = [encodeMessage({ type: 'signal', member: 'A', announced: 64 << 20 }), encodeMessage({ type: 'signal', member: 'B' })]
  const reader = new BusReader()
  t.match(reader.read(begin), [{ member: 'A' }])
  const part = Buffer.alloc(1 << 20)
  for (let sent = 0; sent < 64; sent += 1) t.strictSame(reader.read(part), [])
  t.match(reader.read(end), [{ member: 'B' }])
})

t.test('what is no D-Bus is refused, and no other error is thrown whatever comes', async (t) => {
  const good = encodeMessage({ type: 'signal', sender: ':1.0', member: 'Do' })
  const refused = (bytes: Buffer) => t.throws(() => new BusReader().read(bytes), { code: 'bus-protocol' })
  refused(Buffer.from('HTTP/1.1 400 Bad Request'))
  const change = (at: number, ...values: number[]) =>
    Buffer.concat([good.subarray(0, at), Buffer.from(values), good.subarray(at + values.length)])
  refused(change(3, 2))
  refused(change(4, 1, 0, 0, 8))
  refused(change(12, 0, 0, 0, 1))
  refused(change(18, 0x76))
  refused(change(20, 255, 0, 0, 0))
  const mutation = fc.property(fc.nat(good.length - 1), fc.uint8Array({ maxLength: 20 }), (at, values) => {
    try {
      new BusReader().read(change(at, ...values))
    } catch (error) {
      t.match(error, { code: 'bus-protocol' })
    }
  })
  fc.assert(mutation, { numRuns: 2000 })
})
