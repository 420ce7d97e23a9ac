/**
 * What the findings of all parts add up to. Pure. A candidate is refused if anything refuses it. It is accepted only if a part that reads the whole
 * of it took it: that nothing was found against it by those who look at one side of it is no proof. Anything else cannot be judged.
 */
import { formatPath } from '../kubelet/field-path.ts'
import type { Finding, PartResult, Report, Severity } from './finding.ts'

/** Those that read a config as kubelet does; the others only ever object. */
const READERS: readonly string[] = ['kubelet', 'kubelet-start', 'fields']

/** @param demanded parts that were asked for by name: without their word the candidate is not accepted */
export function assembleReport(parts: readonly PartResult[], findings: readonly Finding[], demanded: readonly string[] = []): Report {
  return { outcome: decide(parts, findings, demanded), findings: sortFindings(findings), parts }
}

function decide(parts: readonly PartResult[], findings: readonly Finding[], demanded: readonly string[]): Report['outcome'] {
  if (parts.some(({ outcome }) => outcome === 'refused') || findings.some(({ severity }) => severity === 'refuse')) return 'refused'
  const took = (name: string) => parts.some(({ part, outcome }) => part === name && outcome === 'accepted')
  return READERS.some(took) && demanded.every(took) ? 'accepted' : 'unjudged'
}

const RANK: Readonly<Record<Severity, number>> = { refuse: 0, warn: 1, info: 2 }

/** The most severe first, then those of the whole document, then in the order of the text, then those of fields that are not there. Each once, as severe as anybody has it. */
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

/** Not `localeCompare`: the order must not depend on the machine. */
function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
