/**
 * What a rule about fields says of a config before it is known how much that weighs: which kubelets the rule belongs to, and whether it is sure of what it
 * takes for granted. Pure.
 */
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { FieldPath } from '../../kubelet/field-path.ts'
import { OLDEST_MINOR } from '../../kubelet/fields.ts'
import type { Finding, Severity } from '../finding.ts'
import type { KubeletVersion } from '../kubelet-version.ts'

export interface FieldProblem {
  /** The part behind `fields/`. */
  readonly rule: string
  readonly path: FieldPath
  readonly problem: string
  readonly advice?: string | undefined
  /** In place of advice: a name, and those that it may stand for. */
  readonly mistyped?: { readonly name: string; readonly known: readonly string[] }
  readonly reason?: Finding['reason']
  /** The first minor of 1.x whose kubelet complains; left out: all do. */
  readonly from?: number
  /** The last one. */
  readonly to?: number
  /** `warn`: kubelet takes it. Left out: it refuses. */
  readonly severity?: Severity
  /** Set where something that nobody can know decides, as `AllAlpha` does of gates: never more than a warning. */
  readonly unsure?: boolean
}

/** A longer one is no name that somebody has mistyped, and is not shown whole. */
export const LONGEST_NAME = 80

export function quote(text: string): string {
  return JSON.stringify(shorten(text))
}

export function shorten(text: string): string {
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text
}

/** What rules look at. */
export interface FieldRuleInput {
  /** With what flags say instead. */
  readonly config: KubeletConfig
  /** undefined: nobody knows which kubelet it is for. */
  readonly version: KubeletVersion | undefined
  /** Whether a feature gate is on; undefined: nobody can tell. */
  readonly gate: (name: string) => boolean | undefined
}

/** undefined: no concern of this kubelet. Without a version only what holds for all refuses. */
export function weigh(
  { from = OLDEST_MINOR, to, severity = 'refuse', unsure = false }: FieldProblem,
  minor: number | undefined,
): Severity | undefined {
  if (minor !== undefined && (minor < from || minor > (to ?? minor))) return undefined
  if (severity !== 'refuse') return severity
  const holdsForAll = from <= OLDEST_MINOR && to === undefined
  return unsure || (minor === undefined && !holdsForAll) ? 'warn' : 'refuse'
}

/** Which kubelets a rule belongs to, in words; of all of them none. */
export function describeRange({ from = OLDEST_MINOR, to }: FieldProblem): string {
  if (from > OLDEST_MINOR) return to === undefined ? ` (kubelet 1.${from} and later)` : ` (kubelet 1.${from} to 1.${to})`
  return to === undefined ? '' : ` (kubelet up to 1.${to})`
}
