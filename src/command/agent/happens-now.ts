// SPDX-License-Identifier: Apache-2.0
/**
 * For `diff`: the effects that a config would have on this node as soon as kubelet runs with it,
 * and the parts of it that kubelet would leave out. These are the findings of preflight that no
 * comparison of fields shows. Pure but for the readers that are passed in.
 */
import type { Finding } from '../../preflight/finding.ts'
import type { KubeletVersion } from '../../preflight/kubelet-version.ts'
import type { CommandContext } from './command.ts'
import { isNode } from './config-layers.ts'
import type { ConfigText } from './config-text.ts'

const RULES = /^(?:(?:guard|node)\/eviction|otherwise\/eviction-soft|node\/(?:image-gc|shutdown)|drop-ins\/skipped)$/
const KEY = 'kubelet'

/** Kubelet itself is not asked. Without places: the text may be a part of what the user gave. */
export async function listHappensNow(
  config: ConfigText,
  version: KubeletVersion | undefined,
  { inspect, unit }: Pick<CommandContext, 'inspect' | 'unit'>,
): Promise<readonly Finding[]> {
  if (!config.ok || !isNode(await unit.observe())) return []
  const { name, text, files, place } = config
  const inspected = {
    ...{ name, key: KEY, isAlone: files === 'unknown', localPath: place === 'local' ? name : undefined },
    files: { ...(typeof files === 'object' ? files : {}), [KEY]: text },
  }
  const options = { kubelet: undefined, version, unknownKeys: 'warn', deep: 'no', node: true, parts: ['drop-ins', 'node'] } as const
  const { findings } = await inspect(inspected, options)
  return findings.filter(({ rule }) => RULES.test(rule)).map((finding) => ({ ...finding, position: undefined }))
}
