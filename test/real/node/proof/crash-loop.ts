/** How soon a node is back from a config of which kubelet dies at each start, with the defaults of the agent and systemd's RestartSec of kubeadm, and what it says of it. */
import { strict as assert } from 'node:assert'
import { CRASHING, UP_TO_LOADING } from '../kubeadm-files.ts'
import { type Age, onEachKubelet } from './stage.ts'

const SETTINGS = { ...UP_TO_LOADING, TRIAL_DURATION: '5s' }
/** From the restart into the config to a kubelet that runs with the one before. */
const HEALED_MS = 30_000
/** What neither the agent nor a kubelet that loads it finds wrong, and kubelet's own last words about it. Since 1.30 kubelet validates the number of log files. */
const CRASHES: Readonly<Record<Age, { readonly changes: object; readonly lastWords: RegExp }>> = {
  old: { changes: CRASHING, lastWords: /invalid MaxFiles 1, must be > 1/ },
  new: { changes: { podLogsDir: '/proc/none' }, lastWords: /\/proc\/none/ },
}

export function addCrashLoopProofs(program: string, ages: readonly Age[]): void {
  onEachKubelet(program, ages, 'a crash loop heals', 'crash', SETTINGS, async (stage) => {
    const { step, node, admin } = stage
    const { changes, lastWords } = CRASHES[stage.age]
    const first = await step('a good config is promoted', () => stage.promoteFirst())
    const failed = await step(`${HEALED_MS / 1000} s after kubelet first dies of one it runs with the good one`, async () => {
      const { length } = node.history()
      const source = await stage.put({ maxPods: 52, ...changes })
      await admin.untilCondition({ reason: 'RolledBack' }, 2 * HEALED_MS)
      await node.untilRuns(51, HEALED_MS)
      const restarted = node.history()[length + 1]
      assert.equal(restarted?.kind, 'restarting')
      const tookMs = Date.now() - Number(BigInt(restarted?.atNs ?? 0) / 1_000_000n)
      console.log(`    after ${(tookMs / 1000).toFixed(1)} s`)
      assert(tookMs < HEALED_MS, `it took ${tookMs} ms`)
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
