// SPDX-License-Identifier: Apache-2.0
/**
 * The result of a field rule before its severity is known, with the kubelet versions it applies to
 * and whether it is certain. Pure.
 */
import { OTHERWISE } from '../../decision/verdict.ts'
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { FieldPath } from '../../kubelet/field-path.ts'
import { OLDEST_MINOR } from '../../kubelet/fields.ts'
import { shorten } from '../../values/cut.ts'
import { parseGoDuration } from '../../values/go-syntax.ts'
import type { Finding, Severity } from '../finding.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import type { NodeView } from '../node/node-view.ts'

export interface FieldProblem {
  /** Without the prefix `fields/`, unless it is of another family, as in `otherwise/zero`. */
  readonly rule: string
  readonly path: FieldPath
  readonly problem: string
  readonly advice?: string | undefined
  /** Instead of advice: the name, and those that may be meant. */
  readonly mistyped?: Mistyped
  readonly reason?: Finding['reason']
  /** The first minor of 1.x whose kubelet rejects it. Default: all do. */
  readonly from?: number | undefined
  /** The last such minor. */
  readonly to?: number | undefined
  /** `warn`: kubelet accepts it. Default: `refuse`. */
  readonly severity?: Severity
  /** Kubelet meets it only after it has loaded and validated its config. */
  readonly atStart?: boolean | undefined
  /** A list of names decides, which has grown before: a later kubelet may have a longer one. */
  readonly byList?: boolean
  /**
   * The complaint depends on something unknown, such as the effect of `AllAlpha`: at most a
   * warning.
   */
  readonly unsure?: boolean
  /** Something is missing, and what is unseen may supply it: at most a warning then. */
  readonly supplied?: boolean
}

export interface Mistyped {
  readonly name: string
  /** The names that its place knows. */
  readonly known: readonly string[]
  /** Of a field: where it stands, and for which minor of kubelet. */
  readonly key?: { readonly path: FieldPath; readonly minor: number | undefined }
}

/**
 * The settings that count beside the config, and are not known: the flags of its kubelet, or also
 * the local config of each node, over which a part is merged.
 */
export type Unseen = 'flags' | 'local'

export const SUPPLIED_BY: Readonly<Record<Unseen, string>> = {
  flags: 'a flag of kubelet may supply what is missing',
  local: "the node's local config or a flag of kubelet may supply what is missing",
}

/** Kubelet takes the config, and does this instead of what the field says. */
export function otherwise(
  rule: `otherwise/${string}`,
  path: FieldPath,
  effect: string,
  advice: string,
  severity: Exclude<Severity, 'refuse'> = 'warn',
): FieldProblem {
  return { rule, path, problem: `${OTHERWISE} ${effect}`, advice, severity }
}

export function quoteText(text: string): string {
  return JSON.stringify(shorten(text))
}

/** The input of field rules. */
export interface FieldRuleInput {
  /** With the values of kubelet's flags. */
  readonly config: KubeletConfig
  /** undefined: unknown. */
  readonly version: KubeletVersion | undefined
  /** Whether a feature gate is on. undefined: unknown. */
  readonly gate: (name: string) => boolean | undefined
}

/** The input of rules about what else counts for kubelet. */
export interface WholeInput extends FieldRuleInput {
  /** The same config, with defaults. */
  readonly view: NodeView
  readonly unseen: Unseen | undefined
  /** Kubelet merges it over another file, whose defaults are filled in before. */
  readonly isDropIn: boolean
}

/**
 * undefined: the rule does not apply to this kubelet. Without a version only rules for all refuse.
 */
export function weigh(
  { from = OLDEST_MINOR, to, severity = 'refuse', unsure = false }: FieldProblem,
  minor: number | undefined,
): Severity | undefined {
  if (minor !== undefined && (minor < from || minor > (to ?? minor))) return undefined
  if (severity !== 'refuse') return severity
  const holdsForAll = from <= OLDEST_MINOR && to === undefined
  return unsure || (minor === undefined && !holdsForAll) ? 'warn' : 'refuse'
}

/** The kubelet versions that a rule applies to, as a suffix; empty for all versions. */
export function describeRange({ from = OLDEST_MINOR, to }: FieldProblem): string {
  if (from > OLDEST_MINOR) return to === undefined ? ` (kubelet 1.${from} and later)` : ` (kubelet 1.${from} to 1.${to})`
  return to === undefined ? '' : ` (kubelet up to 1.${to})`
}

/** Reads a field's value as a type, with a default if it is not set or of another type. */
export function numberOf<Default extends number | undefined>(value: unknown, initial: Default): number | Default {
  return typeof value === 'number' ? value : initial
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function isOn(value: unknown, initial: boolean): boolean {
  return typeof value === 'boolean' ? value : initial
}

/** null in a list means an empty string, as in Go. */
export function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.map(textOf) : undefined
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** In nanoseconds. */
export function durationOf(value: unknown, initial: bigint): bigint {
  return typeof value === 'string' ? (parseGoDuration(value) ?? initial) : initial
}

export const SECOND_NS = 1_000_000_000n
export const MILLISECOND_NS = 1_000_000n

/** Where each value stands first. `indexOf` for each item takes quadratic time. */
export function firstPlaces<T>(values: readonly T[]): ReadonlyMap<T, number> {
  return new Map(values.map((value, index) => [value, index] as const).reverse())
}
