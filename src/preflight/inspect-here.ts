// SPDX-License-Identifier: Apache-2.0
/**
 * Inspects a config with this node, its kubelet and what that runs: the candidate of the agent's
 * loop, a fallback, and what a command asks. Pure; who looks at the node is passed in.
 */
import { join, posix } from 'node:path'
import { runningConfigPath } from '../decision/base-config.ts'
import { decodeText, type KubeletConfig } from '../kubelet/decode.ts'
import { listRelativePaths } from '../kubelet/field-path.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { Activation } from '../ports/activation.ts'
import type { Files } from '../ports/files.ts'
import { type ConfigzAnswer, keyOf, type PreflightRequest } from '../ports/preflight.ts'
import type { Checkpoints } from '../ports/store.ts'
import type { FirstWords, Unit } from '../ports/unit.ts'
import type { ConfigMapData } from '../subject/config-source.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import type { Comparison, Difference } from './change/check-same.ts'
import { collectFlags } from './change/kubelet-flags.ts'
import { askConfigz, askOrReadLog, type ConfigzWorld, findMisreadOf, type RunningKubelet } from './configz/ask-configz.ts'
import { compareRunning, remarkOnDropIns } from './drop-ins/check-drop-ins.ts'
import { asMerged, mergeAround, mergesByPatch, mergeWith } from './drop-ins/merge-drop-ins.ts'
import { type ConfigPlace, findDropIns } from './drop-ins/read-drop-ins.ts'
import type { Report } from './finding.ts'
import type { GuardName } from './guards.ts'
import { inspectWith } from './inspect.ts'
import { asOfNextStart, type Compare, type Inspect, type MergeHere, type Recipient, type TargetNode, targetOf } from './inspection.ts'
import type { KubeletBinaries } from './kubelet/binaries.ts'
import { askEarly, type Judge } from './kubelet/judgement.ts'
import type { KubeletVersion } from './kubelet-version.ts'
import { findStateNeeds, remarkOnStates } from './node/check-node.ts'
import { lookAtNode, type NodeReaders } from './node/look-around.ts'
import { listParts } from './parts.ts'
import { type ChangePolicy, describeChanges, toLocalPolicy } from './policy/check-policy.ts'
import { describeEffects, EFFECT_NEEDS, type RunningEffects } from './running-effects.ts'

/** The time limit of a fallback for files on the node that may hang. */
const FALLBACK_MS = 300
/** The same where nothing waits. */
const EFFECTS_MS = 2000

interface InspectionParts extends NodeReaders {
  /** The settings in force: some change while the agent runs. */
  settings(): {
    readonly dynamicConfigDir: string
    readonly preflight: 'rules' | 'load' | 'start'
    readonly unknownFields: 'warn' | 'refuse'
    readonly guardsOff: readonly GuardName[]
  }
  policy(): ChangePolicy
  readonly stores: {
    readonly files: Pick<Files, 'read' | 'list' | 'stat'>
    readonly unit: Pick<Unit, 'observe'>
    readonly checkpoints: Pick<Checkpoints, 'path'>
    readonly activation: Pick<Activation, 'read'>
    readonly lastWords: FirstWords
    readonly yaml: YamlReader
  }
  readonly binaries: Pick<KubeletBinaries, 'version' | 'versionOfProcess'>
  readonly judge: Judge
  /** For a kubelet that a user named. */
  openDirectJudge(): Judge
  readonly configz: ConfigzWorld
  /** Lets others run. */
  nextTurn(): Promise<void>
  /** Does not keep the process running. */
  after(ms: number): Promise<undefined>
  readonly signal: AbortSignal
}

