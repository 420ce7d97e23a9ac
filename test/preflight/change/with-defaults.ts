// SPDX-License-Identifier: Apache-2.0
/**
 * A config with the defaults of a version and without fields that it does not know, like kubelet's
 * /configz. Uses the rules of `effective.ts`.
 */
import type { KubeletConfig } from '../../../src/kubelet/decode.ts'
import { effectiveConfig } from '../../../src/preflight/change/effective.ts'
import type { KubeletVersion } from '../../../src/preflight/kubelet-version.ts'

type Tree = { [name: string]: unknown }

export function withDefaults(config: KubeletConfig, version: KubeletVersion | undefined): KubeletConfig {
  const whole: Tree = {}
  const branches = new Map<string, Tree>([['', whole]])
  for (const name of ['apiVersion', 'kind']) if (Object.hasOwn(config, name)) whole[name] = config[name]
  for (const [name, { value }] of effectiveConfig(config, version)) {
    const at = name.lastIndexOf('.')
    branchOf(branches, name.slice(0, Math.max(at, 0)))[name.slice(at + 1)] = value
  }
  return whole
}

function branchOf(branches: Map<string, Tree>, name: string): Tree {
  const known = branches.get(name)
  if (known !== undefined) return known
  const branch: Tree = {}
  const at = name.lastIndexOf('.')
  branchOf(branches, name.slice(0, Math.max(at, 0)))[name.slice(at + 1)] = branch
  branches.set(name, branch)
  return branch
}
