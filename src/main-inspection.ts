/**
 * The composition of preflight: its rules, this node, and kubelet's own binary. Loaded with the
 * first config that is checked: an agent that waits must not hold tables of rules in its memory.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { setTimeout as after, setImmediate as nextTurn } from 'node:timers/promises'
import { runningConfigPath } from './decision/base-config.ts'
import type { ConfigMapData } from './decision/config-source.ts'
import type { KnownUnit } from './decision/unit-state.ts'
import { decodeText, type KubeletConfig } from './kubelet/decode.ts'
import { listRelativePaths } from './kubelet/field-path.ts'
import { readNodeFacts } from './kubelet/node-facts.ts'
import type { YamlReader } from './kubelet/yaml-document.ts'
import { askConfigz, askOrReadLog, type ConfigzWorld, findMisreadOf, type RunningKubelet } from './main-configz.ts'
import type { Stores } from './main-stores.ts'
import type { ConfigzAnswer } from './ports/configz.ts'
import type { ContainerRuntime } from './ports/container-runtime.ts'
import type { Files } from './ports/files.ts'
import { keyOf, type PreflightRequest } from './ports/preflight.ts'
import type { Comparison, Difference } from './preflight/change/check-same.ts'
import { collectFlags } from './preflight/change/kubelet-flags.ts'
import { compareRunning, remarkOnDropIns } from './preflight/drop-ins/check-drop-ins.ts'
import { asMerged, mergeAround, mergesByPatch, mergeWith } from './preflight/drop-ins/merge-drop-ins.ts'
import { type ConfigPlace, findDropIns } from './preflight/drop-ins/read-drop-ins.ts'
import type { Report } from './preflight/finding.ts'
import { inspectWith } from './preflight/inspect.ts'
import {
  asOfNextStart,
  type Compare,
  type Inspect,
  type MergeHere,
  type Recipient,
  type TargetNode,
  targetOf,
} from './preflight/inspection.ts'
import { KubeletBinaries } from './preflight/kubelet/binaries.ts'
import { KubeletJudge } from './preflight/kubelet/judge.ts'
import { askEarly, type VersionAnswer } from './preflight/kubelet/judgement.ts'
import type { KubeletVersion } from './preflight/kubelet-version.ts'
import { findStateNeeds, remarkOnStates } from './preflight/node/check-node.ts'
import { readImageService, readRuntime } from './preflight/node/read-runtime.ts'
import { readSurroundings } from './preflight/node/read-surroundings.ts'
import { listParts } from './preflight/parts.ts'
import { type ChangePolicy, describeChanges, toLocalPolicy } from './preflight/policy/check-policy.ts'
import { toChangePolicy } from './settings/preflight-settings.ts'
import type { Settings } from './settings/settings.ts'
import { besideSystemctl } from './values/child-environment.ts'

/**
 * The time limit for files and sockets on the node that may hang (a dead network mount). A guard
 * finds nothing in facts that come later, so a starved node must not exceed it.
 */
const LOOK_AROUND_MS = 5000
/** The same for a fallback. */
const FALLBACK_MS = 300

export interface InspectionWorld {
  /** The settings in force: some change while the agent runs. */
  settings(): Settings
  readonly stores: Pick<Stores, 'files' | 'unit' | 'checkpoints' | 'yaml' | 'besideDocker' | 'activation' | 'lastWords'>
  readonly runtime: Pick<ContainerRuntime, 'probe' | 'cgroupDriver'>
  readonly configz: ConfigzWorld
  readonly signal: AbortSignal
  /** What is known of kubelets' versions. undefined: nothing. */
  readonly versions?: Map<string, VersionAnswer>
}

