// SPDX-License-Identifier: Apache-2.0
/**
 * A part that each node merges over its local config: what the part does not set, that may set, so
 * no rule over several fields decides here. Pure.
 */
import { API_VERSION, KIND } from '../kubelet/decode.ts'
import type { LocalConfigView } from '../ports/assignment-source.ts'
import { SUPPLIED_BY } from '../preflight/fields/complaint.ts'
import { assembleReport, type Finding, type PartResult, type Report } from '../preflight/finding.ts'

/** In place of the local config, where there is no node. */
export const EMPTY_LOCAL = {
  kind: 'found',
  path: 'the local config of each node, not known here',
  text: `apiVersion: ${API_VERSION}\nkind: ${KIND}\n`,
} as const satisfies LocalConfigView

const OVER_SEVERAL: readonly string[] = ['fields/cross', 'fields/gate-needs']

export function dependsOnOthers({ rule, severity }: Finding): boolean {
  return severity === 'refuse' && OVER_SEVERAL.includes(rule)
}

/** With warnings in place of such refusals: each node checks the part again. */
export function openPart(report: Report): Report {
  if (!report.findings.some(dependsOnOthers)) return report
  const findings = report.findings.map((finding): Finding => {
    if (!dependsOnOthers(finding)) return finding
    return { ...finding, severity: 'warn', problem: `${finding.problem} (${SUPPLIED_BY.local})` }
  })
  const isRefused = findings.some(({ severity }) => severity === 'refuse')
  const open = (part: PartResult): PartResult => (part.outcome === 'refused' && !isRefused ? { ...part, outcome: 'accepted' } : part)
  return assembleReport(report.parts.map(open), findings)
}
