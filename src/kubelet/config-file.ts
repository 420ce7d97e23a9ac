/**
 * The values of a kubelet config file that the health probes need. Reads a file again only after it
 * changed: the agent looks every few seconds, and parsing YAML is slow. If the file cannot be
 * decoded, upstream's defaults apply. If it cannot be read, what it held last applies: a kubelet
 * that was started with it runs on.
 */

import type { HealthPort } from '../decision/health.ts'
import type { Files } from '../ports/files.ts'
import type { ConfigFacts, ServingPort } from '../ports/probes.ts'
import { isObject } from '../values/is-object.ts'
import { mergePatch } from '../values/merge-patch.ts'
import type { KubeletConfig } from './decode.ts'
import { decodeText } from './decode-text.ts'
import { DEFAULT_HEALTHZ, DEFAULT_SERVING, findHealthPort, findServing } from './health-target.ts'
import type { YamlReader } from './yaml-document.ts'

export interface Facts {
  readonly healthz: HealthPort | undefined
  readonly runtimeEndpoint: string | undefined
  readonly serving: ServingPort
  readonly staticPodPath: string | undefined
}
const DEFAULTS: Facts = { healthz: DEFAULT_HEALTHZ, runtimeEndpoint: undefined, serving: DEFAULT_SERVING, staticPodPath: undefined }
/** Of a file that was never read: a probe of the wrong port would call a healthy kubelet ill. */
const UNKNOWN: Facts = { ...DEFAULTS, healthz: undefined }
/** Enough for assigned, last-known-good, previous, local, and an outdated one. */
const REMEMBERED = 8

export class ConfigFileFacts implements ConfigFacts {
  readonly #files: Pick<Files, 'read' | 'stat'>
  readonly #yaml: YamlReader
  readonly #known = new Map<string, { readonly identity: string; readonly facts: Facts }>()

  constructor(files: Pick<Files, 'read' | 'stat'>, yaml: YamlReader) {
    this.#files = files
    this.#yaml = yaml
  }

  async of(path: string, over?: string): Promise<Facts> {
    const key = JSON.stringify([path, over])
    const identity = this.#identifyBoth(path, over)
    const known = this.#known.get(key)
    if (known !== undefined && known.identity === identity) return known.facts
    const facts = await this.#readBoth(path, over)
    if (facts === undefined) return known?.facts ?? UNKNOWN
    this.#known.delete(key)
    if (identity !== undefined) this.#known.set(key, { identity, facts })
    const [oldest] = this.#known.keys()
    if (this.#known.size > REMEMBERED && oldest !== undefined) this.#known.delete(oldest)
    return facts
  }

  #identifyBoth(path: string, over: string | undefined): string | undefined {
    const identity = this.#identify(path)
    if (over === undefined || identity === undefined) return identity
    const other = this.#identify(over)
    return other === undefined ? undefined : `${identity} ${other}`
  }

  /** undefined: read the file each time. A link does not show changes of its target. */
  #identify(path: string): string | undefined {
    try {
      const facts = this.#files.stat(path)
      return facts?.kind === 'file' ? facts.identity : undefined
    } catch {
      return undefined
    }
  }

  async #readBoth(path: string, over: string | undefined): Promise<Facts | undefined> {
    const config = await this.#read(path)
    if (config === undefined || over === undefined) return config && toFacts(config)
    const patch = await this.#read(over, {})
    return patch && toFacts(mergePatch(config, patch))
  }

  /** undefined: the file is gone, the disk does not return it, or the parser cannot run now. */
  async #read(path: string, ifMissing?: KubeletConfig): Promise<KubeletConfig | undefined> {
    let text: string | undefined
    try {
      text = this.#files.read(path)?.toString()
    } catch {
      return undefined
    }
    if (text === undefined) return ifMissing
    const decoded = await decodeText(text, this.#yaml).catch(() => undefined)
    return decoded?.ok === false ? {} : decoded?.config
  }
}

function toFacts(merged: unknown): Facts {
  const config = isObject(merged) ? merged : {}
  const { containerRuntimeEndpoint, staticPodPath } = config
  return {
    healthz: findHealthPort(config),
    runtimeEndpoint: textOf(containerRuntimeEndpoint),
    serving: findServing(config),
    staticPodPath: textOf(staticPodPath),
  }
}

/** An empty text is none. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
