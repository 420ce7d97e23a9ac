// SPDX-License-Identifier: Apache-2.0
/**
 * Values that are computed from the Node, with the real kubelet: what it registered is what they
 * are computed from, another label gives another result, and a label that is missing changes
 * nothing.
 */
import { strict as assert } from 'node:assert'
import { BASE_ANNOTATION } from '../../../src/decision/channels.ts'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import type { Node } from './node.ts'
import { withNode } from './node.ts'

const SETTINGS = { TRIAL_DURATION: '2s', SPREAD: '0s' }
/** The facts have to hold for a minute. */
const SETTLED_MS = 120_000
const TEXT = `apiVersion: kubelet-cfg-agent.io/v1alpha1
kind: ComputedKubeletConfiguration
computed:
  maxPods: "node.cpus * 10 + int(node.labels['example.org/extra-pods'])"
  kubeReserved.memory: "string(node.memory / 268435456 * 8) + 'Mi'"
`
const CANNOT =
  /^failed to sync: a value of the assigned config cannot be computed from the Node: .*: computed maxPods at line 4, column 3: field not found: example\.org\/extra-pods, in node\.cpus/

export function addComputedScenarios(plane: ControlPlane, program: string): void {
  scenario('node: computed values', (step) =>
    withNode(plane, program, { name: 'computed-node', settings: SETTINGS }, async (node, admin) => {
      const label = (change: string) => admin.kubectl('label', '--overwrite', 'node', node.name, `example.org/extra-pods${change}`)
      const before = await node.configz()
      const { cpus, memoryKi } = await readCapacity(node, admin)
      const reservedMi = Math.floor(memoryKi / 262_144) * 8

      await step('without the label nothing is computed: the reason is Invalid, and kubelet runs on', () =>
        node.withoutRestart(async () => {
          const metadata = { name: admin.nameOf('sized'), namespace: 'kube-system', annotations: { [BASE_ANNOTATION]: 'local' } }
          await admin.applyConfigMap(metadata, TEXT)
          await admin.assign('sized')
          await admin.untilCondition({ status: 'False', reason: 'Invalid', message: CANNOT })
          await node.untilSays(/nothing is changed: .*: computed maxPods at line 4, column 3/)
          assert.deepEqual(await node.configz(), before)
        }),
      )

      await step('with the label it waits until the facts have held, and says so', () =>
        node.withoutRestart(async () => {
          await label('=3')
          await admin.untilCondition({
            status: 'False',
            reason: 'Waiting',
            message: /the facts that its values are computed from must have held/,
          })
        }),
      )

      await step("kubelet runs with the node's own values, and shows them; they are promoted", async () => {
        await node.untilRuns(cpus * 10 + 3, SETTLED_MS)
        assert.deepEqual(await node.configz(), { ...before, maxPods: cpus * 10 + 3, kubeReserved: { memory: `${reservedMi}Mi` } })
        await untilAllocatable(node, admin, { pods: cpus * 10 + 3, memoryKi: memoryKi - (reservedMi + 1) * 1024 })
        await admin.untilCondition({ status: 'True', reason: 'Promoted' })
      })

      await step('status shows what was computed, and by which text', async () => {
        const { stdout } = await node.command('status')
        console.log(stdout.replace(/^/gm, '    '))
        const computed = stdout.split(/^Computed from what the Node shows, by ConfigMap kube-system\/\S+:kubelet:\n/m)[1] ?? ''
        assert.match(computed, new RegExp(`^ {2}maxPods: ${cpus * 10 + 3}\n {2}kubeReserved\\.memory: "${reservedMi}Mi"\n`))
      })

      await step('another label without a part in it changes nothing', () =>
        node.withoutRestart(async () => {
          await admin.kubectl('label', 'node', node.name, 'example.org/other=x')
          await label('=3')
          await admin.untilCondition({ status: 'True', reason: 'Promoted' })
        }),
      )

      await step('another value of the label gives another result, which is tried and promoted', async () => {
        const good = node.read('meta', 'last-known-good')
        await label('=4')
        await node.untilRuns(cpus * 10 + 4, SETTLED_MS)
        await eventually(async () => node.read('meta', 'last-known-good') !== good, { what: 'it is promoted' })
        await untilAllocatable(node, admin, { pods: cpus * 10 + 4, memoryKi: memoryKi - (reservedMi + 1) * 1024 })
      })

      await step('the label is gone: Invalid, and kubelet runs on with what it has', () =>
        node.withoutRestart(async () => {
          await label('-')
          await admin.untilCondition({ status: 'False', reason: 'Invalid', message: CANNOT })
          await node.untilHealthy()
          assert.equal((await node.configz()).maxPods, cpus * 10 + 4)
        }),
      )
    }),
  )
}

async function readStatus(node: Node, admin: Administrator) {
  return JSON.parse(await admin.kubectl('get', 'node', node.name, '-o', 'json')).status
}

/** As kubelet registered it. */
async function readCapacity(node: Node, admin: Administrator): Promise<{ readonly cpus: number; readonly memoryKi: number }> {
  const { capacity } = await readStatus(node, admin)
  return { cpus: Number(capacity.cpu), memoryKi: Number.parseInt(capacity.memory, 10) }
}

async function untilAllocatable(
  node: Node,
  admin: Administrator,
  expected: { readonly pods: number; readonly memoryKi: number },
): Promise<void> {
  const probe = async () => {
    const { allocatable } = await readStatus(node, admin)
    assert.deepEqual({ pods: Number(allocatable.pods), memoryKi: Number.parseInt(allocatable.memory, 10) }, expected)
    return true
  }
  await eventually(probe, { what: 'the Node shows what kubelet can allocate', timeoutMs: 60_000 })
}
