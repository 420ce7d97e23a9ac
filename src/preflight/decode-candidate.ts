/**
 * Decodes a config alone, without kubelet's flags and drop-ins. It takes little time. The reason of
 * a refusal selects the text of the Node status: `load` means that kubelet cannot read the config.
 * One that kubelet may read differently is not refused: kubelet has run with it.
 */

import type { PreflightResult } from '../decision/verdict.ts'
import { decodeText } from '../kubelet/decode-text.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import { keyOf, type PreflightRequest } from '../ports/preflight.ts'

export async function decodeCandidate(
  { source, data, localPath }: Pick<PreflightRequest, 'source' | 'data' | 'localPath'>,
  yaml: YamlReader,
): Promise<PreflightResult> {
  const key = keyOf({ source, localPath })
  const text = Object.hasOwn(data, key) ? data[key] : undefined
  if (text === undefined)
    return { kind: 'refused', reason: 'load', detail: `the ConfigMap has no key ${key} (its keys: ${listKeys(data)})` }
  const decoded = await decodeText(text, yaml)
  if (!decoded.ok && decoded.unjudged === true) return { kind: 'accepted', remarks: [decoded.detail], drain: [] }
  if (!decoded.ok) return { kind: 'refused', reason: 'load', detail: decoded.detail }
  return { kind: 'accepted', remarks: decoded.remarks, drain: [] }
}

/** The names of the files, cut to fit into a line. */
export function listKeys(data: PreflightRequest['data']): string {
  const keys = Object.keys(data)
  return keys.length === 0 ? 'none' : keys.join(', ').slice(0, 200)
}
