// SPDX-License-Identifier: Apache-2.0
/**
 * The parts of preflight behind their common interface: field rules, node rules, change rules, and
 * kubelet itself. The rules are in other modules; the facts they need are passed in. Away from its
 * node, a config is inspected by the parts that need neither the node nor its kubelet.
 */

import { posix } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { API_VERSION, KIND, type KubeletConfig } from '../kubelet/decode.ts'
import { absolutePaths, type FieldPath, formatPath, valueAt } from '../kubelet/field-path.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import { cutToBytes } from '../values/cut.ts'
import { isObject } from '../values/is-object.ts'
import { mergePatch } from '../values/merge-patch.ts'
import { formatSide, type Side } from './change/change.ts'
import { findMisread } from './change/check-same.ts'
import { compareConfigs } from './change/compare.ts'
import { findEffects } from './change/effects.ts'
import {
  collectFlags,
  findOverridden,
  listEffective,
  listUnknownFlags,
  overlayFlags,
  overridingFlag,
  withoutFlag,
} from './change/kubelet-flags.ts'
import { findManagerChanges } from './change/manager-changes.ts'
import { describeMeanings, listMeaningChanges } from './change/meaning.ts'
import { type Beside, lacksKeys, listLeaving, listNamed, nameContents } from './change/named-files.ts'
import { findUnknownManagers } from './change/unknown-managers.ts'
import { checkFields } from './check-fields.ts'
import { checkDropIns } from './drop-ins/check-drop-ins.ts'
import { type Finding, locateNearest, REQUIRE_DRAIN, type Report, waitsForDrain } from './finding.ts'
import { type GuardName, settleGuards } from './guards.ts'
import { inspectWith, nameField, UNLISTED } from './inspect.ts'
import type { ConfigChange, InspectedConfig, InspectPart, PartInput, PartReport } from './inspection.ts'
import { isStartAsked, type Judge, type JudgeRequest, type JudgeStage, type KubeletJudgement, placesIn } from './kubelet/judgement.ts'
import { probeFlags } from './kubelet/probe-flags.ts'
import { describeJudgedBy, formatVersion, IN_TABLES, isCovered, isNewer, isPreRelease, type KubeletVersion } from './kubelet-version.ts'
import { checkNode, findNeeds, findNodeFault, guardClient } from './node/check-node.ts'
import type { NodeOptions } from './node/node-view.ts'
import { NOTHING_KNOWN, type SurroundingNeeds, type Surroundings } from './node/surroundings.ts'
import { type ChangePolicy, checkPolicy, describeChanges, restricts } from './policy/check-policy.ts'

export interface PartSources {
  surroundings(needs: SurroundingNeeds): Promise<Surroundings>
  policy(): ChangePolicy
  guardsOff(): readonly GuardName[]
  readonly judge: Judge
  /** Aborts long checks. */
  readonly signal: AbortSignal
}

export function listParts(sources: PartSources): readonly InspectPart[] {
  return [
    { name: 'drop-ins', slow: false, run: async (subject) => checkDropIns(subject) },
    { name: 'fields', slow: false, run: async (subject) => checkFieldRules(subject, sources) },
    { name: 'meaning', slow: false, run: async (subject) => checkMeaning(subject) },
    { name: 'node', slow: false, run: (subject) => checkNodeRules(subject, sources) },
    { name: 'change', slow: false, run: (subject) => checkChangeRules(subject, sources) },
    { name: 'kubelet', slow: false, run: (subject) => judgeByKubelet(subject, sources, 'load') },
    {
      name: 'kubelet-start',
      slow: true,
      run: async (subject) => (isStartAsked(subject.options.deep, subject.version) ? judgeByKubelet(subject, sources, 'deep') : undefined),
    },
  ]
}

