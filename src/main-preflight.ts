/**
 * The composition of preflight: its rules, this node, and kubelet itself. Loaded when the first config is to be judged: tables of rules have no business in the memory
 * of an agent that waits.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { runningConfigPath } from './decision/base-config.ts'
import type { KnownUnit } from './decision/unit-state.ts'
import { decodeConfig, type KubeletConfig } from './kubelet/decode.ts'
import { loadParser } from './kubelet/load-parser.ts'
import { readNodeFacts } from './kubelet/node-facts.ts'
import type { Stores } from './main-stores.ts'
import type { Files } from './ports/files.ts'
import type { PreflightRequest } from './ports/preflight.ts'
import { type Comparison, checkSame } from './preflight/change/check-same.ts'
import { collectFlags } from './preflight/change/kubelet-flags.ts'
import { describeChanges } from './preflight/describe-changes.ts'
import type { Report } from './preflight/finding.ts'
import { inspectWith } from './preflight/inspect.ts'
import type { Compare, Inspect, Recipient, TargetNode } from './preflight/inspection.ts'
import { KubeletBinaries } from './preflight/kubelet/binaries.ts'
import { KubeletJudge } from './preflight/kubelet/judge.ts'
import type { KubeletVersion } from './preflight/kubelet-version.ts'
import { readSurroundings } from './preflight/node/read-surroundings.ts'
import { listParts } from './preflight/parts.ts'
import { toChangePolicy } from './settings/preflight-settings.ts'
import type { Settings } from './settings/settings.ts'

/** Files and sockets that hang (a dead network mount) keep no judgement waiting. */
const LOOK_AROUND_MS = 1000

export interface PreflightWorld {
  /** Of now: some change while the agent runs. */
  settings(): Settings
  readonly stores: Pick<Stores, 'files' | 'unit' | 'checkpoints'>
  readonly signal: AbortSignal
}

export function openPreflight({ settings, stores, signal }: PreflightWorld) {
  const binaries = new KubeletBinaries()
  const { runtimeDir, systemctl } = settings()
  const openJudge = (direct: boolean) =>
    new KubeletJudge({
      version: (binary) => binaries.version(binary),
      systemdRun: join(posix.dirname(systemctl), 'systemd-run'),
      systemctl,
      directory: direct && process.getuid?.() !== 0 ? scratchDirectory() : join(runtimeDir, 'judge'),
      direct,
    })
  const judge = openJudge(false)
  const versionOf = async (binary: string | undefined): Promise<KubeletVersion | undefined> => {
    const answer = binary === undefined ? undefined : await binaries.version(binary)
    return answer?.ok === true ? answer.version : undefined
  }
  const parts = (asked: KubeletJudge) =>
    listParts({
      surroundings: (needs) => readSurroundings(needs, LOOK_AROUND_MS, { facts: readNodeFacts }),
      policy: () => toChangePolicy(settings()),
      judge: asked,
      signal,
    })

  /** A kubelet without a config file has its defaults. */
  const readRunning = async ({ process }: KnownUnit, path: string | undefined): Promise<KubeletConfig | undefined> =>
    process.kind === 'other' && process.configPath === undefined ? {} : readConfig(stores.files, path)

  /** @param folder where the candidate is to lie, @param path of what runs */
  const describeNode = async (unit: KnownUnit | undefined, folder: string, path: string | undefined): Promise<TargetNode> => ({
    flags: unit?.command?.words ?? [],
    folder,
    running: unit && (await readRunning(unit, path)),
    kubeletPid: unit?.process.kind === 'checkpoint' || unit?.process.kind === 'other' ? unit.process.pid : undefined,
  })

  /** What the agent's loop asks. */
  const checkCandidate = async ({ source, data, unit, basePath }: PreflightRequest): Promise<Report> => {
    const { preflight: depth, unknownFields } = settings()
    const { command } = unit
    const node = await describeNode(unit, posix.dirname(stores.checkpoints.path(source)), basePath)
    const recipient: Recipient = {
      kubelet: command === undefined || depth === 'rules' ? undefined : { binary: command.path, flags: command.words },
      version: await versionOf(command?.path),
      node,
      unknownKeys: unknownFields,
    }
    const name = `configmap/${source.namespace}/${source.name}:${source.kubeletConfigKey}`
    const deep = depth === 'start' ? 'if-possible' : 'no'
    const options = { kubelet: undefined, version: undefined, unknownKeys: undefined, deep, node: true } as const
    const asked = parts(judge).filter(({ name }) => depth !== 'rules' || !name.startsWith('kubelet'))
    const inspect = inspectWith(asked, async () => recipient)
    return inspect({ name, files: data, key: source.kubeletConfigKey }, options)
  }

  /** What a person asks on the command line, of this node's kubelet or of another. */
  const inspect: Inspect = async (config, options) => {
    const unit = await stores.unit.observe()
    const here = unit.kind === 'known' && unit.activity !== 'not-found' ? unit : undefined
    const binary = options.kubelet ?? here?.command?.path
    const version = await versionOf(binary)
    const isOther = options.version !== undefined && (options.version.major !== version?.major || options.version.minor !== version.minor)
    // As that of a checkpoint: nothing is in it but the candidate's own files.
    const folder = join(settings().dynamicConfigDir, 'checkpoints/candidate/0')
    const node = options.node ? await describeNode(here, folder, here && runningConfigPath(stores.checkpoints, here)) : undefined
    const recipient: Recipient = {
      kubelet: binary === undefined || isOther ? undefined : { binary, flags: here?.command?.words ?? [] },
      version: options.version ?? version,
      node,
      unknownKeys: options.unknownKeys ?? settings().unknownFields,
    }
    return inspectWith(parts(options.kubelet === undefined ? judge : openJudge(true)), async () => recipient)(config, options)
  }

  const compare: Compare = async (before, after, asked) => {
    const unit = await stores.unit.observe()
    const version = asked ?? (await versionOf(unit.kind === 'known' ? unit.command?.path : undefined))
    return describeChanges(before, after, version, toChangePolicy(settings()))
  }

  /** What kubelet says it runs, with what its process was started with. */
  const compareRunning = async (configz: unknown, unit: KnownUnit): Promise<Comparison> => {
    const meant = await readConfig(stores.files, runningConfigPath(stores.checkpoints, unit))
    if (meant === undefined) return { ok: false, detail: 'its config cannot be read' }
    const { command } = unit
    return checkSame(meant, configz, await versionOf(command?.path), collectFlags(command?.words ?? []))
  }

  return { checkCandidate, compareRunning, inspect, compare, forget: () => judge.forget() }
}

/** Of somebody who may not write to the runtime directory. */
function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-cfg-agent-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** undefined: it cannot be read, or is none. */
async function readConfig(files: Pick<Files, 'read'>, path: string | undefined): Promise<KubeletConfig | undefined> {
  try {
    const text = path === undefined ? undefined : files.read(path)?.toString()
    const decoded = text === undefined ? undefined : decodeConfig(text, await loadParser(text))
    return decoded?.ok === true ? decoded.config : undefined
  } catch {
    return undefined
  }
}
