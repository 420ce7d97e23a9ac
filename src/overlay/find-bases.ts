/** The texts that a part is merged over, from what was read of its bases. Pure. */
import { ROLLOUT_ANNOTATION } from '../decision/channels.ts'
import { type ConfigMapRef, describeRef } from '../decision/config-source.ts'
import type { Base, Bases, BaseView, FoundConfigMap, UnavailableReason } from '../decision/desired.ts'
import { ROLLOUT_OFF } from '../decision/staging.ts'
import { BASE_ERROR, LOCAL_BASE_ERROR } from '../decision/status-texts.ts'
import type { LocalConfigView } from '../ports/local-config.ts'
import type { BaseTexts, Layer } from './merge-part.ts'

export type BasesReading =
  | { readonly kind: 'found'; readonly bases: BaseTexts }
  | { readonly kind: 'pending'; readonly detail: string }
  /** `error` may be published. */
  | { readonly kind: 'faulty'; readonly error: string; readonly detail: string }

const REASONS: Readonly<Record<UnavailableReason, string>> = {
  'not-found': 'it does not exist',
  forbidden: 'the API server forbids it',
  unreachable: 'the API server does not answer',
  malformed: 'it is malformed',
}

/** The stages of a rollout are for the nodes that use the ConfigMap itself. */
const STAGED = `has a rollout of its own: remove its annotation ${ROLLOUT_ANNOTATION}, or copy it and use the copy as the base`

/** @param local called only if the local config is under it. undefined: it has not settled yet */
export function findBases(part: Pick<FoundConfigMap, 'base' | 'bases'>, local: () => LocalConfigView | undefined): BasesReading {
  const { views, problem }: Bases = part.bases ?? { views: [], problem: undefined }
  if (problem !== undefined) return faulty(problem)
  const layers: Layer[] = []
  let base: Base | undefined = part.base
  for (const view of views) {
    const layer = readLayer(view)
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

/** The part itself included, the lowest first. */
export function nameLayers({ root, parts }: BaseTexts, ref: ConfigMapRef): readonly string[] {
  return [root.name, ...parts.map(({ name }) => name), nameConfigMap(ref)]
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

function readLayer({ ref, object }: BaseView): LayerReading {
  const name = nameConfigMap(ref)
  switch (object.kind) {
    case 'pending':
      return { kind: 'pending', detail: `${name} under the assigned part has not been read yet` }
    case 'unavailable':
      return faulty(`${name} under the assigned part cannot be read: ${REASONS[object.reason]}`, `${name} cannot be read: ${object.detail}`)
    case 'found': {
      const { data, base, rollout } = object
      if (rollout?.record !== undefined && rollout.record !== ROLLOUT_OFF) return faulty(`${name} under the assigned part ${STAGED}`)
      const text = Object.hasOwn(data, ref.kubeletConfigKey) ? data[ref.kubeletConfigKey] : undefined
      if (text === undefined) return faulty(BASE_ERROR, `${name}: it has no such key`)
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
      return { kind: 'found', bases: { root: { kind: 'local', name: view.path, text: view.text }, parts } }
  }
}