function checkFieldRules(
  { document, version: given, unknownKeys, node, kubelet, config, dropIns }: PartInput,
  { guardsOff }: PartSources,
): PartReport {
  // For a kubelet older than the tables, only the rules that hold for every version apply.
  const version = given !== undefined && (isCovered(given) || isNewer(given)) ? given : undefined
  const flags = collectFlags((node ?? kubelet)?.flags ?? [])
  const isKnown = node !== undefined && node.incomplete === undefined
  const unseen = config.isPart === true ? 'local' : isKnown ? undefined : 'flags'
  const count = Object.keys(document.config).filter((name) => name !== 'apiVersion' && name !== 'kind').length
  const isLater = version !== undefined && isNewer(version) && !isPreRelease(version)
  const whose = version === undefined || isLater ? 'every kubelet version' : `kubelet ${formatVersion(version)}`
  // Findings about gates that only kubelet's flags name are not about the config.
  const gates = isObject(document.config.featureGates) ? document.config.featureGates : {}
  const isOwn = ({ rule, path, severity }: Finding) => {
    const [field, gate] = path
    if (rule.startsWith('otherwise/') && overridingFlag(path.slice(0, 1), flags) !== undefined) return false
    // A note on what runs already is no news.
    if (rule.startsWith('otherwise/') && severity === 'info')
      return node?.running === undefined || !agree(node.running, document.config, path)
    return field !== 'featureGates' || gate === undefined || Object.hasOwn(gates, gate)
  }
  const report = conclude(
    [
      ...checkFields(document, { version, unknownKeys, flags, unseen, isDropIn: isDropIn(dropIns) }).filter(isOwn),
      ...settleGuards(guardClient(document, { version, flags, folder: '/', files: [], running: node?.running }), guardsOff()),
    ],
    `${count} ${count === 1 ? 'field' : 'fields'} checked against the rules of ${whose}`,
  )
  if (given === undefined || isCovered(given)) return report
  const isJudged = isPreRelease(given) && !report.findings.some(({ isUnsettled, rule }) => isUnsettled || rule === UNLISTED)
  const outcome = report.outcome === 'refused' || isJudged ? report.outcome : 'unjudged'
  const detail = outcome === 'refused' && !isPreRelease(given) ? report.detail : describeJudgedBy(given)
  return { ...report, outcome, detail, ...(isNewer(given) && { ownWord: unknownKeys }) }
}

function checkMeaning({ document, version, from, node, kubelet }: PartInput): PartReport | undefined {
  if (from === undefined || version === undefined) return undefined
  if (from === 'unknown') return { outcome: 'unjudged', detail: 'the version of the kubelet that runs is not known', findings: [] }
  const uncovered = [from, version].find((each) => !isCovered(each) && !isPreRelease(each))
  if (uncovered !== undefined) {
    const detail = `the tables cover ${IN_TABLES}, not ${formatVersion(uncovered)}`
    return { outcome: 'unjudged', detail, findings: [] }
  }
  const flags = collectFlags((node ?? kubelet)?.flags ?? [])
  const { config } = overlayFlags(document.config, flags, version)
  const changes = listMeaningChanges(config, from, version).filter(({ path }) => overridingFlag(path, flags) === undefined)
  const beta = [from, version].find(isPreRelease)
  const judgedBy = beta === undefined ? '' : `; ${describeJudgedBy(beta)}`
  return conclude(
    describeMeanings(changes, from, version, document),
    `compared with what it means to kubelet ${formatVersion(from)}${judgedBy}`,
  )
}

async function checkNodeRules(
  { document, node, version, config, dropIns }: PartInput,
  { surroundings, guardsOff }: PartSources,
): Promise<PartReport | undefined> {
  if (node === undefined) return undefined
  const { flags, incomplete, running, kubeletPid, setsStatesAside } = node
  // Kubelet resolves relative paths of a drop-in nowhere: they begin in its working directory.
  const place = isDropIn(dropIns) ? { folder: '/', files: [] } : { folder: node.folder, files: listKeysOf(config, document.config) }
  const flagsKnown = incomplete === undefined
  const options: NodeOptions = { version, flags: collectFlags(flags), flagsKnown, ...place, running, kubeletPid, setsStatesAside }
  const found = await surroundings(findNeeds(document.config, options))
  const report = conclude(settleGuards(checkNode(document.config, document, found, options), guardsOff()), 'checked against this node')
  const fault = findNodeFault(document.config, found, options)
  return fault === undefined ? report : { ...report, outcome: 'cannot-start', detail: fault }
}

function agree(one: KubeletConfig, other: KubeletConfig, path: FieldPath): boolean {
  const steps = path.map(String)
  return isDeepStrictEqual(valueAt(one, steps), valueAt(other, steps))
}

/** The config is laid over the file of `--config`. */
function isDropIn(dropIns: PartInput['dropIns']): boolean {
  return dropIns?.kind === 'usable' && dropIns.order.base !== undefined
}

/**
 * The keys that the ConfigMap may have. Where its other keys are not known, none counts as missing.
 */
function listKeysOf({ files, isAlone = false }: PartInput['config'], config: KubeletConfig): readonly string[] {
  return isAlone ? [...Object.keys(files), ...listNamed(config)] : Object.keys(files)
}

