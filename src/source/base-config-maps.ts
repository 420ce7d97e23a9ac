/**
 * The ConfigMaps under the part that is assigned, and those laid over it, each with a watch of its
 * own. A ConfigMap that is no longer one of them is watched no more.
 */
import type { ConfigMapRef } from '../decision/config-source.ts'
import type { ConfigMapView } from '../decision/desired.ts'
import { sourcePath } from '../decision/status-texts.ts'
import { AssignedConfigMap, type AssignedConfigMapDeps } from './assigned-config-map.ts'
import { type AssignedRefs, followBases, withBases } from './base-chain.ts'

const PENDING: ConfigMapView = { kind: 'pending' }

export class BaseConfigMaps {
  readonly #depsOf: (path: string) => AssignedConfigMapDeps
  /** By path. */
  readonly #watched = new Map<string, AssignedConfigMap>()

  constructor(depsOf: (path: string) => AssignedConfigMapDeps) {
    this.#depsOf = depsOf
  }

  /** The assigned ConfigMap with its bases and layers, as they are known now. */
  complete(refs: AssignedRefs, object: ConfigMapView): ConfigMapView {
    return withBases(refs, object, (base) => this.#view(base))
  }

  /** Watches what is under this ConfigMap and over it, and nothing else. */
  follow(assigned: (AssignedRefs & { readonly object: ConfigMapView }) | undefined): void {
    const bases = assigned && followBases(assigned.ref, assigned.object, (base) => this.#view(base))
    const refs = [...(bases?.views ?? []).map(({ ref }) => ref), ...(assigned?.layers ?? [])]
    const wanted = new Map(refs.map((ref) => [sourcePath(ref), ref]))
    for (const [path, watch] of this.#watched) {
      if (wanted.has(path)) continue
      watch.follow(undefined)
      this.#watched.delete(path)
    }
    for (const [path, ref] of wanted) {
      if (this.#watched.has(path)) continue
      const watch = new AssignedConfigMap(this.#depsOf(path))
      this.#watched.set(path, watch)
      watch.follow(ref)
    }
  }

  stop(): void {
    for (const watch of this.#watched.values()) watch.stop()
  }

  #view(ref: ConfigMapRef): ConfigMapView {
    return this.#watched.get(sourcePath(ref))?.view ?? PENDING
  }
}
