// SPDX-License-Identifier: Apache-2.0
/**
 * Checks the fields of a candidate: keys that kubelet ignores, types it cannot load, values that
 * fail its validation or its start. Pure. It refuses only what a kubelet of this version would
 * refuse; if the version is unknown, only what every version would. Rules and sources: `fields/`;
 * for keys, `DecodeKubeletConfiguration`, pkg/kubelet/kubeletconfig/util/codec, decodes strictly
 * first, and leniently when that fails.
 */
import { OTHERWISE } from '../decision/verdict.ts'
import { describeMisfit, type KubeletConfig } from '../kubelet/decode.ts'
import type { Field, FieldTable } from '../kubelet/field.ts'
import { type FieldPath, formatPath } from '../kubelet/field-path.ts'
import { FIELDS, findMisfits, isKnown, LAST_IN_TABLES, listObjects, NEWEST_MINOR } from '../kubelet/fields.ts'
import type { Position } from '../kubelet/yaml-document.ts'
import { LONGEST_NAME, shorten } from '../values/cut.ts'
import { type KubeletFlags, NO_FLAGS, overlayFlags } from './change/kubelet-flags.ts'
import type { ConfigDocument } from './document.ts'
import { checkAtStart, checkLogRotation, checkSysctls } from './fields/at-start.ts'
import { checkGates, findGateState } from './fields/check-gates.ts'
import {
  describeRange,
  type FieldProblem,
  type FieldRuleInput,
  SUPPLIED_BY,
  type Unseen,
  type WholeInput,
  weigh,
} from './fields/complaint.ts'
import { checkCross } from './fields/cross.ts'
import { hint, listKnown } from './fields/hint.ts'
import { adviseMarks } from './fields/left-in-values.ts'
import { checkListeners } from './fields/listeners.ts'
import { checkLogging, checkTracing } from './fields/logging.ts'
import { checkNewFields } from './fields/new-fields.ts'
import { checkOtherwise } from './fields/otherwise.ts'
import { checkPolicyOptions } from './fields/policy-options.ts'
import { checkChoices, checkCurves, checkQuotaPeriod, checkRanges } from './fields/single-fields.ts'
import { checkSupplied } from './fields/supplied.ts'
import { type Finding, locateNearest } from './finding.ts'
import { describeJudgedBy, formatVersion, IN_TABLES, isNewer, isPreRelease, type KubeletVersion } from './kubelet-version.ts'
import { NodeView } from './node/node-view.ts'

interface FieldOptions {
  /**
   * undefined: unknown. Of a kubelet that is newer than the tables, the rules of the newest minor
   * in them apply, and refuse only what `listSure` says.
   */
  readonly version: KubeletVersion | undefined
  /** Severity of keys that kubelet would ignore. */
  readonly unknownKeys: 'warn' | 'refuse'
  /** The flags of kubelet. They override the config. */
  readonly flags?: KubeletFlags
  /** Default: nothing. */
  readonly unseen?: Unseen | undefined
  /** Default: no. */
  readonly isDropIn?: boolean
}

const MOST_FINDINGS = 500
/** Searching many names is slow. */
const MOST_ADVICE = 20

/** In the order of the text. */
export function checkFields(document: ConfigDocument, options: FieldOptions): Finding[] {
  const { version } = options
  const findings = checkFor(document, options)
  if (version === undefined || !isNewer(version)) return findings
  const sure = listSure(document, options, version)
  const later = `as of ${LAST_IN_TABLES.version}: kubelet ${formatVersion(version)} may take it`
  const why = isPreRelease(version) ? describeJudgedBy(version) : later
  return findings.map((finding) =>
    finding.severity !== 'refuse' || sure.has(identify(finding))
      ? finding
      : { ...finding, severity: 'warn', problem: `${finding.problem} (${why})`, isUnsettled: true },
  )
}

/** The rules about limits, which did not change since the oldest kubelet. */
const LASTING = ['fields/range', 'fields/repeated-key']

/**
 * The findings that a kubelet newer than the tables refuses as well, as far as they can tell. A
 * pre-release may still change, so the newest release has to refuse the same. Of a later kubelet
 * only its limits are known, those of every kubelet so far. Either may have longer lists of names.
 */
function listSure(document: ConfigDocument, options: FieldOptions, version: KubeletVersion): ReadonlySet<string> {
  const isNext = isPreRelease(version)
  const before = { ...options, version: isNext ? { major: 1, minor: NEWEST_MINOR, patch: 0 } : undefined }
  const found = checkFor(document, before, ({ byList }) => byList !== true)
  const refused = found.filter(({ rule, severity }) => severity === 'refuse' && (isNext || LASTING.includes(rule)))
  return new Set(refused.map(identify))
}

/** A path may have several: of a gate that is off, one for each gate that needs it. */
function identify({ rule, path, problem }: Finding): string {
  return JSON.stringify([rule, path, problem])
}

