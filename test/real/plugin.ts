// SPDX-License-Identifier: Apache-2.0
/**
 * The kubectl plugin on a real API server: started by a real kubectl, with a real agent on a node
 * that does what the plugin asks for, and the rights and the policy of a rollout that a real API
 * server takes.
 */
import { strict as assert } from 'node:assert'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { PAGE } from '../../src/command/list-pages.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { eventually } from './lab/eventually.ts'
import { CommandError, type CommandOutput, run } from './lab/processes.ts'
import { type Step, scenario } from './lab/runner.ts'
import { type Machine, withMachine } from './machine.ts'
import { withModernPlane } from './modern-plane.ts'
import { NO_EVIDENCE } from './rollout/fleet.ts'

const NAME = 'plugged-pods'
const HASH = '[0-9a-f]{10}'

export type Kubectl = (...args: string[]) => Promise<CommandOutput & { readonly code: number }>

export function addPluginScenarios(program: string): void {
  scenario('plugin: from the first config to a rollout', (step) =>
    withModernPlane(step, (plane) =>
      withMachine(plane, program, { name: 'plugged', settings: { evidence: NO_EVIDENCE } }, async (machine) =>
        play(step, machine, plane, await openPlugin(plane, program)),
      ),
    ),
  )
}

/** kubectl finds it on the PATH. */
export async function openPlugin(plane: ControlPlane, program: string): Promise<Kubectl> {
  const bin = join(plane.directory, 'bin')
  await mkdir(bin)
  for (const name of ['kubectl-kubelet_config', 'kubectl_complete-kubelet_config']) await symlink(program, join(bin, name))
  const env = { PATH: [bin, process.env.PATH].join(delimiter), KUBECONFIG: plane.adminKubeconfig }
  return async (...args) => {
    try {
      return { ...(await run(plane.binaries.kubectl, ['kubelet-config', ...args], { env })), code: 0 }
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      return { stdout: error.stdout, stderr: error.stderr, code: error.exitStatus ?? -1 }
    }
  }
}

