// SPDX-License-Identifier: Apache-2.0
/**
 * Runs every part of preflight on one candidate and combines the results. Pure except for the
 * parts.
 */
import { BASE_ANNOTATION } from '../decision/channels.ts'
import { describeMisfit, NO_KIND } from '../kubelet/decode.ts'
import { type FieldPath, formatPath } from '../kubelet/field-path.ts'
import { isFieldName } from '../kubelet/fields.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import { shorten } from '../values/cut.ts'
import { MOST_KEYS } from './check-fields.ts'
import { type DocumentFailure, listKeys, readDocument } from './document.ts'
import { mergeDocument, nameDropIn } from './drop-ins/check-drop-ins.ts'
import { describeRange, type FieldProblem, weigh } from './fields/complaint.ts'
import { assembleReport, type Finding, type PartResult, type Report, refuseUnread } from './finding.ts'
import type { Inspect, InspectedConfig, InspectOptions, InspectPart, PartInput, PartReport, Recipient } from './inspection.ts'
import type { KubeletVersion } from './kubelet-version.ts'

const OF_A_PART = `if it is a part, which holds only what differs, give it as the manifest of a ConfigMap with the annotation ${BASE_ANNOTATION}`

/**
 * @param findRecipient finds the target of a config
 * @param signal ends the parsing of its text
 */
export function inspectWith(
  parts: readonly InspectPart[],
  findRecipient: (config: InspectedConfig, options: InspectOptions) => Promise<Recipient>,
  yaml: YamlReader,
  signal?: AbortSignal,
): Inspect {
  return async (config, options) => {
    const { files, key } = config
    const text = Object.hasOwn(files, key) ? files[key] : undefined
    if (text === undefined) return refuseUnread('source/missing-key', `there is no key ${key} (keys: ${listKeys(files)})`)
    const read = await readDocument(text, yaml, signal)
    const isDoubtful = !read.ok && read.unjudged === true && config.localPath !== undefined
    const taken = isDoubtful ? await readDocument(text, { first: (any) => yaml.firstOfAny(any, signal) }) : read
    // Kubelet starts with its local config, judged or not, and can itself say whether it could.
    const doubts: PartResult[] = isDoubtful ? [{ part: 'source', outcome: 'unjudged', detail: read.detail }] : []
    if (isDoubtful && !taken.ok) return assembleReport(doubts, [])
    if (!taken.ok) {
      const { detail, position, misfits } = taken
      if (misfits.length > 0) return refuseMisfits(detail, misfits, options.version)
      const advice = detail === NO_KIND ? OF_A_PART : undefined
      return refuseUnread('fields/load', withoutPosition(detail, position), position, advice)
    }
    const recipient = await findRecipient(config, options)
    const { dropIns } = recipient
    const assigned = taken.document
    const document = mergeDocument(assigned, dropIns, recipient.version)
    const able = parts.filter(({ name }) => (options.parts?.includes(name) ?? true) && (!isDoubtful || isKubelets(name)))
    const { quick, slow } = await runAll(able, { ...recipient, config, assigned, document, options, yaml })
    const results = [...doubts, ...quick.results, ...slow.results]
    const demanded = listDemanded(options)
    for (const part of demanded) {
      if (!results.some((result) => result.part === part))
        results.push({ part, outcome: 'unjudged', detail: 'requested, but not possible here' })
    }
    const findings = [...quick.findings, ...slow.findings].map((finding) => nameDropIn(finding, assigned, dropIns))
    return assembleReport(results, findings, demanded)
  }
}

interface Results {
  readonly results: readonly PartResult[]
  readonly findings: readonly Finding[]
}
const NOTHING: Results = { results: [], findings: [] }

