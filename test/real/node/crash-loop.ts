// SPDX-License-Identifier: Apache-2.0
/**
 * A config that validates, and of which the real kubelet dies at each start. With Dynamic Kubelet
 * Configuration that was for ever. Deadlines, limits and kubelet's RestartSec are the defaults;
 * only the trial that makes the last-known-good is short, and preflight does not go as far as to
 * start kubelet: it would know.
 */
import { strict as assert } from 'node:assert'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { labels } from '../records.ts'
import { assignNew, promoteGood } from './assign.ts'
import { UP_TO_LOADING } from './kubeadm-files.ts'
import { type Node, withNode } from './node.ts'

/** Ends a hang: how soon it heals depends on the machine, so that the starts are counted. */
const HEALED_MS = 90_000
const SETTINGS = { ...UP_TO_LOADING, TRIAL_DURATION: '2s' }
const errorOf = (fallback: string): string =>
  `failed to run config: kubelet crash-looped; rolled back to ${fallback}, see kubelet-cfg-agent log for details`

export function addCrashLoopScenarios(plane: ControlPlane, program: string): void {
  scenario('node: a config that crashes kubelet is rolled back', (step) =>
    withNode(plane, program, { name: 'crash-node', settings: SETTINGS }, async (node, admin) => {
      const good = await step('a good one is promoted', () => promoteGood(node, admin))
      /** From kubelet's journal. */
      const cause = `kubelet exited 2 times: ${node.crash.lastWords}`
      // A kubelet whose runtime is slow to come up at boot may start more than once before that.
      const startsBefore = await node.kubeletStarts()
      const startedAt = performance.now()
      const crashing = await step('assign one that crashes kubelet', () => assignNew(node, admin, 'crashing', node.crash.changes))
      await step('kubelet is in its loop', () => untilInLoop(node))
      await step('after two starts of it kubelet runs on last-known-good', async () => {
        await admin.untilStatus({ assigned: crashing, active: good, lastKnownGood: good, error: errorOf('last-known-good') }, HEALED_MS)
        await node.untilRuns(51)
        console.log(`    after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
        // Two of the crashing one, which exits with the same words each time, and the good one
        // again.
        assert.equal((await node.kubeletStarts()) - startsBefore, 3)
      })
      await step('the event says why', async () => {
        const events = (await admin.events()).filter(({ reason }) => reason === 'KubeletConfigRolledBack')
        assert.equal(events.length, 1)
        assert.equal(events[0]?.type, 'Warning')
        assert.equal(events[0]?.message, `Kubelet config rolled back from ${labels(crashing)} to ${labels(good)}: ${cause}`)
      })
      await step('the journal has it as an error, with its fields, and no error before', async () => {
        // On a busy machine there may be warnings: of a runtime or of systemd that answers late.
        const [first] = (await node.journal()).filter(({ priority }) => priority <= 3)
        assert.match(first?.msg ?? '', /^config failed, rolling back from kube-system\/crash-node-crashing:kubelet@/)
        assert.equal(first?.priority, 3)
        const { source, next, reason, detail } = first?.fields ?? {}
        assert.deepEqual({ source, next, reason, detail }, { source: crashing, next: good, reason: 'crash-loop', detail: cause })
      })
      await step('once that has proved healthy the verdict is final, and nothing was promoted', async () => {
        await node.untilSays(/^verdict confirmed/)
        assert.equal(node.history().filter(({ kind }) => kind === 'promoted').length, 1)
        assert.equal((await node.kubeletStarts()) - startsBefore, 3)
      })
      await step('kubectl takes the assignment back, and it works', async () => {
        await admin.unassign()
        await admin.untilStatus({})
        await node.untilRuns(110)
      })
    }),
  )

  scenario('node: a config that crashes kubelet is taken back while it crashes', (step) =>
    withNode(plane, program, { name: 'taken-back-node', settings: SETTINGS }, async (node, admin) => {
      await step('assign one that crashes kubelet', async () => {
        await assignNew(node, admin, 'crashing', node.crash.changes)
        await untilInLoop(node)
      })
      await step('kubectl takes the assignment back: kubelet runs on its local config', async () => {
        await admin.unassign()
        await admin.untilStatus({})
        await node.untilRuns(110)
        assert.equal(node.read('kubelet.env'), undefined)
      })
    }),
  )
}

async function untilInLoop(node: Node): Promise<void> {
  const probe = async () => (await node.show('kubelet', 'SubState')).SubState === 'auto-restart'
  await eventually(probe, { what: 'kubelet waits for its restart', intervalMs: 50 })
}
