// SPDX-License-Identifier: Apache-2.0
/** A process that is not kubelet has kubelet's health port. */
import t from 'tap'
import { nextStep } from '../../src/decision/rules.ts'
import { describeCondition } from '../../src/report/condition.ts'
import { NO_DEADLINES } from '../../src/report/deadlines.ts'
import type { Condition } from '../../src/report/reasons.ts'
import { A, B, C, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { CRASHES, SmallWorld, WELL } from './small-world.ts'

function conditionOf({ snapshots }: SmallWorld): Condition | undefined {
  const [snapshot] = snapshots.slice(-1)
  const step = snapshot && nextStep(snapshot)
  return snapshot && step?.kind === 'wait' ? describeCondition(snapshot, step, NO_DEADLINES) : undefined
}

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
  t.match(conditionOf(world)?.message, /a process of uid 65534, which is not kubelet, has port 10248/)
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
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(B), 'it is not left')
  t.same(world.record('last-known-good'), A, 'and not promoted')
  t.match(world.snapshots.at(-1)?.healthz, { ok: 'unknown', detail: /does not listen there has port 10248/ })
  world.portHolder = { kind: 'own', inodes: ['1'] }
  await world.run(15 * MINUTE_US)
  t.same(world.record('last-known-good'), B)
})

/** Kubelet runs A, and B moves its health port to where a stranger is. */
async function moveToTaken(answers: SmallWorld['strangerAnswers']): Promise<SmallWorld> {
  const world = new SmallWorld()
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.healthPort = (path) => (path?.includes(`/${B.uid}/${B.resourceVersion}/`) === true ? { port: 10348 } : {})
  world.strangersPort = 10348
  world.portHolder = { kind: 'stranger', uid: answers === 'nothing' ? undefined : 65534, inodes: [] }
  world.strangerAnswers = answers
  world.want(B)
  return world
}

t.test('a config that moves the health port to where a stranger is, is left in doubt', async (t) => {
  for (const answers of [true, false, 'nothing'] as const) {
    const world = await moveToTaken(answers)
    await world.run(4 * MINUTE_US)
    t.equal(await world.running(), textOf(A), String(answers))
    t.match([...world.records.verdicts().values()], [{ reason: 'start-deadline', doubtful: true, detail: /has port 10348/ }])
    // Another config that leaves the port where it is has its trial.
    world.want(C)
    await world.run(15 * MINUTE_US)
    t.same(world.record('last-known-good'), C)
  }
})

t.test('also where the stranger lets go of the port just before the deadline', async (t) => {
  const world = await moveToTaken(false)
  const illUs = (): number => {
    const health = world.snapshots.at(-1)?.health
    return health?.unhealthySinceUs === undefined ? 0 : world.nowUs - health.unhealthySinceUs
  }
  while (illUs() < world.policy.startDeadlineUs - 2 * SECOND_US) await world.run(SECOND_US)
  t.same([...world.records.verdicts().keys()], [])
  // Kubelet tries to listen again every 5 s.
  world.portHolder = { kind: 'unseen', detail: 'nobody listens there' }
  world.hangs = true
  await world.run(10 * SECOND_US)
  t.match([...world.records.verdicts().values()], [{ reason: 'start-deadline', doubtful: true, detail: /connection refused/ }])
})

const TAKEN = '"Failed to listen and serve" err="listen tcp 0.0.0.0:10250: bind: address already in use"'

/** kubelet runs A, and exits with B, since somebody has its TLS port. */
async function openTaken(): Promise<SmallWorld> {
  const world = new SmallWorld({ restartUs: 10 * SECOND_US })
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.portHolder = { kind: 'stranger', uid: 65534, inodes: ['2'] }
  world.strangerAnswers = 'nothing'
  world.lastWords = () => TAKEN
  for (const source of [A, B]) world.behave(source, CRASHES)
  world.want(B)
  return world
}

t.test('kubelet exits, since a stranger has its TLS port: no doing of its config', async (t) => {
  const world = await openTaken()
  await world.run(8 * MINUTE_US)
  t.equal(world.startedWith, textOf(B), 'it is not left')
  t.same([...world.records.verdicts().keys()], [])
  t.equal(world.restartsAskedAtUs.length, 2)
  t.match(conditionOf(world), { reason: 'Restarting', message: /uid 65534, which is not kubelet, has port 10250 of 0\.0\.0\.0/ })
  world.behave(B, WELL)
  world.portHolder = { kind: 'own', inodes: ['1'] }
  await world.run(15 * MINUTE_US)
  t.same(world.record('last-known-good'), B)
  t.same([...world.records.verdicts().keys()], [])
})

t.test('where the port is free, is root, or is not known to be taken, exits count', async (t) => {
  for (const holder of [
    { kind: 'unseen', detail: 'nobody listens there' },
    { kind: 'own', inodes: ['1'] },
    { kind: 'untold', detail: 'EACCES' },
  ] as const) {
    const world = await openTaken()
    world.behave(A, WELL)
    world.portHolder = holder
    await world.run(2 * MINUTE_US)
    t.match([...world.records.verdicts().values()], [{ reason: 'crash-loop', doubtful: true }], holder.kind)
  }
})

t.test('what a stranger has does not excuse a config that moved kubelet to that port, nor other words', async (t) => {
  for (const ofFallback of [{ port: 10350 }, { host: '10.0.0.5' }, { isOff: true }]) {
    const moved = await openTaken()
    moved.behave(A, WELL)
    moved.serving = (path) => (path?.includes(`/${A.resourceVersion}/`) === true && path.includes(A.uid) ? ofFallback : {})
    await moved.run(2 * MINUTE_US)
    t.match([...moved.records.verdicts().values()], [{ reason: 'crash-loop', doubtful: true }], JSON.stringify(ofFallback))
  }
  const panics = await openTaken()
  panics.behave(A, WELL)
  panics.lastWords = () => 'panic: unrecognized feature gate: Nope'
  await panics.run(2 * MINUTE_US)
  t.match([...panics.records.verdicts().values()], [{ reason: 'crash-loop' }])
})