export function inspectHere(parts: InspectionParts) {
  const { settings, policy: policyInForce, stores, binaries, judge, configz, signal } = parts
  const versionOf = async (binary: string | undefined): Promise<KubeletVersion | undefined> => {
    const answer = binary === undefined ? undefined : await binaries.version(binary)
    return answer?.ok === true ? answer.version : undefined
  }
  const partsWith = (kubeletJudge: Judge, ended: AbortSignal = signal, policy?: ChangePolicy) =>
    listParts({
      surroundings: (needs) => lookAtNode(parts, needs),
      policy: () => policy ?? policyInForce(),
      guardsOff: () => settings().guardsOff,
      judge: kubeletJudge,
      signal: ended,
    })

  /** A kubelet without a config file runs its defaults. */
  const readRunning = async ({ process }: KnownUnit, path: string | undefined): Promise<KubeletConfig | undefined> =>
    process.kind === 'other' && process.configPath === undefined ? {} : readConfig(stores, path)

  /**
   * @param own the directory of the candidate, and whose it is
   * @param path the running config
   */
  const describeNode = async (
    unit: KnownUnit | undefined,
    { folder, place: own }: { readonly folder: string; readonly place: ConfigPlace },
    path: string | undefined,
    version: KubeletVersion | undefined,
  ): Promise<Pick<Recipient, 'dropIns'> & { readonly node: TargetNode }> => {
    const next = unit && asOfNextStart(unit)
    const dropIns = next && (await findDropIns(next, own, stores))
    // A running config that is not the local one was assigned, too.
    const place = path !== undefined && path === unit?.localConfigPath ? 'local' : 'assigned'
    const around = unit && (await findDropIns(unit, place, stores))
    const running = unit && (await readRunning(unit, path))
    const merged = running && mergeWith(around, running, version)
    const isCheckpoint = place === 'assigned' && path?.startsWith(`${settings().dynamicConfigDir}/`) === true
    const beside = merged && isCheckpoint ? readBeside(merged, posix.dirname(path), stores.files) : undefined
    const runningFiles: TargetNode['runningFiles'] = unit && readsElsewhere(unit) ? 'elsewhere' : beside
    const { words: flags = [], incomplete } = next?.command ?? {}
    const { setsStatesAside } = unit ?? {}
    return { node: { flags, incomplete, folder, running: merged, runningFiles, kubeletPid: pidOf(unit), setsStatesAside }, dropIns }
  }

  /**
   * For the agent's loop.
   * @param superseded the config is no longer wanted
   */
  const checkCandidate = async (
    { source, data, localPath, unit, basePath }: PreflightRequest,
    superseded: AbortSignal,
  ): Promise<Report> => {
    const { preflight: depth, unknownFields } = settings()
    const isLocal = source === 'local'
    const next = asOfNextStart(unit)
    const { command } = next
    const kubelet = command === undefined || depth === 'rules' ? undefined : targetOf(command)
    const version = await versionOf(command?.path)
    const name = isLocal ? (localPath ?? source) : `configmap/${source.namespace}/${source.name}:${source.kubeletConfigKey}`
    const deep = depth === 'start' ? 'if-possible' : 'no'
    const options = { kubelet: undefined, version: undefined, unknownKeys: undefined, deep, node: true } as const
    const config = { name, files: data, key: keyOf({ source, localPath }), localPath }
    const stopper = new AbortController()
    const ended = AbortSignal.any([signal, superseded, stopper.signal])
    // Kubelet takes most of the time, and needs nothing of what the other parts read first.
    const early =
      kubelet &&
      !isLocal &&
      askEarly(judge, { ...kubelet, ...config }, { deep, version, dropIns: await findDropIns(next, 'assigned', stores) }, ended)
    await parts.nextTurn()
    const findRecipient = async (): Promise<Recipient> => {
      const folder = posix.dirname(isLocal ? (localPath ?? '/') : stores.checkpoints.path(source))
      const place = isLocal ? 'local' : 'assigned'
      // Kubelet drops what it does not know, and the file is the administrator's.
      const unknownKeys = isLocal ? 'warn' : unknownFields
      return { kubelet, version, ...(await describeNode(unit, { folder, place }, basePath, version)), unknownKeys }
    }
    const policy = isLocal ? toLocalPolicy(policyInForce(), basePath) : undefined
    const checks = partsWith(judge, ended, policy).filter(({ name }) => depth !== 'rules' || !name.startsWith('kubelet'))
    try {
      return await inspectWith(checks, findRecipient, stores.yaml, ended)(config, options)
    } finally {
      stopper.abort()
      await early
    }
  }

  /** A fallback does not wait: what is not found in time is left out. */
  const remarkOnFallback = async ({ source, data, unit }: PreflightRequest): Promise<readonly string[]> => {
    if (source === 'local') return []
    const text = data[source.kubeletConfigKey] ?? ''
    const decoded = await decodeText(text, stores.yaml)
    if (!decoded.ok) return []
    const next = asOfNextStart(unit)
    const version = await Promise.race([versionOf(next.command?.path), parts.after(FALLBACK_MS)])
    const folder = posix.dirname(stores.checkpoints.path(source))
    const options = {
      version,
      flags: collectFlags(next.command?.words ?? []),
      folder,
      files: Object.keys(data),
      setsStatesAside: unit.setsStatesAside,
    }
    const dropIns = await findDropIns(next, 'assigned', stores)
    const config = mergeWith(dropIns, decoded.config, version)
    const found = await parts.lookAround(findStateNeeds(config, options), FALLBACK_MS)
    return [...remarkOnDropIns(dropIns), ...remarkOnStates(config, found, options)]
  }

  /** A drop-in of the agent is not in the command line: what kubelet starts with next counts. */
  const findRunningPath = (unit: KnownUnit): string | undefined => {
    const { wiring } = unit
    const next = wiring.kind === 'ready' && wiring.laysOverLocal ? stores.activation.read(wiring) : undefined
    return next?.kind === 'checkpoint' ? stores.checkpoints.path(next.source) : runningConfigPath(stores.checkpoints, unit)
  }

  /** For the command line, with this node's kubelet or another. */
  const inspect: Inspect = async (config, options) => {
    const unit = await stores.unit.observe()
    const here = unit.kind === 'known' && unit.activity !== 'not-found' ? unit : undefined
    const binary = options.kubelet ?? here?.command?.path
    const version = await versionOf(binary)
    const isOther = options.version !== undefined && (options.version.major !== version?.major || options.version.minor !== version.minor)
    // Like the directory of a checkpoint, it contains only the candidate's own files.
    const own = config.localPath === undefined ? undefined : posix.dirname(config.localPath)
    const folder = own ?? join(settings().dynamicConfigDir, 'checkpoints/candidate/0')
    const place = own === undefined ? 'assigned' : 'local'
    const running = here && findRunningPath(here)
    const command = here && asOfNextStart(here).command
    const target = options.node ? await describeNode(here, { folder, place }, running, options.version ?? version) : { node: undefined }
    const recipient: Recipient = {
      kubelet: binary === undefined || isOther ? undefined : { flags: [], ...(command && targetOf(command)), binary },
      version: options.version ?? version,
      from: options.from === 'running' ? await findPresent(here) : options.from,
      ...target,
      unknownKeys: options.unknownKeys ?? settings().unknownFields,
    }
    const checks = partsWith(options.kubelet === undefined ? judge : parts.openDirectJudge())
    return inspectWith(checks, async () => recipient, stores.yaml)(config, options)
  }

  /** The binary on disk may be another one. undefined: no kubelet runs, or it is not known. */
  const runningVersion = async (unit: KnownUnit | undefined): Promise<KubeletVersion | undefined> => {
    const pid = pidOf(unit)
    const answer = pid === undefined || unit?.command === undefined ? undefined : await binaries.versionOfProcess(pid, unit.command.path)
    return answer?.ok === true ? answer.version : undefined
  }

  /** Where the process cannot be looked into, the kubelet on disk stands in. */
  const versionInUse = async (unit: KnownUnit) => (await runningVersion(unit)) ?? (await versionOf(unit.command?.path))

  const findPresent = async (unit: KnownUnit | undefined) =>
    pidOf(unit) === undefined ? versionOf(unit?.command?.path) : ((await runningVersion(unit)) ?? ('unknown' as const))

  const compare: Compare = async (before, after, givenVersion) => {
    const unit = await stores.unit.observe()
    const version = givenVersion ?? (await versionOf(unit.kind === 'known' ? unit.command?.path : undefined))
    return describeChanges(before, after, version, policyInForce())
  }

  const mergeHere: MergeHere = async (config, place) => {
    const unit = await stores.unit.observe()
    if (unit.kind !== 'known') return { config, order: undefined }
    const isElsewhere = readsElsewhere(unit)
    const dropIns = await findDropIns(unit, place, stores)
    const version = dropIns && (await versionOf(unit.command?.path))
    if (dropIns?.kind !== 'usable' || !mergesByPatch(version)) return { config, order: undefined, isElsewhere }
    return { config: mergeAround(config, dropIns.order, version), order: asMerged(dropIns.order, version), isElsewhere }
  }

  /** Compares the config that kubelet reports with the one that its process was started with. */
  const compareConfigz = async (configz: unknown, unit: KnownUnit, path: string | undefined): Promise<Comparison> => {
    const expected = await readConfig(stores, path)
    if (expected === undefined) return { ok: false, detail: 'its config cannot be read' }
    const flags = collectFlags(unit.command?.words ?? [])
    return compareRunning(expected, await findDropIns(unit, 'assigned', stores), configz, await versionInUse(unit), flags)
  }

  const describeRunning = async (unit: KnownUnit): Promise<RunningKubelet & Pick<Recipient, 'dropIns'>> => {
    const path = findRunningPath(unit)
    const config = await readRunning(unit, path)
    const version = await versionInUse(unit)
    const place = path === unit.localConfigPath ? 'local' : 'assigned'
    const dropIns = await findDropIns(unit, place, stores)
    return { unit, path, version, dropIns, config: config && mergeWith(dropIns, config, version) }
  }

  /** @param unit undefined: kubelet runs on another machine */
  const readConfigz = async (unit: KnownUnit | undefined): Promise<ConfigzAnswer> =>
    askConfigz({ ...configz, files: stores.files }, unit && (await describeRunning(unit)))

  const readRunningConfig = async (unit: KnownUnit): Promise<ConfigzAnswer> =>
    askOrReadLog({ ...configz, ...stores }, await describeRunning(unit))

  const readMisread = async (): Promise<readonly Difference[] | undefined> => {
    const unit = await stores.unit.observe()
    return unit.kind === 'known' ? findMisreadOf(await describeRunning(unit), stores) : undefined
  }

  /** undefined: no kubelet runs, or it is not known. */
  const readEffects = async (): Promise<RunningEffects | undefined> => {
    const unit = await stores.unit.observe()
    if (unit.kind !== 'known' || pidOf(unit) === undefined) return undefined
    const { dropIns, ...running } = await describeRunning(unit)
    return describeEffects(running, dropIns, await parts.lookAround(EFFECT_NEEDS, EFFECTS_MS))
  }

  return {
    ...{ checkCandidate, remarkOnFallback, compareConfigz, readConfigz, readRunningConfig, readMisread, readEffects },
    ...{ inspect, compare, mergeHere, versionOf, runningVersion, forget: () => judge.forget() },
  }
}

