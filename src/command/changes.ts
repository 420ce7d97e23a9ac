// SPDX-License-Identifier: Apache-2.0
/**
 * The text that `diff` and `plan` print for people: the differences between two configs. The author
 * of a config controls its values, so they are cut, and cannot control the terminal. Pure.
 */
import { formatPath } from '../kubelet/field-path.ts'
import { HIDDEN } from '../preflight/change/change.ts'
import type { ConfigChange } from '../preflight/inspection.ts'
import { alignColumns, type Cell, foldText, headOf, plainText, type Tone } from './terminal.ts'

/** In characters; longer values are cut. */
const LONGEST_VALUE = 60

/** In place of a value that a part leaves to each node. */
export const NODE_OWN = Symbol('as on the node')

/**
 * One line per change, then the meaning of the risk classes, then what a value does not tell.
 *
 * @param width of the lines, for which values are cut further. A name of a field is never cut, so a
 * line with a very long one is longer. undefined: no limit
 */
export function renderChanges(changes: readonly ConfigChange[], color: boolean, width?: number): string[] {
  const hasLayers = changes.some(({ layer }) => layer !== undefined)
  const columns = ['FROM', 'POLICY'].filter((column) => (column === 'FROM' ? hasLayers : changes.some(({ policy }) => policy)))
  const header = headOf('', 'FIELD', 'BEFORE', 'AFTER', 'RISK', ...columns)
  const longest = width === undefined ? LONGEST_VALUE : Number.POSITIVE_INFINITY
  const rows = changes.map(({ path, before, after, risk, layer = '', policy }): Cell[] => {
    const { sign, tone } = markOf(before, after)
    const values = [{ text: sign, tone }, { text: formatPath(path), tone }, showValue(before, longest), showValue(after, longest), risk]
    return [...values, ...(hasLayers ? [layer] : []), ...describePolicy(policy)]
  })
  const fitting = width === undefined ? [header, ...rows] : cutValues([header, ...rows], width)
  const meanings = new Map(changes.flatMap(({ risk, meaning }) => (meaning === undefined ? [] : [[risk, meaning] as const])))
  const indent = Math.max(0, ...[...meanings.keys()].map((risk) => risk.length)) + 2
  const legend = [...meanings].flatMap(([risk, meaning]) => {
    const lines = width === undefined ? [meaning] : foldText(meaning, width - indent)
    return lines.map((text, index): Cell[] => [index === 0 ? risk : '', { text, tone: 'faint' }])
  })
  const notes = changes.flatMap(({ effect }) => (effect === undefined ? [] : ['', ...renderEffect(effect, width)]))
  return [...alignColumns(fitting, color), ...(legend.length === 0 ? [] : ['', ...alignColumns(legend, color)]), ...notes]
}

const ADVICE = '     = '

/** As findings have it. */
function renderEffect({ problem, advice }: NonNullable<ConfigChange['effect']>, width: number | undefined): string[] {
  const [texts, advices] = [problem, advice].map((text) => (width === undefined ? [text] : foldText(text, width - ADVICE.length)))
  return [...(texts ?? []), ...(advices ?? []).map((text, index) => `${index === 0 ? ADVICE : ' '.repeat(ADVICE.length)}${text}`)].map(
    plainText,
  )
}

const BEFORE = 2
const AFTER = 3
/** Characters shown of a beginning that both values share. */
const LEAD = 6
/** Less says nothing any more, and `as on the node` is not cut. */
const SHORTEST_VALUE = 14

function cutValues(rows: readonly (readonly Cell[])[], width: number): readonly (readonly Cell[])[] {
  const widest = (column: number) => Math.max(...rows.map((row) => plainText(row[column] ?? '').length))
  const columns = Math.max(...rows.map((row) => row.length))
  const others = Array.from({ length: columns }, (_, column) => (column === BEFORE || column === AFTER ? 0 : widest(column)))
  const left = width - others.reduce((sum, each) => sum + each, 0) - 2 * (columns - 1)
  const half = Math.floor(left / 2)
  const share = (other: number, own: number) => Math.max(SHORTEST_VALUE, other <= half ? left - other : own)
  const [before, after] = [share(widest(AFTER), half), share(widest(BEFORE), left - half)]
  return rows.map((row) => {
    const [old, young] = [plainText(row[BEFORE] ?? ''), plainText(row[AFTER] ?? '')]
    return row.map((cell, column) => {
      if (column === BEFORE) return cut(cell, young, before)
      return column === AFTER ? cut(cell, old, after) : cell
    })
  })
}

/** @param other what it is compared with: where both begin alike, the beginning is cut */
function cut(cell: Cell, other: string, limit: number): Cell {
  const text = plainText(cell)
  if (text.length <= limit) return cell
  const apart = text.split('').findIndex((character, index) => character !== other[index])
  const alike = apart === -1 ? text.length : apart
  const rest = alike < limit - 2 ? text : `…${text.slice(alike - LEAD)}`
  return { text: rest.length <= limit ? rest : `${rest.slice(0, limit - 1)}…`, tone: typeof cell === 'string' ? 'plain' : cell.tone }
}

function markOf(before: unknown, after: unknown): { readonly sign: string; readonly tone: Tone } {
  if (before === undefined) return { sign: '+', tone: 'good' }
  return after === undefined ? { sign: '-', tone: 'bad' } : { sign: '~', tone: 'warning' }
}

function describePolicy(policy: ConfigChange['policy']): Cell[] {
  if (policy === undefined) return []
  const text = policy.rule === undefined ? policy.outcome : `${policy.outcome} (${policy.rule})`
  switch (policy.outcome) {
    case 'allowed':
      return [text]
    case 'drain':
      return [{ text, tone: 'warning' }]
    case 'denied':
      return [{ text, tone: 'bad' }]
  }
}

function showValue(value: unknown, longest: number): Cell {
  if (value === undefined) return { text: 'not set', tone: 'faint' }
  if (value === NODE_OWN) return { text: 'as on the node', tone: 'faint' }
  if (value === HIDDEN) return { text: HIDDEN, tone: 'faint' }
  const text = typeof value === 'string' && /^[\w./:%+-]+$/.test(value) ? value : (JSON.stringify(value) ?? String(value))
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}

/** As `diff` and `plan` print it for programs. Fields are added, never renamed or removed. */
export function documentChange({ path, before, after, risk, meaning, effect, policy, layer }: ConfigChange) {
  return {
    path: formatPath(path),
    steps: path,
    /** Absent: not set. */
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    risk,
    meaning: meaning ?? null,
    /** Absent: the value tells all. */
    ...(effect !== undefined && { effect }),
    policy: policy === undefined ? null : { outcome: policy.outcome, rule: policy.rule ?? null },
    /** The layer that sets or removes the field. Absent: this node does not merge the config. */
    ...(layer !== undefined && { layer }),
  }
}
