// SPDX-License-Identifier: Apache-2.0
/**
 * The label is removed from a node whose kubelet would not start with its local config any more, as
 * after an upgrade that removed a feature gate: kubelet runs on, and the condition says why. What
 * preflight does not find out costs one restart each way.
 */
import { strict as assert } from 'node:assert'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { type Step, scenario } from '../lab/runner.ts'
import { withModernPlane } from '../modern-plane.ts'
import { CONFIG_LABEL } from '../node-words.ts'
import { DEPLOY } from '../rights/manifests.ts'
import { UP_TO_LOADING } from './kubeadm-files.ts'
import { type Node, withNode } from './node.ts'

const SETTINGS = { ...UP_TO_LOADING, TRIAL_DURATION: '10s', SPREAD: '0s', RESTARTS_PER_HOUR: '60' }
const LOCAL = '/var/lib/kubelet/config.yaml'
/** Three starts, 10 s apart, and the way back. */
const THERE_AND_BACK_MS = 120_000

export function addLocalConfigScenarios(program: string): void {
  scenario('node: modern: the label is removed, and kubelet takes no local config', (step) =>
    withModernPlane(step, (plane) =>
      withNode(plane, program, { name: 'left', settings: SETTINGS }, (node, admin) => play(step, plane, node, admin)),
    ),
  )
}

async function play(step: Step, plane: ControlPlane, node: Node, admin: Administrator): Promise<void> {
  const assign = () => admin.kubectl('label', '--overwrite', 'node', node.name, `${CONFIG_LABEL}=node-config`)
  const unassign = () => admin.kubectl('label', 'node', node.name, `${CONFIG_LABEL}-`)
  const writeLocal = (text: string) => writeFile(node.host(LOCAL), text)
  await plane.kubectl(['apply', '-f', join(DEPLOY, 'rbac/node-configmaps.yaml')])
  const version = await admin.applyConfigMap({ name: 'node-config', namespace: 'kube-system' }, node.config({ maxPods: 51 }))
  const source = `kube-system/node-config:kubelet@${version}`
  const untilPromoted = () => admin.untilCondition({ status: 'True', reason: 'Promoted', message: `${source} has passed its trial` })

  await step('a config is promoted', async () => {
    await assign()
    await untilPromoted()
  })
  for (const { what, text, cause } of [
    { what: 'has a syntax error', text: '{0xdeadbeef}', cause: '' },
    { what: 'sets a gate that this kubelet does not know', text: node.config({ featureGates: { NoSuchGate: true } }), cause: 'NoSuchGate' },
  ]) {
    await step(`the local config ${what}: kubelet runs on, and the condition says why`, async () => {
      await writeLocal(text)
      await node.withoutRestart(async () => {
        await unassign()
        const message = new RegExp(`^local was refused before a restart, ${source} runs: .*${cause}`)
        await admin.untilCondition({ status: 'False', reason: 'Refused', message })
        assert.match(node.read('meta', 'left') ?? '', /"node-config"/)
        assert.equal(node.read('meta', 'last-known-good'), '')
        await assert.rejects(node.command('reset'), /refuses its local config/)
        await node.untilRuns(51)
        await assign()
        await untilPromoted()
      })
    })
  }
  await step('kubelet dies of the local config: the node goes back to what ran', async () => {
    await writeLocal(node.config(node.crash.changes))
    await unassign()
    const message = new RegExp(`^local failed, ${source} runs: kubelet exited`)
    await admin.untilCondition({ status: 'False', reason: 'RolledBack', message }, THERE_AND_BACK_MS)
    await node.untilRuns(51)
  })
  await step('the local config is corrected: kubelet runs it', async () => {
    await writeLocal(node.config({ maxPods: 60 }))
    await node.untilRuns(60, THERE_AND_BACK_MS)
    await admin.untilCondition({ status: 'True', reason: 'Local' })
  })
}
