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
  const pass = (afterUs: number, step: Step = settled, seen: Snapshot | undefined = snapshot()) => {
    world.nowUs += afterUs
    const before = world.sent.length
    heartbeat.turned(step, seen)
    return world.sent.slice(before)
  }
  return { heartbeat, pass, sent: world.sent }
}

t.test('no message before the first pass; then the agent is ready', async (t) => {
  const { pass, sent } = world()
  t.same(sent, [])
  t.same(pass(0), [{ READY: '1', WATCHDOG: '1', STATUS: 'settled: local' }])
})

t.test('the first pass makes the agent ready even if it has a step to perform; the status follows with the first wait', async (t) => {
  const { pass } = world()
  t.same(pass(0, promote), [{ READY: '1', WATCHDOG: '1', STATUS: 'starting' }])
  t.same(pass(1000, promote), [])
  t.same(pass(1000), [{ READY: '1', WATCHDOG: '1', STATUS: 'settled: local' }])
})

t.test('nine complete messages per watchdog interval', async (t) => {
  const { heartbeat, pass } = world(180e6)
  t.equal(heartbeat.beatUs, 20e6)
  pass(0)
  t.same(pass(19e6), [])
  t.same(pass(1e6), [{ READY: '1', WATCHDOG: '1', STATUS: 'settled: local' }])
  t.same(pass(19e6), [])
})

t.test('a loop with a pass every 20 s sends a message for each pass', async (t) => {
  const { pass } = world(180e6)
  pass(0)
  let silentUs = 0
  for (let look = 0; look < 100; look++) {
    silentUs += 20e6
    if (pass(20e6).length > 0) silentUs = 0
    t.ok(silentUs < 20e6, `${silentUs / 1e6} s without a message`)
  }
})

t.test('without a watchdog, READY is repeated too, in case a message was lost', async (t) => {
  const { pass } = world('none')
  pass(0)
  t.same(pass(59e6), [])
  t.match(pass(1e6), [{ READY: '1' }])
})

t.test('a new status is sent immediately, but at most three times in 15 s', async (t) => {
  const { pass } = world()
  pass(0)
  t.match(pass(1e5, restarting), [{ STATUS: 'restarting: kubelet is on its way up' }])
  t.match(pass(1e5, settled), [{ STATUS: 'settled: local' }])
  t.same(pass(1e5, restarting), [], 'the limit is reached')
  t.same(pass(1e5, settled), [], 'the status is the one last sent')
  t.same(pass(14.5e6, restarting), [])
  t.match(pass(1e5, restarting), [{ STATUS: 'restarting: kubelet is on its way up' }], 'the first message is 15 s old')
})

t.test('a pass that could not observe the node counts', async (t) => {
  const { pass } = world()
  const blind: Wait = { kind: 'wait', phase: 'unknown', detail: 'EIO: i/o error, read', untilUs: 0 }
  t.match(pass(0, blind, undefined), [{ READY: '1', STATUS: 'unknown: EIO: i/o error, read' }])
})

t.test('no message follows STOPPING', async (t) => {
  const { heartbeat, pass, sent } = world()
  pass(0)
  heartbeat.stopping()
  t.same(sent.slice(1), [{ STOPPING: '1', STATUS: 'stopping; kubelet keeps running unchanged' }])
  t.same(pass(100e6, restarting), [])
})
