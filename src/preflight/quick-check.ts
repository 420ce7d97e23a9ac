/**
 * A config judged in process, by itself: decoded, and held against the rules that every kubelet has. It refuses only what kubelet would fail on. It takes
 * no time, so that it is all that a fallback is asked; for the rest there is `src/preflight/`. Which of the two reasons a failure has decides which text the
 * Node status shows: `load` is what keeps kubelet from reading the config, `validate` what it says of one that it has read.
 */

import type { PreflightResult } from '../decision/verdict.ts'
import { decodeConfig } from '../kubelet/decode.ts'
import { loadParser } from '../kubelet/load-parser.ts'
import type { PreflightRequest } from '../ports/preflight.ts'

export async function decodeAndCheck({ source, data }: Pick<PreflightRequest, 'source' | 'data'>): Promise<PreflightResult> {
  const key = source.kubeletConfigKey
  const text = Object.hasOwn(data, key) ? data[key] : undefined
  if (text === undefined) return { kind: 'refused', reason: 'load', detail: `the ConfigMap has no key ${key}; it has ${listKeys(data)}` }
  const decoded = decodeConfig(text, await loadParser(text))
  if (!decoded.ok) return { kind: 'refused', reason: 'load', detail: decoded.detail }
  // Tables of rules, in the memory of none but who judges.
  const { validateConfig } = await import('./validate-config.ts')
  const problems = validateConfig(decoded.config)
  if (problems.length > 0) return { kind: 'refused', reason: 'validate', detail: `invalid configuration: ${problems.join('; ')}` }
  return { kind: 'accepted', remarks: decoded.remarks, drain: [] }
}

/** The names of its files, as far as they fit into a line. */
export function listKeys(data: PreflightRequest['data']): string {
  const keys = Object.keys(data)
  return keys.length === 0 ? 'none' : keys.join(', ').slice(0, 200)
}
