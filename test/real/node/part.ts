// SPDX-License-Identifier: Apache-2.0
/**
 * A part over the local config, with the real kubelet: it is merged over what kubeadm wrote, and
 * what kubeadm writes anew is merged and tried again.
 */
import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { BASE_ANNOTATION } from '../../../src/decision/channels.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { withNode } from './node.ts'

const SETTINGS = { TRIAL_DURATION: '2s', SPREAD: '0s' }

export function addPartScenarios(plane: ControlPlane, program: string): void {
  scenario('node: a part over the local config', (step) =>
    withNode(plane, program, { name: 'part-node', settings: SETTINGS }, async (node, admin) => {
      /** The hash of the result that is last-known-good. */
      const promoted = () => /^ {4}overlay: (\S+)/m.exec(node.read('meta', 'last-known-good') ?? '')?.[1]
      const before = await node.configz()

      await step('maxPods alone is assigned: everything else stays as the local config has it, and it is promoted', async () => {
        const name = admin.nameOf('part')
        await admin.applyConfigMap({ name, namespace: 'kube-system', annotations: { [BASE_ANNOTATION]: 'local' } }, 'maxPods: 61\n')
        await admin.assign('part')
        await node.untilRuns(61)
        assert.deepEqual(await node.configz(), { ...before, maxPods: 61 })
        await eventually(async () => promoted() !== undefined, { what: 'it is promoted' })
      })
      const first = promoted()

      await step('the local config is written anew: it is merged, tried and promoted', async () => {
        writeFileSync(node.host(node.localConfig), node.config({ podsPerCore: 7 }))
        await eventually(async () => (await node.configz()).podsPerCore === 7, { what: 'kubelet runs with it' })
        assert.deepEqual(await node.configz(), { ...before, maxPods: 61, podsPerCore: 7 })
        await eventually(async () => promoted() !== first, { what: 'it is promoted' })
        const { configMap } = Object(await admin.status()).lastKnownGood
        assert.deepEqual(configMap, await admin.source('part'))
      })

      await step('status shows what it is merged from', async () => {
        const { stdout } = await node.command('status')
        console.log(stdout.replace(/^/gm, '    '))
        const layers = / {2}\/var\/lib\/kubelet\/config\.yaml\n {4}all other fields\n {2}ConfigMap kube-system\/\S+:kubelet\n {4}maxPods$/m
        assert.match(stdout.split('Merged from, the lowest first:\n')[1] ?? '', layers)
      })

      await step('the part is laid over another ConfigMap, which is one over the local config: its edit is tried, too', async () => {
        const base = { name: admin.nameOf('base'), namespace: 'kube-system', annotations: { [BASE_ANNOTATION]: 'local' } }
        await plane.grantNodesConfigMap(base.namespace, base.name)
        await admin.applyConfigMap(base, 'podPidsLimit: 4096\n')
        const annotations = { [BASE_ANNOTATION]: `${base.namespace}/${base.name}` }
        await admin.applyConfigMap({ ...base, name: admin.nameOf('part'), annotations }, 'maxPods: 62\n')
        await node.untilRuns(62)
        const merged = { ...before, maxPods: 62, podsPerCore: 7 }
        assert.deepEqual(await node.configz(), { ...merged, podPidsLimit: 4096 })
        await admin.applyConfigMap(base, 'podPidsLimit: 4097\n')
        await eventually(async () => (await node.configz()).podPidsLimit === 4097, { what: 'kubelet runs with the edited base' })
        assert.deepEqual(await node.configz(), { ...merged, podPidsLimit: 4097 })
      })

      await step('the assignment is removed: the local config as it is now', async () => {
        await admin.unassign()
        await eventually(async () => (await node.configz()).maxPods === before.maxPods, { what: 'kubelet is local' })
        assert.deepEqual(await node.configz(), { ...before, podsPerCore: 7 })
      })
    }),
  )
}
