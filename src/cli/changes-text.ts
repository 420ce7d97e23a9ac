/**
 * The text that `diff` and `plan` print for people: the differences between two configs. The author
 * of a config controls its values, so they are cut, and cannot control the terminal. Pure.
 */

import { formatPath } from '../kubelet/field-path.ts'
import { HIDDEN } from '../preflight/change/change.ts'
import type { ConfigChange } from '../preflight/inspection.ts'
import { alignColumns, type Cell, type Tone } from './terminal.ts'

/** In characters; longer values are cut. */
const LONGEST_VALUE = 60

/** In place of a value that a part leaves to each node. */
export const NODE_OWN = Symbol('as on the node')

/** One line per change, then the meaning of the risk classes. */
export function renderChanges(changes: readonly ConfigChange[], color: boolean): string[] {
  const hasLayers = changes.some(({ layer }) => layer !== undefined)
  const columns = ['FROM', 'POLICY'].filter((column) => (column === 'FROM' ? hasLayers : changes.some(({ policy }) => policy)))
  const header: Cell[] = ['', 'FIELD', 'BEFORE', 'AFTER', 'RISK', ...columns].map((text) => ({ text, tone: 'strong' }))
  const rows = changes.map(({ path, before, after, risk, layer = '', policy }): Cell[] => {
    const { sign, tone } = markOf(before, after)
    const values = [{ text: sign, tone }, { text: formatPath(path), tone }, showValue(before), showValue(after), risk]
    return [...values, ...(hasLayers ? [layer] : []), ...describePolicy(policy)]
  })
  const meanings = new Map(changes.flatMap(({ risk, meaning }) => (meaning === undefined ? [] : [[risk, meaning] as const])))
  const legend = [...meanings].map(([risk, meaning]): Cell[] => [risk, { text: meaning, tone: 'faint' }])
  return [...alignColumns([header, ...rows], color), ...(legend.length === 0 ? [] : ['', ...alignColumns(legend, color)])]
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

function showValue(value: unknown): Cell {
  if (value === undefined) return { text: 'not set', tone: 'faint' }
  if (value === NODE_OWN) return { text: 'as on the node', tone: 'faint' }
  if (value === HIDDEN) return { text: HIDDEN, tone: 'faint' }
  const text = typeof value === 'string' && /^[\w./:%+-]+$/.test(value) ? value : (JSON.stringify(value) ?? String(value))
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 1)}…` : text
}
