/** One-line texts of findings and reports, for logs, events, Node status and command line. Pure. */
import { formatPath } from '../kubelet/field-path.ts'
import type { Finding, Report } from './finding.ts'

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
  const name = formatPath(path)
  if (name === '') return ''
  const pieces = problem.split(name)
  const isNamed = pieces.some((after, at) => at > 0 && !/[\w-]$|\w\.$/.test(pieces[at - 1] ?? '') && !/^[\w-]/.test(after))
  return isNamed ? '' : name
}
