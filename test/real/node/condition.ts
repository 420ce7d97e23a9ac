// SPDX-License-Identifier: Apache-2.0
/**
 * The agent's condition beside those of a real kubelet, which writes the status of its Node every
 * second here.
 */
import { strict as assert } from 'node:assert'
import type { Administrator, Condition as OwnCondition } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { assignNew, promoteGood } from './assign.ts'
import { withNode } from './node.ts'

const OFTEN = { nodeStatusUpdateFrequency: '1s', nodeStatusReportFrequency: '1s' }

/** kubelet's own have no reason. */
interface Condition extends Partial<OwnCondition> {
  readonly type: string
}

export function addConditionScenarios(plane: ControlPlane, program: string): void {
  scenario("node: the condition stands beside kubelet's own", (step) =>
    withNode(
      plane,
      program,
      { name: 'condition', settings: { TRIAL_DURATION: '5s', SPREAD: '0s', LOG_LEVEL: 'debug' } },
      async (node, admin) => {
        await step('a config is promoted, with which kubelet writes its status every second', async () => {
          await promoteGood(node, admin, OFTEN)
          await admin.kubectl('wait', '--for=condition=KubeletConfigReady', 'node/condition', '--timeout=30s')
        })
        await step('kubelet writes, and leaves it as it is', async () => {
          const ours = await admin.untilCondition({ reason: 'Promoted' })
          const writes = await timesUpdated(node)
          const isLater = async () => {
            const ready = await find(admin, 'Ready')
            return Date.parse(ready?.lastHeartbeatTime ?? '') > Date.parse(ours.lastHeartbeatTime) + 8000
          }
          await eventually(isLater, { what: 'kubelet has written its own for a while', timeoutMs: 60_000 })
          assert.deepEqual(await admin.condition(), ours)
          assert.equal(await timesUpdated(node), writes, 'nobody had to mend it')
          assert.deepEqual((await admin.conditions()).map(({ type }) => type).sort(), [
            'DiskPressure',
            'KubeletConfigDegraded',
            'KubeletConfigReady',
            'MemoryPressure',
            'PIDPressure',
            'Ready',
          ])
          console.log(await admin.kubectl('get', 'node', 'condition', '-o', `custom-columns=${COLUMNS}`))
        })
        await step('KubeletConfigDegraded has been False from the first config to its promotion', async () => {
          const degraded = await find(admin, 'KubeletConfigDegraded')
          assert.deepEqual([degraded?.status, degraded?.reason], ['False', 'AsExpected'])
          const [ready, ourNode] = [await admin.condition(), await admin.kubectl('get', 'node', 'condition', '-o', 'json')]
          const created = Date.parse(JSON.parse(ourNode).metadata.creationTimestamp)
          assert(
            Date.parse(degraded?.lastTransitionTime ?? '') < Date.parse(ready?.lastTransitionTime ?? ''),
            'it is older than the promotion',
          )
          assert(Date.parse(degraded?.lastTransitionTime ?? '') >= created)
        })
        await step('kubectl wait tells of a config that preflight refuses', async () => {
          await assignNew(node, admin, 'wrong', { maxPods: -1 })
          await admin.kubectl('wait', '--for=condition=KubeletConfigDegraded', 'node/condition', '--timeout=30s')
          assert.equal((await find(admin, 'KubeletConfigDegraded'))?.reason, 'Refused')
        })
      },
    ),
  )
}

const COLUMNS = 'NAME:.metadata.name,TYPES:.status.conditions[*].type,STATUSES:.status.conditions[*].status'

async function find(admin: Administrator, wanted: string): Promise<Condition | undefined> {
  return (await admin.conditions()).find(({ type }) => type === wanted)
}

async function timesUpdated(node: { journal(): Promise<readonly { readonly msg: string }[]> }): Promise<number> {
  return (await node.journal()).filter(({ msg }) => msg === 'updating condition KubeletConfigReady').length
}
