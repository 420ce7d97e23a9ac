/** A finding and a report in a line, as logs, events, the Node's status and the command line have them. Pure. */
import { formatPath } from '../kubelet/field-path.ts'
import type { Finding, Report } from './finding.ts'

const MOST = 3

/** What is wrong, with the field in front where the words do not name it themselves: `evictionHard["memory.available"]: eviction threshold must be positive: 0`. */
export function describeProblem({ path, problem }: Pick<Finding, 'path' | 'problem'>): string {
  const name = unnamed({ path, problem })
  return name === '' ? problem : `${name}: ${problem}`
}

/** With its place: `maxPods (line 4, column 1): -1 must not be negative`. */
export function describeFinding({ path, position, problem }: Finding): string {
  const name = unnamed({ path, problem })
  const place = position === undefined ? '' : `line ${position.line}, column ${position.column}`
  const where = [name, name === '' || place === '' ? place : `(${place})`].filter((part) => part !== '').join(' ')
  return where === '' ? problem : `${where}: ${problem}`
}

/** Why it was refused: the first few findings, each once. */
export function describeRefusal({ findings, parts }: Report): string {
  const reasons = [...new Set(findings.filter(({ severity }) => severity === 'refuse').map(describeFinding))]
  if (reasons.length === 0) return parts.find(({ outcome }) => outcome === 'refused')?.detail ?? 'preflight refuses it'
  const more = reasons.length - MOST
  return `${reasons.slice(0, MOST).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

export function refusalReason({ findings }: Report): 'load' | 'validate' {
  const refusals = findings.filter(({ severity }) => severity === 'refuse')
  return refusals.some(({ reason }) => reason === 'load') ? 'load' : 'validate'
}

/** The field's name, or nothing where the problem has it. A part of a longer name or of a flag is not the name. */
function unnamed({ path, problem }: Pick<Finding, 'path' | 'problem'>): string {
  const name = formatPath(path)
  if (name === '') return ''
  const pieces = problem.split(name)
  const isNamed = pieces.some((after, at) => at > 0 && !/[\w-]$|\w\.$/.test(pieces[at - 1] ?? '') && !/^[\w-]/.test(after))
  return isNamed ? '' : name
}
