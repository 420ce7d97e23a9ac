/**
 * A report as SARIF, for code-scanning systems. It contains no text of the config. A result without
 * a place gets the first line, since such systems drop results that have no line. Rules: Static
 * Analysis Results Interchange Format 2.1.0 (OASIS). Pure.
 */

import { formatPath } from '../kubelet/field-path.ts'
import { describeProblem } from '../preflight/describe-finding.ts'
import type { Finding, PartResult, Report, Severity } from '../preflight/finding.ts'
import { capitalise } from '../values/cut.ts'
import { formatJson } from './format-json.ts'
import { PROGRAM } from './help-notes.ts'

export const SARIF_SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

const LEVELS: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = { refuse: 'error', warn: 'warning', info: 'note' }

export function renderSarif(name: string, report: Report, version: string): string {
  const ruleIds = [...new Set(report.findings.map(({ rule }) => rule))].sort()
  const unjudged = report.parts.filter(({ outcome }) => outcome === 'unjudged' || outcome === 'cannot-start')
  const run = {
    tool: { driver: { name: PROGRAM, semanticVersion: version, rules: ruleIds.map((id) => describeRule(id, report.findings)) } },
    // A part that could not check the config has not run.
    invocations: [{ executionSuccessful: report.outcome !== 'unjudged', toolExecutionNotifications: unjudged.map(notify) }],
    columnKind: 'utf16CodeUnits',
    results: report.findings.map((finding) => describeResult(name, finding, ruleIds.indexOf(finding.rule))),
    properties: { outcome: report.outcome },
  }
  return formatJson({ $schema: SARIF_SCHEMA, version: '2.1.0', runs: [run] })
}

function describeRule(id: string, findings: readonly Finding[]) {
  const worst = findings.some((finding) => finding.rule === id && finding.severity === 'refuse')
    ? 'refuse'
    : (findings.find((finding) => finding.rule === id)?.severity ?? 'warn')
  const [part = '', what = ''] = id.split('/')
  return {
    id,
    name: id.replace(/(^|[-/])([a-z])/g, (_, _before, letter: string) => letter.toUpperCase()).replace(/[^A-Za-z0-9]/g, ''),
    shortDescription: { text: `${part}: ${what.replaceAll('-', ' ')}`.trim() },
    defaultConfiguration: { level: LEVELS[worst] },
  }
}

function describeResult(name: string, finding: Finding, ruleIndex: number) {
  const { rule, severity, path, position, advice, layer } = finding
  const problem = describeProblem(finding)
  return {
    ruleId: rule,
    ruleIndex,
    level: LEVELS[severity],
    message: { text: advice === undefined ? problem : `${problem}. ${capitalise(advice)}.` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: toUri(name) },
          region: { startLine: position?.line ?? 1, startColumn: position?.column ?? 1 },
        },
        ...(path.length === 0 ? {} : { logicalLocations: [{ fullyQualifiedName: formatPath(path), kind: 'member' }] }),
      },
    ],
    // Of a config that this node merges, the place is in the result.
    ...(layer !== undefined && { properties: { layer } }),
  }
}

function notify({ part, detail }: PartResult) {
  return { level: 'note', message: { text: `${part} did not check the config: ${detail}` } }
}

/**
 * Relative to the working directory, which code-scanning systems take as the root of the
 * repository.
 */
function toUri(name: string): string {
  const path = name
    .split('/')
    .map(encodeURIComponent)
    .join('/')
    .replace(/^(\.\/)+/, '')
  return name.startsWith('/') ? `file://${path}` : path
}
