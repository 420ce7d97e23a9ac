// SPDX-License-Identifier: Apache-2.0
/**
 * The metrics as a file for the node exporter, from inside the sandbox of the agent's unit: first
 * without the drop-in of docs/monitoring.md, then with it.
 */
import { strict as assert } from 'node:assert'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { promoteGood } from './assign.ts'
import { UP_TO_LOADING } from './kubeadm-files.ts'
import { withNode } from './node.ts'

/** As Debian's node exporter has it. */
const DIRECTORY = '/var/lib/prometheus/node-exporter'
const FILE = `${DIRECTORY}/kubelet-cfg-agent.prom`
const DROP_INS = '/etc/systemd/system/kubelet-cfg-agent.service.d'

export function addTextfileScenarios(plane: ControlPlane, program: string): void {
  const settings = { ...UP_TO_LOADING, TRIAL_DURATION: '1s', METRICS_TEXTFILE: FILE }
  scenario('node: the metrics as a file for the node exporter', (step) =>
    withNode(plane, program, { name: 'textfile', settings }, async (node, admin) => {
      await mkdir(node.host(DIRECTORY), { recursive: true, mode: 0o755 })
      await step('without the drop-in the sandbox refuses it, the journal says so, and the agent works', async () => {
        await node.untilSays(/^cannot write metrics to .*kubelet-cfg-agent\.prom.*ReadWritePaths=/)
        await promoteGood(node, admin)
      })
      await step('with it the file is there, for everybody to read', () =>
        node.withoutRestart(async () => {
          await writeFile(node.host(DROP_INS, 'textfile.conf'), `[Service]\nReadWritePaths=-${DIRECTORY}\n`)
          await node.systemctl('daemon-reload')
          await node.systemctl('restart', 'kubelet-cfg-agent')
          const isProven = async () => {
            const text = await readFile(node.host(FILE), 'utf8')
            assert.match(text, /^kubelet_cfg_agent_condition\{.*reason="Promoted"\} 1$/m)
            assert.doesNotMatch(text, /^process_/m)
            return true
          }
          await eventually(isProven, { what: 'the file says that the config is proven', timeoutMs: 60_000 })
          assert.equal((await stat(node.host(FILE))).mode & 0o777, 0o644)
        }),
      )
    }),
  )
}
