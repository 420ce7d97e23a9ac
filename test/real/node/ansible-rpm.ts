// SPDX-License-Identifier: Apache-2.0
/**
 * The Ansible role on a node that says that it is Fedora, where it takes dnf: it installs the rpm
 * from a file, changes nothing the second time, takes a later version from a repository, and
 * removes the agent. The node's distribution is Debian all the same, with Debian's dnf, so what the
 * rpm requires comes from a package that stands for the distribution. Only where `npm run package`
 * has made an rpm.
 */
import { strict as assert } from 'node:assert'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { ControlPlane } from '../lab/control-plane.ts'
import { run } from '../lab/processes.ts'
import { scenario } from '../lab/runner.ts'
import { makeRpm, whatItRequires } from '../release/small-rpm.ts'
import { findRpm } from './install-agent.ts'
import { type Node, withNode } from './node.ts'
import { earlierRpm, keepingKubelet } from './packages.ts'
import { hasInstallers, INSTALL_LIMIT, playbook, putPlaybook } from './playbook.ts'
import { INSTALLERS } from './root.ts'

const AGENT = 'kubelet-cfg-agent'
const REPOSITORY = '/srv/repository'
const EARLIER = '0.0.1'
const FEDORA = 'NAME="Fedora Linux"\nID=fedora\nVERSION_ID=41\nPRETTY_NAME="Fedora Linux 41"\n'
const FROM_FILE = 'packages/earlier.rpm'

export async function addAnsibleRpmScenario(plane: ControlPlane, program: string): Promise<void> {
  const rpm = hasInstallers() ? await findRpm() : undefined
  if (rpm === undefined) return
  const options = { name: 'ansible-rpm', agent: 'absent', extras: INSTALLERS } as const
  scenario(
    'node: install: the Ansible role installs the rpm by dnf, upgrades it from a repository, and removes it',
    (step) =>
      withNode(plane, program, options, async (node, admin) => {
        await step('a node with dnf, and a repository', async () => {
          await putPlaybook(node, [await earlierRpm(join(plane.directory, 'rpm-for-ansible'), rpm, EARLIER)])
          await becomeFedora(node, rpm, join(plane.directory, 'distribution'))
        })
        const file = { kubelet_cfg_agent_package_file: FROM_FILE, kubelet_cfg_agent_settings: { trialDuration: '1m' } }
        await step('from a file: checked, enabled, running, and kubelet goes on', () =>
          keepingKubelet(node, async () => {
            assert.match(await playbook(node, file), /changed=[1-9]\d* .* failed=0 /)
            assert.deepEqual(await node.show(AGENT, 'ActiveState', 'UnitFileState'), { ActiveState: 'active', UnitFileState: 'enabled' })
            assert.match(await readFile(node.host('/etc/kubelet-cfg-agent/config.yaml'), 'utf8'), /^trialDuration: 1m$/m)
            assert.equal(await versionOf(node), EARLIER)
            await admin.untilCondition({ status: 'True', reason: 'Local' })
          }),
        )
        await step('run again: nothing changes, and the same agent runs', async () => {
          const before = await node.show(AGENT, 'MainPID')
          assert.match(await playbook(node, file), / changed=0 .* failed=0 /)
          assert.deepEqual(await node.show(AGENT, 'MainPID'), before)
        })
        const version = basename(rpm).split('-').at(-2) ?? ''
        const later = { ...file, kubelet_cfg_agent_package_file: '', kubelet_cfg_agent_version: version }
        await step('a later version from a repository: another agent, and kubelet goes on', () =>
          keepingKubelet(node, async () => {
            const before = await node.show(AGENT, 'MainPID')
            assert.match(await playbook(node, later), / failed=0 /)
            assert.equal(await versionOf(node), version)
            assert.notDeepEqual(await node.show(AGENT, 'MainPID'), before)
            assert.match(await playbook(node, later), / changed=0 .* failed=0 /)
          }),
        )
        await step('removed: kubelet goes on, and what it requires stays', () =>
          keepingKubelet(node, async () => {
            assert.match(await playbook(node, { kubelet_cfg_agent_state: 'absent' }), /changed=[1-9]\d* .* failed=0 /)
            assert.equal((await node.show(AGENT, 'LoadState')).LoadState, 'not-found')
            assert.match((await node.exec('rpm', '--query', '--all')).stdout, /^distribution-1-1\.\S+\n$/)
            assert.match(await playbook(node, { kubelet_cfg_agent_state: 'absent' }), / changed=0 .* failed=0 /)
          }),
        )
      }),
    INSTALL_LIMIT,
  )
}

/** As far as Ansible sees: it has no apt, and dnf has one repository, without signatures. */
export async function becomeFedora(node: Node, rpm: string, scratch: string): Promise<void> {
  await mkdir(scratch, { recursive: true })
  await mkdir(node.host(REPOSITORY))
  const distribution = await makeRpm(scratch, { name: 'distribution', version: '1', provides: await whatItRequires(rpm) })
  for (const file of [distribution, rpm]) await copyFile(file, node.host(REPOSITORY, basename(file)))
  await run('createrepo_c', ['--quiet', node.host(REPOSITORY)])
  await mkdir(node.host('/etc/yum.repos.d'), { recursive: true })
  await writeFile(node.host('/etc/yum.repos.d/lab.repo'), `[lab]\nname=lab\nbaseurl=file://${REPOSITORY}\ngpgcheck=0\n`)
  for (const name of ['/etc/os-release', '/etc/debian_version', '/usr/bin/apt-get']) await rm(node.host(name))
  await writeFile(node.host('/etc/os-release'), FEDORA)
  await writeFile(node.host('/etc/fedora-release'), 'Fedora release 41 (Forty One)\n')
}

async function versionOf(node: Node): Promise<string> {
  return (await node.exec('rpm', '--query', '--queryformat', '%{VERSION}', AGENT)).stdout
}
