// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { BusConversation, HintPace } from '../../src/systemd/bus-conversation.ts'
import { BusReader } from '../../src/systemd/bus-message.ts'
import { encodeMessage, type TestMessage } from './bus-messages.ts'

const BUS = 'org.freedesktop.DBus'
const OK = Buffer.from('OK 1234deadbeef\r\n')

/** A conversation, and the bus at its other end. */
function world() {
  const conversation = new BusConversation('kubelet.service')
  const world = { nowUs: 1e6 }
  const hear = (...messages: TestMessage[]) => conversation.hear(Buffer.concat(messages.map(encodeMessage)), world.nowUs)
  /** Hello, three rules, and the subscription. */
  const begin = () => {
    const { write } = conversation.hear(OK, world.nowUs)
    for (const replySerial of [1, 2, 3, 4]) hear({ type: 'return', sender: BUS, replySerial })
    return write
  }
  const listen = () => {
    begin()
    hear({ type: 'return', sender: ':1.0', replySerial: 5 })
  }
  return { conversation, world, hear, begin, listen }
}

t.test('it says who it is, and asks for the signals of the unit', async (t) => {
  const { conversation, begin } = world()
  t.equal(conversation.greet(1000).toString(), '\0AUTH EXTERNAL 31303030\r\n')
  const [start, ...calls] = begin()
  t.equal(start?.toString(), 'BEGIN\r\n')
  const all = Buffer.concat(calls)
  t.match(
    new BusReader().read(all).map(({ member }) => member),
    ['Hello', 'AddMatch', 'AddMatch', 'AddMatch', 'Subscribe'],
  )
  t.match(all.toString('latin1'), "path='/org/freedesktop/systemd1/unit/kubelet_2eservice'")
})

t.test('it listens once everything is answered, and it has been quiet since then', async (t) => {
  const { conversation, world: clock, hear, begin } = world()
  t.equal(conversation.quietSinceUs, undefined)
  begin()
  t.equal(conversation.quietSinceUs, undefined, 'systemd has not answered')
  clock.nowUs = 2e6
  t.strictSame(hear({ type: 'return', sender: ':1.0', replySerial: 5 }), { write: [], hint: false })
  t.equal(conversation.quietSinceUs, 2e6)
})

t.test('a rule that is answered last counts too', async (t) => {
  const { conversation, world: clock, hear } = world()
  conversation.hear(OK, 1e6)
  for (const replySerial of [1, 2, 3]) hear({ type: 'return', sender: BUS, replySerial })
  hear({ type: 'return', sender: ':1.0', replySerial: 5 })
  t.equal(conversation.quietSinceUs, undefined)
  clock.nowUs = 3e6
  hear({ type: 'return', sender: BUS, replySerial: 4 })
  t.equal(conversation.quietSinceUs, 3e6)
})

t.test('a greeting may come in pieces', async (t) => {
  const { conversation } = world()
  t.strictSame(conversation.hear(OK.subarray(0, 5), 1), { write: [], hint: false })
  t.equal(conversation.hear(OK.subarray(5), 1).write.length, 6)
})

t.test('a signal of systemd is a hint', async (t) => {
  const { conversation, world: clock, hear, listen } = world()
  listen()
  clock.nowUs = 5e6
  t.strictSame(hear({ type: 'signal', sender: ':1.0', member: 'PropertiesChanged', bodyLength: 900 }), { write: [], hint: true })
  t.equal(conversation.quietSinceUs, 5e6)
})

t.test('signals of others are none', async (t) => {
  const { conversation, world: clock, hear, listen } = world()
  listen()
  const [before] = [conversation.quietSinceUs]
  clock.nowUs = 5e6
  for (const sender of [':1.7', undefined, BUS]) {
    t.strictSame(hear({ type: 'signal', sender, member: 'PropertiesChanged' }), { write: [], hint: false })
  }
  hear({ type: 'call', sender: ':1.7', member: 'Do' }, { type: 'return', sender: ':1.7', replySerial: 99 })
  t.equal(conversation.quietSinceUs, before)
})

t.test('a systemd that comes back to the bus is subscribed to again', async (t) => {
  const { conversation, hear, listen } = world()
  listen()
  const { write, hint } = hear({ type: 'signal', sender: BUS, member: 'NameOwnerChanged' })
  t.equal(hint, true)
  t.match(new BusReader().read(Buffer.concat(write)), [{ member: 'Subscribe' }])
  t.equal(conversation.quietSinceUs, undefined)
  t.strictSame(hear({ type: 'signal', sender: ':1.0', member: 'PropertiesChanged' }), { write: [], hint: false }, 'an old connection')
  // The peer is away, and the bus answers in its place.
  hear({ type: 'error', sender: BUS, replySerial: 6 })
  t.equal(conversation.quietSinceUs, undefined)
  hear({ type: 'signal', sender: BUS, member: 'NameOwnerChanged' })
  // Subscriptions outlive daemon-reexec.
  hear({ type: 'error', sender: ':1.9', replySerial: 7 })
  t.not(conversation.quietSinceUs, undefined)
  t.equal(hear({ type: 'signal', sender: ':1.9', member: 'PropertiesChanged' }).hint, true)
})

t.test('a bus that does not let it in, or listen, is of no use', async (t) => {
  t.throws(() => world().conversation.hear(Buffer.from('REJECTED EXTERNAL\r\n'), 1), { code: 'bus-refused' })
  t.throws(() => world().conversation.hear(Buffer.alloc(2000, 'x'), 1), { code: 'bus-refused' })
  const { conversation, hear } = world()
  conversation.hear(OK, 1e6)
  t.throws(() => hear({ type: 'error', sender: BUS, replySerial: 2 }), { code: 'bus-refused' })
})

t.test('a flood is of no use either, but as much over a longer time is', async (t) => {
  const flood = (everyUs: number) => {
    const { world: clock, hear, listen } = world()
    listen()
    for (let sent = 0; sent < 400; sent += 1) {
      clock.nowUs += everyUs
      hear({ type: 'signal', sender: ':1.7', member: 'Do', bodyLength: 8000 })
    }
  }
  t.throws(() => flood(1000), { code: 'bus-flood' })
  t.doesNotThrow(() => flood(1e6))
})

t.test('a unit of any name has its path', async (t) => {
  for (const [unit, path] of [
    ['1k.service', '/unit/_31k_2eservice'],
    ['snap.kubelet-eks.daemon.service', '/unit/snap_2ekubelet_2deks_2edaemon_2eservice'],
  ] as const) {
    const { write } = new BusConversation(unit).hear(OK, 1)
    t.match(Buffer.concat(write).toString('latin1'), `${path}'`)
  }
})

t.test('the first hint wakes at once, and the next ones together', async (t) => {
  const pace = new HintPace()
  t.equal(pace.dueUs(1e6), 1e6)
  pace.woken(1e6)
  t.equal(pace.dueUs(1.01e6), 1.05e6)
  pace.woken(1.05e6)
  t.equal(pace.dueUs(3e6), 3e6)
})

t.test('hints that never end wake once a second', async (t) => {
  const pace = new HintPace()
  let woken = 0
  for (let nowUs = 0; nowUs < 100e6; nowUs += 10e3) {
    if (pace.dueUs(nowUs) > nowUs) continue
    pace.woken(nowUs)
    woken += 1
  }
  t.ok(woken > 90 && woken < 130, `${woken}`)
  t.equal(pace.dueUs(130e6), 130e6, 'after a while they wake at once again')
})
