// SPDX-License-Identifier: Apache-2.0
/**
 * The effect of kubelet's drop-ins on a config: files that keep kubelet from starting, and fields
 * of the config that a file overrides. Pure.
 */
import { posix } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { KubeletConfig } from '../../kubelet/decode.ts'
import { decides, type FieldPath, formatPath, valueAt } from '../../kubelet/field-path.ts'
import { isObject } from '../../values/is-object.ts'
import { type Comparison, checkSame, type Difference } from '../change/check-same.ts'
import { compareConfigs } from '../change/compare.ts'
import { effectiveConfig } from '../change/effective.ts'
import type { KubeletFlags } from '../change/kubelet-flags.ts'
import type { ConfigDocument } from '../document.ts'
import { describeFinding, type Finding, locateNearest } from '../finding.ts'
import type { PartInput, PartReport } from '../inspection.ts'
import { formatVersion, type KubeletVersion } from '../kubelet-version.ts'
import { mergeAround, mergesByPatch } from './merge-drop-ins.ts'
import { type DropIn, type DropInsHere, listOtherCase, type MergeOrder, type OtherCase } from './read-drop-ins.ts'

/** Undefined: kubelet has no `--config-dir`. */
export function checkDropIns({ assigned, config, document, dropIns, version }: PartInput): PartReport | undefined {
  if (dropIns === undefined) return undefined
  if (dropIns.kind === 'unusable' && dropIns.unjudged === true && config.localPath !== undefined)
    return { outcome: 'unjudged', detail: `${dropIns.path}: ${dropIns.detail}`, findings: [] }
  if (dropIns.kind === 'unusable') return refuse([describeUnusable(dropIns)], 'kubelet would not start')
  if (version !== undefined && !mergesByPatch(version)) {
    const detail = `kubelet ${formatVersion(version)} merges drop-ins in a way of its own: what they make of the config is not known`
    return { outcome: 'unjudged', detail, findings: [] }
  }
  const { above, below, base } = dropIns.order
  if (base !== undefined && (version === undefined || version.minor < FIRST_FOR_AGENT)) return refuse([describeTooOld(version)], TOO_OLD)
  const repeated = base === undefined ? [] : assigned.repeated.map(describeRepeated)
  if (repeated.length > 0) return refuse(repeated, 'kubelet would not start')
  const otherCase = base === undefined ? [] : listOtherCase(assigned.config).map((key) => describeOtherCase(key, assigned))
  if (otherCase.length > 0) return refuse(otherCase, 'the file that the agent writes has to be clear')
  const count = above.length + below.length
  const detail = `merged with ${count === 1 ? '1 drop-in' : `${count} drop-ins`} in ${dropIns.directory}`
  const { overridden, effective } = findOverridden(assigned.config, document.config, above, version)
  if (overridden.some(({ winner }) => winner !== undefined) && effective === 0) return refuse([describeNoEffect(overridden)], detail)
  const foreign = [...below, ...above].flatMap(({ path, otherCase = [] }) => otherCase.map((key) => warnOfOtherCase(key, path)))
  const skipped = (dropIns.skipped ?? []).map(describeSkipped)
  return {
    outcome: 'accepted',
    detail,
    findings: [...overridden.map((field) => describeOverridden(field, assigned)), ...foreign, ...skipped],
  }
}

/** The document with the config that kubelet makes of it. */
export function mergeDocument(
  document: ConfigDocument,
  dropIns: DropInsHere | undefined,
  version: KubeletVersion | undefined,
): ConfigDocument {
  if (dropIns?.kind !== 'usable' || !mergesByPatch(version)) return document
  const { order } = dropIns
  return {
    ...document,
    config: mergeAround(document.config, order, version),
    locate: (path) => (findWinner(path, order.above) === undefined ? document.locate(path) : undefined),
  }
}

