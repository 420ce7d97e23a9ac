/**
 * Where kubelet itself has judged, what that makes of the rules about fields. Pure. The list of feature gates may miss some: one that this very kubelet has taken is no
 * reason to refuse. And what both refuse is said once, by the one that knows the place.
 */

import type { FieldPath } from '../kubelet/field-path.ts'
import { isFieldName } from '../kubelet/fields.ts'
import type { Finding } from './finding.ts'
import type { PartReport } from './inspection.ts'

export interface Answer {
  readonly part: string
  readonly report: PartReport
}

/** The one rule that a list of names decides. */
const BY_LIST = 'fields/gate-unknown'
/** How each of them begins where kubelet has several at once: `ValidateKubeletConfiguration`, pkg/kubelet/apis/config/validation. */
const COMPLAINT = /invalid configuration: /

export function heedKubelet(answers: readonly Answer[]): readonly Answer[] {
  const kubelet = answers.find(({ part }) => part === 'kubelet')?.report
  const fields = answers.find(({ part }) => part === 'fields')?.report
  if (kubelet === undefined || fields === undefined) return answers
  switch (kubelet.outcome) {
    case 'unjudged':
      return answers
    case 'accepted':
      return answers.map((answer) => (answer.report === fields ? { ...answer, report: relent(fields) } : answer))
    case 'refused':
      return answers.map((answer) => (answer.report === kubelet ? { ...answer, report: agree(kubelet, fields.findings) } : answer))
  }
}

function relent(fields: PartReport): PartReport {
  const findings = fields.findings.map((finding): Finding => {
    if (finding.rule !== BY_LIST || finding.severity !== 'refuse') return finding
    return { ...finding, severity: 'warn', problem: `${finding.problem}, though this kubelet takes it`, advice: undefined }
  })
  const isRefused = findings.some(({ severity }) => severity === 'refuse')
  return { ...fields, findings, outcome: isRefused ? fields.outcome : 'accepted' }
}

function agree(kubelet: PartReport, fields: readonly Finding[]): PartReport {
  const [said, ...others] = kubelet.findings
  if (said === undefined || others.length > 0 || !isSaid(said, fields)) return kubelet
  return { ...kubelet, findings: [], detail: `${kubelet.detail} either: ${said.problem}` }
}

/** Everything that kubelet complains of is known from the fields, and of the same kind. */
function isSaid({ problem, reason }: Finding, fields: readonly Finding[]): boolean {
  const refusals = fields.filter((finding) => finding.severity === 'refuse' && finding.reason === reason)
  const complaints = problem.split(COMPLAINT).filter((text) => !/^\W*$/.test(text))
  // What was cut off is not known.
  if (problem.endsWith('...') || complaints.length === 0) return false
  return complaints.every((complaint) => {
    const [name] = nameField(complaint)
    return refusals.some(({ path, problem: ours }) => complaint.includes(ours) || (name !== undefined && path[0] === name))
  })
}

/** The field that kubelet's words are about: the first that they name. */
export function nameField(words: string): FieldPath {
  const [first = ''] = words.replace(/^\W*(?:invalid configuration: )?/, '').split(/[^A-Za-z]/, 1)
  // Some names are words of the language too.
  const names = [...words.matchAll(/[A-Za-z]+/g)].map(([word]) => word).filter((word) => /[a-z][A-Z]/.test(word))
  const name = [first, ...names].find(isFieldName)
  return name === undefined ? [] : [name]
}
