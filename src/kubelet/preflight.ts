/**
 * The judge before a restart, its first stage: decode and check, in process. It refuses only what kubelet would fail on. A later, deeper stage (kubelet's own
 * binary as the judge) takes its place in the list of stages. Which of the two reasons a failure has decides which text the Node status shows:
 * `load` is what keeps kubelet from reading the config, `validate` what it says of one that it has read.
 */
import type { Candidate, Preflight, PreflightResult } from '../agent/ports.ts'
import { decodeConfig, looksLikeJson, type YamlParser } from './decode.ts'

export type Stage = (candidate: Pick<Candidate, 'source' | 'data'>) => Promise<PreflightResult>

/** The first refusal counts; remarks of all stages add up. */
export class StagedPreflight implements Preflight {
  readonly #stages: readonly Stage[]

  constructor(stages: readonly Stage[] = [decodeAndCheck]) {
    this.#stages = stages
  }

  async check(candidate: Pick<Candidate, 'source' | 'data'>): Promise<PreflightResult> {
    const remarks: string[] = []
    for (const stage of this.#stages) {
      const result = await stage(candidate)
      if (result.kind !== 'accepted') return result
      remarks.push(...result.remarks)
    }
    return { kind: 'accepted', remarks, drain: [] }
  }

  pending(): ReadonlySet<string> {
    return new Set()
  }

  basis(): string {
    return ''
  }
}

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

function listKeys(data: Candidate['data']): string {
  const keys = Object.keys(data)
  return keys.length === 0 ? 'none' : keys.join(', ').slice(0, 200)
}
