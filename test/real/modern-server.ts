// SPDX-License-Identifier: Apache-2.0
/**
 * An API server that knows neither `configSource` nor `status.config`, as all since 1.26: it drops
 * both without an error.
 */
import { strict as assert } from 'node:assert'
import { eventually } from './lab/eventually.ts'
import { scenario } from './lab/runner.ts'
import { type Machine, withMachine } from './machine.ts'
import { withModernPlane } from './modern-plane.ts'

export function addModernServerScenarios(program: string): void {
  scenario('modern server: status.config is dropped', async (step) => {
    await withModernPlane(step, (plane) =>
      withMachine(plane, program, { name: 'modern' }, async (machine, admin) => {
        const dropped = /^the API server drops Node\.Status\.Config/
        await step('the agent says so', async () => {
          machine.agent.start()
          await machine.agent.untilSays(dropped)
          assert.equal(await admin.statusConfig(), undefined)
        })
        await step('an assignment is dropped too, and nothing happens', async () => {
          await admin.createConfigMap('good', machine.config('maxPods: 51'))
          await admin.patchSpec({
            configSource: { configMap: { name: admin.nameOf('good'), namespace: 'kube-system', kubeletConfigKey: 'kubelet' } },
          })
          await untilHeard(machine, () => admin.kubectl('label', 'node', 'modern', 'seen=yes'))
          assert.equal(machine.restarts(), 0)
        })
        await step('after an outage it is not said again', async () => {
          await plane.stopApiserver()
          await untilHeard(machine, () => plane.startApiserver())
          assert.equal(machine.agent.timesSaid(dropped), 1)
        })
        await step('the agent runs on, ready', async () => {
          assert.equal(machine.agent.ended(), undefined)
          assert.equal((await fetch(`http://127.0.0.1:${machine.metricsPort}/readyz`)).status, 200)
        })
      }),
    )
  })
}

/** Until the agent has heard of the API server after `change`. */
async function untilHeard(machine: Machine, change: () => Promise<unknown>): Promise<void> {
  const lastHeard = async () => (await machine.metric('kubelet_cfg_agent_last_successful_sync_timestamp_seconds ')).join()
  const before = await lastHeard()
  await change()
  await eventually(async () => (await lastHeard()) !== before, { what: 'the agent has heard of the API server', timeoutMs: 60_000 })
}
