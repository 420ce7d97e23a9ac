// SPDX-License-Identifier: Apache-2.0
/**
 * A row of the table: one thing that a field decides between kubelet's validation of its config and
 * the moment when it serves.
 */
import type { LeafName } from '../../../src/kubelet/fields.ts'
import type { Severity } from '../../../src/preflight/finding.ts'
import type { Surroundings } from '../../../src/preflight/node/surroundings.ts'

export interface StartRow {
  readonly fields: readonly LeafName[]
  /** The condition, in words. */
  readonly when: string
  /** Upstream's symbol. */
  readonly source: string
  /** The first minor of 1.x that does it. Default: the oldest that is covered. */
  readonly from?: number
  /** The last such minor. Default: the newest. */
  readonly to?: number
  readonly does: 'exits' | `goes on ${string}`
  readonly found: Found
}

/**
 * By a rule, shown on an example. `only`: who else can tell. `needs`: what a rule would have to
 * know, and does not.
 */
type Found = FoundByRule | { readonly only: 'kubelet itself' } | { readonly needs: string }

export interface FoundByRule {
  readonly rule: `fields/${string}` | `otherwise/${string}` | `node/${string}` | `guard/${string}`
  readonly example: Readonly<Record<string, unknown>>
  /** Facts of the node, beside those of a healthy one. */
  readonly node?: Partial<Surroundings>
  /** The config that runs there. */
  readonly running?: Readonly<Record<string, unknown>>
  /** All flags of its kubelet. */
  readonly flags?: readonly string[]
  /** By default as what kubelet does: `refuse` where it exits, and `warn` where it goes on. */
  readonly severity?: Severity
  /** A flag may mend it: only a warning where the flags of kubelet are not known. */
  readonly unlessFlag?: true
}

export const SERVER = 'cmd/kubelet/app/server.go'

export const exits = (
  fields: StartRow['fields'],
  when: string,
  source: string,
  found: StartRow['found'],
  range: Pick<StartRow, 'from' | 'to'> = {},
): StartRow => ({ fields, when, source, does: 'exits', found, ...range })
