/**
 * A difference between two configs in the documents that `diff -o json` and `plan -o json` print.
 * Fields are added, never renamed or removed. Pure.
 */

import type { FieldPath } from '../kubelet/field-path.ts'
import { formatPath } from '../kubelet/field-path.ts'
import type { ConfigChange } from '../preflight/inspection.ts'

export interface ChangeDocument {
  readonly path: string
  readonly steps: FieldPath
  /** Absent: not set. */
  readonly before?: unknown
  readonly after?: unknown
  readonly risk: string
  readonly meaning: string | null
  readonly policy: { readonly outcome: string; readonly rule: string | null } | null
  /** The layer that sets or removes the field. Absent: this node does not merge the config. */
  readonly layer?: string
}

export function documentChange({ path, before, after, risk, meaning, policy, layer }: ConfigChange): ChangeDocument {
  return {
    path: formatPath(path),
    steps: path,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    risk,
    meaning: meaning ?? null,
    policy: policy === undefined ? null : { outcome: policy.outcome, rule: policy.rule ?? null },
    ...(layer !== undefined && { layer }),
  }
}
