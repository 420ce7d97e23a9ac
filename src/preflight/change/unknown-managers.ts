// SPDX-License-Identifier: Apache-2.0
/**
 * Which of kubelet's managers a config may change where nobody knows what kubelet runs now: each
 * that has a policy in the config, and each whose state file was written by a policy.
 */
import { parseManagerState } from '../../kubelet/manager-state.ts'
import { type Finding, MANAGERS, waitsForDrain } from '../finding.ts'
import type { PartInput, TargetNode } from '../inspection.ts'
import { NodeView, stateFile } from '../node/node-view.ts'
import { NOTHING_NEEDED, type SurroundingNeeds, type Surroundings } from '../node/surroundings.ts'
import { collectFlags, overridingFlag } from './kubelet-flags.ts'

const POLICIES = [
  ['cpuManagerPolicy', 'cpu_manager_state'],
  ['memoryManagerPolicy', 'memory_manager_state'],
  ['topologyManagerPolicy', undefined],
] as const

export async function findUnknownManagers(
  { document, version }: Pick<PartInput, 'document' | 'version'>,
  { flags: words, kubeletPid, folder }: TargetNode,
  surroundings: (needs: SurroundingNeeds) => Promise<Surroundings>,
): Promise<Finding[]> {
  if (kubeletPid === undefined) return []
  const flags = collectFlags(words)
  const view = new NodeView(document.config, { version, flags, folder, files: [] })
  const fileOf = (name: (typeof POLICIES)[number][1]) => (name === undefined ? undefined : stateFile(view, name))
  const texts = POLICIES.flatMap(([, name]) => fileOf(name) ?? [])
  const found = await surroundings({ ...NOTHING_NEEDED, texts })
  return POLICIES.flatMap(([field, name]) => {
    const text = found.texts.get(fileOf(name) ?? '') ?? undefined
    const policies = [view.text(field), text && parseManagerState(text)?.policyName]
    const isUsed = policies.some((policy) => typeof policy === 'string' && !['', 'none'].includes(policy.toLowerCase()))
    if (!isUsed || overridingFlag([field], flags) !== undefined) return []
    return [waitsForDrain(MANAGERS, [field], document, "; kubelet's current config cannot be read")]
  })
}
