// SPDX-License-Identifier: Apache-2.0
/**
 * The layers that a config is merged from on this node, kubelet's drop-ins included, and the layer
 * that each field comes from: for the documents and texts of `validate`, `diff` and `status`. A
 * text fits 80 columns, unless one name alone is longer. Pure.
 */
import type { ComputedField, LayeredField } from '../decision/desired.ts'
import type { KubeletConfig } from '../kubelet/decode.ts'
import { type FieldPath, formatPath, valueAt } from '../kubelet/field-path.ts'
import { type ConfigLayer, layOver, listFields } from '../overlay/layers.ts'
import { formatSide, type Side } from '../preflight/change/change.ts'
import type { Difference } from '../preflight/change/check-same.ts'
import type { DropIn, MergeOrder } from '../preflight/drop-ins/read-drop-ins.ts'
import type { MergedHere } from '../preflight/inspection.ts'
import { cutToBytes } from '../values/cut.ts'
import { paint, plainText } from './terminal.ts'

export interface MergedDocument {
  /** Names, the lowest first. Empty: this node does not merge the config. */
  readonly layers: readonly string[]
  /** The fields that do not come from the lowest layer. null: not known. */
  readonly fields: readonly FieldDocument[] | null
}

interface FieldDocument {
  readonly path: string
  readonly steps: FieldPath
  /** The last layer that sets or removes it. */
  readonly layer: string
  readonly removed: boolean
}

export const NOT_MERGED: MergedDocument = { layers: [], fields: [] }

/** A config without kubelet's drop-ins. */
interface OwnLayers {
  /** The lowest first: at least one. */
  readonly names: readonly string[]
  /** The fields of all layers but the lowest. undefined: not known. */
  readonly fields: readonly LayeredField[] | undefined
  /** The content of the lowest layer, or that with the others merged over it. */
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

/** The computed fields that no later layer replaces. */
export function listComputed(computed: readonly ComputedField[] = [], fields: readonly FieldDocument[] | null): readonly ComputedField[] {
  const isIn = (field: string, path: string) => field === path || [`${path}.`, `${path}[`].some((start) => field.startsWith(start))
  return computed.filter(({ field, layer }) => fields?.some((later) => later.layer !== layer && isIn(field, later.path)) !== true)
}

/** No line: nothing is computed. */
export function renderComputed(computed: readonly ComputedField[], color: boolean): string[] {
  return [...new Set(computed.map(({ layer }) => layer))].flatMap((layer) => [
    paint({ text: `Computed from what the Node shows, by ${plainText(layer)}:`, tone: 'strong' }, color),
    ...computed.filter((each) => each.layer === layer).map(({ field, value }) => plainText(`  ${field}: ${value}`)),
  ])
}

const COLUMNS = 80
const MARGIN = '    '
/** The most fields that are shown of one layer. */
const MOST_FIELDS = 100

/** No line: this node does not merge the config. */
export function renderMerged({ layers, fields }: MergedDocument, color: boolean): string[] {
  if (layers.length === 0) return []
  const head = paint({ text: 'Merged from, the lowest first:', tone: 'strong' }, color)
  const names = layers.map((name) => `  ${plainText(name)}`)
  if (fields === null) return [head, ...names]
  const described = layers.flatMap((layer, index) => {
    const words = index === 0 ? ['all other fields'] : describeFields(fields.filter((field) => field.layer === layer))
    return [names[index] ?? '', ...wrap(words)]
  })
  return [head, ...described]
}

function describeFields(fields: readonly FieldDocument[]): readonly string[] {
  if (fields.length === 0) return ['nothing']
  const words = fields.slice(0, MOST_FIELDS).map(({ path, removed }) => plainText(removed ? `${path} (removed)` : path))
  return fields.length > MOST_FIELDS ? [...words, `${fields.length - MOST_FIELDS} more, which -o json lists`] : words
}

const LONGEST_VALUE = 60

/** No line: kubelet says the same, or nothing. */
export function renderMisread(misread: readonly Difference[] | undefined): string[] {
  if (misread === undefined || misread.length === 0) return []
  const show = (side: Side | undefined): string => plainText(cutToBytes(formatSide(side), LONGEST_VALUE))
  return [
    'Kubelet logged another effective config at its start:',
    ...misread.map(({ path, meant, running }) => `  ${plainText(formatPath(path))}: ${show(running)} (expected: ${show(meant)})`),
    'Either its files or flags were changed since, or kubelet-cfg-agent is wrong:',
    'then please report it.',
  ]
}

/** Words with commas between them. */
function wrap(words: readonly string[]): string[] {
  const lines: string[] = []
  for (const [index, word] of words.entries()) {
    const part = index === words.length - 1 ? word : `${word},`
    const longer = `${lines.at(-1) ?? MARGIN}${lines.length === 0 ? '' : ' '}${part}`
    if (lines.length === 0) lines.push(longer)
    else if (longer.length <= COLUMNS) lines[lines.length - 1] = longer
    else lines.push(`${MARGIN}${part}`)
  }
  return lines
}
