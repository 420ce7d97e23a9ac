// SPDX-License-Identifier: Apache-2.0
/**
 * A unit that kubelet's requires fails for a minute while a config is applied: systemd stops
 * kubelet for the agent's restart, and does not start it again. Nobody stopped it, so the agent
 * does. A kubelet that a person stops meanwhile stays stopped.
 */
import { strict as assert } from 'node:assert'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { assignNew, promoteGood } from './assign.ts'
import { UP_TO_LOADING } from './kubeadm-files.ts'
import { type Node, withNode } from './node.ts'

const SETTINGS = { ...UP_TO_LOADING, TRIAL_DURATION: '2s' }
const FAULT_MS = 60_000
/** The unit takes 3 s to start, for a person to come in between. */
const IMAGE = 'sandbox-image.service'
const BROKEN = '/run/sandbox-image-broken'
const UNIT = `[Service]
Type=oneshot
ExecStart=/bin/sh -c 'sleep 3; ! test -e ${BROKEN}'
`
const REQUIRES = `[Unit]
Requires=${IMAGE}
After=${IMAGE}
`

export function addLeftDownScenarios(plane: ControlPlane, program: string): void {
  scenario('node: a unit that kubelet requires fails while a config is applied', (step) =>
    withNode(plane, program, { name: 'left-down-node', settings: SETTINGS }, async (node, admin) => {
      await requireImage(node)
      await promoteGood(node, admin)
      const next = await step('it fails, and kubelet is down though nobody stopped it', async () => {
        await node.exec('touch', BROKEN)
        const assigned = await assignNew(node, admin, 'next', { maxPods: 61 })
        await eventually(async () => (await node.show(node.kubeletUnit, 'ActiveState', 'Job')).ActiveState === 'inactive', {
          what: 'kubelet is down',
          intervalMs: 50,
        })
        await node.untilSays(/^restarting: a unit that kubelet requires failed, and systemd does not start kubelet again/)
        return assigned
      })
      await step('for a minute', () => new Promise((resolve) => setTimeout(resolve, FAULT_MS)))
      await step('once it does not fail any more, kubelet runs the new config, and no config is blamed', async () => {
        await node.exec('rm', BROKEN)
        await node.untilRuns(61, 90_000)
        await admin.untilStatus({ assigned: next, active: next, lastKnownGood: next })
        assert.equal(node.history().filter(({ kind }) => kind === 'rolled-back').length, 0)
      })
      await step('a person who stops kubelet while systemd restarts it for the agent has it stopped', async () => {
        await assignNew(node, admin, 'stopped', { maxPods: 62 })
        const isBetween = async () => {
          const { ActiveState, Job } = await node.show(node.kubeletUnit, 'ActiveState', 'Job')
          return ActiveState === 'inactive' && Job !== ''
        }
        await eventually(isBetween, { what: 'kubelet waits for the other unit', intervalMs: 20 })
        await node.systemctl('stop', node.kubeletUnit)
        await node.untilSays(/^kubelet-stopped: kubelet is stopped; systemctl start kubelet\.service starts it/)
        // As long as the first pauses between two starts are together.
        await new Promise((resolve) => setTimeout(resolve, 20_000))
        assert.equal((await node.show(node.kubeletUnit, 'ActiveState')).ActiveState, 'inactive')
        await node.systemctl('start', node.kubeletUnit)
        await node.untilRuns(62)
      })
    }),
  )
}

async function requireImage(node: Node): Promise<void> {
  const files = { [`/etc/systemd/system/${IMAGE}`]: UNIT, [`/etc/systemd/system/${node.kubeletUnit}.service.d/50-image.conf`]: REQUIRES }
  for (const [path, text] of Object.entries(files)) {
    const outside = node.host(path)
    await mkdir(dirname(outside), { recursive: true })
    await writeFile(outside, text)
  }
  await node.systemctl('daemon-reload')
}
