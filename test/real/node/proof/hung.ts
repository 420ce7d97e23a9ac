// SPDX-License-Identifier: Apache-2.0
/**
 * A hung kubelet when the restarts of the hour are used up: the budget is for ever new configs of a
 * healthy kubelet, and holds nobody in an ill one.
 */
import { type Age, onEachKubelet } from './stage.ts'

const LIMIT = 6
const SETTINGS = { TRIAL_DURATION: '10m', RESTARTS_PER_HOUR: String(LIMIT) }
const LEFT_MS = 90_000

export function addHungScenarios(program: string, ages: readonly Age[]): void {
  onEachKubelet(program, ages, 'a hung kubelet after six restarts', 'hung', SETTINGS, async (stage) => {
    const { step, node, admin } = stage
    await step('six configs, one after another', async () => {
      await admin.untilCondition({ status: 'True', reason: 'Local' })
      for (let number = 1; number <= LIMIT; number += 1) {
        await stage.put({ maxPods: 60 + number })
        if (number === 1) await stage.assign()
        await node.untilRuns(60 + number)
      }
    })
    await step('the kubelet with the sixth hangs', async () => {
      await node.systemctl('kill', '--kill-who=main', '--signal=STOP', 'kubelet')
    })
    await step('a fix comes: kubelet runs it, long before a restart of the budget is free', async () => {
      const startedAt = performance.now()
      await stage.put({ maxPods: 71 })
      await node.untilRuns(71, LEFT_MS)
      console.log(`    after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    })
  })
}
