/**
 * Combines the results of all parts into a report. Pure. If any part refuses the candidate, it is
 * refused. It is accepted only if a part that reads the whole config accepted it: parts that check
 * one aspect cannot prove it good. A kubelet that cannot start accepts nothing. Otherwise the
 * outcome is `unjudged`.
 */
import { formatPath } from '../kubelet/field-path.ts'
import type { Finding, PartResult, Report, Severity } from './finding.ts'

/** Parts that read the whole config, as kubelet does. The other parts can only object. */
const READERS: readonly string[] = ['kubelet', 'kubelet-start', 'fields']

/** @param demanded parts the user requested: the candidate is accepted only if they accept it */
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
