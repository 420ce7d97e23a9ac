// SPDX-License-Identifier: Apache-2.0
/**
 * Follows the bases of a part from ConfigMap to ConfigMap. Pure. Each ConfigMap may appear once,
 * whichever of its keys is used, since the annotation is about all of them.
 */
import { BASE_ANNOTATION } from '../decision/channels.ts'
import type { Bases, BaseView, ConfigMapView, FoundConfigMap } from '../decision/desired.ts'
import type { ConfigMapRef } from '../subject/config-source.ts'

/** The most ConfigMaps under a part. */
const MOST_BASES = 4

/**
 * @param ref of `object`, which is assigned
 * @param look what is known of a ConfigMap
 * @returns undefined: it is no part, or it is one over the local config
 */
export function followBases(ref: ConfigMapRef, object: ConfigMapView, look: (ref: ConfigMapRef) => ConfigMapView): Bases | undefined {
  const views: BaseView[] = []
  let last: BaseView = { ref, object }
  for (;;) {
    const next = nextOf(last)
    if (next === undefined) return views.length === 0 ? undefined : { views, problem: undefined }
    const passed = [ref, ...views.map((view) => view.ref)]
    if (passed.some((one) => nameOf(one) === nameOf(next))) return { views, problem: describeCycle([...passed, next]) }
    if (views.length === MOST_BASES)
      return {
        views,
        problem: `annotation ${BASE_ANNOTATION}: a part has at most ${MOST_BASES} ConfigMaps under it, and there is one more`,
      }
    last = { ref: next, object: look(next) }
    views.push(last)
  }
}

/** A ConfigMap that is assigned, and what the selector channel lays over it. */
export interface AssignedRefs {
  readonly ref: ConfigMapRef
  readonly layers?: readonly ConfigMapRef[] | undefined
}

/** The ConfigMap with its bases and its layers. */
export function withBases({ ref, layers }: AssignedRefs, object: ConfigMapView, look: (ref: ConfigMapRef) => ConfigMapView): ConfigMapView {
  if (object.kind !== 'found') return object
  const bases = followBases(ref, object, look)
  if (bases === undefined && layers === undefined) return object
  return { ...object, ...(bases && { bases }), ...(layers && { layers: layers.map((layer) => ({ ref: layer, object: look(layer) })) }) }
}

/** The same, where each ConfigMap is read when it is met. */
export async function readBases(
  { ref, layers }: AssignedRefs,
  object: FoundConfigMap,
  read: (ref: ConfigMapRef) => Promise<ConfigMapView>,
): Promise<FoundConfigMap> {
  const whole = await readUnder(ref, object, read)
  if (layers === undefined) return whole
  const views: BaseView[] = []
  for (const layer of layers) views.push({ ref: layer, object: await read(layer) })
  return { ...whole, layers: views }
}

async function readUnder(
  ref: ConfigMapRef,
  object: FoundConfigMap,
  read: (ref: ConfigMapRef) => Promise<ConfigMapView>,
): Promise<FoundConfigMap> {
  const known = new Map<string, ConfigMapView>()
  for (;;) {
    const bases = followBases(ref, object, (base) => known.get(nameOf(base)) ?? { kind: 'pending' })
    const unread = bases?.views.find((view) => !known.has(nameOf(view.ref)))
    if (unread === undefined) return bases === undefined ? object : { ...object, bases }
    known.set(nameOf(unread.ref), await read(unread.ref))
  }
}

function nextOf({ ref, object }: BaseView): ConfigMapRef | undefined {
  if (object.kind !== 'found' || object.base?.kind !== 'config-map') return undefined
  const { namespace, name, kubeletConfigKey = ref.kubeletConfigKey } = object.base.ref
  return { namespace, name, kubeletConfigKey }
}

function nameOf({ namespace, name }: ConfigMapRef): string {
  return `${namespace}/${name}`
}

function describeCycle(passed: readonly ConfigMapRef[]): string {
  return `annotation ${BASE_ANNOTATION}: the bases form a cycle: ${passed.map(nameOf).join(' -> ')}`
}
