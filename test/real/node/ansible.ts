// SPDX-License-Identifier: Apache-2.0
/**
 * The Ansible role of deploy/install on a node: it installs what was checked, changes nothing the
 * second time, and removes the agent. Ansible runs on the node itself, with the example playbook.
 * Only where `npm run package` has made a deb.
 */
import { strict as assert } from 'node:assert'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { ControlPlane } from '../lab/control-plane.ts'
import { run } from '../lab/processes.ts'
import { scenario } from '../lab/runner.ts'
import { type Node, withNode } from './node.ts'
import { keepingKubelet } from './packages.ts'
import { debForInstallers, INSTALL_LIMIT, playbook, putPlaybook } from './playbook.ts'
import { INSTALLERS } from './root.ts'
import { serveFile } from './serve-file.ts'

const AGENT = 'kubelet-cfg-agent'
const REPOSITORY = '/srv/repository'
const SETTINGS_FILE = '/etc/kubelet-cfg-agent/config.yaml'

export async function addAnsibleScenarios(plane: ControlPlane, program: string): Promise<void> {
  const deb = await debForInstallers()
  if (deb === undefined) return
  const options = { name: 'ansible', agent: 'absent', extras: INSTALLERS } as const
  scenario(
    'node: install: the Ansible role installs the deb, changes nothing again, and removes it',
    (step) =>
      withNode(plane, program, options, async (node, admin) => {
        await putPlaybook(node, [deb])
        const file = { kubelet_cfg_agent_package_file: `packages/${basename(deb)}` }
        await step('fetched from a URL, with a setting that does not exist: the service is not started', async () => {
          const served = await serveFile(deb)
          const from = {
            kubelet_cfg_agent_package_file: '',
            kubelet_cfg_agent_package_url: served.url,
            kubelet_cfg_agent_package_sha256: served.sha256,
          }
          const wrong = playbook(node, { ...from, kubelet_cfg_agent_settings: { trialDuraton: '1m' } })
          await assert.rejects(wrong, /trialDuraton.*trialDuration/).finally(served.close)
          assert.equal((await node.command('version')).stdout.startsWith('kubelet-cfg-agent '), true)
          assert.equal((await node.show(AGENT, 'ActiveState')).ActiveState, 'inactive')
        })
        await step('installed: checked, enabled, running, and kubelet goes on', () =>
          keepingKubelet(node, async () => {
            const recap = await playbook(node, { ...file, kubelet_cfg_agent_settings: { trialDuration: '1m' } })
            assert.match(recap, /changed=[1-9]\d* .* failed=0 /)
            assert.deepEqual(await node.show(AGENT, 'ActiveState', 'UnitFileState'), { ActiveState: 'active', UnitFileState: 'enabled' })
            assert.match(await readFile(node.host(SETTINGS_FILE), 'utf8'), /^trialDuration: 1m$/m)
            await admin.untilCondition({ status: 'True', reason: 'Local' })
          }),
        )
        await step('run again: nothing changes, and the same agent runs', async () => {
          const before = await node.show(AGENT, 'MainPID')
          const recap = await playbook(node, { ...file, kubelet_cfg_agent_settings: { trialDuration: '1m' } })
          assert.match(recap, / changed=0 .* failed=0 /)
          assert.deepEqual(await node.show(AGENT, 'MainPID'), before)
        })
        await step('another setting: the agent is restarted with it, and kubelet goes on', () =>
          keepingKubelet(node, async () => {
            const before = await node.show(AGENT, 'MainPID')
            const recap = await playbook(node, { ...file, kubelet_cfg_agent_settings: { trialDuration: '2m' } })
            assert.match(recap, / failed=0 /)
            assert.notDeepEqual(await node.show(AGENT, 'MainPID'), before)
            assert.equal((await node.show(AGENT, 'ActiveState')).ActiveState, 'active')
          }),
        )
        await step('stopped: the role starts it, and a check fails until then', async () => {
          await node.exec('systemctl', 'stop', AGENT)
          await assert.rejects(node.command('check'), { stdout: /^fail +agent +is not running/ })
          const recap = await playbook(node, { ...file, kubelet_cfg_agent_settings: { trialDuration: '2m' } })
          assert.match(recap, / changed=1 .* failed=0 /)
          assert.equal((await node.show(AGENT, 'ActiveState')).ActiveState, 'active')
        })
        await step('removed: kubelet goes on', () =>
          keepingKubelet(node, async () => {
            assert.match(await playbook(node, { kubelet_cfg_agent_state: 'absent' }), / changed=2 .* failed=0 /)
            assert.equal((await node.show(AGENT, 'LoadState')).LoadState, 'not-found')
            const { DropInPaths } = await node.show('kubelet', 'DropInPaths')
            assert.doesNotMatch(DropInPaths, /kubelet-cfg-agent/)
          }),
        )
        await step('removed again: nothing changes', async () => {
          assert.match(await playbook(node, { kubelet_cfg_agent_state: 'absent' }), / changed=0 .* failed=0 /)
        })
        await step('installed from a repository of the node, in a version', async () => {
          const variables = { kubelet_cfg_agent_package_file: '', kubelet_cfg_agent_version: await addRepository(node, deb) }
          assert.match(await playbook(node, variables), /changed=[1-9]\d* .* failed=0 /)
          assert.match(await playbook(node, variables), / changed=0 .* failed=0 /)
          assert.equal((await node.show(AGENT, 'ActiveState')).ActiveState, 'active')
          assert.match(await readFile(node.host(SETTINGS_FILE), 'utf8'), /^spread: 10m$/m)
        })
      }),
    INSTALL_LIMIT,
  )
}

/** Of this one package, without a signature. Returns its version. */
async function addRepository(node: Node, deb: string): Promise<string> {
  await mkdir(node.host(REPOSITORY))
  await copyFile(deb, node.host(REPOSITORY, basename(deb)))
  const { stdout: fields } = await run('dpkg-deb', ['--field', deb])
  const [sum] = (await node.exec('sha256sum', `${REPOSITORY}/${basename(deb)}`)).stdout.split(' ')
  const { size } = JSON.parse((await node.exec('stat', '--format', '{"size":%s}', `${REPOSITORY}/${basename(deb)}`)).stdout)
  await writeFile(node.host(REPOSITORY, 'Packages'), `${fields.trimEnd()}\nFilename: ./${basename(deb)}\nSize: ${size}\nSHA256: ${sum}\n`)
  await writeFile(node.host('/etc/apt/sources.list'), `deb [trusted=yes] file:${REPOSITORY} ./\n`)
  const version = /^Version: (.*)$/m.exec(fields)?.[1]
  assert(version !== undefined, `${deb} has no version`)
  return version
}
