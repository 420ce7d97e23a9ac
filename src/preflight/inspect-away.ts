/**
 * Inspects a config away from its node, for the kubectl plugin: by the rules that need neither the
 * node nor its kubelet. Pure.
 */
import type { KubeletConfig } from '../kubelet/decode.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { Report } from './finding.ts'
import { inspectWith } from './inspect.ts'
import type { ConfigChange, InspectedConfig } from './inspection.ts'
import type { KubeletVersion } from './kubelet-version.ts'
import { NOTHING_KNOWN } from './node/surroundings.ts'
import { listParts } from './parts.ts'
import { describeChanges } from './policy/check-policy.ts'

/** The change policy of an agent is known on its node alone: here, everything is allowed. */
const OPEN = { base: 'open', allow: [], deny: [], requireDrain: [] } as const

export async function inspectConfig(
  config: InspectedConfig,
  version: KubeletVersion | undefined,
  yaml: YamlReader,
  from?: KubeletVersion,
): Promise<Report> {
  const parts = listParts({
    surroundings: async () => NOTHING_KNOWN,
    policy: () => OPEN,
    guardsOff: () => [],
    judge: { judge: async () => ({ kind: 'unjudged', detail: 'there is no kubelet' }), forget: () => {} },
    signal: new AbortController().signal,
  }).filter(({ name }) => name === 'fields' || name === 'meaning')
  const recipient = { kubelet: undefined, version, from, node: undefined, unknownKeys: 'warn' } as const
  const options = { kubelet: undefined, version, unknownKeys: undefined, deep: 'no', node: false } as const
  return inspectWith(parts, async () => recipient, yaml)(config, options)
}

export function listConfigChanges(
  before: KubeletConfig,
  after: KubeletConfig,
  version: KubeletVersion | undefined,
): readonly ConfigChange[] {
  // Without the policy, which is that of an agent.
  return describeChanges(before, after, version, OPEN).map((change) => ({ ...change, policy: undefined }))
}
