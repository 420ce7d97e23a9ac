/**
 * A config judged in process, by itself: decoded, and held against the rules that every kubelet has. It refuses only what kubelet would fail on. It takes
 * no time, so that it is all that a fallback is asked; for the rest there is `src/preflight/`. Which of the two reasons a failure has decides which text the
 * Node status shows: `load` is what keeps kubelet from reading the config, `validate` what it says of one that it has read.
 */
import type { Candidate, PreflightResult } from '../agent/ports.ts'
import { decodeConfig, looksLikeJson, type YamlParser } from './decode.ts'

export async function decodeAndCheck({ source, data }: Pick<Candidate, 'source' | 'data'>): Promise<PreflightResult> {
  const key = source.kubeletConfigKey
  const text = Object.hasOwn(data, key) ? data[key] : undefined
  if (text === undefined) return { kind: 'refused', reason: 'load', detail: `the ConfigMap has no key ${key}; it has ${listKeys(data)}` }
  const decoded = decodeConfig(text, await loadParser(text))
  if (!decoded.ok) return { kind: 'refused', reason: 'load', detail: decoded.detail }
  // Tables of rules, in the memory of none but who judges.
  const { validateConfig } = await import('./validate.ts')
  const problems = validateConfig(decoded.config)
  if (problems.length > 0) return { kind: 'refused', reason: 'validate', detail: `invalid configuration: ${problems.join('; ')}` }
  return { kind: 'accepted', remarks: decoded.remarks, drain: [] }
}

/** The parser costs memory that only YAML is worth. */
export async function loadParser(text: string): Promise<YamlParser> {
  if (looksLikeJson(text)) return () => ({ ok: false, detail: 'not read as YAML' })
  return (await import('./yaml.ts')).parseDocument
}

/** The names of its files, as far as they fit into a line. */
export function listKeys(data: Candidate['data']): string {
  const keys = Object.keys(data)
  return keys.length === 0 ? 'none' : keys.join(', ').slice(0, 200)
}
