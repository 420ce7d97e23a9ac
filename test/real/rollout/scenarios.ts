/**
 * Rollouts on real processes: a real kube-apiserver, and the shipped agent on each node of a fleet, with an identity of its own. On the API server of today with the policy of
 * deploy/admission/rollout.yaml, and on 1.20.2 without.
 */
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { type Step, scenario } from '../lab/runner.ts'
import { withModernPlane } from '../modern-plane.ts'
import { CONFIG_LABEL, PAUSED_ANNOTATION } from '../node-words.ts'
import { DEPLOY } from '../rights/manifests.ts'
import { CRASHING, type Fleet, maxPods, withFleet } from './fleet.ts'
import { CANARY_LABEL, ROLLOUT_ANNOTATION, type RolloutRecord } from './words.ts'

/** 20 nodes: in stage 1 none is free, then about 4 and about 10. Finished in stage 4. */
const PLAN = 'waves: [20%, 50%], witnesses: 3, maxSilent: 1, spread: 2s'
const FINISHED = 4
const MINUTE = 60_000
const CONFIG = 'node-config'

type Play = (step: Step, fleet: Fleet) => Promise<void>

export function addRolloutScenarios(program: string, hasModernPlane: boolean): void {
  for (const release of hasModernPlane ? (['old', 'new'] as const) : (['old'] as const)) {
    const add = (what: string, play: Play) =>
      scenario(
        `rollout: ${what}, on an API server ${release === 'new' ? 'of today with the policy' : 'without policies'}`,
        (step) =>
          withModernPlane(
            step,
            async (plane) => {
              await grant(plane, release === 'new')
              await withFleet(plane, program, CONFIG, (fleet) => play(step, fleet))
            },
            { release },
          ),
        { timeoutMs: 40 * MINUTE },
      )
    add('twenty nodes', playTwenty)
    add('a canary that dies in its trial', playCanary)
    add('a label on all Nodes, and the annotation taken away', playLabel)
    add('three control planes', playControlPlanes)
  }
}

async function grant(plane: ControlPlane, withPolicy: boolean): Promise<void> {
  const files = ['rbac/node-configmaps.yaml', 'rbac/rollout.yaml', ...(withPolicy ? ['admission/rollout.yaml'] : [])]
  for (const file of files) await plane.kubectl(['apply', '-f', join(DEPLOY, file)])
}

const playTwenty: Play = async (step, fleet) => {
  const names = Array.from({ length: 20 }, (_, index) => `n${index + 1}`)
  await step('twenty agents, and a config without a rollout', async () => {
    await fleet.addAll(names)
    await fleet.untilAllRun(41)
  })
  await step('a good edit passes all stages', async () => {
    await fleet.write(maxPods(51), { plan: PLAN })
    const { said } = await fleet.until('all are free', ({ stage }) => stage === FINISHED, 5 * MINUTE)
    // One of stage 0, three of each of the three after it.
    assert.equal([...said.values()].filter(({ word }) => word === 'proof').length >= 1 + 3 * 3, true)
    await fleet.untilAllRun(51)
  })
  await step('one that crashes everywhere is started by one node, and halts', async () => {
    const restarted = fleet.mark()
    await fleet.write(CRASHING)
    await fleet.until('it has failed', ({ stage, said }) => stage === 0 && has({ said }, 'veto'), 2 * MINUTE)
    await fleet.untilAllSay(/halted/)
    await fleet.untilAllRun(51)
    assert.equal(restarted().length, 1)
  })
  await step('a node that joins while it is halted does not start it', async () => {
    await fleet.add('late')
    const restarted = fleet.mark()
    await fleet.untilAllSay(/halted/, ['late'])
    assert.deepEqual(restarted(), [])
  })
  await step('the record is deleted and made again: it learns the veto, and at most one node starts', async () => {
    const restarted = fleet.mark()
    await fleet.deleteRecord()
    await fleet.createRecord()
    await fleet.until('it has failed', (record) => record.generation === 1 && has(record, 'veto'), 3 * MINUTE)
    await fleet.untilAllSay(/halted/)
    await fleet.untilAllRun(51, names)
    // Trials of a second make the time short in which a veto comes first.
    assert(restarted().length <= 1, `${restarted()}`)
  })
  await step('the fix begins anew; the API server restarts in the middle', async () => {
    await fleet.write(maxPods(52))
    await fleet.until('stage 1 is open', ({ stage }) => stage >= 1, 3 * MINUTE)
    await fleet.plane.stopApiserver()
    await fleet.plane.startApiserver()
    await fleet.untilAllRun(52, undefined, 5 * MINUTE)
  })
  await step('one more edit, which is paused; nobody starts', async () => {
    await fleet.write(maxPods(53), { annotations: { [PAUSED_ANNOTATION]: 'true' } })
    await fleet.untilAllSay(/paused/)
    await fleet.untilAllRun(52)
  })
  await step('it goes on; a node joins, and the record is deleted and made again', async () => {
    await fleet.patchConfig({ metadata: { annotations: { [PAUSED_ANNOTATION]: null } } })
    await fleet.until('stage 1 is open', ({ stage }) => stage >= 1, 3 * MINUTE)
    await fleet.add('later')
    await fleet.deleteRecord()
    await fleet.createRecord()
    await fleet.untilAllRun(53, undefined, 6 * MINUTE)
  })
  await step('what failed is tried once more after retry: by one node', async () => {
    const restarted = fleet.mark()
    await fleet.write(CRASHING)
    await fleet.until('it has failed', (record) => has(record, 'veto'), 2 * MINUTE)
    await fleet.untilAllSay(/halted/)
    const { generation } = await fleet.read()
    await fleet.write(CRASHING, { plan: `${PLAN}, retry: 1` })
    await fleet.until('it has failed again', (record) => record.generation > generation && has(record, 'veto'), 3 * MINUTE)
    await fleet.untilAllSay(/halted/)
    assert(restarted().length <= 2, `${restarted()}`)
  })
}

