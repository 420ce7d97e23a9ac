// SPDX-License-Identifier: Apache-2.0
/**
 * How soon a node is back from a config of which kubelet dies at each start, with the defaults of
 * the agent and systemd's RestartSec of kubeadm, and what it says of it.
 */
import { strict as assert } from 'node:assert'
import { UP_TO_LOADING } from '../kubeadm-files.ts'
import { type Age, onEachKubelet } from './stage.ts'

const SETTINGS = { ...UP_TO_LOADING, TRIAL_DURATION: '5s' }
/**
 * Ends a hang. With two starts of the config it takes 30 s where kubelet takes 6 s to start and 15
 * s where it takes one; a slow machine takes longer.
 */
const HEALED_MS = 90_000
const STARTS = 2

export function addCrashLoopProofs(program: string, ages: readonly Age[]): void {
  onEachKubelet(program, ages, 'a crash loop heals', 'crash', SETTINGS, async (stage) => {
    const { step, node, admin } = stage
    const { changes } = node.crash
    const lastWords = new RegExp(node.crash.lastWords)
    const first = await step('a good config is promoted', () => stage.promoteFirst())
    const failed = await step(`after ${STARTS} starts with one of which kubelet dies it runs with the good one`, async () => {
      const startsBefore = await node.kubeletStarts()
      const { length } = node.history()
      const source = await stage.put({ maxPods: 52, ...changes })
      await admin.untilCondition({ reason: 'RolledBack' }, HEALED_MS)
      await node.untilRuns(51, HEALED_MS)
      const restarted = node.history().find(({ kind }, index) => index >= length && kind === 'restarting')
      const tookMs = Date.now() - Number(BigInt(restarted?.atNs ?? 0) / 1_000_000n)
      console.log(`    ${(tookMs / 1000).toFixed(1)} s after the restart`)
      assert.equal((await node.kubeletStarts()) - startsBefore, STARTS + 1)
      return source
    })
    await step("the condition, the event, the history and status have kubelet's last words", async () => {
      await stage.untilRolledBack(failed, first, lastWords, HEALED_MS)
      const event = (await admin.events()).find(({ reason }) => reason === 'KubeletConfigRolledBack')
      assert.match(event?.message ?? '', lastWords)
      assert.match(node.history().find(({ kind }) => kind === 'rolled-back')?.why ?? '', lastWords)
      assert.match((await node.command('status')).stdout, lastWords)
    })
  })
}
