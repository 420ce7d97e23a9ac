/**
 * The differences of two configs, for people and for programs. Pure. Values come from whoever wrote the config: they are cut, and cannot steer the terminal.
 */

import type { FieldPath } from '../kubelet/field-path.ts'
import { formatPath } from '../kubelet/field-path.ts'
import { HIDDEN } from '../preflight/change/change.ts'
import type { ConfigChange } from '../preflight/inspection.ts'
import { alignColumns, type Cell, type Tone } from './terminal.ts'

/** Longer values say no more to people. */
const LONGEST_VALUE = 60

export interface ChangeDocument {
  readonly path: string
  readonly steps: FieldPath
  /** Absent: not set. */
  readonly before?: unknown
  readonly after?: unknown
  readonly risk: string
  readonly meaning: string | null
  readonly policy: { readonly outcome: string; readonly rule: string | null } | null
}

export function documentChange({ path, before, after, risk, meaning, policy }: ConfigChange): ChangeDocument {
  return {
    path: formatPath(path),
    steps: path,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    risk,
    meaning: meaning ?? null,
    policy: policy === undefined ? null : { outcome: policy.outcome, rule: policy.rule ?? null },
  }
}

/** One line a change, then what the classes of risk mean. */
export function renderChanges(changes: readonly ConfigChange[], color: boolean): string[] {
  const header: Cell[] = ['', 'FIELD', 'BEFORE', 'AFTER', 'RISK', ...(changes.some(({ policy }) => policy) ? ['POLICY'] : [])].map(
    (text) => ({ text, tone: 'strong' }),
  )
  const rows = changes.map(({ path, before, after, risk, policy }): Cell[] => {
    const { sign, tone } = markOf(before, after)
    return [{ text: sign, tone }, { text: formatPath(path), tone }, showValue(before), showValue(after), risk, ...describePolicy(policy)]
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
  const said = policy.rule === undefined ? policy.outcome : `${policy.outcome} (${policy.rule})`
  switch (policy.outcome) {
    case 'allowed':
      return [said]
    case 'drain':
      return [{ text: said, tone: 'warning' }]
    case 'denied':
      return [{ text: said, tone: 'bad' }]
  }
}

function showValue(value: unknown): Cell {
  if (value === undefined) return { text: 'not set', tone: 'faint' }
  if (value === HIDDEN) return { text: HIDDEN, tone: 'faint' }
  const text = typeof value === 'string' && /^[\w./:%+-]+$/.test(value) ? value : (JSON.stringify(value) ?? String(value))
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 1)}…` : text
}
