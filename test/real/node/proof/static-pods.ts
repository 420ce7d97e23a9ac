// SPDX-License-Identifier: Apache-2.0
/**
 * A config that takes its static pods off a node: on a node of the control plane that is the API
 * server itself.
 */
import { strict as assert } from 'node:assert'
import { eventually } from '../../lab/eventually.ts'
import { type Age, onEachKubelet } from './stage.ts'

const SETTINGS = { TRIAL_DURATION: '15s', GUARDS_OFF: 'static-pods' }
/** A pod has to be away for two minutes and the time that it has to end. */
const LEFT_MS = 240_000

export function addStaticPodScenarios(program: string, ages: readonly Age[]): void {
  onEachKubelet(program, ages, 'a config without static pods', 'static-pods', SETTINGS, async (stage) => {
    const { step, node, admin } = stage
    await step('a static pod runs', () => stage.addStaticPod('etcd'))
    const first = await step('a good config is promoted, over which the pod runs on', async () => {
      const source = await stage.promoteFirst()
      await stage.untilPodRuns('etcd')
      return source
    })
    const failed = await step('the pod is lost with one that has no directory for it', async () => {
      await stage.configureAgent({ TRIAL_DURATION: '200s' })
      const source = await stage.put({ maxPods: 52, staticPodPath: undefined })
      await node.untilRuns(52)
      await eventually(async () => (await stage.runningContainers()) === 0, { what: 'the pod is gone', timeoutMs: 60_000 })
      return source
    })
    await step('that is rolled back, and the pod runs again', async () => {
      await stage.untilRolledBack(failed, first, /static.*etcd/, LEFT_MS)
      await node.untilRuns(51)
      await stage.untilPodRuns('etcd')
    })
    await step('the same content is not tried again', () =>
      node.withoutRestart(async () => {
        await stage.put({ maxPods: 51 })
        await stage.untilPromoted('kube-system/node-config:kubelet@\\d+')
        await stage.put({ maxPods: 52, staticPodPath: undefined })
        const { message } = await admin.untilCondition({ status: 'False', reason: 'RolledBack' })
        assert.match(message, /static/)
      }),
    )
  })
}