export function openInspection({ settings, stores, runtime, configz, signal, versions }: InspectionWorld) {
  const binaries = new KubeletBinaries(versions)
  const { runtimeDir, systemctl } = settings()
  const judged = join(runtimeDir, 'judged')
  const openJudge = (direct: boolean) =>
    new KubeletJudge({
      version: (binary) => binaries.version(binary),
      systemdRun: besideSystemctl(systemctl, 'systemd-run'),
      systemctl,
      directory: direct && process.getuid?.() !== 0 ? scratchDirectory() : join(runtimeDir, 'judge'),
      direct,
      besideDocker: stores.besideDocker,
      memory: { read: () => stores.files.read(judged), write: (text) => stores.files.replace(judged, text) },
    })
  const judge = openJudge(false)
  const versionOf = async (binary: string | undefined): Promise<KubeletVersion | undefined> => {
    const answer = binary === undefined ? undefined : await binaries.version(binary)
    return answer?.ok === true ? answer.version : undefined
  }
  const partsWith = (kubeletJudge: KubeletJudge, ended: AbortSignal = signal, policy?: ChangePolicy) =>
    listParts({
      surroundings: async (needs) => {
        const { imageSocket, runtimeSocket } = needs
        const asked = runtimeSocket === undefined ? undefined : readRuntime(runtimeSocket, runtime)
        const imageService = imageSocket === undefined ? undefined : readImageService(imageSocket, runtime)
        const found = await readSurroundings(needs, LOOK_AROUND_MS, { facts: readNodeFacts })
        return { ...found, runtime: await asked, imageService: await imageService }
      },
      policy: () => policy ?? toChangePolicy(settings()),
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
    return { node: { flags, incomplete, folder, running: merged, runningFiles, kubeletPid: pidOf(unit) }, dropIns }
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
    await nextTurn()
    const findRecipient = async (): Promise<Recipient> => {
      const folder = posix.dirname(isLocal ? (localPath ?? '/') : stores.checkpoints.path(source))
      const place = isLocal ? 'local' : 'assigned'
      // Kubelet drops what it does not know, and the file is the administrator's.
      const unknownKeys = isLocal ? 'warn' : unknownFields
      return { kubelet, version, ...(await describeNode(unit, { folder, place }, basePath, version)), unknownKeys }
    }
    const policy = isLocal ? toLocalPolicy(toChangePolicy(settings()), basePath) : undefined
    const parts = partsWith(judge, ended, policy).filter(({ name }) => depth !== 'rules' || !name.startsWith('kubelet'))
    try {
      return await inspectWith(parts, findRecipient, stores.yaml, ended)(config, options)
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
    const version = await Promise.race([versionOf(next.command?.path), after(FALLBACK_MS, undefined, { ref: false })])
    const folder = posix.dirname(stores.checkpoints.path(source))
    const options = { version, flags: collectFlags(next.command?.words ?? []), folder, files: Object.keys(data) }
    const dropIns = await findDropIns(next, 'assigned', stores)
    const config = mergeWith(dropIns, decoded.config, version)
    const found = await readSurroundings(findStateNeeds(config, options), FALLBACK_MS, { facts: readNodeFacts })
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
    const parts = partsWith(options.kubelet === undefined ? judge : openJudge(true))
    return inspectWith(parts, async () => recipient, stores.yaml)(config, options)
  }

  /** The binary on disk may be another one. undefined: no kubelet runs, or it is not known. */
  const runningVersion = async (unit: KnownUnit | undefined): Promise<KubeletVersion | undefined> => {
    const pid = pidOf(unit)
    const answer = pid === undefined || unit?.command === undefined ? undefined : await binaries.versionOfProcess(pid, unit.command.path)
    return answer?.ok === true ? answer.version : undefined
  }

  const findPresent = async (unit: KnownUnit | undefined) =>
    pidOf(unit) === undefined ? versionOf(unit?.command?.path) : ((await runningVersion(unit)) ?? ('unknown' as const))

  const compare: Compare = async (before, after, givenVersion) => {
    const unit = await stores.unit.observe()
    const version = givenVersion ?? (await versionOf(unit.kind === 'known' ? unit.command?.path : undefined))
    return describeChanges(before, after, version, toChangePolicy(settings()))
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
    const { command } = unit
    const version = await versionOf(command?.path)
    return compareRunning(expected, await findDropIns(unit, 'assigned', stores), configz, version, collectFlags(command?.words ?? []))
  }

  const describeRunning = async (unit: KnownUnit): Promise<RunningKubelet> => {
    const path = findRunningPath(unit)
    const config = await readRunning(unit, path)
    const version = (await runningVersion(unit)) ?? (await versionOf(unit.command?.path))
    const place = path === unit.localConfigPath ? 'local' : 'assigned'
    return { unit, path, version, config: config && mergeWith(await findDropIns(unit, place, stores), config, version) }
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

  return {
    ...{ checkCandidate, remarkOnFallback, compareConfigz, readConfigz, readRunningConfig, readMisread },
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

/** For a user who may not write to the runtime directory. */
function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-cfg-agent-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
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
