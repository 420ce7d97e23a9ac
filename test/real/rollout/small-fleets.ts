// SPDX-License-Identifier: Apache-2.0
/**
 * Two small fleets in one cluster, each with a config and a record of its own: one's rollout
 * neither waits for the other's nor stops it.
 */
import { strict as assert } from 'node:assert'
import type { Step } from '../lab/runner.ts'
import { PAUSED_ANNOTATION } from '../node-words.ts'
import { crashing, type Fleet, maxPods } from './fleet.ts'
import { CANARY_LABEL, count, ROLLOUT_ANNOTATION } from './words.ts'

const PLAN = 'waves: [50%], witnesses: 2, maxSilent: 1, spread: 2s'
const MINUTE = 60_000

export async function playCanary(step: Step, fleet: Fleet): Promise<void> {
  const others = ['n1', 'n2', 'n3', 'n4']
  await step('a canary and four others', async () => {
    await fleet.addAll(others)
    // Long enough to die in it.
    await fleet.add('canary', { settings: { trialDuration: '10s' }, labels: { [CANARY_LABEL]: 'true' } })
    await fleet.untilAllRun(41, undefined, 3 * MINUTE)
  })
  const canary = fleet.machine('canary')
  await step('the canary starts while the others are paused, and dies in its trial', async () => {
    await fleet.plane.kubectl(['annotate', 'nodes', ...others, `${PAUSED_ANNOTATION}=true`])
    for (const name of others) await fleet.machine(name).agent.untilSays(/^paused by annotation/)
    await fleet.write(maxPods(51), { plan: PLAN })
    await fleet.until('the canary has started', ({ said }) => said.get('canary')?.word === 'claim', 2 * MINUTE)
    await canary.untilRuns(51)
    canary.agent.signal('SIGKILL')
    canary.kubelet.command('stop')
    const { said } = await fleet.read()
    assert.deepEqual([...said], [['canary', { stage: 0, word: 'claim' }]])
    await fleet.plane.kubectl(['annotate', 'nodes', ...others, `${PAUSED_ANNOTATION}-`])
  })
  await step('when it is silent another takes its place', async () => {
    await fleet.until('stage 1 is open', ({ stage }) => stage >= 1, 10 * MINUTE)
  })
  await step('the canary comes back, and proves it late', async () => {
    canary.kubelet.command('start')
    canary.agent.start()
    await fleet.until('the canary has proved it', ({ said }) => said.get('canary')?.word === 'proof', 5 * MINUTE)
    await fleet.untilAllRun(51, undefined, 10 * MINUTE)
  })
}

export async function playControlPlanes(step: Step, fleet: Fleet): Promise<void> {
  // The others wait for as long as a trial takes after each change of the record.
  const [names, settings] = [['c1', 'c2', 'c3'], { trialDuration: '5s' }] as const
  await step('three control planes and nothing else', async () => {
    await fleet.addAll(names, { controlPlane: true, settings })
    await fleet.untilAllRun(41, undefined, 3 * MINUTE)
  })
  await step('a good edit: one control plane after another', async () => {
    await fleet.write(maxPods(51), { plan: PLAN })
    let most = 0
    await fleet.until(
      'all three have proved it',
      (record) => {
        most = Math.max(most, count(record, 'claim'))
        return count(record, 'proof') === 3
      },
      5 * MINUTE,
    )
    assert.equal(most, 1)
    await fleet.untilAllRun(51)
  })
  await step('one that crashes: one control plane starts it', async () => {
    const restarted = fleet.mark()
    const version = await fleet.write(crashing(99))
    await fleet.until('it has failed', (record) => count(record, 'veto') > 0, 3 * MINUTE)
    await fleet.untilHeld(version, /halted/, restarted())
    assert.equal(restarted().length, 1)
    await fleet.untilAllRun(51)
  })
  await step('the value `off` ends rollouts: the fix goes to all, without a word in the record', async () => {
    const before = await fleet.read()
    await fleet.patchConfig({ metadata: { annotations: { [ROLLOUT_ANNOTATION]: 'off' } }, data: { kubelet: maxPods(52) } })
    await fleet.untilAllRun(52, undefined, 3 * MINUTE)
    assert.deepEqual(await fleet.read(), before)
  })
}
