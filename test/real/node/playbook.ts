// SPDX-License-Identifier: Apache-2.0
/**
 * The example playbook of deploy/install with its role, run by the Ansible of a node: on this node
 * itself, or on other nodes of its inventory.
 */
import { copyFile, cp, mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { stringify } from 'yaml'
import { nodeChoice } from '../lab/node-choice.ts'
import { CommandError } from '../lab/processes.ts'
import { findDeb } from './install-agent.ts'
import type { Node } from './node.ts'

export const INSTALL = join(import.meta.dirname, '../../../deploy/install')
const INSIDE = '/root/ansible'
/** Each run of a playbook starts hundreds of programs. */
export const INSTALL_LIMIT = { timeoutMs: 40 * 60_000 }

/** Variables of each, in the order in which Ansible takes them. */
type Hosts = Readonly<Record<string, object>>

const ITSELF: Hosts = { localhost: { ansible_connection: 'local' } }

/** undefined: there is none, or no root for programs that install it. */
export async function debForInstallers(): Promise<string | undefined> {
  return hasInstallers() ? findDeb() : undefined
}

export function hasInstallers(): boolean {
  if (nodeChoice().suite !== 'bullseye') return true
  console.log('bullseye has no ansible-core: the scenarios of installations are left out')
  return false
}

/** @param packages files, which the variables of a play name as `packages/NAME` */
export async function putPlaybook(node: Node, packages: readonly string[], hosts: Hosts = ITSELF): Promise<void> {
  await cp(join(INSTALL, 'ansible'), node.host(INSIDE), { recursive: true })
  await mkdir(node.host(INSIDE, 'packages'))
  for (const file of packages) await copyFile(file, node.host(INSIDE, 'packages', basename(file)))
  await writeFile(node.host(INSIDE, 'inventory.yaml'), stringify({ kubernetes_nodes: { hosts } }))
}

/** Returns the last line, which counts. `variables` win over those of the playbook. */
export async function playbook(node: Node, variables: object): Promise<string> {
  return (await play(node, variables)).trimEnd().split('\n').at(-1) ?? ''
}

/** Modules go to Python by a pipe, as those set it who play often, and are not copied first. */
const SETTINGS = ['ANSIBLE_PIPELINING=True']

/** Returns all that Ansible says. */
export async function play(node: Node, variables: object): Promise<string> {
  const args = ['--inventory', `${INSIDE}/inventory.yaml`, '--extra-vars', JSON.stringify(variables), `${INSIDE}/site.yaml`]
  const { stdout } = await node.exec('env', ...SETTINGS, 'ansible-playbook', ...args).catch((error: unknown) => {
    // ansible-playbook writes failures to standard output.
    if (error instanceof CommandError) throw new Error(`ansible-playbook fails: ${error.stdout}\n${error.stderr}`, { cause: error })
    throw error
  })
  return stdout
}
