// SPDX-License-Identifier: Apache-2.0
/**
 * The values of kubelet's config that the health probes need: of its file, and of the drop-ins that
 * kubelet merges over it. Reads files again only after one changed: the agent looks every few
 * seconds, and parsing YAML is slow. If a file cannot be decoded, it counts as empty. YAML that
 * kubelet may read differently counts as it is read here. If a file cannot be read, or is JSON in
 * doubt, what was known last applies: a kubelet that was started with it runs on.
 */
import type { HealthPort } from '../health/process.ts'
import type { Files } from '../ports/files.ts'
import type { ConfigFacts, ConfigFiles, HealthTarget, ServingPort } from '../ports/probes.ts'
import { isObject } from '../values/is-object.ts'
import { mergePatch } from '../values/merge-patch.ts'
import { decodeText, type KubeletConfig } from './decode.ts'
import { listDropInFiles, listDropInsAround } from './drop-in-files.ts'
import type { YamlReader } from './yaml-document.ts'

interface Facts {
  readonly healthz: HealthPort
  readonly runtimeEndpoint: string | undefined
  readonly serving: ServingPort
  readonly readOnlyPort?: number | undefined
  readonly staticPodPath: string | undefined
}
/** Enough for assigned, last-known-good, previous, local, and an outdated one. */
const REMEMBERED = 8

export class ConfigFileFacts implements ConfigFacts {
  readonly #files: Pick<Files, 'read' | 'list' | 'stat'>
  readonly #yaml: YamlReader
  readonly #known = new Map<string, { readonly identity: string; readonly facts: Facts }>()

  constructor(files: Pick<Files, 'read' | 'list' | 'stat'>, yaml: YamlReader) {
    this.#files = files
    this.#yaml = yaml
  }

  /** Nothing of a file that was never read: on the wrong port, a healthy kubelet would seem ill. */
  async of(merged: ConfigFiles): Promise<Facts | undefined> {
    const key = JSON.stringify(merged)
    const known = this.#known.get(key)
    const overs = this.#listOvers(merged)
    if (overs === undefined) return known?.facts
    const identity = this.#identifyAll([...(merged.path === undefined ? [] : [merged.path]), ...overs])
    if (known !== undefined && known.identity === identity) return known.facts
    const facts = await this.#readAll(merged.path, overs)
    if (facts === undefined) return known?.facts
    this.#known.delete(key)
    if (identity !== undefined) this.#known.set(key, { identity, facts })
    const [oldest] = this.#known.keys()
    if (this.#known.size > REMEMBERED && oldest !== undefined) this.#known.delete(oldest)
    return facts
  }

  /**
   * The texts that are merged over the file, in this order. undefined: the disk does not return
   * them.
   */
  #listOvers({ directory, own }: ConfigFiles): readonly string[] | undefined {
    if (directory === undefined) return own?.content === undefined ? [] : [own.content]
    try {
      if (own === undefined) return this.#files.stat(directory) === undefined ? [] : listDropInFiles(directory, this.#files)
      const { below, above } = listDropInsAround(own.path, directory, this.#files)
      return [...below, ...(own.content === undefined ? [] : [own.content]), ...above]
    } catch {
      return undefined
    }
  }

  #identifyAll(paths: readonly string[]): string | undefined {
    const identities = paths.map((path) => [path, this.#identify(path)])
    return identities.every(([, identity]) => identity !== undefined) ? JSON.stringify(identities) : undefined
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

  async #readAll(path: string | undefined, overs: readonly string[]): Promise<Facts | undefined> {
    let merged: unknown = path === undefined ? {} : await this.#read(path)
    for (const over of overs) {
      if (merged === undefined) return undefined
      // The agent may have removed its own one meanwhile.
      const patch = await this.#read(over, {})
      merged = patch && mergePatch(merged, patch)
    }
    return merged === undefined ? undefined : toFacts(merged)
  }

  /** undefined: the file is gone, cannot be read or judged, or the parser cannot run now. */
  async #read(path: string, ifMissing?: KubeletConfig): Promise<KubeletConfig | undefined> {
    let text: string | undefined
    try {
      text = this.#files.read(path)?.toString()
    } catch {
      return undefined
    }
    if (text === undefined) return ifMissing
    // Only a probe depends on it: better the likely port than none.
    const decoded = await decodeText(text, { first: (any) => this.#yaml.firstOfAny(any) }).catch(() => undefined)
    if (decoded?.ok === false) return decoded.unjudged === true ? undefined : {}
    return decoded?.config
  }
}

function toFacts(merged: unknown): Facts {
  const config = isObject(merged) ? merged : {}
  const { containerRuntimeEndpoint, staticPodPath, readOnlyPort } = config
  return {
    healthz: findHealthPort(config),
    runtimeEndpoint: textOf(containerRuntimeEndpoint),
    serving: findServing(config),
    ...(typeof readOnlyPort === 'number' && { readOnlyPort }),
    staticPodPath: textOf(staticPodPath),
  }
}

/** An empty text is none. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * The address of kubelet's health endpoint by its decoded config. Defaults:
 * `SetDefaults_KubeletConfiguration`, pkg/kubelet/apis/config/v1beta1/defaults.go, the same from
 * 1.20 to 1.37.
 */
export const DEFAULT_HEALTHZ: HealthTarget = { host: '127.0.0.1', port: 10248 }

export const DEFAULT_SERVING: HealthTarget = { host: '0.0.0.0', port: 10250 }

/** The TLS port by `address` and `port`. Ignores kubelet's flags. */
export function findServingTarget(config: Readonly<Record<string, unknown>>): HealthTarget {
  const { port, address } = config
  return { host: textOr(DEFAULT_SERVING.host, address), port: typeof port === 'number' && port !== 0 ? port : DEFAULT_SERVING.port }
}

/** Ignores kubelet's flags. */
function findServing(config: Readonly<Record<string, unknown>>): ServingPort {
  return { ...findServingTarget(config), isOff: config.enableServer === false }
}

/** Ignores kubelet's flags. */
export function findHealthPort(config: Readonly<Record<string, unknown>>): HealthPort {
  const { healthzPort, healthzBindAddress } = config
  const port = typeof healthzPort === 'number' ? healthzPort : DEFAULT_HEALTHZ.port
  if (port === 0) return 'none'
  return { host: textOr(DEFAULT_HEALTHZ.host, healthzBindAddress), port }
}

function textOr(initial: string, value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : initial
}

/**
 * The path of a Unix socket by its endpoint, the same for each spelling: empty segments and `.`
 * mean nothing (path_resolution(7)), and /var/run is a link to /run (file-hierarchy(7)).
 */
export function toSocketPath(endpoint: string): string {
  return endpoint
    .replace(/^unix:(\/\/)?/, '')
    .replace(/\/(?:\.?\/)+/g, '/')
    .replace(/^\/var\/run\//, '/run/')
}