/** No rule is known of a kubelet 2.x: those of the newest 1.x stand in. */
const NEWEST: KubeletVersion = { major: 1, minor: LAST_IN_TABLES.minor, patch: 0 }

function checkFor(document: ConfigDocument, options: FieldOptions, isAsked: (complaint: FieldProblem) => boolean = () => true): Finding[] {
  const { version: given, unknownKeys, flags = NO_FLAGS, unseen, isDropIn = false } = options
  const version = given !== undefined && given.major > 1 ? NEWEST : given
  const { config } = overlayFlags(document.config, flags, version)
  const view = new NodeView(document.config, { version, flags, folder: '/', files: [] })
  const gate = (name: string) => findGateState(name, config, version?.minor)
  const subject: WholeInput = { config, version, gate, view, unseen, isDropIn }
  const types = checkTypes(subject)
  const complaints = [
    ...(given !== undefined && isNewer(given)
      ? remarkOnKeys(document.config, given, unknownKeys)
      : checkKeys(document.config, version, unknownKeys)),
    ...types,
    ...withoutMisread([...checkGates(subject), ...listRules(subject), ...checkSupplied(subject), ...checkOtherwise(subject)], types),
  ]
  const asked = adviseMarks(complaints.filter(isAsked).slice(0, MOST_FINDINGS), subject)
  const findings = adviseLikely(asked).flatMap((complaint) => toFindings(complaint, document, { version, unseen }))
  return [...findings, ...listRepeated(document, unknownKeys), ...listIgnored(document)].sort((a, b) => compare(a.position, b.position))
}

/** The rules of kubelet's validation and start, as far as possible in kubelet's own order. */
export function listRules(subject: FieldRuleInput): FieldProblem[] {
  return [
    ...checkRanges(subject),
    ...checkQuotaPeriod(subject),
    ...checkChoices(subject),
    ...checkCross(subject),
    ...checkNewFields(subject),
    ...checkLogging(subject),
    ...checkTracing(subject),
    ...[checkListeners, checkCurves, checkLogRotation, checkPolicyOptions, checkSysctls, checkAtStart]
      .flatMap((check) => check(subject))
      .map((problem): FieldProblem => ({ ...problem, atStart: true })),
  ]
}

/** Fields newer than 1.20 only: `readDocument` checks the types of all others. */
function checkTypes({ config, version }: FieldRuleInput): FieldProblem[] {
  return findMisfits(config, FIELDS, version?.minor ?? Number.MAX_SAFE_INTEGER).map((misfit) => ({
    rule: 'type',
    path: misfit.path,
    problem: describeMisfit(misfit),
    advice: misfit.advice,
    reason: 'load',
    from: misfit.since,
  }))
}

/** A rule about a value of a wrong type has read another value than is there. */
function withoutMisread(complaints: readonly FieldProblem[], misfits: readonly FieldProblem[]): readonly FieldProblem[] {
  if (misfits.length === 0) return complaints
  const wrong = new Set(misfits.map(({ path }) => JSON.stringify(path)))
  return complaints.filter(({ path }) => !path.some((_, at) => wrong.has(JSON.stringify(path.slice(0, at + 1)))))
}

function adviseLikely(complaints: readonly FieldProblem[]): FieldProblem[] {
  let left = MOST_ADVICE
  return complaints.map((complaint) => {
    const { mistyped } = complaint
    if (mistyped === undefined || mistyped.name.length > LONGEST_NAME || left === 0) return complaint
    left -= 1
    return { ...complaint, advice: hint(mistyped) }
  })
}

function toFindings(
  complaint: FieldProblem,
  document: ConfigDocument,
  { version, unseen }: Pick<WholeInput, 'version' | 'unseen'>,
): Finding[] {
  const weight = weigh(complaint, version?.minor)
  if (weight === undefined) return []
  const { rule: name, path, reason = 'validate', problem, advice, atStart, supplied } = complaint
  const rule = name.includes('/') ? name : `fields/${name}`
  const isOpen = supplied === true && unseen !== undefined
  const severity = isOpen && weight === 'refuse' ? 'warn' : weight
  // A flag that may say otherwise is worth a word only where it decides.
  const unless = isOpen && (weight === 'refuse' || unseen === 'local') ? ` (${SUPPLIED_BY[unseen]})` : ''
  const range = version === undefined ? describeRange(complaint) : ''
  const place = { path, position: locateNearest(document, path) }
  const isAtStart = atStart === true && version !== undefined && isNewer(version)
  return [{ rule, severity, reason, ...place, problem: `${problem}${unless}${range}`, advice, ...(isAtStart && { isAtStart }) }]
}

/** `DecodeKubeletConfiguration` reads one document, as sigs.k8s.io/yaml does. */
function listIgnored({ second: position }: ConfigDocument): Finding[] {
  if (position === undefined) return []
  const problem = `${OTHERWISE} reads the first document of this text alone: the second begins at line ${position.line}`
  const advice = 'remove what is not for kubelet, or merge it into the first'
  return [{ rule: 'otherwise/documents', severity: 'warn', reason: 'validate', path: [], position, problem, advice }]
}

