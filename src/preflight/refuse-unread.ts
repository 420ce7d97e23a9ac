/** The report on a candidate that cannot be read. Pure. It needs none of the rules. */
import type { Finding, Report } from './finding.ts'
import { assembleReport } from './report.ts'

/** No part runs. */
export function refuseUnread(rule: string, problem: string, position?: Finding['position'], advice?: string): Report {
  const finding: Finding = { rule, severity: 'refuse', reason: 'load', path: [], position, problem, advice }
  return assembleReport([{ part: 'source', outcome: 'refused', detail: problem }], [finding])
}