/** `--config` is the same whatever is activated: relative paths lead to no checkpoint. */
function readsElsewhere({ wiring }: KnownUnit): boolean {
  return wiring.kind === 'ready' && wiring.configFlagIsFixed
}

const pidOf = (unit: KnownUnit | undefined) => (unit !== undefined && 'pid' in unit.process ? unit.process.pid : undefined)

/** undefined: they cannot be read, or the config names none. */
function readBeside(config: KubeletConfig, directory: string, files: Pick<Files, 'read' | 'list'>): ConfigMapData | undefined {
  if (listRelativePaths(config).length === 0) return undefined
  try {
    const names = files.list(directory) ?? []
    return Object.fromEntries(names.map((name) => [name, files.read(posix.join(directory, name))?.toString() ?? '']))
  } catch {
    return undefined
  }
}

interface ConfigReader {
  readonly files: Pick<Files, 'read'>
  readonly yaml: YamlReader
}

/** undefined: the file cannot be read, or is not a valid config. */
async function readConfig({ files, yaml }: ConfigReader, path: string | undefined): Promise<KubeletConfig | undefined> {
  try {
    const text = path === undefined ? undefined : files.read(path)?.toString()
    const decoded = text === undefined ? undefined : await decodeText(text, yaml)
    return decoded?.ok === true ? decoded.config : undefined
  } catch {
    return undefined
  }
}