/** All side by side. The slow ones are ended when another one refuses the config. */
async function runAll(
  parts: readonly InspectPart[],
  subject: Omit<PartInput, 'signal'>,
): Promise<{ readonly quick: Results; readonly slow: Results }> {
  const stopper = new AbortController()
  const input = { ...subject, signal: stopper.signal }
  const running = { quick: runParts(choose(parts, { slow: false }), input), slow: runParts(choose(parts, { slow: true }), input) }
  try {
    const quick = await running.quick
    if (isRefused(quick) || isKubeletUnavailable(quick)) stopper.abort()
    // Also one that was ended: it leaves nothing behind.
    const slow = await running.slow
    return { quick, slow: stopper.signal.aborted ? NOTHING : slow }
  } finally {
    stopper.abort()
    await Promise.allSettled(Object.values(running))
  }
}

function choose(parts: readonly InspectPart[], { slow }: Pick<InspectPart, 'slow'>): InspectPart[] {
  return parts.filter((part) => part.slow === slow)
}

async function runParts(parts: readonly InspectPart[], input: PartInput): Promise<Results> {
  const reports = await Promise.all(
    parts.map(async (part): Promise<NamedReport[]> => {
      const report = await part.run(input)
      return report === undefined ? [] : [{ part: part.name, report }]
    }),
  )
  const reconciled = reconcileWithKubelet(reports.flat())
  const results = reconciled.map(({ part, report: { outcome, detail, changed } }) => ({
    part,
    outcome,
    detail,
    ...(changed && { changed }),
  }))
  return { results, findings: reconciled.flatMap(({ report }) => report.findings) }
}

function isRefused({ results, findings }: Results): boolean {
  return results.some(({ outcome }) => outcome === 'refused') || findings.some(({ severity }) => severity === 'refuse')
}

/** If kubelet could not run the load stage, it cannot run the start stage either. */
function isKubeletUnavailable({ results }: Results): boolean {
  return results.some(({ part, outcome }) => part === 'kubelet' && (outcome === 'unjudged' || outcome === 'cannot-start'))
}

/**
 * One finding for each value of a wrong type. Where it is not known that kubelet has the field, it
 * is a warning: the other ones refuse the config anyway.
 */
function refuseMisfits(detail: string, misfits: DocumentFailure['misfits'], version: KubeletVersion | undefined): Report {
  const findings = misfits.flatMap((misfit): Finding[] => {
    const { path, position, advice, since } = misfit
    const complaint: FieldProblem = { rule: 'type', path, problem: describeMisfit(misfit), from: since }
    const severity = weigh(complaint, version?.minor)
    const range = version === undefined ? describeRange(complaint) : ''
    return severity === undefined
      ? []
      : [{ rule: 'fields/type', severity, reason: 'load', path, position, problem: `${complaint.problem}${range}`, advice }]
  })
  return assembleReport([{ part: 'source', outcome: 'refused', detail }], findings)
}

/** A report shows the position separately. */
function withoutPosition(detail: string, position: Finding['position']): string {
  return position === undefined ? detail : detail.replace(` at line ${position.line}, column ${position.column}`, '')
}

function isKubelets(part: string): boolean {
  return part === 'kubelet' || part === 'kubelet-start'
}

/** Parts that the user requested with an option: the report always mentions them. */
function listDemanded({ kubelet, deep, from }: InspectOptions): string[] {
  const meaning = from === undefined || from === 'running' ? [] : ['meaning']
  return [...meaning, ...(kubelet === undefined ? [] : ['kubelet']), ...(deep === 'demanded' ? ['kubelet-start'] : [])]
}

/**
 * Adjusts the results of the field rules and of kubelet to each other. The tables of feature gates
 * may not be those of this kubelet: a gate that it accepts itself is only a warning. So is
 * everything that a kubelet newer than the tables accepts, and it alone knows its fields. If both
 * refuse the config for the same problem, the report shows only the finding of the field rules,
 * which has the position.
 */
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

/**
 * The findings about keys that kubelet itself ignores. Kubelet writes paths as we do. A field that
 * the tables have may be gone, too.
 */
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