async function play(step: Step, machine: Machine, plane: ControlPlane, plugin: Kubectl): Promise<void> {
  const { name } = machine
  const says = async (args: readonly string[], expected: RegExp, code = 0): Promise<string> => {
    const ran = await plugin(...args)
    assert.equal(ran.code, code, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
    assert.match(`${ran.stdout}${ran.stderr}`, expected)
    return ran.stdout
  }
  const file = async (maxPods: number): Promise<string> => {
    const path = join(plane.directory, 'new.yaml')
    await writeFile(path, machine.config(`maxPods: ${maxPods}`))
    return path
  }
  await plane.grantNodesConfigMap('kube-system', NAME)
  machine.agent.start()
  await step('a config is checked, written and assigned', async () => {
    await says(['apply', '-f', await file(-1), NAME, '--yes'], /must not be a negative number/, 1)
    await says(
      ['apply', '-f', await file(61), NAME, '--yes'],
      new RegExp(`Wrote ConfigMap kube-system/${NAME}, now version \\d+ \\(hash ${HASH}\\)`),
    )
    await says(['assign', NAME, name, '--by', 'config-source'], /the API server has dropped spec\.configSource/, 1)
    await says(['assign', NAME, name], new RegExp(`^${name}: asks for ${NAME}, by the label `))
    await machine.untilRuns(61)
  })
  await step('get and why show what the agent says', async () => {
    const table = await eventually(
      async () => {
        const { stdout } = await plugin('get')
        return /Promoted/.test(stdout) ? stdout : undefined
      },
      { what: 'the node is shown as Promoted' },
    )
    assert.match(table, new RegExp(`^${name} +${NAME} +\\d+ +Promoted `, 'm'))
    assert.match(table, new RegExp(`^${NAME} +█+ {2}1 Promoted$`, 'm'))
    await says(['why', name], new RegExp(`It runs kube-system/${NAME}:kubelet@\\d+\\.[\\s\\S]*KubeletConfigPromoted`))
  })
  await step('an edit shows what it changes, and undo takes it back', async () => {
    await says(['apply', '-f', await file(62), NAME, '--yes'], /run by 1 of 1 node:[\s\S]*maxPods +61 +62/)
    await machine.untilRuns(62)
    await says(['versions', NAME], new RegExp(`^${HASH} .* current$`, 'm'))
    await assert.rejects(
      plane.kubectl(['-n', 'kube-system', 'patch', 'configmap', await keptName(plane), '-p', '{"data":{"kubelet":"x"}}']),
    )
    await says(['undo', NAME, '--yes'], /maxPods +62 +61/)
    await machine.untilRuns(61)
    // The Node says it a moment after kubelet runs it.
    const isSame = async () => (await plugin('diff', name)).code === 0
    await eventually(isSame, { what: 'diff finds no difference' })
  })
  await step('a rollout is made, with rights and a policy that the API server takes', async () => {
    await says(['rollout', 'init', NAME, '--yes'], /Made ValidatingAdmissionPolicyBinding /)
    await says(['rollout', 'status', NAME, '--once'], /the rollout has not begun/, 2)
    await says(['apply', '-f', await file(63), NAME, '--yes'], /in stages: kubectl kubelet-config rollout status/)
    await says(['rollout', 'pause', NAME], /is paused/)
    await says(['rollout', 'resume', NAME], /is not paused/)
    await machine.untilRuns(63)
    const halted = await eventually(
      async () => {
        const { stdout, code } = await plugin('rollout', 'status', NAME, '--once')
        return /1 of 5 proofs|stage 1 of 5/.test(stdout) && code === 2 ? stdout : undefined
      },
      { what: 'the node has proved it' },
    )
    assert.match(halted, /^stage 1 of 5, open to witnesses only/)
  })
  await step('a fleet of more than one page is read whole', async () => {
    const others = Array.from({ length: PAGE + 50 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: `more-${index}` },
    }))
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: others })
    await plane.kubectl(['create', '-f', '-'], { input })
    const { items } = JSON.parse(await says(['get', '-o', 'json'], /NodeConfigList/))
    assert.equal(items.length, others.length + 1)
    await plane.kubectl(['delete', 'nodes', '--wait=false', ...others.map((other) => other.metadata.name)])
  })
  await step('who lacks a right is told which', async () => {
    const own = await plane.nodeKubeconfig(name)
    await says(
      ['assign', NAME, 'other', '--kubeconfig', own],
      /the right to (get|list|patch) nodes at the cluster scope is missing|nodes other/,
      1,
    )
    await says(['rollout', 'retry', NAME, '--kubeconfig', own], /the right to patch configmaps in the namespace kube-system is missing/, 1)
  })
  await step('Tab completes commands and names', async () => {
    const completer = join(plane.directory, 'bin', 'kubectl_complete-kubelet_config')
    const complete = async (...args: string[]) => (await run(completer, args, { env: { KUBECONFIG: plane.adminKubeconfig } })).stdout
    assert.equal(await complete('wh'), 'why\n:4\n')
    assert.equal(await complete('why', ''), `${name}\n:4\n`)
    assert.equal(await complete('versions', 'plug'), `${NAME}\n:4\n`, 'a config, and not its record')
  })
  await step('without an assignment the node goes back to its local config', async () => {
    await says(['unassign', name], /has no assignment now/)
    await machine.untilRuns(undefined)
  })
}

async function keptName(plane: ControlPlane): Promise<string> {
  const label = `kubelet-cfg-agent.io/kept-version-of=${NAME}`
  const names = await plane.kubectl(['-n', 'kube-system', 'get', 'configmap', '-l', label, '-o', 'jsonpath={.items[0].metadata.name}'])
  assert.match(names, new RegExp(`^${NAME}-${HASH}$`))
  return names
}
