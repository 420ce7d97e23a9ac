// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Desired } from '../../src/decision/desired.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step, Wait } from '../../src/decision/step.ts'
import { describeTurn, Heartbeat } from '../../src/systemd/heartbeat.ts'
import { found, snapshot, source } from '../report/build.ts'

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
  /** @param nextS when the loop would look again by itself */
  const nextPass = (afterS: number, nextS: number) => pass(afterS * 1e6, { ...settled, untilUs: world.nowUs + (afterS + nextS) * 1e6 })
  return { heartbeat, pass, nextPass, sent: world.sent }
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

for (const [cadence, seconds] of [
  ['each pass', 20],
  ['each pass, though one begins a little early', 19.99],
  ['each pass', 15],
  ['every fourth pass', 5],
] as const) {
  t.test(`with a pass every ${seconds} s, ${cadence} sends a message`, async (t) => {
    const { nextPass } = world(180e6)
    nextPass(0, seconds)
    const messages = Array.from({ length: 120 }, () => nextPass(seconds, seconds).length).filter((count) => count > 0)
    t.equal(messages.length, seconds === 5 ? 30 : 120)
  })
}

t.test('passes that are woken send a message every 10 s at most, and never let 30 s go by without one', async (t) => {
  const { nextPass } = world(180e6)
  nextPass(0, 20)
  for (const betweenS of [0.1, 1, 4, 9, 11, 19]) {
    let silentS = 0
    for (let pass = 0; pass < 200; pass++) {
      silentS += betweenS
      const isSent = nextPass(betweenS, 20).length > 0
      t.ok(silentS <= 30, `${silentS} s after the last message`)
      if (!isSent) continue
      t.ok(silentS >= 9.99 || pass === 0, `a message ${silentS} s after the last one`)
      silentS = 0
    }
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

const rest = { kind: 'wait', phase: 'settled', detail: 'local', untilUs: 0 } as const
const line = (fields: Partial<Snapshot>) => describeTurn(rest, snapshot(fields))
const ref = { namespace: 'kube-system', name: 'node-config', kubeletConfigKey: 'kubelet' }

t.test('the reason for an unknown assignment comes before the state', async (t) => {
  const cases: [Desired, string][] = [
    [{ kind: 'local' }, 'settled: local'],
    [found(source()), 'settled: local'],
    [
      { kind: 'unknown', detail: 'kubeconfig /etc/kubernetes/kubelet.conf does not exist yet' },
      'waiting for the assignment: kubeconfig /etc/kubernetes/kubelet.conf does not exist yet (settled: local)',
    ],
    [{ kind: 'invalid', detail: 'configMap has no key' }, 'the assignment is not valid: configMap has no key (settled: local)'],
    [{ kind: 'config-map', ref, object: { kind: 'pending' } }, 'waiting for ConfigMap kube-system/node-config (settled: local)'],
    [
      { kind: 'config-map', ref, object: { kind: 'unavailable', reason: 'not-found', detail: 'it does not exist' } },
      'waiting for ConfigMap kube-system/node-config: it does not exist (settled: local)',
    ],
  ]
  for (const [desired, text] of cases) t.equal(line({ desired }), text)
})

t.test('a hold is named instead of the assignment', async (t) => {
  const requests = { hold: 'local', rollback: undefined, retry: false } as const
  t.equal(line({ requests, desired: { kind: 'unknown', detail: 'x' } }), 'held on the local config until resume (settled: local)')
})

t.test('always one bounded line of plain text', async (t) => {
  const text = describeTurn({ ...rest, detail: `a\nWATCHDOG=1\n\u001b[31mred ${'x'.repeat(1000)}` }, undefined)
  t.match(text, /^settled: a WATCHDOG=1 \?\[31mred x+\.\.\.$/)
  t.equal(text.length, 300)
})
