// SPDX-License-Identifier: Apache-2.0
/**
 * Twenty nodes with one config, from the label that assigns it to what an API server forgets when
 * it restarts: several acts, since twenty agents take long to start.
 */
import { strict as assert } from 'node:assert'
import type { Step } from '../lab/runner.ts'
import { CONFIG_LABEL, PAUSED_ANNOTATION } from '../node-words.ts'
import { crashing, type Fleet, maxPods } from './fleet.ts'
import { count, ROLLOUT_ANNOTATION, type RolloutRecord } from './words.ts'

/** In stage 1 none is free, then about 4 and about 10. */
const PLAN = 'waves: [20%, 50%], witnesses: 3, maxSilent: 1, spread: 2s'
const [WITNESSES, FINISHED] = [3, 4]
const MINUTE = 60_000
const NAMES = Array.from({ length: 20 }, (_, index) => `n${index + 1}`)

/** @param isWhole otherwise only what shows that rollouts work on this API server */
export async function playTwenty(step: Step, fleet: Fleet, { isWhole }: { readonly isWhole: boolean }): Promise<void> {
  await step('twenty agents with no config, and a config with a rollout', async () => {
    await fleet.addAll(NAMES, { assigned: false })
    await fleet.write(maxPods(51), { plan: PLAN })
  })
  await step('a label on all Nodes at once: they go in stages', async () => {
    await fleet.plane.kubectl(['label', 'nodes', '--all', `${CONFIG_LABEL}=${fleet.config}`])
    await passesAllStages(fleet, 51)
  })
  const { version, starters } = await step('an edit that crashes everywhere is started by one node, and halts', () => crash(fleet, 98))
  await fleet.untilAllRun(51)
  if (isWhole) await playHalted(step, fleet, version, starters)
  if (isWhole) await playHeldBack(step, fleet)
  await step(isWhole ? 'the pause ends, a node joins, and the fix passes all stages' : 'the fix passes all stages', async () => {
    if (isWhole) await fleet.patchConfig({ metadata: { annotations: { [PAUSED_ANNOTATION]: null } } })
    else await fleet.write(maxPods(52))
    await fleet.until('stage 1 is open', ({ generation, stage }) => generation > 1 && stage >= 1, 3 * MINUTE)
    if (isWhole) await fleet.add('later')
    await passesAllStages(fleet, 52)
  })
  if (isWhole) await playAgain(step, fleet)
}

/**
 * One witness in stage 0, and enough of them in each of the others; then all nodes run it. The last
 * wave is some ten nodes. Where all but one or two of them were witnesses before, none is left that
 * could open it, and the record stays where it is.
 */
async function passesAllStages(fleet: Fleet, pods: number): Promise<void> {
  const isLastWave = ({ stage }: RolloutRecord) => stage >= FINISHED - 1
  await fleet.until('all but the last wave are free', isLastWave, 5 * MINUTE)
  await fleet.untilAllRun(pods, undefined, 5 * MINUTE)
  const isOver = (record: RolloutRecord) => record.stage === FINISHED || (isLastWave(record) && count(record, 'claim', record.stage) === 0)
  const record = await fleet.until('all are free, or none is left that could prove it', isOver, 5 * MINUTE)
  const proofs = [0, 1, 2, 3].map((stage) => count(record, 'proof', stage))
  assert.equal(proofs[0], 1)
  for (const each of proofs.slice(1, record.stage)) assert(each >= WITNESSES, `${proofs}`)
}

/** Until all others hold it back. */
async function crash(fleet: Fleet, pods: number, plan = PLAN): Promise<{ version: string; starters: string[] }> {
  const restarted = fleet.mark()
  const { generation } = await fleet.read()
  const version = await fleet.write(crashing(pods), { plan })
  const failed = await fleet.until('it has failed', (record) => record.generation > generation && count(record, 'veto') > 0, 3 * MINUTE)
  assert.equal(failed.stage, 0)
  const starters = restarted()
  assert.equal(starters.length, 1, `${starters}`)
  await fleet.untilHeld(version, /halted.* failed on/, starters)
  assert.deepEqual(restarted(), starters)
  return { version, starters }
}

async function playHalted(step: Step, fleet: Fleet, version: string, starters: readonly string[]): Promise<void> {
  await step('a node that joins while it is halted does not start it, and says why', async () => {
    await fleet.add('late')
    const restarted = fleet.mark()
    await fleet.untilHeld(version, /halted/, starters)
    assert.deepEqual(restarted(), [])
    assert.match((await fleet.machine('late').agent.command('rollout')).stdout, /halted/)
  })
  await step('the record is deleted and made again: it learns the veto', async () => {
    const restarted = fleet.mark()
    await fleet.deleteRecord()
    await fleet.createRecord()
    await fleet.until('it has failed', (record) => record.generation === 1 && count(record, 'veto') > 0, 3 * MINUTE)
    await fleet.untilHeld(version, /halted/, starters)
    await fleet.untilAllRun(51, NAMES)
    // Vetoes come first within some seconds, which are not enough on a machine that is too busy.
    assert(restarted().length <= 1, `${restarted()}`)
  })
}

async function playHeldBack(step: Step, fleet: Fleet): Promise<void> {
  const restarted = fleet.mark()
  await step('the fix comes, and its annotation is taken away: nobody starts', async () => {
    const version = await fleet.patchConfig({ metadata: { annotations: { [ROLLOUT_ANNOTATION]: null } }, data: { kubelet: maxPods(52) } })
    await fleet.untilHeld(version, /annotation .*missing/)
  })
  await step('with the annotation, but paused: nobody starts', async () => {
    const version = await fleet.write(maxPods(52), { plan: PLAN, annotations: { [PAUSED_ANNOTATION]: 'true' } })
    await fleet.untilHeld(version, /paused/)
    assert.deepEqual(restarted(), [])
  })
}

async function playAgain(step: Step, fleet: Fleet): Promise<void> {
  await step('another that crashes, and once more after `retry` is raised: by one node each', async () => {
    await crash(fleet, 99)
    await crash(fleet, 99, `${PLAN}, retry: 1`)
  })
  // The last act: until it is read once a minute, nobody hears of an edit that an API server which
  // has just started cannot tell from an old one.
  await step('the next fix; the API server restarts in mid-stage', async () => {
    const { generation } = await fleet.read()
    await fleet.write(maxPods(53))
    await fleet.until('stage 1 is open', (record) => record.generation > generation && record.stage >= 1, 3 * MINUTE)
    await fleet.plane.stopApiserver()
    await fleet.plane.startApiserver()
    await passesAllStages(fleet, 53)
  })
}
