// SPDX-License-Identifier: Apache-2.0
/** A node in trouble while its assigned config waits for a rollout. */
import t from 'tap'
import { HOUR_US, MINUTE_US, SECOND_US } from '../decision/snapshots.ts'
import { node } from '../evidence/samples.ts'
import { ANSWERS_WELL } from './fake-evidence.ts'
import { FleetWorld, RECORD } from './fleet-world.ts'
import { CRASHES, WELL } from './small-world.ts'

t.setTimeout(240_000)

/** A node that runs a first content, from before there was a rollout. */
async function settledNode() {
  const fleet = new FleetWorld(1)
  const [node] = fleet.nodes
  if (node === undefined) throw new Error('no node')
  fleet.edit('first', {})
  await fleet.run(3 * MINUTE_US)
  return { fleet, node, world: node.world }
}

t.test('every config has failed: the node begins the rollout of the fix, and takes it', async (t) => {
  const { fleet, world } = await settledNode()
  fleet.api.put(RECORD, {})
  world.behaveWith('first', CRASHES)
  world.behaveWith('local', CRASHES)
  world.unit.kill()
  const isAtFault = () => world.steps.at(-1)?.kind === 'wait' && world.snapshots.at(-1)?.verdicts.size === 2
  t.ok(await fleet.until(isAtFault, 30 * MINUTE_US), 'the node is at fault')
  fleet.edit('fix')
  t.ok(await fleet.until(async () => (await world.running()) === 'fix' && world.unit.healthy, 20 * MINUTE_US))
  t.match(Object.values(fleet.record() ?? {}).join(), / (claim|proof) /, 'with a claim')
  await fleet.stop()
})

t.test('what runs has a short fault: the node falls back, and comes back to what ran', async (t) => {
  const { fleet, world } = await settledNode()
  fleet.edit('second')
  await fleet.run(MINUTE_US)
  t.match(world.steps.at(-1), { phase: 'rollout', detail: /record .* does not exist/ })
  world.behaveWith('first', CRASHES)
  world.unit.kill()
  t.ok(await fleet.until(async () => (await world.running()) === 'local' && world.unit.healthy, 30 * MINUTE_US), 'it falls back')
  world.behaveWith('first', WELL)
  t.ok(await fleet.until(async () => (await world.running()) === 'first' && world.unit.healthy, 90 * MINUTE_US), 'it comes back')
  t.match(world.steps.at(-1), { kind: 'wait', detail: /waits for its rollout/ })
  await fleet.stop()
})

t.test('a start waits for the container runtime, and the turn is lost meanwhile: the next start goes back', async (t) => {
  for (const restarts of [false, true]) {
    const { fleet, node, world } = await settledNode()
    fleet.api.put(RECORD, {})
    world.runtimeUp = false
    fleet.edit('second')
    const isPhase = (phase: string) => () => {
      const step = world.steps.at(-1)
      return step?.kind === 'wait' && step.phase === phase
    }
    t.ok(await fleet.until(isPhase('runtime-down'), 5 * MINUTE_US), 'it is activated, and not started')
    fleet.api.remove(RECORD)
    if (restarts) fleet.restartAgent(node)
    t.ok(await fleet.until(isPhase('rollout'), MINUTE_US))
    world.runtimeUp = true
    world.unit.kill()
    await fleet.run(20 * SECOND_US)
    t.equal(await world.running(), 'first', 'also by a kubelet that exits it is not started')
    await fleet.stop()
  }
})

/** Two nodes, of which the witness of the second content has no pod network with it. */
async function witnessInDoubt() {
  const fleet = new FleetWorld(2)
  fleet.edit('first', {})
  await fleet.run(3 * MINUTE_US)
  fleet.api.put(RECORD, {})
  let isAway = true
  for (const { world } of fleet.nodes) {
    world.evidence.answer('node', (nowUs) => {
      const ms = Math.floor(nowUs / 1000)
      const message = 'container runtime network not ready: cni plugin not initialized'
      const isSecond = world.startedWith === 'second'
      return isAway && isSecond ? node('False', { reportedAtMs: ms, serverMs: ms, message }) : ANSWERS_WELL.node(nowUs)
    })
  }
  fleet.edit('second')
  const witness = () => fleet.nodes.find(({ world }) => world.steps.some((step) => step.kind === 'condemn'))
  t.ok(await fleet.until(() => witness() !== undefined, 20 * MINUTE_US), 'it falls back')
  const words = () => Object.entries(fleet.record() ?? {}).flatMap(([key, text]) => (key.startsWith('node.') ? [text.split(' ')[2]] : []))
  return { fleet, words, comeBack: () => (isAway = false) }
}

t.test('a witness in doubt gives its place up, and vetoes when it doubts a second time', async (t) => {
  const { fleet, words } = await witnessInDoubt()
  t.same(words(), ['claim'], 'a first doubt says nothing to others')
  t.ok(await fleet.until(() => words().length === 2, 10 * MINUTE_US), 'the other one is the next witness')
  t.ok(await fleet.until(() => words().includes('veto'), 25 * MINUTE_US))
  await fleet.run(1.5 * HOUR_US)
  for (const { world } of fleet.nodes) t.equal(await world.running(), 'first')
  await fleet.stop()
})

t.test('a witness in doubt proves the content if it is well with it after the pause', async (t) => {
  const { fleet, words, comeBack } = await witnessInDoubt()
  comeBack()
  t.ok(await fleet.until(() => words().includes('proof'), 20 * MINUTE_US))
  t.notOk(words().includes('veto'))
  await fleet.stop()
})
