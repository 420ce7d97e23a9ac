import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step, Wait } from '../../src/decision/step.ts'
import { Heartbeat } from '../../src/systemd/heartbeat.ts'
import { snapshot } from '../report/build.ts'

const settled: Wait = { kind: 'wait', phase: 'settled', detail: 'local', untilUs: 0 }
const restarting: Wait = { kind: 'wait', phase: 'restarting', detail: 'kubelet is on its way up', untilUs: 0 }
const promote: Step = { kind: 'prove', key: 'k' }

function world(watchdog: number | 'none' = 180e6) {
  const watchdogUs = watchdog === 'none' ? undefined : watchdog
  const world = { nowUs: 1e6, sent: [] as Readonly<Record<string, string>>[] }
  const clock = { now: () => ({ bootId: 'b', monotonicUs: world.nowUs, wallMs: 0 }) }
  const heartbeat = new Heartbeat({ clock, watchdogUs, send: (notification) => void world.sent.push(notification) })
  const turn = (afterUs: number, step: Step = settled, seen: Snapshot | undefined = snapshot()) => {
    world.nowUs += afterUs
    const before = world.sent.length
    heartbeat.turned(step, seen)
    return world.sent.slice(before)
  }
  return { heartbeat, turn, sent: world.sent }
}

t.test('nothing is said before the first turn; then that the agent is ready', async (t) => {
  const { turn, sent } = world()
  t.same(sent, [])
  t.same(turn(0), [{ READY: '1', WATCHDOG: '1', STATUS: 'settled: local' }])
})

t.test('a first turn with something to do is ready too, and what it comes to rest in follows at once', async (t) => {
  const { turn } = world()
  t.same(turn(0, promote), [{ READY: '1', WATCHDOG: '1', STATUS: 'starting' }])
  t.same(turn(1000, promote), [])
  t.same(turn(1000), [{ READY: '1', WATCHDOG: '1', STATUS: 'settled: local' }])
})

t.test('the watchdog hears of turns twelve times in its time, each message whole', async (t) => {
  const { heartbeat, turn } = world(180e6)
  t.equal(heartbeat.beatUs, 15e6)
  turn(0)
  t.same(turn(14e6), [])
  t.same(turn(1e6), [{ READY: '1', WATCHDOG: '1', STATUS: 'settled: local' }])
  t.same(turn(14e6), [])
})

t.test('a loop that looks every 15 s says so each time', async (t) => {
  const { turn } = world(180e6)
  turn(0)
  let silentUs = 0
  for (let look = 0; look < 100; look++) {
    silentUs += 15e6
    if (turn(15e6).length > 0) silentUs = 0
    t.ok(silentUs < 15e6, `${silentUs / 1e6} s without a message`)
  }
})

t.test('without a watchdog a READY that was lost is made good all the same', async (t) => {
  const { turn } = world('none')
  turn(0)
  t.same(turn(59e6), [])
  t.match(turn(1e6), [{ READY: '1' }])
})

t.test('what changes is said at once, but three times in a quarter of a minute at most', async (t) => {
  const { turn } = world()
  turn(0)
  t.match(turn(1e5, restarting), [{ STATUS: 'restarting: kubelet is on its way up' }])
  t.match(turn(1e5, settled), [{ STATUS: 'settled: local' }])
  t.same(turn(1e5, restarting), [], 'too much')
  t.same(turn(1e5, settled), [], 'and back again: nothing to say')
  t.same(turn(14.5e6, restarting), [])
  t.match(turn(1e5, restarting), [{ STATUS: 'restarting: kubelet is on its way up' }], 'the first is a quarter of a minute ago')
})

t.test('a turn that saw nothing is a turn', async (t) => {
  const { turn } = world()
  const blind: Wait = { kind: 'wait', phase: 'unknown', detail: 'EIO: i/o error, read', untilUs: 0 }
  t.match(turn(0, blind, undefined), [{ READY: '1', STATUS: 'unknown: EIO: i/o error, read' }])
})

t.test('after stopping nothing is said any more', async (t) => {
  const { heartbeat, turn, sent } = world()
  turn(0)
  heartbeat.stopping()
  t.same(sent.slice(1), [{ STOPPING: '1', STATUS: 'stopping; kubelet runs on as it is' }])
  t.same(turn(100e6, restarting), [])
})
