/**
 * What of a kubelet config file matters for looking at kubelet's health. A file is read again only when it has changed: the agent looks every few seconds, and
 * YAML is slow. What cannot be read or decoded says nothing, and then upstream's defaults hold.
 */

import type { Files } from '../ports/files.ts'
import type { ConfigFacts, HealthTarget } from '../ports/probes.ts'
import { decodeConfig } from './decode.ts'
import { DEFAULT_HEALTHZ, findHealthTarget } from './health-target.ts'
import { loadParser } from './load-parser.ts'

export interface Facts {
  readonly healthz: HealthTarget | undefined
  readonly runtimeEndpoint: string | undefined
}
const NOTHING_SAID: Facts = { healthz: DEFAULT_HEALTHZ, runtimeEndpoint: undefined }
/** Assigned, last-known-good, previous, local, and one that was. */
const REMEMBERED = 8

export class ConfigFileFacts implements ConfigFacts {
  readonly #files: Pick<Files, 'read' | 'stat'>
  readonly #known = new Map<string, { readonly identity: string; readonly facts: Facts }>()

  constructor(files: Pick<Files, 'read' | 'stat'>) {
    this.#files = files
  }

  async of(path: string): Promise<Facts> {
    const identity = this.#identify(path)
    const known = this.#known.get(path)
    if (known !== undefined && known.identity === identity) return known.facts
    const facts = await this.#read(path)
    this.#known.delete(path)
    if (identity !== undefined) this.#known.set(path, { identity, facts })
    const [oldest] = this.#known.keys()
    if (this.#known.size > REMEMBERED && oldest !== undefined) this.#known.delete(oldest)
    return facts
  }

  /** undefined: to be read each time. A link says nothing of whether what it leads to has changed. */
  #identify(path: string): string | undefined {
    try {
      const facts = this.#files.stat(path)
      return facts?.kind === 'file' ? facts.identity : undefined
    } catch {
      return undefined
    }
  }

  async #read(path: string): Promise<Facts> {
    let text: string | undefined
    try {
      text = this.#files.read(path)?.toString()
    } catch {
      return NOTHING_SAID
    }
    if (text === undefined) return NOTHING_SAID
    const decoded = decodeConfig(text, await loadParser(text))
    if (!decoded.ok) return NOTHING_SAID
    const { containerRuntimeEndpoint } = decoded.config
    return {
      healthz: findHealthTarget(decoded.config),
      runtimeEndpoint:
        typeof containerRuntimeEndpoint === 'string' && containerRuntimeEndpoint !== '' ? containerRuntimeEndpoint : undefined,
    }
  }
}
