/** Two configs of the cluster compared field by field, as text for people. */
import { renderChanges } from '../cli/changes-text.ts'
import { plainText } from '../cli/terminal.ts'
import { decodeText } from '../kubelet/decode-text.ts'
import { type KubeletVersion, parseVersion } from '../preflight/kubelet-version.ts'
import type { PluginContext } from './command.ts'
import type { ConfigContent } from './config-maps.ts'
import { Failure } from './failure.ts'
import { mergeText } from './merged-text.ts'
import type { NodeState } from './node-state.ts'

/**
 * @throws Failure where one of them cannot be merged or decoded
 * @returns no lines: no field differs
 */
export async function diffContents(
  context: PluginContext,
  before: ConfigContent & { readonly title: string },
  after: ConfigContent & { readonly title: string },
  version: KubeletVersion | undefined,
): Promise<readonly string[]> {
  const [from, to] = [await decode(context, before), await decode(context, after)]
  const changes = await context.compare(from, to, version)
  return changes.length === 0 ? [] : renderChanges(changes, context.terminal.color)
}

async function decode(context: PluginContext, content: ConfigContent & { readonly title: string }) {
  const merged = await mergeText(context, content)
  if (!merged.ok) throw new Failure(`${content.title}: ${merged.detail}`)
  const decoded = await decodeText(merged.text, context.yaml)
  if (!decoded.ok) throw new Failure(`${content.title}: ${plainText(decoded.detail)}`)
  return decoded.config
}

/** The versions of kubelet among these nodes, by their minor, the oldest first. */
export function versionsOf(nodes: readonly NodeState[]): readonly KubeletVersion[] {
  const found = new Map<number, KubeletVersion>()
  for (const { kubeletVersion } of nodes) {
    const version = parseVersion(kubeletVersion)
    if (version !== undefined && !found.has(version.minor)) found.set(version.minor, version)
  }
  return [...found.values()].sort((a, b) => a.minor - b.minor)
}