/** Says in which file the value is that a finding is about, where that is not the config. */
export function nameDropIn(finding: Finding, assigned: ConfigDocument, dropIns: DropInsHere | undefined): Finding {
  if (dropIns?.kind !== 'usable' || finding.path.length === 0 || finding.rule.startsWith('drop-ins/')) return finding
  const file = findSetter(finding.path, assigned.config, dropIns.order)
  return file === undefined ? finding : { ...finding, problem: `${finding.problem} (${file.path} sets ${formatPath(finding.path)})` }
}

/** Undefined: the config, or nothing. */
function findSetter(path: FieldPath, config: KubeletConfig, { base, below, above }: MergeOrder): DropIn | undefined {
  const winner = findWinner(path, above)
  if (winner !== undefined || decides(config, path)) return winner
  return findWinner(path, base === undefined ? below : [base, ...below])
}

/** The last of these files that sets or removes the field. */
function findWinner(path: FieldPath, files: readonly DropIn[]): DropIn | undefined {
  return path.length === 0 ? undefined : files.findLast(({ config }) => decides(config, path))
}

interface Overridden {
  readonly path: readonly string[]
  /** Undefined: no file, but the way in which kubelet merges. */
  readonly winner: DropIn | undefined
}

/** See `withoutEmptyLists`. */
const EMPTY_LIST = 'with --config-dir, kubelet takes the default in place of an empty list'

function findOverridden(
  assigned: KubeletConfig,
  merged: KubeletConfig,
  above: readonly DropIn[],
  version: KubeletVersion | undefined,
): { readonly overridden: readonly Overridden[]; readonly effective: number } {
  const paths = listLeaves(assigned).filter(([name]) => name !== 'apiVersion' && name !== 'kind')
  const taken = effectiveConfig(merged, version)
  const overridden = paths.flatMap((path): Overridden[] => {
    if (isDeepStrictEqual(valueAt(merged, path), valueAt(assigned, path))) return []
    const winner = findWinner(path, above)
    return winner !== undefined || taken.has(path.join('.')) ? [{ path, winner }] : []
  })
  return { overridden, effective: paths.length - overridden.length }
}

/** The paths of all values that are set, with lists as one value. */
function listLeaves(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (value === null || value === undefined) return []
  if (!isObject(value) || Object.keys(value).length === 0) return path.length === 0 ? [] : [path]
  return Object.entries(value).flatMap(([name, inner]) => listLeaves(inner, [...path, name]))
}

function describeOverridden({ path, winner }: Overridden, assigned: ConfigDocument): Finding {
  const name = formatPath(path)
  const place = { path, position: locateNearest(assigned, path) }
  const found = { rule: 'drop-ins/overridden', severity: 'warn', reason: 'validate', ...place } as const
  if (winner === undefined)
    return { ...found, problem: `${name} has no effect: ${EMPTY_LIST}`, advice: `write [none], or set ${name} in a drop-in` }
  // Or a value that the field is in.
  const isRemoved = (valueAt(winner.config, path) ?? null) === null
  return {
    ...found,
    problem: `${name} has no effect: kubelet merges ${winner.path} over this config, and that file ${isRemoved ? 'removes' : 'sets'} it`,
    advice: `remove ${name} from ${winner.path}, or from this config`,
  }
}

const OF_ALL = { severity: 'refuse', path: [], position: undefined } as const

function describeNoEffect(overridden: readonly Overridden[]): Finding {
  const files = [...new Set(overridden.flatMap(({ winner }) => (winner === undefined ? [] : [winner.path])))].join(', ')
  const problem = `nothing of this config would take effect: kubelet merges ${files} over it, which sets or removes each of its fields`
  return { rule: 'drop-ins/no-effect', ...OF_ALL, reason: 'validate', problem, advice: `remove these fields from ${files}` }
}

function describeUnusable({ directory, path, detail, unjudged }: Extract<DropInsHere, { kind: 'unusable' }>): Finding {
  const effect = unjudged === true ? 'no config can be judged' : 'kubelet would not start, with this config or any other'
  const advice = `mend it: kubelet starts with --config-dir=${directory} and needs that directory and every *.conf file in it`
  return { rule: 'drop-ins/unusable', ...OF_ALL, reason: 'load', problem: `${effect}: ${path}: ${detail}`, advice }
}

