/** A change of one place of kubelet's config, and how it reads. Types and wording only. */
import type { FieldPath } from '../../kubelet/field-path.ts'
import type { RiskClass } from './risk-classes.ts'

export interface Change {
  readonly path: FieldPath
  /** undefined: not set, and there is no default either. */
  readonly before: Side | undefined
  readonly after: Side | undefined
  readonly risk: RiskClass
}

export interface Side {
  /** HIDDEN in place of what could be a secret. */
  readonly value: unknown
  /** Nobody says so: it is what kubelet does by itself. */
  readonly isDefault: boolean
}

export const HIDDEN = '(not shown)'

/** As in `110 (default)`, `"1m"`, `not set`. */
export function formatSide(side: Side | undefined): string {
  if (side === undefined) return 'not set'
  const text = side.value === HIDDEN ? HIDDEN : JSON.stringify(side.value)
  return side.isDefault ? `${text} (default)` : text
}
