/** A process that is not kubelet has kubelet's health port. */
import t from 'tap'
import { nextStep } from '../../src/decision/next-step.ts'
import { describeCondition } from '../../src/report/condition.ts'
import { NO_DEADLINES } from '../../src/report/deadlines.ts'
import { A, B, MINUTE_US, textOf } from '../decision/snapshots.ts'
import { SmallWorld } from './small-world.ts'

t.test('what a stranger at the health port answers neither promotes nor condemns', async (t) => {
  const stranger = { kind: 'stranger', uid: 65534, inodes: ['2'] } as const
  const own = { kind: 'own', inodes: ['1'] } as const
  const world = new SmallWorld()
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.portHolder = stranger
  world.strangerAnswers = false
  world.want(B)
  await world.run(30 * MINUTE_US)
  t.equal(await world.running(), textOf(B), 'it is not left')
  t.same(world.record('last-known-good'), A, 'and not promoted')
  const [snapshot] = world.snapshots.slice(-1)
  const step = snapshot && nextStep(snapshot)
  const message = snapshot && step?.kind === 'wait' ? describeCondition(snapshot, step, NO_DEADLINES).message : ''
  t.match(message, /a process of uid 65534, which is not kubelet, has port 10248/)
  world.strangerAnswers = true
  await world.run(30 * MINUTE_US)
  t.same(world.record('last-known-good'), A)
  world.portHolder = own
  await world.run(15 * MINUTE_US)
  t.same(world.record('last-known-good'), B)
  world.portHolder = stranger
  world.strangerAnswers = false
  await world.run(30 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  t.equal(world.restartsAskedAtUs.length, 2, 'what was promoted is not left either')
})

t.test('nor does a stranger that only binds it', async (t) => {
  const world = new SmallWorld()
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.strangerAnswers = 'nothing'
  world.portHolder = { kind: 'stranger', uid: undefined, inodes: [] }
  world.want(B)
  await world.run(30 * MINUTE_US)
  t.equal(await world.running(), textOf(B), 'it is not left')
  t.same(world.record('last-known-good'), A, 'and not promoted')
  t.match(world.snapshots.at(-1)?.healthz, { ok: 'unknown', detail: /does not listen there has port 10248/ })
  world.portHolder = { kind: 'own', inodes: ['1'] }
  await world.run(15 * MINUTE_US)
  t.same(world.record('last-known-good'), B)
})
