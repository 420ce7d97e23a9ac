/** A change of one field of kubelet's config, and its text form. */
import type { FieldPath } from '../../kubelet/field-path.ts'
import type { RiskClass } from './risk-classes.ts'

export interface Change {
  readonly path: FieldPath
  /** undefined: not set, without a default. */
  readonly before: Side | undefined
  readonly after: Side | undefined
  readonly risk: RiskClass
}

export interface Side {
  /** HIDDEN if it could be a secret. */
  readonly value: unknown
  /** The value is not set in the config. */
  readonly isDefault: boolean
}

export const HIDDEN = '(not shown)'

/** Such as `110 (default)`, `"1m"`, `not set`. */
export function formatSide(side: Side | undefined): string {
  if (side === undefined) return 'not set'
  const text = side.value === HIDDEN ? HIDDEN : JSON.stringify(side.value)
  return side.isDefault ? `${text} (default)` : text
}