async function checkChangeRules(input: PartInput, sources: PartSources): Promise<PartReport | undefined> {
  const [{ document, node, version, config }, policy] = [input, sources.policy()]
  if (node === undefined) return undefined
  if (node.running === undefined) return checkUnknownChange(policy, await findUnknownManagers(input, node, sources.surroundings))
  const isElsewhere = node.runningFiles === 'elsewhere'
  const own = isElsewhere || config.localPath !== undefined ? undefined : config.files
  const running: Beside = { config: node.running, files: node.runningFiles === 'elsewhere' ? undefined : node.runningFiles }
  const candidate: Beside = { config: document.config, files: own && config.isAlone === true ? 'unknown' : own }
  const changes = compareConfigs(...nameContents(running, candidate), version)
  const { findings, requiresDrain } = checkPolicy(changes, policy, document)
  const flags = collectFlags(node.flags)
  const overridden = findOverridden(changes, flags, document)
  const effects = findEffects(changes, overlayFlags(document.config, flags, version).config, flags, document)
  const changed = listEffective(changes, flags)
  const managers = findManagerChanges({ changes, before: node.running, after: document.config, flags, version }, document)
  const drain = requiresDrain.map((path) => waitsForDrain(REQUIRE_DRAIN, path, document))
  const leaving = own === undefined || !restricts(policy) ? [] : listLeaving(document.config).map((path) => refuseLeaving(path, document))
  const report = conclude(
    [...findings, ...leaving, ...overridden, ...effects, ...drain, ...managers],
    `${changes.length} ${changes.length === 1 ? 'field changes' : 'fields change'}${lacksKeys(candidate) ? '; the other keys of the ConfigMap are not known here' : ''}`,
  )
  return { ...report, ...(changed && { changed }) }
}

/** A file outside may change without any edit of the config. */
function refuseLeaving(path: FieldPath, document: PartInput['document']): Finding {
  const problem = `${formatPath(path)} leads out of the ConfigMap, where the change policy does not see what changes`
  const advice = 'name a key of the ConfigMap, or write an absolute path'
  return { rule: 'policy/outside', severity: 'refuse', reason: 'validate', path, position: document.locate(path), problem, advice }
}

/** The changes are unknown: refused unless the policy restricts nothing. */
function checkUnknownChange(policy: ChangePolicy, managers: readonly Finding[]): PartReport {
  const detail = "kubelet's current config cannot be read"
  if (!restricts(policy)) return { outcome: 'unjudged', detail, findings: managers }
  const problem = `${detail}, so the change policy cannot be checked`
  const place = { path: [], position: undefined, advice: undefined }
  return { outcome: 'refused', detail, findings: [{ rule: 'policy/unseen', severity: 'refuse', reason: 'validate', problem, ...place }] }
}

async function judgeByKubelet(subject: PartInput, { judge, signal }: PartSources, stage: JudgeStage): Promise<PartReport> {
  const { kubelet, document, options, version, dropIns, node } = subject
  if (kubelet === undefined) {
    const isForVersion = options.version !== undefined && version !== undefined
    const name = isForVersion ? `kubelet ${formatVersion(version)}` : 'kubelet'
    const unknown = isForVersion && node?.incomplete !== 'others' ? listUnknownFlags(collectFlags(node?.flags ?? []), version) : []
    if (unknown.length === 0) return { outcome: 'unjudged', detail: `no ${name} is available`, findings: [] }
    const flags = unknown.map((flag) => `--${flag}`).join(', ')
    const detail = `${name} does not know ${flags} of this node's kubelet, and does not start with any config until its command line lacks ${unknown.length === 1 ? 'it' : 'them'}`
    return { outcome: 'cannot-start', detail, findings: [] }
  }
  const judgement = await judge.judge({
    ...kubelet,
    ...toProbe(subject),
    stage,
    others: dropIns,
    signal: AbortSignal.any([signal, subject.signal]),
  })
  switch (judgement.kind) {
    case 'accepted':
      return {
        outcome: 'accepted',
        detail: judgement.detail,
        // The start stage would only repeat it.
        findings: stage === 'load' ? await reportMisread(subject, judgement) : [],
        ignored: judgement.ignored,
      }
    case 'cannot-start':
    case 'unjudged':
      return { outcome: judgement.kind, detail: judgement.detail, findings: [] }
    case 'refused': {
      const { message: problem, reason } = judgement
      const rule = stage === 'load' ? 'kubelet/load' : 'kubelet/start'
      const path = nameField(problem)
      const position = path.length === 0 ? undefined : document.locate(path)
      const finding: Finding = { rule, severity: 'refuse', reason, path, position, problem, advice: undefined }
      return { outcome: 'refused', detail: `${kubelet.binary} would not start with this config`, findings: [finding] }
    }
  }
}

