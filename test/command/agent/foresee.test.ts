// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { observe } from '../../../src/agent/observe.ts'
import { type Foretold, foresee } from '../../../src/command/agent/foresee.ts'
import { nextVisibleStep } from '../../../src/decision/rules.ts'
import type { Snapshot } from '../../../src/decision/snapshot.ts'
import type { Step } from '../../../src/decision/step.ts'
import { SmallWorld } from '../../agent/small-world.ts'
import { anySnapshot } from '../../decision/any-snapshot.ts'
import { A, A_EDITED, B, MINUTE_US, SECOND_US, verdict } from '../../decision/snapshots.ts'

const accepts: Foretold = { refusal: () => undefined, obstacle: () => undefined, drain: () => [] }
const refusing = (isRefused: (key: string) => boolean): Foretold => ({
  ...accepts,
  refusal: (key) => (isRefused(key) ? verdict(A, 'refused', { key }) : undefined),
})
/** The time that kubelet takes to come up, far less than a trial. */
const RESTART_US = 10 * SECOND_US

/**
 * Compares what is foreseen with the agent's own steps, up to the first wait that is foreseen as
 * the last.
 */
async function compareWithAgent(t: Test, world: SmallWorld, isRefused = false): Promise<void> {
  const seen = await observe(world.observationPorts(), [])
  const foreseen = foresee(
    seen,
    refusing((key) => isRefused && key.startsWith(`${seen.desiredContent}@`)),
  )
  world.steps.length = 0
  const endUs = world.nowUs + (foreseen.steps.at(-1)?.afterUs ?? 0)
  await world.run(endUs - world.nowUs + RESTART_US)
  const kinds = (steps: readonly Step[]) => steps.map(({ kind }) => kind).filter((kind) => kind !== 'wait' && kind !== 'record-boot')
  t.same(kinds(world.steps), kinds(foreseen.steps.map(({ step }) => step)))
  const end = await observe(world.observationPorts(), [])
  const records = ({ assigned, lastKnownGood, previous, proven, nextStart, running }: Snapshot) => ({
    assigned,
    lastKnownGood,
    previous,
    proven,
    nextStart,
    content: running.kind === 'known' ? running.content : running.kind,
  })
  t.same(records(end), records(foreseen.end))
}

t.test('the agent does what was foreseen', async (t) => {
  const world = new SmallWorld()
  await world.settle()
  world.want(A)
  await compareWithAgent(t, world)
  t.equal((await observe(world.observationPorts(), [])).running.kind, 'known')
})

t.test('the agent does what was foreseen, turn in the spread included', async (t) => {
  const world = new SmallWorld()
  world.want(A)
  await world.run(20 * MINUTE_US)
  t.not(world.records.get('proven')?.key, undefined)
  world.policy = { ...world.policy, spreadUs: 30 * MINUTE_US }
  world.want(A_EDITED)
  const { steps } = foresee(await observe(world.observationPorts(), []), accepts)
  t.ok(steps.some(({ step }) => step.kind === 'wait' && step.phase === 'spread'))
  t.ok((steps.find(({ step }) => step.kind === 'restart')?.afterUs ?? 0) > SECOND_US)
  await compareWithAgent(t, world)
})

t.test('the agent does what was foreseen of a config that is refused', async (t) => {
  const world = new SmallWorld()
  world.want(B)
  await world.run(20 * MINUTE_US)
  world.want(A)
  world.preflight = () => ({ kind: 'refused', reason: 'load', detail: 'no' })
  await compareWithAgent(t, world, true)
  t.match(foresee(await observe(world.observationPorts(), []), accepts).rest, { phase: 'refused' })
})

t.test('what waits for a drained node is foreseen to wait', async (t) => {
  const world = new SmallWorld()
  world.want(B)
  await world.run(20 * MINUTE_US)
  world.want(A)
  const { steps, rest } = foresee(await observe(world.observationPorts(), []), { ...accepts, drain: () => ['maxPods'] })
  t.match(rest, { phase: 'drain', detail: /maxPods/ })
  t.notOk(steps.some(({ step }) => step.kind === 'activate' || step.kind === 'restart'))
  world.preflight = () => ({ kind: 'accepted', remarks: [], drain: ['maxPods'] })
  t.match(await world.run(MINUTE_US), { phase: 'drain' }, 'and so does the agent')
})

t.test('the agent does what was foreseen of a reset', async (t) => {
  const world = new SmallWorld()
  world.want(A)
  await world.run(20 * MINUTE_US)
  world.want('local')
  await compareWithAgent(t, world)
})

t.test('a version that was given out again with other content', async (t) => {
  const world = new SmallWorld()
  world.want(A)
  await world.run(20 * MINUTE_US)
  world.want(A, { [A.kubeletConfigKey]: 'other' })
  await compareWithAgent(t, world)
})

t.test('nothing is foreseen of a node that rests', async (t) => {
  const world = new SmallWorld()
  world.want(A)
  await world.run(20 * MINUTE_US)
  const { steps, rest } = foresee(await observe(world.observationPorts(), []), accepts)
  t.same(steps, [])
  t.equal(rest.phase, 'settled')
})

t.test('whatever is seen: it begins as the agent would, ends, and changes nothing that it was given', async (t) => {
  fc.assert(
    fc.property(anySnapshot, fc.boolean(), (snapshot, refuses) => {
      const before = structuredClone(snapshot)
      const { steps, rest } = foresee(
        snapshot,
        refusing(() => refuses),
      )
      t.same(steps[0]?.step ?? rest, nextVisibleStep(snapshot))
      t.not(rest.detail, 'the agent would not come to rest')
      t.ok(steps.every(({ afterUs }, index) => afterUs >= (steps[index - 1]?.afterUs ?? 0)))
      t.same(snapshot, before)
    }),
    { numRuns: 400 },
  )
})
