// SPDX-License-Identifier: Apache-2.0
/**
 * Who is told that the loop turned, and that a loop which hangs tells nobody: the watchdog of
 * systemd relies on it.
 */
import t from 'tap'
import { Loop, runLoop } from '../../src/agent/loop.ts'
import type { ObservationPorts } from '../../src/agent/observe.ts'
import type { EffectPorts } from '../../src/agent/perform.ts'
import { Waker } from '../../src/agent/waker.ts'
import { Heartbeat } from '../../src/systemd/heartbeat.ts'
import { A, SECOND_US } from '../decision/snapshots.ts'
import { SmallWorld } from './small-world.ts'

const never = new Promise<never>(() => {})

function beatingLoop(world: SmallWorld, parts: { observation?: Partial<ObservationPorts>; effects?: Partial<EffectPorts> } = {}) {
  const observation = { ...world.observationPorts(), ...parts.observation }
  const sent: Readonly<Record<string, string>>[] = []
  const heartbeat = new Heartbeat({ clock: observation.clock, watchdogUs: 60 * SECOND_US, send: (message) => void sent.push(message) })
  const turned: string[] = []
  const loop = new Loop({
    observation,
    effects: { ...world.effectPorts(), ...parts.effects },
    observer: {
      decided: () => {},
      turned: (step, seen) => {
        turned.push(step.kind)
        heartbeat.turned(step, seen)
      },
    },
    log: world.log,
  })
  return { loop, sent, turned, heartbeat, clock: observation.clock }
}

/** Lets everything happen that can happen without time. */
async function drain(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

t.test('each turn beats while the loop turns, and none after an executor that hangs', async (t) => {
  const world = new SmallWorld()
  const { loop, sent, turned } = beatingLoop(world, {
    effects: { preflight: { check: () => never, pending: () => new Set(), basis: () => '', obstacle: () => undefined } },
  })
  for (let look = 0; look < 4; look++) {
    await loop.settle(new AbortController().signal)
    world.advance(15 * SECOND_US)
  }
  t.equal(sent.length, 5, 'four looks, and the first records written')
  world.want(A)
  void loop.settle(new AbortController().signal)
  await drain()
  t.equal(turned.at(-1), 'assign', 'what came before it was done')
  const before = { sent: sent.length, turned: turned.length }
  world.advance(600 * SECOND_US)
  await drain()
  t.same({ sent: sent.length, turned: turned.length }, before, 'ten minutes later nothing has been said')
})

t.test('nothing beats while systemd or kubelet does not answer', async (t) => {
  const world = new SmallWorld()
  let hangs = false
  const unit = { observe: () => (hangs ? never : world.unit.observe()), stillRuns: () => false }
  const { loop, sent } = beatingLoop(world, { observation: { unit } })
  await loop.settle(new AbortController().signal)
  const before = sent.length
  hangs = true
  world.advance(600 * SECOND_US)
  void loop.settle(new AbortController().signal)
  await drain()
  t.equal(sent.length, before)
})

t.test('a step that fails, and a state that cannot be read, are turns all the same: a restart of the agent would not help', async (t) => {
  const world = new SmallWorld()
  world.diskFails = () => true
  world.want(A)
  const looks: boolean[] = []
  const { loop, turned } = beatingLoop(world, { effects: { statesFlag: { refresh: (seen) => void looks.push(seen !== undefined) } } })
  await loop.settle(new AbortController().signal)
  t.ok(turned.includes('assign'))
  t.ok(looks.length > 0 && !looks.includes(false))
  world.records.read = () => {
    throw new Error('EIO')
  }
  turned.length = 0
  await loop.settle(new AbortController().signal)
  t.same(turned, ['wait'])
  t.equal(looks.at(-1), false, 'no state file is said to fit what nobody sees')
})

t.test('the loop turns as often as the watchdog wants, whatever it waits for', async (t) => {
  const world = new SmallWorld()
  const { loop, turned, clock } = beatingLoop(world)
  const stop = new AbortController()
  const slept: number[] = []
  class Sleeper extends Waker {
    override async sleepUntil(untilUs: number): Promise<void> {
      slept.push(untilUs - world.nowUs)
      world.advance(untilUs - world.nowUs)
      if (slept.length === 5) stop.abort()
    }
  }
  await runLoop(loop, new Sleeper(), clock, stop.signal, 0.5 * SECOND_US)
  t.same(slept, Array(5).fill(0.5 * SECOND_US))
  t.ok(turned.length >= 5)
})