function listRepeated({ repeated }: ConfigDocument, severity: Finding['severity']): Finding[] {
  return repeated.slice(0, MOST_KEYS).map(({ path, position }) => ({
    rule: 'fields/repeated-key',
    severity,
    reason: 'load',
    path,
    position,
    problem: `duplicate key ${formatPath(path).slice(0, 200)}; the last one counts`,
    advice: 'keep only one of them',
  }))
}

function compare(a: Position | undefined, b: Position | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  return a.line - b.line || a.column - b.column
}

/** Most keys to report one by one. */
export const MOST_KEYS = 20
const UNLISTED = 'not in the tables of this agent'

function checkKeys(config: KubeletConfig, version: KubeletVersion | undefined, severity: 'warn' | 'refuse'): FieldProblem[] {
  const { first, more } = findUnknown(config, version?.minor)
  const complaints = first.map(([path, fields]): FieldProblem => ({ ...describeKey(path, fields, version), severity }))
  if (more === 0) return complaints
  return [...complaints, { rule: 'unknown-key', path: [], problem: `${more} more keys that kubelet does not know`, severity }]
}

/**
 * The keys that the tables lack, of a kubelet that is newer than they are, and what is gone by
 * their end.
 */
function remarkOnKeys(config: KubeletConfig, newer: KubeletVersion, unknownKeys: 'warn' | 'refuse'): FieldProblem[] {
  const { first, more } = findUnknown(config, LAST_IN_TABLES.minor)
  const severity = 'warn'
  const remarks = first.map(([path, fields]): FieldProblem => {
    const gone = fieldOf(path, fields)?.gone
    if (gone !== undefined) return { ...describeGone(path, gone, newer), severity: unknownKeys }
    const problem = `${shorten(formatPath(path))} is ${UNLISTED}, which cover ${IN_TABLES}: kubelet ${formatVersion(newer)} may know it`
    return { rule: 'unlisted-key', path, problem, mistyped: nameKey(path, fields, LAST_IN_TABLES.minor), severity }
  })
  return more === 0
    ? remarks
    : [...remarks, { rule: 'unlisted-key', path: [], problem: `${more} more keys that are ${UNLISTED}`, severity }]
}

type Place = readonly [path: FieldPath, fields: FieldTable]

function findUnknown(config: KubeletConfig, minor: number | undefined): { readonly first: readonly Place[]; readonly more: number } {
  const first: Place[] = []
  let more = 0
  for (const place of listUnknownKeys(config, FIELDS, minor, [])) {
    if (first.length < MOST_KEYS) first.push(place)
    else more += 1
  }
  return { first, more }
}

function* listUnknownKeys(value: KubeletConfig, fields: FieldTable, minor: number | undefined, path: FieldPath): Generator<Place> {
  for (const [name, inner] of Object.entries(value)) {
    if (path.length === 0 && (name === 'apiVersion' || name === 'kind')) continue
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    const here = [...path, name]
    if (field === undefined || (minor !== undefined && !isKnown(field, minor))) yield [here, fields]
    else if (field.fields !== undefined) {
      for (const [object, at] of listObjects(field, inner, here)) yield* listUnknownKeys(object, field.fields, minor, at)
    }
  }
}

function describeKey(path: FieldPath, fields: FieldTable, version: KubeletVersion | undefined): FieldProblem {
  const field = fieldOf(path, fields)
  const label = shorten(formatPath(path))
  if (field === undefined || version === undefined) {
    const mistyped = nameKey(path, fields, version?.minor)
    return { rule: 'unknown-key', path, problem: `unknown field ${label}: kubelet ignores it`, mistyped }
  }
  if (field.gone !== undefined && field.gone <= version.minor) return describeGone(path, field.gone, version)
  const problem = `${label} is new in kubelet 1.${field.since ?? ''}: kubelet ${formatVersion(version)} ignores it`
  return { rule: 'too-new', path, problem, advice: 'remove it, or upgrade kubelet first' }
}

function describeGone(path: FieldPath, gone: number, version: KubeletVersion): FieldProblem {
  const problem = `kubelet 1.${gone} removed ${shorten(formatPath(path))}: kubelet ${formatVersion(version)} ignores it`
  return { rule: 'gone', path, problem, advice: 'remove it' }
}

function fieldOf(path: FieldPath, fields: FieldTable): Field | undefined {
  const name = String(path.at(-1))
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function nameKey(path: FieldPath, fields: FieldTable, minor: number | undefined): NonNullable<FieldProblem['mistyped']> {
  const known = [...listKnown(fields, minor), ...(path.length === 1 ? ['kind', 'apiVersion'] : [])]
  return { name: String(path.at(-1)), known, key: { path, minor } }
}