const has = ({ said }: Pick<RolloutRecord, 'said'>, word: string): boolean => [...said.values()].some((each) => each.word === word)

const playCanary: Play = async (step, fleet) => {
  // Long enough to die in it.
  const settings = { trialDuration: '10s' }
  await step('a canary and five others', async () => {
    await fleet.addAll(['n1', 'n2', 'n3', 'n4', 'n5'], { settings })
    await fleet.add('canary', { settings, labels: { [CANARY_LABEL]: 'true' } })
    await fleet.untilAllRun(41)
  })
  const canary = fleet.machine('canary')
  await step('the canary starts first, and dies in its trial', async () => {
    await fleet.write(maxPods(51), { plan: PLAN })
    const { said } = await fleet.until('somebody has started', ({ said }) => said.size > 0, 2 * MINUTE)
    assert.deepEqual([...said.keys()], ['canary'])
    await canary.untilRuns(51)
    canary.agent.signal('SIGKILL')
    canary.kubelet.command('stop')
  })
  await step('when it is silent another takes its place', () => fleet.until('stage 1 is open', ({ stage }) => stage >= 1, 10 * MINUTE))
  await step('the canary comes back, and proves it late', async () => {
    canary.kubelet.command('start')
    canary.agent.start()
    await fleet.until('the canary has proved it', ({ said }) => said.get('canary')?.word === 'proof', 5 * MINUTE)
    await fleet.untilAllRun(51, undefined, 10 * MINUTE)
  })
}

const playLabel: Play = async (step, fleet) => {
  const names = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8']
  await step('eight nodes with no config, and a config with a rollout', async () => {
    await fleet.addAll(names, { config: undefined })
    await fleet.write(maxPods(51), { plan: PLAN })
    await fleet.untilAllSay(/"channel"/)
  })
  await step('a label on all Nodes at once: they go in stages', async () => {
    await fleet.plane.kubectl(['label', 'nodes', '--all', `${CONFIG_LABEL}=${CONFIG}`])
    const first = await fleet.until('one has started', ({ said }) => said.size > 0, 2 * MINUTE)
    assert.equal(first.said.size, 1)
    await fleet.until('stage 1 is open', ({ stage }) => stage >= 1, 2 * MINUTE)
    await fleet.untilAllRun(51, undefined, 5 * MINUTE)
  })
  await step('without its annotation an edit goes nowhere, and they say so', async () => {
    const restarted = fleet.mark()
    await fleet.patchConfig({ metadata: { annotations: { [ROLLOUT_ANNOTATION]: null } }, data: { kubelet: maxPods(52) } })
    await fleet.untilAllSay(/rollout/)
    await fleet.untilAllRun(51)
    assert.deepEqual(restarted(), [])
  })
  await step('with it, it goes on', async () => {
    await fleet.write(maxPods(52), { plan: PLAN })
    await fleet.untilAllRun(52, undefined, 5 * MINUTE)
  })
  await step('the value `off` ends it: an edit goes to all, without a word in the record', async () => {
    const before = await fleet.read()
    await fleet.patchConfig({ metadata: { annotations: { [ROLLOUT_ANNOTATION]: 'off' } }, data: { kubelet: maxPods(53) } })
    await fleet.untilAllRun(53, undefined, 3 * MINUTE)
    assert.deepEqual(await fleet.read(), before)
  })
}

const playControlPlanes: Play = async (step, fleet) => {
  const [names, settings] = [['c1', 'c2', 'c3'], { trialDuration: '3s' }] as const
  await step('three control planes and nothing else', async () => {
    await fleet.addAll(names, { controlPlane: true, settings })
    await fleet.untilAllRun(41)
  })
  await step('a good edit: one after another', async () => {
    await fleet.write(maxPods(51), { plan: PLAN })
    let most = 0
    await eventually(
      async () => {
        const words = [...(await fleet.read()).said.values()].map(({ word }) => word)
        most = Math.max(most, words.filter((word) => word === 'claim').length)
        return words.filter((word) => word === 'proof').length === 3
      },
      { what: 'all three have proved it', timeoutMs: 5 * MINUTE },
    )
    assert.equal(most, 1)
    await fleet.untilAllRun(51)
  })
  await step('one that crashes: one of them starts it', async () => {
    const restarted = fleet.mark()
    await fleet.write(CRASHING)
    await fleet.untilAllSay(/halted/, names, 3 * MINUTE)
    assert.equal(restarted().length, 1)
    await fleet.untilAllRun(51)
  })
}
