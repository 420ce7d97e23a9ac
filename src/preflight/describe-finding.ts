/** A report in a line, as logs, events and the Node's status have it. Pure. */
import { formatPath } from './field-path.ts'
import type { Finding, Report } from './finding.ts'

const MOST = 3

/** `maxPods (line 4, column 1): -1 must not be negative`. */
export function describeFinding({ path, position, problem }: Finding): string {
  const name = formatPath(path)
  const place = position === undefined ? '' : `line ${position.line}, column ${position.column}`
  // Most problems name their field themselves.
  const head = name === '' || problem.startsWith(name) ? '' : name
  const where = [head, head === '' || place === '' ? place : `(${place})`].filter((part) => part !== '').join(' ')
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
