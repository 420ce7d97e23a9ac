/**
 * Adjusts the results of the field rules and of kubelet to each other. Pure. The tables of feature
 * gates may not be those of this kubelet: a gate that it accepts itself is only a warning. So is
 * everything that a kubelet newer than the tables accepts, and it alone knows its fields. If both
 * refuse the config for the same problem, the report shows only the finding of the field rules,
 * which has the position.
 */

import { type FieldPath, formatPath } from '../kubelet/field-path.ts'
import { isFieldName } from '../kubelet/fields.ts'
import { shorten } from './fields/complaint.ts'
import { MOST_KEYS } from './fields/unknown-keys.ts'
import type { Finding } from './finding.ts'
import type { PartReport } from './inspection.ts'

export interface NamedReport {
  readonly part: string
  readonly report: PartReport
}

/** The rules that depend on lists of names. Kubelet checks all gates while it loads its config. */
const RULES_BY_LIST = ['fields/gate-unknown', 'fields/gate-gone', 'fields/gate-too-new', 'fields/gate-locked', 'fields/gate-needs']
/**
 * Start of each error where kubelet reports several at once: `ValidateKubeletConfiguration`,
 * pkg/kubelet/apis/config/validation.
 */
const ERROR_PREFIX = /invalid configuration: /

export function reconcileWithKubelet(reports: readonly NamedReport[]): readonly NamedReport[] {
  const kubelet = reports.find(({ part }) => part === 'kubelet')?.report
  const fields = reports.find(({ part }) => part === 'fields')?.report
  if (kubelet === undefined || fields === undefined) return reports
  switch (kubelet.outcome) {
    case 'unjudged':
    case 'cannot-start':
      return reports
    case 'accepted':
      return reports.map((named) => (named.report === fields ? { ...named, report: acceptOwn(fields, kubelet) } : named))
    case 'refused':
      return reports.map((named) => (named.report === kubelet ? { ...named, report: dropKnown(kubelet, fields.findings) } : named))
  }
}

function acceptOwn(fields: PartReport, { ignored }: PartReport): PartReport {
  const { ownWord } = fields
  const ownIgnored = ownWord === undefined || ignored === undefined ? undefined : listIgnored(fields.findings, ignored, ownWord)
  const settled = fields.findings.flatMap((finding): Finding[] => {
    if (isOfUnknown(finding) && ownIgnored !== undefined) return []
    const isJudged = RULES_BY_LIST.includes(finding.rule) || (ownWord !== undefined && isOfLoading(finding))
    if (!isJudged) return [finding]
    if (finding.isUnsettled) return []
    if (finding.severity !== 'refuse') return [finding]
    return [{ ...finding, severity: 'warn', problem: `${finding.problem}, but this kubelet accepts it`, advice: undefined }]
  })
  const findings = [...settled, ...(ownIgnored ?? [])]
  const isRefused = findings.some(({ severity }) => severity === 'refuse')
  return { ...fields, findings, outcome: isRefused ? 'refused' : 'accepted' }
}

/** The rule of remarks about fields that the tables lack. */
export const UNLISTED = 'fields/unlisted-key'

function isOfUnknown({ rule }: Finding): boolean {
  return rule === UNLISTED || rule === 'fields/gone'
}

/** Guards, and what a user forbids beyond kubelet, are not kubelet's to judge. */
function isOfLoading({ rule, isAtStart }: Finding): boolean {
  return rule.startsWith('fields/') && rule !== 'fields/repeated-key' && isAtStart !== true
}

/** Kubelet writes paths as we do. What the tables have may be gone, too. */
function listIgnored(findings: readonly Finding[], ignored: readonly string[], severity: Finding['severity']): Finding[] {
  const remarks = new Map(findings.filter(isOfUnknown).map((remark) => [formatPath(remark.path), remark]))
  const complain = (path: FieldPath, problem: string, { position, advice }: Partial<Finding> = {}): Finding => {
    return { rule: 'fields/unknown-key', severity, reason: 'validate', path, position, problem, advice }
  }
  const complaints = ignored.slice(0, MOST_KEYS).map((label) => {
    const path = (label.match(/[^.[\]]+/g) ?? []).map((step) => (/^\d+$/.test(step) ? Number(step) : step))
    return complain(path, `unknown field ${shorten(label)}: this kubelet ignores it`, remarks.get(label))
  })
  const more = ignored.length - complaints.length
  return more === 0 ? complaints : [...complaints, complain([], `${more} more unknown fields: this kubelet ignores them`)]
}

function dropKnown(kubelet: PartReport, fields: readonly Finding[]): PartReport {
  const [finding, ...others] = kubelet.findings
  if (finding === undefined || others.length > 0 || !isKnown(finding, fields)) return kubelet
  return { ...kubelet, findings: [], detail: `${kubelet.detail} either: ${finding.problem}` }
}

/** Whether the field rules report every error of kubelet's message, with the same reason. */
function isKnown({ problem, reason }: Finding, fields: readonly Finding[]): boolean {
  const refusals = fields.filter((finding) => finding.severity === 'refuse' && finding.reason === reason)
  const errors = problem.split(ERROR_PREFIX).filter((text) => !/^\W*$/.test(text))
  // A message that was cut may contain more errors.
  if (problem.endsWith('...') || errors.length === 0) return false
  return errors.every((error) => {
    const [name] = nameField(error)
    return refusals.some(({ path, problem: ours }) => error.includes(ours) || (name !== undefined && path[0] === name))
  })
}

/** The first field that kubelet's message names. */
export function nameField(message: string): FieldPath {
  const [first = ''] = message.replace(/^\W*(?:invalid configuration: )?/, '').split(/[^A-Za-z]/, 1)
  // Some field names are English words too: inside the message only names in camel case count.
  const names = [...message.matchAll(/[A-Za-z]+/g)].map(([word]) => word).filter((word) => /[a-z][A-Z]/.test(word))
  const name = [first, ...names].find(isFieldName)
  return name === undefined ? [] : [name]
}