type Accepted = Extract<KubeletJudgement, { kind: 'accepted' }>

/** More would only repeat that this agent is at fault. */
const MOST_MISREAD = 10
const LONGEST_VALUE = 100

/** Where kubelet does not make of the config what the rules take it for. */
async function reportMisread(subject: PartInput, { effective }: Accepted): Promise<readonly Finding[]> {
  const { document, version, yaml } = subject
  if (version === undefined || effective === undefined) return []
  // The remark only informs: without a parser it is left out.
  const read = await yaml.firstOfAny(effective).catch(() => undefined)
  if (read?.ok !== true || !isObject(read.value)) return []
  const { key, flags } = toProbe(subject)
  const probed = collectFlags(probeFlags(flags, 'load', placesIn('/', key, 'load'), version))
  const show = (side: Side | undefined): string => cutToBytes(formatSide(side), LONGEST_VALUE)
  return findMisread(document.config, read.value, version, probed)
    .slice(0, MOST_MISREAD)
    .map(({ path, meant, running }) => ({
      rule: 'kubelet/effective',
      severity: 'warn',
      reason: 'validate',
      path,
      position: locateNearest(document, path),
      problem: `kubelet makes ${show(running)} of ${formatPath(path)}, and this agent expected ${show(meant)}`,
      advice: 'what kubelet says counts; the fault is in kubelet-cfg-agent: please report it, with the version and the flags of kubelet',
    }))
}

/**
 * A config that is a drop-in is probed as what kubelet makes of all files: a probe does not write
 * to kubelet's directory. A local config with relative paths is probed with absolute ones.
 */
function toProbe({ config, assigned, document, kubelet, dropIns }: PartInput): Pick<JudgeRequest, 'files' | 'key' | 'flags'> {
  const flags = kubelet?.flags ?? []
  const head = { apiVersion: API_VERSION, kind: KIND }
  if (dropIns?.kind !== 'usable' || dropIns.order.base === undefined) {
    const { key, files, localPath } = config
    const patch = localPath === undefined ? {} : absolutePaths(assigned.config, posix.dirname(localPath))
    if (Object.keys(patch).length === 0) return { files, key, flags }
    return { files: { ...files, [key]: JSON.stringify({ ...Object(mergePatch(assigned.config, patch)), ...head }) }, key, flags }
  }
  const files = { ...config.files, [config.key]: JSON.stringify({ ...document.config, ...head }) }
  return { files, key: config.key, flags: withoutFlag(flags, 'config-dir') }
}

function conclude(findings: readonly Finding[], detail: string): PartReport {
  return { outcome: findings.some(({ severity }) => severity === 'refuse') ? 'refused' : 'accepted', detail, findings }
}

/** The change policy of an agent is known on its node alone: here, everything is allowed. */
const OPEN = { base: 'open', allow: [], deny: [], requireDrain: [] } as const

/** For the kubectl plugin. */
export async function inspectConfig(
  config: InspectedConfig,
  version: KubeletVersion | undefined,
  yaml: YamlReader,
  from?: KubeletVersion,
): Promise<Report> {
  const parts = listParts({
    surroundings: async () => NOTHING_KNOWN,
    policy: () => OPEN,
    guardsOff: () => [],
    judge: { judge: async () => ({ kind: 'unjudged', detail: 'there is no kubelet' }), forget: () => {} },
    signal: new AbortController().signal,
  }).filter(({ name }) => name === 'fields' || name === 'meaning')
  const recipient = { kubelet: undefined, version, from, node: undefined, unknownKeys: 'warn' } as const
  const options = { kubelet: undefined, version, unknownKeys: undefined, deep: 'no', node: false } as const
  return inspectWith(parts, async () => recipient, yaml)(config, options)
}

export function listConfigChanges(
  before: KubeletConfig,
  after: KubeletConfig,
  version: KubeletVersion | undefined,
): readonly ConfigChange[] {
  // Without the policy, which is that of an agent.
  return describeChanges(before, after, version, OPEN).map((change) => ({ ...change, policy: undefined }))
}
