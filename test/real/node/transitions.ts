// SPDX-License-Identifier: Apache-2.0
/**
 * The rows of the transition table that a simulated kubelet cannot prove: whether the real one was
 * restarted, and what it runs. One node goes through them one after another.
 */
import { strict as assert } from 'node:assert'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { type Step, scenario } from '../lab/runner.ts'
import { startModernPlane } from '../modern-plane.ts'
import { DOWNLOAD_ERROR, LOAD_ERROR, VALIDATE_ERROR } from '../texts.ts'
import { assignNew, promoteGood } from './assign.ts'
import { playGenerated } from './generated.ts'
import { NODEADM_DROP_IN, NODEADM_PODS } from './kubeadm-files.ts'
import { type Node, withNode } from './node.ts'

const SETTINGS = { TRIAL_DURATION: '1s', SPREAD: '0s', CRASH_LIMIT: '1', WHEN_REFUSED: 'last-known-good', RESTARTS_PER_HOUR: '60' }
const SETTINGS_FILE = '/etc/kubelet-cfg-agent/config.yaml'
/** The default of this kubelet. */
const DEFAULT_PODS = 110

export function addNodeTransitionScenarios(plane: ControlPlane, program: string): void {
  scenario('node: the transition table', (step) =>
    withNode(plane, program, { name: 'table', settings: SETTINGS }, async (node, admin) => {
      await playTable(step, node, admin)
      await playGenerated(step, node, admin)
    }),
  )
}

/** The same table where the agent gives kubelet its config in another way than kubeadm's. */
export function addOtherTransitionScenarios(program: string): void {
  for (const { unit, agentService, what, localPods, isAsked } of [
    {
      unit: 'spelled-out',
      agentService: ['ReadWritePaths=/etc/kubernetes/kubelet'],
      what: 'a file that is replaced',
      localPods: DEFAULT_PODS,
      isAsked: false,
    },
    {
      unit: 'nodeadm',
      agentService: [`ReadWritePaths=-${dirname(NODEADM_DROP_IN)}`],
      what: 'a drop-in',
      localPods: NODEADM_PODS,
      isAsked: true,
    },
  ] as const) {
    const settings = { ...SETTINGS, ...(isAsked && { ACTIVATION: 'drop-in' }) }
    scenario(`node: proof: kubelet of today: the transition table by ${what}`, async (step) => {
      const plane = await step('a cluster', () => startModernPlane())
      try {
        const options = { name: `table-${unit}`, settings, unit, agentService }
        await withNode(plane, program, options, async (node, admin) => {
          await playTable(step, node, admin, localPods)
          // For the commands: the unit's environment is not theirs.
          if (isAsked) await putSettings(node, 'activation: drop-in\n')
          await playGenerated(step, node, admin, 1)
        })
      } finally {
        await plane.stop()
      }
    })
  }
}

async function putSettings(node: Node, lines: string): Promise<void> {
  const path = node.host(SETTINGS_FILE)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `apiVersion: kubelet-cfg-agent.io/v1alpha1\nkind: AgentConfiguration\n${lines}`)
}

/** @param localPods what kubelet runs with where nothing is assigned */
async function playTable(step: Step, node: Node, admin: Administrator, localPods = DEFAULT_PODS): Promise<void> {
  await admin.untilStatus({})
  await step('local, refused: local stays, without a restart', async () => {
    await node.withoutRestart(async () => {
      const bad = await admin.createConfigMap('bad', '{0xdeadbeef}')
      await admin.assign('bad')
      await admin.untilStatus({ assigned: bad, error: LOAD_ERROR })
    })
  })
  const good = await step('a good one is promoted', () => promoteGood(node, admin))
  for (const { what, name, changes, error } of [
    { what: 'fails validation', name: 'invalid', changes: { kubeAPIQPS: -1 }, error: VALIDATE_ERROR },
    { what: 'does not parse', name: 'bad', changes: undefined, error: LOAD_ERROR },
  ]) {
    await step(`promoted, the next one ${what}: last-known-good stays, without a restart`, () =>
      node.withoutRestart(async () => {
        const bad = changes === undefined ? await assignAgain(admin, name) : await assignNew(node, admin, name, changes)
        await admin.untilStatus({ assigned: bad, active: good, lastKnownGood: good, error })
      }),
    )
  }
  await step('the key is not in the ConfigMap: the same', () =>
    node.withoutRestart(async () => {
      await admin.assign('good', 'nope')
      const source = await admin.source('good', 'nope')
      await admin.untilStatus({ assigned: source, active: good, lastKnownGood: good, error: LOAD_ERROR })
    }),
  )
  await step('the ConfigMap is not there: nothing changes', () =>
    node.withoutRestart(async () => {
      await admin.assign('good')
      await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
      await admin.assign('absent')
      await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good, error: DOWNLOAD_ERROR })
    }),
  )
  await step('it was assigned and is deleted: kubelet runs on', () =>
    node.withoutRestart(async () => {
      await admin.assign('good')
      await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
      await admin.deleteConfigMap('good')
      await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good, error: DOWNLOAD_ERROR })
    }),
  )
  const recreated = await step('created anew with an unknown field: the real kubelet accepts it as well', async () => {
    const source = await admin.createConfigMap('good', node.config({ maxPods: 52, noSuchField: 1 }))
    assert.notEqual(source.uid, good.uid)
    await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
    await node.untilRuns(52)
    return source
  })
  await step('what only kubelet itself knows to be wrong is refused, without a restart', () =>
    node.withoutRestart(async () => {
      const gate = await assignNew(node, admin, 'gate', { featureGates: { NoSuchGate: true } })
      await admin.untilStatus({ assigned: gate, active: recreated, lastKnownGood: recreated, error: VALIDATE_ERROR })
    }),
  )
  await step('configSource is removed: local', async () => {
    await admin.unassign()
    await admin.untilStatus({})
    await node.untilRuns(localPods)
    for (const record of ['assigned', 'last-known-good']) assert.equal(node.read('meta', record), '')
  })
}

async function assignAgain(admin: Administrator, name: string) {
  await admin.assign(name)
  return admin.source(name)
}
