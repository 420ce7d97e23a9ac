/**
 * The agent's condition beside those of a real kubelet, which writes the status of its Node every
 * second here.
 */
import { strict as assert } from 'node:assert'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { promoteGood } from './assign.ts'
import { withNode } from './node.ts'

const OFTEN = { nodeStatusUpdateFrequency: '1s', nodeStatusReportFrequency: '1s' }

interface Condition {
  readonly type: string
  readonly lastHeartbeatTime: string
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
            const ready = (await conditions(admin)).find(({ type }) => type === 'Ready')
            return Date.parse(ready?.lastHeartbeatTime ?? '') > Date.parse(ours.lastHeartbeatTime) + 8000
          }
          await eventually(isLater, { what: 'kubelet has written its own for a while', timeoutMs: 60_000 })
          assert.deepEqual(await admin.condition(), ours)
          assert.equal(await timesUpdated(node), writes, 'nobody had to mend it')
          assert.deepEqual((await conditions(admin)).map(({ type }) => type).sort(), [
            'DiskPressure',
            'KubeletConfigReady',
            'MemoryPressure',
            'PIDPressure',
            'Ready',
          ])
          console.log(await admin.kubectl('get', 'node', 'condition', '-o', `custom-columns=${COLUMNS}`))
        })
      },
    ),
  )
}

const COLUMNS = 'NAME:.metadata.name,TYPES:.status.conditions[*].type,STATUSES:.status.conditions[*].status'

async function conditions(admin: Administrator): Promise<readonly Condition[]> {
  return JSON.parse(await admin.kubectl('get', 'node', 'condition', '-o', 'json')).status.conditions
}

async function timesUpdated(node: { journal(): Promise<readonly { readonly msg: string }[]> }): Promise<number> {
  return (await node.journal()).filter(({ msg }) => msg === 'updating condition KubeletConfigReady').length
}
