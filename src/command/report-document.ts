/**
 * The document that `validate -o json` prints. Fields are added, never renamed or removed. It
 * contains no text of the config. Pure.
 */

import type { FieldPath } from '../kubelet/field-path.ts'
import { formatPath } from '../kubelet/field-path.ts'
import type { Finding, PartResult, Position, Report } from '../preflight/finding.ts'
import { CONFIG_API_VERSION } from '../settings/resolve-settings.ts'
import type { MergedDocument } from './merged-layers.ts'

export interface ReportDocument {
  readonly apiVersion: typeof CONFIG_API_VERSION
  readonly kind: 'ValidationReport'
  /** The name that the user gave, or its full form. */
  readonly candidate: string
  readonly outcome: Report['outcome']
  readonly parts: readonly Omit<PartResult, 'changed'>[]
  readonly findings: readonly FindingDocument[]
  /** What the config is merged from, as in `status`. Absent: not asked for. */
  readonly layers?: MergedDocument['layers']
  readonly fields?: MergedDocument['fields']
}

export interface FindingDocument {
  readonly rule: string
  readonly severity: Finding['severity']
  readonly reason: Finding['reason']
  /** Empty: the document as a whole. */
  readonly path: string
  readonly steps: FieldPath
  readonly position: Position | null
  readonly problem: string
  readonly advice: string | null
  /** The layer that sets or removes the field. Absent: this node does not merge the config. */
  readonly layer?: string
}

export function documentReport(candidate: string, { outcome, parts, findings }: Report, merged?: MergedDocument): ReportDocument {
  return {
    apiVersion: CONFIG_API_VERSION,
    kind: 'ValidationReport',
    candidate,
    outcome,
    parts: parts.map(({ part, outcome, detail }) => ({ part, outcome, detail })),
    findings: findings.map(documentFinding),
    ...merged,
  }
}

export function documentFinding({ rule, severity, reason, path, position, problem, advice, layer }: Finding): FindingDocument {
  return {
    rule,
    severity,
    reason,
    path: formatPath(path),
    steps: path,
    position: position ?? null,
    problem,
    advice: advice ?? null,
    ...(layer !== undefined && { layer }),
  }
}
