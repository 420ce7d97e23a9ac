// SPDX-License-Identifier: Apache-2.0
/**
 * The use of ConfigMaps by their metadata: their bases, and which are layers. A namespace is listed
 * when it is first asked about, without the data. Pure but for the API.
 */
import { FLEET_LABEL } from '../../decision/channels.ts'
import type { ConfigMapView } from '../../decision/desired.ts'
import { ROLLOUT_OFF } from '../../decision/staging.ts'
import { readFleetMember } from '../../source/channels/fleet.ts'
import { metadataOf, readBase, readRollout } from '../../source/channels/metadata.ts'
import { identityOf } from '../../source/kube-object.ts'
import type { ConfigMapRef } from '../../subject/config-source.ts'
import { isNamespace } from '../../values/kubernetes-names.ts'
import { orElse } from '../command.ts'
import { listPages } from '../list-pages.ts'
import type { PluginContext } from './command.ts'
import { isPaused, pathOf } from './config-maps.ts'

export type ConfigName = Pick<ConfigMapRef, 'namespace' | 'name'>

interface IndexedConfig {
  readonly name: string
  /** Without data. */
  readonly view: Extract<ConfigMapView, { kind: 'found' }>
  readonly isPaused: boolean
  /** The node selector. undefined: it is no layer. */
  readonly layerSelector: string | undefined
}

/** A layer, and the node selector of it. */
interface LayerConfig {
  readonly name: string
  readonly selector: string
}

type Namespace = ReadonlyMap<string, IndexedConfig>

const ABSENT: ConfigMapView = { kind: 'unavailable', reason: 'not-found', detail: 'it does not exist' }

export class ConfigIndex {
  readonly #api: PluginContext['api']
  readonly #namespaces = new Map<string, Namespace>()
  #gap: string | undefined

  constructor({ api }: Pick<PluginContext, 'api'>) {
    this.#api = api
  }

  /** Why a namespace could not be listed. undefined: all that were asked about could. */
  get gap(): string | undefined {
    return this.#gap
  }

  async look(config: ConfigName): Promise<ConfigMapView> {
    return (await this.#find(config))?.view ?? ABSENT
  }

  async isStaged(config: ConfigName): Promise<boolean> {
    const record = (await this.#find(config))?.view.rollout?.record
    return record !== undefined && record !== ROLLOUT_OFF
  }

  async isPaused(config: ConfigName): Promise<boolean> {
    return (await this.#find(config))?.isPaused === true
  }

  async layersIn(namespace: string): Promise<readonly LayerConfig[]> {
    const configs = [...(await this.#configsIn(namespace)).values()]
    return configs.flatMap(({ name, layerSelector }) => (layerSelector === undefined ? [] : [{ name, selector: layerSelector }]))
  }

  async #find({ namespace, name }: ConfigName): Promise<IndexedConfig | undefined> {
    return (await this.#configsIn(namespace)).get(name)
  }

  async #configsIn(namespace: string): Promise<Namespace> {
    // A node may have made it up.
    if (!isNamespace(namespace)) return new Map()
    const known = this.#namespaces.get(namespace) ?? (await this.#list(namespace))
    this.#namespaces.set(namespace, known)
    return known
  }

  async #list(namespace: string): Promise<Namespace> {
    const asked = { verb: 'list', resource: 'configmaps', namespace }
    const listing = { path: pathOf({ namespace }), as: 'PartialObjectMetadataList', asked } as const
    const { items } = await orElse(listPages(this.#api, listing, readIndexed), ({ message }) => {
      this.#gap ??= message
      return { items: [] }
    })
    return new Map(items.map((item) => [item.name, item]))
  }
}

function readIndexed(configMap: unknown): IndexedConfig | undefined {
  const identity = identityOf(configMap)
  if (identity === undefined) return undefined
  const { name, uid, resourceVersion } = identity
  const [base, rollout] = [readBase(configMap), readRollout(configMap)]
  const member = readFleetMember(configMap)
  const { labels = {}, annotations = {} } = metadataOf(configMap) ?? {}
  const isLayer = labels[FLEET_LABEL] === 'true' && member?.layer === 'true'
  return {
    name,
    view: { kind: 'found', uid, resourceVersion, data: {}, ...(base && { base }), ...(rollout && { rollout }) },
    isPaused: isPaused(annotations),
    layerSelector: isLayer ? member.selector : undefined,
  }
}

export function sameName(a: ConfigName, b: ConfigName): boolean {
  return a.namespace === b.namespace && a.name === b.name
}
