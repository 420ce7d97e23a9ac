// SPDX-License-Identifier: Apache-2.0
/**
 * The results of preflight: findings, each about one place of the config, and the report that
 * contains them. Every part of preflight returns findings; only the report decides whether the
 * candidate is accepted. Pure.
 */
import { type FieldPath, formatPath } from '../kubelet/field-path.ts'
import type { LocatedYaml, Position } from '../kubelet/yaml-document.ts'
import { shorten } from '../values/cut.ts'

/** The rule of findings about changes that wait for a drained node. */
export const REQUIRE_DRAIN = 'policy/require-drain'
/** The same of changes of kubelet's managers. */
export const MANAGERS = 'change/managers'
/** By rule: when the change is made on a node that is not drained. */
const UNDRAINED = { [REQUIRE_DRAIN]: '', [MANAGERS]: ', or while no pod has CPUs, memory or devices to lose' }

/**
 * `refuse`: kubelet must not get the config. `warn`: the config works, but probably not as
 * intended. `info`: for information only.
 */
export type Severity = 'refuse' | 'warn' | 'info'

export interface Finding {
  /**
   * The check that reports it: stable, lower case, such as `fields/unknown-key`,
   * `node/reserved-memory`, `policy/guarded`.
   */
  readonly rule: string
  readonly severity: Severity
  /**
   * Selects one of the two error texts of the Node status: kubelet could not load the config, or
   * its validation failed.
   */
  readonly reason: 'load' | 'validate'
  readonly path: FieldPath
  /** undefined: the finding is about the whole document, or about a field that is not set. */
  readonly position: Position | undefined
  /** The fault, in one line, without the value where it could be a secret. */
  readonly problem: string
  /** The remedy, in one line. */
  readonly advice: string | undefined
  /**
   * The rule may not be that of this kubelet, so nothing but kubelet itself can refuse the config.
   */
  readonly isUnsettled?: boolean | undefined
  /** Of a kubelet newer than the tables: it meets this only after it has validated its config. */
  readonly isAtStart?: boolean | undefined
  /** Of a config that this node merges: the layer that sets the field, or removes it. */
  readonly layer?: string | undefined
}

/**
 * The result of one part of preflight. `unjudged`: it could not run; the other parts decide.
 * `cannot-start`: kubelet would start with no config, so none can be judged.
 */
export interface PartResult {
  /** The name of the part, such as `kubelet`, `fields`, `node`, `change`. */
  readonly part: string
  readonly outcome: 'accepted' | 'refused' | 'cannot-start' | 'unjudged'
  /**
   * The check that was made, or why it could not be: `kubelet 1.20.2 loaded and validated the
   * config`.
   */
  readonly detail: string
  /**
   * The fields that the config changes on this node, such as `maxPods`,
   * `evictionHard.memory.available`. undefined: this part does not compare, or not all are known.
   */
  readonly changed?: readonly string[] | undefined
}

export interface Report {
  readonly outcome: 'accepted' | 'refused' | 'unjudged'
  /** The most severe first, then in the order of the text. */
  readonly findings: readonly Finding[]
  readonly parts: readonly PartResult[]
}

/** Finds the position of a path: its own, or that of the nearest enclosing path. */
export function locateNearest(document: Pick<LocatedYaml, 'locate'> | undefined, path: FieldPath): Position | undefined {
  for (let length = path.length; length > 0; length--) {
    const position = document?.locate(path.slice(0, length))
    if (position !== undefined) return position
  }
  return undefined
}

/** One-line texts of findings and reports, for logs, events, Node status and command line. */
const MOST = 3

/**
 * The problem, after the field's name unless the text contains it already:
 * `evictionHard["memory.available"]: eviction threshold must be positive: 0`.
 */
export function describeProblem({ path, problem }: Pick<Finding, 'path' | 'problem'>): string {
  const name = missingName({ path, problem })
  return name === '' ? problem : `${name}: ${problem}`
}

/** With its position: `maxPods (line 4, column 1): -1 must not be negative`. */
export function describeFinding({ path, position, problem }: Finding): string {
  const name = missingName({ path, problem })
  const place = position === undefined ? '' : `line ${position.line}, column ${position.column}`
  const where = [name, name === '' || place === '' ? place : `(${place})`].filter((part) => part !== '').join(' ')
  return where === '' ? problem : `${where}: ${problem}`
}

