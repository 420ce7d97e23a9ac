// SPDX-License-Identifier: Apache-2.0
/**
 * The texts that the assigned one is merged with, from what was read of its bases and layers. Pure.
 */
import { BASE_ANNOTATION, LAYER_ANNOTATION, ROLLOUT_ANNOTATION } from '../decision/channels.ts'
import type { Base, Bases, BaseView, FoundConfigMap, UnavailableReason } from '../decision/desired.ts'
import { ROLLOUT_OFF } from '../decision/staging.ts'
import { BASE_ERROR, LAYER_ERROR, LOCAL_BASE_ERROR } from '../decision/status-texts.ts'
import type { LocalConfigView } from '../ports/assignment-source.ts'
import { type ConfigMapRef, describeRef } from '../subject/config-source.ts'
import type { BaseTexts, Layer } from './merge-part.ts'

type BasesReading =
  | { readonly kind: 'found'; readonly bases: BaseTexts }
  | { readonly kind: 'pending'; readonly detail: string }
  /** `error` may be published. */
  | { readonly kind: 'faulty'; readonly error: string; readonly detail: string }

const REASONS: Readonly<Record<Exclude<UnavailableReason, 'unreachable'>, string>> = {
  'not-found': 'it does not exist',
  forbidden: 'the API server forbids it',
  unauthenticated: 'the API server does not accept the identity of the agent',
  malformed: 'it is malformed',
}

const UNDER = { place: 'under the assigned part', error: BASE_ERROR }
const LAYER: typeof UNDER = { place: 'laid over the assigned one', error: LAYER_ERROR }

const LAYERS_STAGED =
  'the assigned ConfigMap has a rollout, and layers match this node: a config with a rollout takes no layers, since nodes would not ' +
  `have the same content (annotations ${ROLLOUT_ANNOTATION} and ${LAYER_ANNOTATION})`

function isStaged(rollout: FoundConfigMap['rollout']): boolean {
  return rollout?.record !== undefined && rollout.record !== ROLLOUT_OFF
}

/** The stages of a rollout are for the nodes that use the ConfigMap itself. */
const STAGED = `has a rollout of its own: remove its annotation ${ROLLOUT_ANNOTATION}, or use a copy of it`

/** The parts of an assigned ConfigMap that say what it is merged with: see FoundConfigMap. */
export type Merged = Pick<FoundConfigMap, 'base' | 'bases' | 'layers' | 'rollout'>

/** @param local called only if the local config is under it. undefined: it has not settled yet */
export function findBases(object: Merged, local: () => LocalConfigView | undefined): BasesReading {
  const under: BasesReading = object.base === undefined ? WHOLE : findUnder(object, local)
  if (under.kind !== 'found' || object.layers === undefined) return under
  // The layers differ from node to node, and the nodes of a rollout have to find the same content.
  if (isStaged(object.rollout)) return faulty(LAYERS_STAGED)
  const layers: Layer[] = []
  for (const view of object.layers) {
    const reading = readLayer(view, LAYER)
    if (reading.kind !== 'found') return reading
    if (reading.base !== undefined) return faulty(`${nameConfigMap(view.ref)} is a layer, and a layer has no annotation ${BASE_ANNOTATION}`)
    layers.push(reading.layer)
  }
  return { kind: 'found', bases: { ...under.bases, layers } }
}

const WHOLE: BasesReading = { kind: 'found', bases: { root: undefined, parts: [] } }

function findUnder(part: Merged, local: () => LocalConfigView | undefined): BasesReading {
  const { views, problem }: Bases = part.bases ?? { views: [], problem: undefined }
  if (problem !== undefined) return faulty(problem)
  const layers: Layer[] = []
  let base: Base | undefined = part.base
  for (const view of views) {
    const layer = readLayer(view, UNDER)
    if (layer.kind !== 'found') return layer
    layers.unshift(layer.layer)
    base = layer.base
  }
  switch (base?.kind) {
    case 'local':
      return readLocal(local(), layers)
    case 'invalid':
      return faulty(base.detail)
    case 'config-map':
      return { kind: 'pending', detail: `ConfigMap ${base.text} under the assigned part has not been read yet` }
    case undefined: {
      const [root, ...parts] = layers
      if (root === undefined) throw new Error('bug: a config without a base is no part')
      return { kind: 'found', bases: { root: { kind: 'config-map', ...root }, parts } }
    }
  }
}

/**
 * The names of the texts that the result is made of, the assigned one itself included, the lowest
 * first.
 */
export function nameLayers({ root, parts, layers = [] }: BaseTexts, ref: ConfigMapRef): readonly string[] {
  const namesOf = (texts: readonly Layer[]) => texts.map(({ name }) => name)
  return [...(root === undefined || root.staysBelow ? [] : [root.name]), ...namesOf(parts), nameConfigMap(ref), ...namesOf(layers)]
}

export function nameConfigMap(ref: ConfigMapRef): string {
  return `ConfigMap ${describeRef(ref)}`
}

function faulty(error: string, detail = error): Extract<BasesReading, { kind: 'faulty' }> {
  return { kind: 'faulty', error, detail }
}

type LayerReading =
  | { readonly kind: 'found'; readonly layer: Layer; readonly base: Base | undefined }
  | Exclude<BasesReading, { kind: 'found' }>

function readLayer({ ref, object }: BaseView, { place, error }: typeof UNDER): LayerReading {
  const name = nameConfigMap(ref)
  switch (object.kind) {
    case 'pending':
      return { kind: 'pending', detail: `${name} ${place} has not been read yet` }
    case 'unavailable':
      // An API server that does not answer has said nothing about it.
      if (object.reason === 'unreachable') return { kind: 'pending', detail: `${name} ${place} cannot be read: ${object.detail}` }
      return faulty(`${name} ${place} cannot be read: ${REASONS[object.reason]}`, `${name} cannot be read: ${object.detail}`)
    case 'found': {
      const { data, base, rollout } = object
      if (isStaged(rollout)) return faulty(`${name} ${place} ${STAGED}`)
      const text = Object.hasOwn(data, ref.kubeletConfigKey) ? data[ref.kubeletConfigKey] : undefined
      if (text === undefined) return faulty(error, `${name}: it has no such key`)
      return { kind: 'found', layer: { name, text }, base }
    }
  }
}

function readLocal(view: LocalConfigView | undefined, parts: readonly Layer[]): BasesReading {
  switch (view?.kind) {
    case undefined:
      return { kind: 'pending', detail: 'the local config has not settled yet' }
    case 'unknown':
      return { kind: 'pending', detail: `the local config is not known: ${view.detail}` }
    case 'unusable':
      return faulty(LOCAL_BASE_ERROR, view.detail)
    case 'found':
      return {
        kind: 'found',
        bases: { root: { kind: 'local', name: view.path, text: view.text, ...(view.staysBelow && { staysBelow: true }) }, parts },
      }
  }
}
