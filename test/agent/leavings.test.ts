// SPDX-License-Identifier: Apache-2.0
/**
 * A config writes the state file of kubelet's CPU manager, and fails. Last-known-good then dies of
 * that file, until a person deletes it.
 */
import t from 'tap'
import { A, B, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { CRASHES, SmallWorld, WELL } from './small-world.ts'

const REMARK = 'cpuManagerPolicy is none, but the state file was written by policy static; delete it'
/** Of kubelet 1.36.4. */
const WORDS =
  'Failed to start ContainerManager: start cpu manager error: could not restore state from checkpoint: configured policy "none" differs from state checkpoint policy "static", please drain this node and delete the CPU manager checkpoint file'

/** A is promoted. B fails, and leaves a file with which nothing else starts. */
async function leaving(): Promise<SmallWorld> {
  const world = new SmallWorld({ restartUs: 10 * SECOND_US })
  world.want(A)
  await world.run(15 * MINUTE_US)
  let exits = 0
  world.lastWords = () => (world.startedWith === textOf(B) ? `panic: ${++exits}` : WORDS)
  world.preflight = ({ kubelet }) => ({ kind: 'accepted', remarks: kubelet === textOf(A) ? [REMARK] : [], drain: [] })
  world.behave(B, CRASHES)
  for (const other of [A, 'local'] as const) world.behave(other, CRASHES)
  world.want(B)
  return world
}

t.test('the journal says what to do before kubelet starts with last-known-good', async (t) => {
  const world = await leaving()
  await world.until('restart')
  for (let second = 0; second < 60 && !world.steps.some(({ kind }) => kind === 'condemn'); second += 1) await world.run(SECOND_US)
  t.equal(world.history.filter(({ kind }) => kind === 'rolled-back').length, 1, 'only the config itself has failed')
  t.ok(world.log.said.includes(REMARK))
})

t.test('once the file is gone, last-known-good runs on, and the config that left it is condemned', async (t) => {
  const world = await leaving()
  await world.run(5 * MINUTE_US)
  for (const other of [A, 'local'] as const) world.behave(other, WELL)
  await world.run(20 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  t.match([...world.records.verdicts().values()], [{ source: B, state: 'confirmed' }])
  const restarts = world.restartsAskedAtUs.length
  await world.run(60 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  t.equal(world.restartsAskedAtUs.length, restarts, 'it is not tried again')
})
