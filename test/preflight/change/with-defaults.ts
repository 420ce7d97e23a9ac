/** A config as a kubelet of some version has it: defaults filled in, what it does not know left out, in one object: what kubelet would answer at /configz. The rules are in `effective.ts`. */
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
