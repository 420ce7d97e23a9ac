// SPDX-License-Identifier: Apache-2.0
/**
 * A node whose unit spells `--config` out, with a JSON config, as images of cloud providers have
 * it: the file itself is replaced, and put back.
 */
import { strict as assert } from 'node:assert'
import { readFile, stat } from 'node:fs/promises'
import type { ControlPlane } from '../lab/control-plane.ts'
import { scenario } from '../lab/runner.ts'
import { assignNew, promoteGood } from './assign.ts'
import { UP_TO_LOADING } from './kubeadm-files.ts'
import { type Node, withNode } from './node.ts'

const ERROR = 'failed to run config: kubelet crash-looped; rolled back to last-known-good, see kubelet-cfg-agent log for details'

export function addSpelledOutScenarios(plane: ControlPlane, program: string): void {
  const options = {
    name: 'spelled-out',
    unit: 'spelled-out',
    settings: { ...UP_TO_LOADING, TRIAL_DURATION: '1s', CRASH_LIMIT: '1' },
    // As the unit's comment asks for.
    agentService: ['ReadWritePaths=/etc/kubernetes/kubelet'],
  } as const
  scenario('node: a unit that spells --config out', (step) =>
    withNode(plane, program, options, async (node, admin) => {
      const original = await look(node)
      assert.equal(original.text.charAt(0), '{')
      const good = await step('a good one is promoted', () => promoteGood(node, admin))
      await step('it is what the file holds, and kubelet.env is not there', async () => {
        assert.equal((await look(node)).text, node.config({ maxPods: 51 }))
        assert.equal(node.read('kubelet.env'), undefined)
      })
      await step('one that crashes kubelet: back on last-known-good', async () => {
        const crashing = await assignNew(node, admin, 'crashing', node.crash.changes)
        await admin.untilStatus({ assigned: crashing, active: good, lastKnownGood: good, error: ERROR })
        await node.untilRuns(51)
      })
      await step('configSource is removed: the file is as it was, byte for byte, with its owner and mode', async () => {
        await admin.unassign()
        await admin.untilStatus({})
        await node.untilRuns(110)
        assert.deepEqual(await look(node), original)
      })
      await step('the reset of a person on the node does the same', async () => {
        await admin.assign('good')
        await node.untilRuns(51)
        await node.command('reset')
        await node.untilRuns(110)
        assert.deepEqual(await look(node), original)
      })
    }),
  )
}

async function look(node: Node): Promise<{ text: string; uid: number; gid: number; mode: number }> {
  const path = node.host(node.localConfig)
  const { uid, gid, mode } = await stat(path)
  return { text: await readFile(path, 'utf8'), uid, gid, mode }
}
