// SPDX-License-Identifier: Apache-2.0
/**
 * The example playbook of deploy/install on two nodes: the second one is begun when the first one
 * is done, and stays as it is if the first one fails. Ansible runs on the first node, and reaches
 * the second one by ssh. Only where `npm run package` has made a deb.
 */
import { strict as assert } from 'node:assert'
import { existsSync } from 'node:fs'
import { appendFile, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { findFreePort } from '../lab/ports.ts'
import { scenario } from '../lab/runner.ts'
import { type Node, withNode } from './node.ts'
import { debForInstallers, INSTALL_LIMIT, play, putPlaybook } from './playbook.ts'
import { INSTALLERS } from './root.ts'

const AGENT = 'kubelet-cfg-agent'
/** Takes the agent's file away from kubelet's unit. */
const OVERRIDE = '/etc/systemd/system/kubelet.service.d/99-site.conf'
const KEY = '/root/.ssh/id_ed25519'

export async function addAnsibleNodesScenario(plane: ControlPlane, program: string): Promise<void> {
  const deb = await debForInstallers()
  if (deb === undefined) return
  const options = { agent: 'absent', extras: INSTALLERS } as const
  scenario(
    'node: install: the Ansible playbook goes from node to node, and ends where one fails',
    (step) =>
      withNode(plane, program, { ...options, name: 'ansible-first' }, (first) =>
        withNode(plane, program, { ...options, name: 'ansible-second' }, async (second) => {
          const port = await step('the second node is reached by ssh', () => serveSsh(second, first))
          const variables = { kubelet_cfg_agent_package_file: `packages/${basename(deb)}` }
          await putPlaybook(first, [deb], {
            first: { ansible_connection: 'local' },
            second: { ansible_host: '127.0.0.1', ansible_port: port, ansible_user: 'root', ansible_ssh_timeout: 300 },
          })
          await step('the check of the first one fails: nothing is done on the second one', async () => {
            await writeFile(first.host(OVERRIDE), '[Service]\nEnvironmentFile=\n')
            await assert.rejects(play(first, variables), ({ message }: Error) => {
              // Ansible 2.19 also writes the error to its stderr, which comes in between or not.
              assert.match(message, /TASK \[kubelet_cfg_agent : Check the node\] \*+\n(?:\[ERROR\].*\n)?fatal: \[first\]/)
              assert.match(message, /^first +: .*failed=1 /m)
              assert.doesNotMatch(message, /^second +: /m)
              return true
            })
            assert.equal(existsSync(second.host('/usr/bin/kubelet-cfg-agent')), false)
          })
          await step('mended: the first one is done before the second one is begun', async () => {
            await rm(first.host(OVERRIDE))
            await first.systemctl('daemon-reload')
            const said = await play(first, variables)
            assert.match(said, /^first +: .*unreachable=0 +failed=0 /m)
            assert.match(said, /^second +: .*unreachable=0 +failed=0 /m)
            assert(said.lastIndexOf('[first]') < said.indexOf('[second]'), said)
            for (const node of [first, second]) assert.equal((await node.show(AGENT, 'ActiveState')).ActiveState, 'active')
          })
        }),
      ),
    INSTALL_LIMIT,
  )
}

/** For the key of `client`, on a port of its own: the nodes share their network. */
async function serveSsh(node: Node, client: Node): Promise<number> {
  await client.exec('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', KEY)
  await mkdir(node.host('/root/.ssh'), { recursive: true, mode: 0o700 })
  await copyFile(client.host(`${KEY}.pub`), node.host('/root/.ssh/authorized_keys'))
  await node.exec('ssh-keygen', '-A')
  const port = await findFreePort()
  await node.exec('mkdir', '-p', '/run/sshd')
  await node.exec('systemd-run', '--quiet', '--unit=lab-sshd', '/usr/sbin/sshd', '-D', '-p', String(port), '-o', 'ListenAddress=127.0.0.1')
  const known = async () => (await client.exec('ssh-keyscan', '-p', String(port), '-t', 'ed25519', '127.0.0.1')).stdout
  const keys = await eventually(async () => (await known()) || false, { what: 'sshd answers' })
  await appendFile(client.host('/root/.ssh/known_hosts'), keys)
  return port
}
