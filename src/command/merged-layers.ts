/**
 * What a config is merged from on this node, kubelet's drop-ins included, and which layer each
 * field comes from. For the documents of `validate` and `status`. Pure.
 */
import type { LayeredField } from '../decision/desired.ts'
import type { KubeletConfig } from '../kubelet/decode.ts'
import { type FieldPath, formatPath, valueAt } from '../kubelet/field-path.ts'
import { layOver, listFields } from '../overlay/layered-fields.ts'
import type { ConfigLayer } from '../overlay/list-layers.ts'
import type { DropIn, MergeOrder } from '../preflight/drop-ins/read-drop-ins.ts'
import type { MergedHere } from '../preflight/inspection.ts'

export interface MergedDocument {
  /** Names, the lowest first. Empty: this node does not merge the config. */
  readonly layers: readonly string[]
  /** Those that do not come from the lowest layer. null: not known. */
  readonly fields: readonly FieldDocument[] | null
}

export interface FieldDocument {
  readonly path: string
  readonly steps: FieldPath
  /** The last layer that sets or removes it. */
  readonly layer: string
  readonly removed: boolean
}

export const NOT_MERGED: MergedDocument = { layers: [], fields: [] }

/** A config without kubelet's drop-ins. */
export interface OwnLayers {
  /** The lowest first: at least one. */
  readonly names: readonly string[]
  /** Of all but the lowest. undefined: not known. */
  readonly fields: readonly LayeredField[] | undefined
  /** What the lowest has, and perhaps what the others make of it. */
  readonly lowest: unknown
}

export function ownLayers(layers: readonly [ConfigLayer, ...ConfigLayer[]]): OwnLayers {
  return { names: layers.map(({ name }) => name), fields: listFields(layers), lowest: layers[0].value }
}

export function documentMerged({ names, fields, lowest }: OwnLayers, { config, order }: MergedHere): MergedDocument {
  const { below, above } = listAround(order)
  const layers = [...below.map(({ name }) => name), ...names, ...above.map(({ name }) => name)]
  if (layers.length < 2) return NOT_MERGED
  const over = below.length === 0 ? [] : listFields([...below, { name: names[0] ?? '', value: lowest }])
  const own = fields && over && [...over.filter((field) => !isAmong(fields, field)), ...fields]
  const merged = above.reduce(layOver, own)
  return { layers, fields: merged?.filter((field) => hasEffect(field, config)).map(documentField) ?? null }
}

/** @param own of a config, without kubelet's drop-ins */
export function layAround(own: readonly ConfigLayer[], order: MergeOrder | undefined): readonly ConfigLayer[] {
  const { below, above } = listAround(order)
  return [...below, ...own, ...above]
}

export function listAround(order: MergeOrder | undefined): Record<'below' | 'above', readonly ConfigLayer[]> {
  const { base, below = [], above = [] } = order ?? {}
  return { below: [...(base === undefined ? [] : [base]), ...below].map(toLayer), above: above.map(toLayer) }
}

/** Whether one of them is this field, or a value that it is in. */
function isAmong(fields: readonly LayeredField[], { path }: LayeredField): boolean {
  return fields.some((field) => field.path.every((step, index) => step === path[index]))
}

function toLayer({ path, config }: DropIn): ConfigLayer {
  return { name: path, value: config }
}

/** Kubelet takes a default in place of some values when it merges drop-ins. */
function hasEffect({ path, removed }: LayeredField, config: KubeletConfig): boolean {
  return removed === true || valueAt(config, path) !== undefined
}

export function documentField({ path, layer, removed = false }: LayeredField): FieldDocument {
  return { path: formatPath(path), steps: path, layer, removed }
}
