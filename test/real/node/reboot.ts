// SPDX-License-Identifier: Apache-2.0
/** A node that reboots needs nobody to find its config: neither the agent nor the API server. */
import { strict as assert } from 'node:assert'
import type { ControlPlane } from '../lab/control-plane.ts'
import { scenario } from '../lab/runner.ts'
import { promoteGood } from './assign.ts'
import { withNode } from './node.ts'

export function addRebootScenarios(plane: ControlPlane, program: string): void {
  scenario('node: a reboot without agent and API server', (step) =>
    withNode(plane, program, { name: 'reboot', settings: { TRIAL_DURATION: '1s' } }, async (node, admin) => {
      // With this mode, kubelet answers /configz without asking the API server for leave.
      const good = await step('a good one is promoted', () => promoteGood(node, admin, { authorization: { mode: 'AlwaysAllow' } }))
      await step('the agent is disabled', () => node.systemctl('disable', 'kubelet-cfg-agent'))
      await step('the API server stops', () => plane.stopApiserver())
      try {
        await step('the node reboots: kubelet comes up on the assigned config', async () => {
          await node.reboot()
          await node.untilHealthy()
          await node.untilRuns(51)
          assert.equal((await node.show('kubelet-cfg-agent', 'ActiveState')).ActiveState, 'inactive')
        })
      } finally {
        await step('the API server starts again', () => plane.startApiserver())
      }
      await step('the agent starts again, finds all as it should be and restarts nothing', async () => {
        const before = await node.kubeletProcess()
        await node.systemctl('enable', '--now', 'kubelet-cfg-agent')
        await node.untilSays(/^settled: kube-system\/reboot-good/, 2)
        await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
        assert.equal(await node.kubeletProcess(), before)
      })
      await step('and the node is still in the hands of the cluster', async () => {
        await admin.unassign()
        await admin.untilStatus({})
        await node.untilRuns(110)
      })
    }),
  )
}