/** Why the config was refused: the first findings, without repetitions. */
export function describeRefusal({ findings, parts }: Report): string {
  const reasons = [...new Set(findings.filter(({ severity }) => severity === 'refuse').map(describeFinding))]
  if (reasons.length === 0) return parts.find(({ outcome }) => outcome === 'refused')?.detail ?? 'preflight refused the config'
  const more = reasons.length - MOST
  return `${reasons.slice(0, MOST).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

export function refusalReason({ findings }: Report): 'load' | 'validate' {
  const refusals = findings.filter(({ severity }) => severity === 'refuse')
  return refusals.some(({ reason }) => reason === 'load') ? 'load' : 'validate'
}

/**
 * The field's name, or empty if the problem contains it. As a part of a longer name or of a flag it
 * does not count.
 */
function missingName({ path, problem }: Pick<Finding, 'path' | 'problem'>): string {
  const name = shorten(formatPath(path))
  if (name === '') return ''
  const pieces = problem.split(name)
  const isNamed = pieces.some((after, at) => at > 0 && !/[\w-]$|\w\.$/.test(pieces[at - 1] ?? '') && !/^[\w-]/.test(after))
  return isNamed ? '' : name
}

/** Parts that read the whole config, as kubelet does. The other parts can only object. */
const READERS: readonly string[] = ['kubelet', 'kubelet-start', 'fields']

/**
 * Combines the results of all parts. If any part refuses the candidate, it is refused. It is
 * accepted only if a part that reads the whole config accepted it: parts that check one aspect
 * cannot prove it good. A kubelet that cannot start accepts nothing. Otherwise the outcome is
 * `unjudged`.
 *
 * @param demanded parts the user requested: the candidate is accepted only if they accept it
 */
export function assembleReport(parts: readonly PartResult[], findings: readonly Finding[], demanded: readonly string[] = []): Report {
  return { outcome: decide(parts, findings, demanded), findings: sortFindings(findings), parts }
}

function decide(parts: readonly PartResult[], findings: readonly Finding[], demanded: readonly string[]): Report['outcome'] {
  if (parts.some(({ outcome }) => outcome === 'refused') || findings.some(({ severity }) => severity === 'refuse')) return 'refused'
  if (parts.some(({ outcome }) => outcome === 'cannot-start')) return 'unjudged'
  const accepts = (name: string) => parts.some(({ part, outcome }) => part === name && outcome === 'accepted')
  return READERS.some(accepts) && demanded.every(accepts) ? 'accepted' : 'unjudged'
}

const RANK: Readonly<Record<Severity, number>> = { refuse: 0, warn: 1, info: 2 }

/**
 * The most severe first; then findings about the whole document, then those with a position in the
 * order of the text, then those about fields that are not set. Of equal findings the most severe
 * one stays.
 */
function sortFindings(findings: readonly Finding[]): Finding[] {
  const sorted = [...findings].sort(
    (a, b) =>
      RANK[a.severity] - RANK[b.severity] ||
      placeOf(a) - placeOf(b) ||
      (a.position?.line ?? 0) - (b.position?.line ?? 0) ||
      (a.position?.column ?? 0) - (b.position?.column ?? 0) ||
      compareTexts(formatPath(a.path), formatPath(b.path)) ||
      compareTexts(a.rule, b.rule) ||
      compareTexts(a.problem, b.problem),
  )
  const seen = new Set<string>()
  return sorted.filter(({ rule, path, position, problem }) => {
    const identity = JSON.stringify([rule, path, position?.line, position?.column, problem])
    return !seen.has(identity) && seen.add(identity) !== undefined
  })
}

function placeOf({ position, path }: Finding): number {
  if (position !== undefined) return 1
  return path.length === 0 ? 0 : 2
}

/** Not `localeCompare`: the order must not depend on the machine's locale. */
function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The report on a candidate that cannot be read: no part runs. */
export function refuseUnread(rule: string, problem: string, position?: Finding['position'], advice?: string): Report {
  const finding: Finding = { rule, severity: 'refuse', reason: 'load', path: [], position, problem, advice }
  return assembleReport([{ part: 'source', outcome: 'refused', detail: problem }], [finding])
}

/** @param remark at the end of the advice */
export function waitsForDrain(rule: keyof typeof UNDRAINED, path: FieldPath, document: Pick<LocatedYaml, 'locate'>, remark = ''): Finding {
  const problem = `${formatPath(path)} changes only on a drained node${UNDRAINED[rule]}`
  const advice = `drain the node; the agent then activates the config${remark}`
  return { rule, severity: 'info', reason: 'validate', path, position: document.locate(path), problem, advice }
}
