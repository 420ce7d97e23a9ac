// SPDX-License-Identifier: Apache-2.0
/**
 * The API server is away while a trial runs, and what comes back is a backup of the cluster from
 * before it.
 */
import { strict as assert } from 'node:assert'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { assignedBytes } from '../records.ts'
import { promoteGood } from './assign.ts'
import { withNode } from './node.ts'

/**
 * In proportion to the ten minutes of a default trial this is more than the two minutes of an
 * outage.
 */
const OUTAGE_MS = 15_000
const TRIAL = { TRIAL_DURATION: '6s' }

export function addNodeOutageScenarios(plane: ControlPlane, program: string): void {
  scenario('node: the API server is away during a trial, and etcd is restored', (step) =>
    withNode(plane, program, { name: 'outage-node', settings: { ...TRIAL, SPREAD: '0s' } }, async (node, admin) => {
      const good = await step('a good one is promoted', () => promoteGood(node, admin))
      const saved = await step('etcd is backed up', () => plane.saveEtcd())
      const edited = await step('an edit is on trial', async () => {
        // The trial cannot be over before the test has seen it.
        await node.configureAgent({ TRIAL_DURATION: '1h' })
        const source = await admin.editConfigMap('good', node.config({ maxPods: 61 }))
        await admin.untilStatus({ assigned: source, active: source, lastKnownGood: good })
        await node.untilRuns(61)
        return source
      })
      const kubelet = await node.kubeletProcess()
      await step(`the API server is away for ${OUTAGE_MS / 1000} s: kubelet runs on`, async () => {
        await plane.stopApiserver()
        await node.configureAgent(TRIAL)
        const startedAt = performance.now()
        await eventually(() => performance.now() - startedAt > OUTAGE_MS, { what: 'the outage is over' })
        assert.equal(await node.kubeletProcess(), kubelet)
      })
      // The API server could be reached at the beginning of the trial, so kubelet has to show that
      // it reaches it.
      await step('it is back: kubelet reports there, and the config is promoted', async () => {
        await plane.startApiserver()
        await eventually(() => node.read('meta', 'last-known-good') === assignedBytes(edited), {
          what: 'it is promoted on disk',
          timeoutMs: 180_000,
        })
        await admin.untilStatus({ assigned: edited, active: edited, lastKnownGood: edited }, 90_000)
        assert.equal(await node.kubeletProcess(), kubelet)
      })
      await step('etcd is restored: the node goes back with the cluster', async () => {
        await plane.restoreEtcd(saved)
        // The watches open again from a version that is still to come. The reads that show more are
        // spread over five minutes.
        await node.untilRuns(51, 120_000)
        await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good }, 90_000)
      })
      await step('and follows it again', async () => {
        const last = await admin.editConfigMap('good', node.config({ maxPods: 71 }))
        await node.untilRuns(71, 90_000)
        await admin.untilStatus({ assigned: last, active: last, lastKnownGood: last }, 90_000)
      })
    }),
  )
}
