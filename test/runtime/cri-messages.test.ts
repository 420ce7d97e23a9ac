// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { decodeCgroupDriver, decodeImageDirectory, decodePods, decodeStatus, fieldsOf } from '../../src/runtime/cri-messages.ts'
import { containerMessage, message, READY_STATUS, sandboxMessage, varint } from './wire.ts'

const read = (bytes: Buffer, left = 1000) => [...fieldsOf(bytes, { left })]
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

t.test('the encodings of the specification', async (t) => {
  t.strictSame(read(hex('08 96 01')), [{ number: 1, kind: 'varint', value: 150n }])
  t.strictSame(read(hex('12 07 74 65 73 74 69 6e 67')), [{ number: 2, kind: 'bytes', value: Buffer.from('testing') }])
  t.strictSame(read(hex('10 fe ff ff ff ff ff ff ff ff 01')), [{ number: 2, kind: 'varint', value: BigInt.asUintN(64, -2n) }])
  t.strictSame(read(hex('09 01 02 03 04 05 06 07 08 0d 01 02 03 04 08 01')), [
    { number: 1, kind: 'fixed' },
    { number: 1, kind: 'fixed' },
    { number: 1, kind: 'varint', value: 1n },
  ])
  t.strictSame(read(hex('fa ff ff ff 0f 00')), [{ number: 2 ** 29 - 1, kind: 'bytes', value: Buffer.alloc(0) }])
  t.strictSame(read(Buffer.alloc(0)), [])
})

t.test('what is no message throws', async (t) => {
  const cases: [bytes: string, why: RegExp][] = [
    ['08', /ends within a number/],
    ['08 80', /ends within a number/],
    ['08 ff ff ff ff ff ff ff ff ff ff 01', /more than 10 bytes/],
    ['12 02 74', /ends within a value/],
    ['12 ff ff ff ff ff ff ff ff ff 01', /ends within a value/],
    ['09 01', /ends within a value/],
    ['0d 01', /ends within a value/],
    ['00 01', /0 is not a field number/],
    ['80 80 80 80 10 01', /is not a field number/],
    ['0b', /3 is not a wire type/],
    ['0c', /4 is not a wire type/],
    ['0f', /7 is not a wire type/],
  ]
  for (const [bytes, why] of cases) t.throws(() => read(hex(bytes)), why, bytes)
  t.throws(() => read(hex('08 01 08 01 08 01'), 2), /too many fields/)
})

t.test('any bytes end in fields or an error', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      for (const decode of [read, decodeStatus, decodeCgroupDriver, decodeImageDirectory, (from: Buffer) => decodePods(from, from)]) {
        try {
          decode(Buffer.from(bytes))
        } catch (error) {
          if (!(error instanceof Error) || !/^(it|a number|\d+ is|field \d+)/.test(error.message)) throw error
        }
      }
    }),
    { numRuns: 2000 },
  )
})

t.test('a number is read as it was written', async () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
      const [field] = read(Buffer.concat([hex('08'), varint(value)]))
      return field?.kind === 'varint' && field.value === value
    }),
  )
})

const word = fc.string({ maxLength: 20 })
const sandboxFacts = fc.record({
  id: word,
  uid: word,
  name: word,
  namespace: word,
  attempt: fc.nat(1000),
  notReady: fc.boolean(),
  createdAtMs: fc.nat(2 ** 31) as fc.Arbitrary<number>,
  source: fc.constantFrom(undefined, 'file', 'api'),
})

t.test('a list of pods is read as it was written', async (t) => {
  fc.assert(
    fc.property(fc.array(sandboxFacts, { maxLength: 5 }), (list) => {
      const written = list.map(({ source, ...facts }) =>
        sandboxMessage({
          ...facts,
          annotations: { other: 'x', ...(source === undefined ? {} : { 'kubernetes.io/config.source': source }) },
        }),
      )
      const { sandboxes } = decodePods(message({ 1: written }), Buffer.alloc(0))
      t.strictSame(
        sandboxes,
        list.map(({ source, notReady, ...facts }) => ({
          ...facts,
          state: notReady ? 'not-ready' : 'ready',
          configSource: source,
          configHash: undefined,
        })),
      )
    }),
    { numRuns: 50 },
  )
})

t.test('a prefix of a list is an error or a shorter list', async () => {
  const whole = message({ 1: [sandboxMessage({ id: 'a', uid: 'b' }), sandboxMessage({ id: 'c', uid: 'd' })] })
  fc.assert(
    fc.property(fc.nat(whole.length - 1), (length) => {
      try {
        return decodePods(whole.subarray(0, length), Buffer.alloc(0)).sandboxes.length < 2
      } catch (error) {
        return error instanceof Error && /^it ends/.test(error.message)
      }
    }),
  )
})

t.test('the messages of CRI', async (t) => {
  t.strictSame(decodeStatus(READY_STATUS), { runtimeReady: true })
  t.strictSame(decodeStatus(Buffer.alloc(0)), { runtimeReady: undefined })
  t.equal(decodeCgroupDriver(message({ 1: message({ 1: 1 }) })), 'cgroupfs')
  t.equal(decodeCgroupDriver(hex('0a 00')), 'systemd', 'the default of the enumeration is not written')
  t.equal(decodeCgroupDriver(message({ 1: message({ 1: 7 }) })), undefined)
  t.equal(decodeCgroupDriver(Buffer.alloc(0)), undefined)

  const annotations = { 'kubernetes.io/config.hash': 'h1', 'kubernetes.io/config.source': 'file' }
  const sandboxes = message({ 1: [sandboxMessage({ id: 's1', uid: 'u1', attempt: 2, createdAtMs: 1_700_000_000_123, annotations })] })
  const containers = message({
    1: [0, 1, 2, 3, 9].map((state) => containerMessage({ id: `c${state}`, sandboxId: 's1', state, attempt: state })),
  })
  const pods = decodePods(sandboxes, containers)
  t.strictSame(pods.sandboxes, [
    {
      id: 's1',
      uid: 'u1',
      name: 'pod',
      namespace: 'default',
      attempt: 2,
      state: 'ready',
      createdAtMs: 1_700_000_000_123,
      configSource: 'file',
      configHash: 'h1',
    },
  ])
  t.same(
    pods.containers.map(({ state }) => state),
    ['created', 'running', 'exited', 'unknown', 'unknown'],
  )
  t.strictSame(pods.containers[1], { id: 'c1', sandboxId: 's1', name: 'main', attempt: 1, state: 'running', createdAtMs: 5 })
})

t.test('an answer with very many small parts is an error', async (t) => {
  const many = Buffer.alloc(60_000, hex('0a 00'))
  t.throws(() => decodePods(many, Buffer.alloc(0)), /more than 20000 items/)
  const conditions = message({ 1: Buffer.alloc(1_000_002, hex('0a 00')) })
  t.throws(() => decodeStatus(conditions), /too many fields/)
})
