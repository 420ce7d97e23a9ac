// SPDX-License-Identifier: Apache-2.0
/**
 * The user data of deploy/install, applied by the real cloud-init: the agent is there before the
 * node joins, and waits for it. A download that is not what the user data expect is not installed,
 * and the node joins without the agent. Only where `npm run package` has made a deb.
 */
import { strict as assert } from 'node:assert'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ControlPlane } from '../lab/control-plane.ts'
import { scenario } from '../lab/runner.ts'
import { type Node, withNode } from './node.ts'
import { debForInstallers, INSTALL } from './playbook.ts'
import { INSTALLERS } from './root.ts'
import { serveFile } from './serve-file.ts'

const AGENT = 'kubelet-cfg-agent'
export const SEED = '/var/lib/cloud/seed/nocloud'
const KUBECONFIG = '/etc/kubernetes/kubelet.conf'
const KEPT = '/root/kubelet.conf'
const NO_HASH = '0'.repeat(64)

/** The data are on the disk. No other module than these may change a machine of the lab. */
export const CLOUD_CONFIG = `datasource_list: [NoCloud]
network: { config: disabled }
warnings: { dsid_missing_source: "off" }
cloud_init_modules: [write-files]
cloud_config_modules: [runcmd]
cloud_final_modules: [scripts-user]
`
/** A kubeadm that joins as far as a test can see: kubelet gets its identity and starts. */
const KUBEADM = `#!/bin/sh
set -eu
systemctl is-active ${AGENT} >/root/agent-at-join || :
[ "$*" = "join --config /etc/kubernetes/kubeadm-join.yaml" ]
mv ${KEPT} ${KUBECONFIG}
systemctl start kubelet
`

export async function addCloudInitScenarios(plane: ControlPlane, program: string): Promise<void> {
  const deb = await debForInstallers()
  if (deb === undefined) return
  const options = { name: 'cloud-init', agent: 'absent', extras: INSTALLERS } as const
  scenario('node: install: cloud-init installs the deb before the node joins', (step) =>
    withNode(plane, program, options, async (node, admin) => {
      const served = await serveFile(deb)
      try {
        await step('another file than the user data expect: nothing is installed, and the node joins', async () => {
          await boots(node, 'first', served.url, 'f'.repeat(64))
          assert.equal(existsSync(node.host('/usr/bin/kubelet-cfg-agent')), false)
          await node.untilHealthy()
        })
        await step('the agent is installed, waits for its kubeconfig, and the node joins', async () => {
          await boots(node, 'second', served.url, served.sha256)
          assert.equal(await readFile(node.host('/root/agent-at-join'), 'utf8'), 'active\n')
          assert.deepEqual(await node.show(AGENT, 'ActiveState', 'UnitFileState'), { ActiveState: 'active', UnitFileState: 'enabled' })
          await node.untilHealthy()
        })
        await step('it has the settings of the user data, and reports on the Node', async () => {
          const settings = await readFile(node.host('/etc/kubelet-cfg-agent/config.yaml'), 'utf8')
          assert.match(settings, /^trialDuration: 30m$/m)
          await admin.untilCondition({ status: 'True', reason: 'Local' })
          const { DropInPaths } = await node.show('kubelet', 'DropInPaths')
          assert.match(DropInPaths, /90-kubelet-cfg-agent\.conf/)
        })
      } finally {
        served.close()
      }
    }),
  )
}

/**
 * Runs the stages of cloud-init, one after the other, as its units start them on a machine that
 * never had it.
 */
async function boots(node: Node, instance: string, url: string, sha256: string): Promise<void> {
  await node.systemctl('stop', 'kubelet')
  await rename(node.host(KUBECONFIG), node.host(KEPT))
  const example = await readFile(join(INSTALL, 'cloud-init.yaml'), 'utf8')
  const userData = example.replace(/https:\S+\.deb/, url).replace(NO_HASH, sha256)
  await mkdir(node.host(SEED), { recursive: true })
  await writeFile(node.host(SEED, 'user-data'), userData)
  await writeFile(node.host(SEED, 'meta-data'), `instance-id: ${instance}\n`)
  await writeFile(node.host('/etc/cloud/cloud.cfg'), CLOUD_CONFIG)
  await writeFile(node.host('/usr/local/bin/kubeadm'), KUBEADM)
  await chmod(node.host('/usr/local/bin/kubeadm'), 0o755)
  await node.exec('cloud-init', 'clean', '--logs')
  await rm(node.host('/run/cloud-init'), { recursive: true, force: true })
  const stages = [['init', '--local'], ['init'], ['modules', '--mode', 'config'], ['modules', '--mode', 'final']]
  for (const stage of stages) await node.exec('cloud-init', ...stage)
}