/** In the file of `--config` the last one counts; a drop-in is decoded strictly. */
function describeRepeated({ path, position }: ConfigDocument['repeated'][number]): Finding {
  const problem = `${formatPath(path)} is there twice, and kubelet does not start with such a drop-in`
  return { rule: 'drop-ins/repeated-key', severity: 'refuse', reason: 'load', path, position, problem, advice: 'remove one of them' }
}

function describeOtherCase({ path, field }: OtherCase, assigned: ConfigDocument): Finding {
  const problem = `${formatPath(path).slice(0, 200)} is spelled ${field}: kubelet may take it in a drop-in, and nothing here counts on it`
  const position = locateNearest(assigned, path)
  return { rule: 'drop-ins/other-case', severity: 'refuse', reason: 'validate', path, position, problem, advice: `write ${field}` }
}

function warnOfOtherCase({ path, field }: OtherCase, file: string): Finding {
  const name = formatPath(path).slice(0, 200)
  const problem = `${file} sets ${name}, which is spelled ${field}: kubelet may take it, and the other checks do not`
  const advice = `write ${field} in ${file}, or remove ${name}`
  return { rule: 'drop-ins/other-case', ...OF_ALL, severity: 'warn', reason: 'validate', problem, advice }
}

function describeSkipped(path: string): Finding {
  return { rule: 'drop-ins/skipped', ...OF_ALL, severity: 'warn', reason: 'validate', ...wordSkipped(path) }
}

export function wordSkipped(path: string): { readonly problem: string; readonly advice: string } {
  const problem = `kubelet skips ${path}: of --config-dir it reads only the files whose names end in .conf`
  return { problem, advice: `rename it to ${posix.parse(path).name}.conf, or move it to another directory` }
}

/** For a config that kubelet falls back to: it goes on, since nothing else would start either. */
export function remarkOnDropIns(dropIns: DropInsHere | undefined): readonly string[] {
  return dropIns?.kind === 'unusable' ? [describeFinding(describeUnusable(dropIns))] : []
}

/** Before, a drop-in could not remove a field, nor set resolvConf (kubernetes issue 127421). */
const FIRST_FOR_AGENT = 32
const TOO_OLD = `activation: drop-in needs kubelet 1.${FIRST_FOR_AGENT} or later`

function describeTooOld(version: KubeletVersion | undefined): Finding {
  const problem = `${TOO_OLD}, and this is ${version === undefined ? 'a kubelet of unknown version' : formatVersion(version)}`
  return { rule: 'drop-ins/too-old', ...OF_ALL, reason: 'validate', problem, advice: 'change the setting activation, or upgrade kubelet' }
}

function refuse(findings: readonly Finding[], detail: string): PartReport {
  return { outcome: 'refused', detail, findings }
}

/**
 * Compares the config that kubelet reports at /configz with the one that it was given, where
 * kubelet has drop-ins. Fields that only a drop-in sets are no differences.
 */
export function compareRunning(
  assigned: KubeletConfig,
  dropIns: DropInsHere | undefined,
  configz: unknown,
  version: KubeletVersion | undefined,
  flags: KubeletFlags,
): Comparison {
  // A file that cannot be read now was changed after kubelet's start.
  if (dropIns?.kind !== 'usable' || !mergesByPatch(version)) return checkSame(assigned, configz, version, flags)
  const { order } = dropIns
  const merged = mergeAround(assigned, order, version)
  const comparison = checkSame(merged, configz, version, flags)
  if (!comparison.ok) return comparison
  const overridden = compareConfigs(assigned, merged, version)
    .filter(({ path, risk }) => risk !== 'none' && decides(assigned, path))
    .map(({ path, before, after }): Difference => {
      const because = findWinner(path, order.above)?.path ?? EMPTY_LIST
      return { path, meant: before, running: after, because }
    })
  return { ok: true, differences: [...comparison.differences, ...overridden] }
}
