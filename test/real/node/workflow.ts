/** The workflow of the documentation of Dynamic Kubelet Configuration, from beginning to end, on a real kubelet. */
import { strict as assert } from 'node:assert'
import type { ControlPlane } from '../lab/control-plane.ts'
import { scenario } from '../lab/runner.ts'
import { withNode } from './node.ts'

export function addWorkflowScenarios(plane: ControlPlane, program: string): void {
  scenario('node: the workflow of the documentation', (step) =>
    withNode(plane, program, { name: 'workflow', settings: { TRIAL_DURATION: '5s', SPREAD: '0s' } }, async (node, admin) => {
      const before = await step('kubelet runs on its local config', async () => {
        await admin.untilStatus({})
        const config = await node.configz()
        assert.equal(config.maxPods, 110)
        return config
      })
      void before
    }),
  )
}
