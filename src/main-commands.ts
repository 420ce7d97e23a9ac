/**
 * The composition of the commands: their view of the node. They read without changing anything, and
 * write requests; only `release` may take the node over. Loaded for a command, never by the agent.
 */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { type ObservationPorts, observe } from './agent/observe.ts'
import { readLocalConfig } from './agent/read-local-config.ts'
import { ReadOnlyDisk } from './checkpoint/disk.ts'
import { DurableFiles } from './checkpoint/files.ts'
import { findLockHolder, holdsRemovedLock, type LockHolder, takeLock } from './checkpoint/lock.ts'
import { NodeDisk } from './checkpoint/node-disk.ts'
import { ReadOnlyDisk } from './checkpoint/disk.ts'
import { RequestWriter } from './checkpoint/requests.ts'
import type { CommandContext, TakeOver } from './command/agent/command.ts'
import { findVantage, readRightsFrom } from './command/agent/rights.ts'
import { readInput } from './command/read-input.ts'
import type { Terminal } from './command/terminal.ts'
import type { Desired } from './decision/desired.ts'
import type { KnownUnit, UnitState } from './decision/unit-state.ts'
import { readLink } from './directory/owned-files.ts'
import { listNamedFiles, readKubeconfig } from './kube/credentials.ts'
import { KubeconfigFile } from './kube/kubeconfig.ts'
import { ParsedTexts } from './kubelet/parsed-texts.ts'
import type { LocatedReading, YamlReader } from './kubelet/yaml-document.ts'
import { openInspection } from './main-inspection.ts'
import { openKubeApi } from './main-kube-api.ts'
import { findRuntimeDoubt, openRuntime } from './main-runtime.ts'
import { BESIDE_AGENT, findNodeName, openStores, SILENT, type Stores } from './main-stores.ts'
import { applyPartOnce, applyWhenRendered } from './overlay/apply.ts'
import { readInstanceFile, readOverlayFiles } from './overlay/overlay-files.ts'
import { INSTANCE_CONFIG, INSTANCE_DIRECTORY, OVERLAY } from './overlay/patch-set.ts'
import { type OverlayFiles, type OverlayView, readOverlay } from './overlay/read-overlay.ts'
import type { Clock } from './ports/clock.ts'
import { readHistory } from './report/history.ts'
import { readLastReport } from './report/last-report.ts'
import { type Settings, toPolicy } from './settings/settings.ts'
import { toChannelSettings } from './settings/source-settings.ts'
import { readAssignmentOnce, readManifestsOnce } from './source/read-once.ts'
import { asArguments, flagValue } from './systemd/command-line.ts'
import { readAgentService } from './systemd/read-agent-service.ts'
import { errorMessage } from './values/errors.ts'

export interface CommandWorld {
  readonly clock: Clock
  readonly terminal: Terminal
  readonly version: string
  readonly yaml: YamlReader
  readonly besideDocker: readonly string[]
}

export function openNode(settings: Settings, { clock, terminal, version, yaml, besideDocker }: CommandWorld): CommandContext {
  const stores = openStores(settings, { ...BESIDE_AGENT, disk: new ReadOnlyDisk(new NodeDisk()), clock, yaml, besideDocker })
  const kubeconfig = new KubeconfigFile(settings.kubeconfig, (path) => readKubeconfig(path, Date.now), SILENT)
  const api = openKubeApi(kubeconfig, { userAgent: `kubelet-cfg-agent/${version}` })
  const nodeName = () => findNodeName(settings, stores.files)
  const { runtime, runtimeProbe } = openRuntime({ settings, clock, log: SILENT, onChange: () => {} })
  const configz = { kubeconfig, api, nodeName }
  const inspection = openInspection({ settings: () => settings, stores, runtime, configz, signal: new AbortController().signal })
  const observation = (desired: ObservationPorts['assignment']['desired']): ObservationPorts => ({
    ...stores,
    runtimeProbe,
    nodeName: nodeName(),
    policy: () => toPolicy(settings),
    assignment: { desired },
    accepted: new Map(),
    preflight: undefined,
    drain: { isDrained: () => undefined },
  })
  const readCluster = async (): Promise<Desired> => {
    if (settings.manifestDir === undefined) return readAssignmentOnce(api, nodeName(), toChannelSettings(settings))
    return readManifestsOnce(settings.manifestDir, nodeName(), toChannelSettings(settings), stores.owned, (text) => yaml.all(text))
  }
  const vantage = () => findVantage(findLockHolder(stores.layout.lock))
  const readLocal = async () => readLocalConfig(stores.activation, await stores.unit.observe())
  return {
    settings,
    terminal,
    version,
    observe: (desired = { kind: 'unknown', detail: 'only the running agent reads the assignment from the cluster' }) =>
      observe(
        observation(() => desired),
        [],
      ),
    fetchDesired: async () => {
      const merged = await applyPartOnce(await readCluster(), { readLocalConfig: readLocal, yaml })
      const overlaid = await applyWhenRendered(merged, { patches: OVERLAY, view: await openOverlay(settings, stores) })
      return applyWhenRendered(overlaid, { patches: INSTANCE_CONFIG, view: await openInstanceConfig(stores) })
    },
    readLocalConfig: readLocal,
    readOverlay: () => openOverlay(settings, stores),
    readInstanceConfig: () => openInstanceConfig(stores),
    api,
    nodeName,
    readConfigz: async () => inspection.readConfigz(findOwnKubelet(await stores.unit.observe(), settings.nodeName)),
    readMisread: inspection.readMisread,
    checkpoints: stores.checkpoints,
    files: stores.files,
    readInput,
    yaml,
    inspect: inspection.inspect,
    compare: inspection.compare,
    mergeHere: inspection.mergeHere,
    runningVersion: async () => inspection.runningVersion(findOwnKubelet(await stores.unit.observe(), settings.nodeName)),
    unit: stores.unit,
    activation: stores.activation,
    requests: stores.requests,
    requestWriter: new RequestWriter(new DurableFiles(new NodeDisk()), stores.layout),
    takeOver: () => takeOver(settings, stores, { clock, yaml, besideDocker }),
    history: { read: () => readHistory(stores.files, settings.dynamicConfigDir) },
    lastReport: (bootId) => readLastReport(stores.files, settings.runtimeDir, bootId),
    agent: () => findAgent(settings, stores, clock),
    service: () => readAgentService(settings.systemctl),
    credentialFiles: () => listNamedFiles(settings.kubeconfig),
    rights: (needs) => readRightsFrom(vantage(), needs),
    vantage,
    uid: process.getuid?.() ?? 0,
    nodeFacts: async () => (await import('./kubelet/node-facts.ts')).readNodeFacts(),
    runtimeDoubt: (unit) => findRuntimeDoubt(stores, unit),
  }
}

/**
 * With `--node-name`, the Node may be that of another machine. kubelet takes its Node's name from
 * its flag or the host (`GetHostname`, pkg/util/node/node.go).
 */
function findOwnKubelet(unit: UnitState, nodeName: string | undefined): KnownUnit | undefined {
  if (unit.kind !== 'known' || unit.activity === 'not-found') return undefined
  const given = flagValue(asArguments(unit.command?.words ?? []), 'hostname-override') ?? hostname()
  return nodeName === undefined || nodeName === given.trim().toLowerCase() ? unit : undefined
}

async function openOverlay({ overlayDir }: Settings, stores: Pick<Stores, 'owned' | 'yaml'>): Promise<OverlayView> {
  return overlayDir === undefined ? { kind: 'none' } : openPatches(overlayDir, readOverlayFiles(overlayDir, stores.owned), stores)
}

function openInstanceConfig(stores: Pick<Stores, 'owned' | 'files' | 'yaml'>): Promise<OverlayView> {
  return openPatches(INSTANCE_DIRECTORY, readInstanceFile(INSTANCE_DIRECTORY, stores.owned, stores.files, readLink), stores)
}

async function openPatches(directory: string, found: OverlayFiles, { yaml }: Pick<Stores, 'yaml'>): Promise<OverlayView> {
  if (found.kind === 'faulty') return found
  // Nobody waits for a later try.
  const parse = (text: string): Promise<LocatedReading> =>
    yaml.first(text).catch((error: unknown) => ({ ok: false, detail: errorMessage(error), position: undefined }))
  const parsed = new ParsedTexts(parse, () => {})
  const view = await readOverlay(found.files, yaml, (text, onParsed) => parsed.look(text, onParsed))
  return view.kind === 'faulty' ? { kind: 'faulty', detail: `${directory}/${view.detail}` } : view
}

/** The agent runs on where its directory was removed, with the lock in it. */
function findAgent(
  { runtimeDir }: Settings,
  { files, layout }: Pick<Stores, 'files' | 'layout'>,
  clock: CommandWorld['clock'],
): LockHolder {
  const holder = findLockHolder(layout.lock)
  const pid = holder.kind === 'absent' ? readLastReport(files, runtimeDir, clock.now().bootId)?.pid : undefined
  return pid !== undefined && holdsRemovedLock(pid, layout.lock) ? { kind: 'running', pid, isWithoutDirectory: true } : holder
}

/**
 * Where the agent's directory is lost, what it put elsewhere is still there. Then the directory is
 * made anew, for the lock and the records.
 */
async function takeOver(
  settings: Settings,
  { layout: { directory, lock: lockPath }, unit, activation: reader }: Pick<Stores, 'layout' | 'unit' | 'activation'>,
  { clock, yaml, besideDocker }: Pick<CommandWorld, 'clock' | 'yaml' | 'besideDocker'>,
): Promise<TakeOver> {
  if (!existsSync(directory)) {
    const found = await unit.observe()
    if (found.kind === 'unknown')
      return { kind: 'refused', detail: `${directory} does not exist, and kubelet's unit is unknown: ${found.detail}` }
    if (reader.findOutside(found).length === 0) return { kind: 'untouched' }
    new DurableFiles(new NodeDisk()).makeDirectory(directory)
  }
  const taken = takeLock(lockPath, process.pid)
  if (!taken.ok) return { kind: 'refused', detail: taken.detail }
  const { activation } = openStores(settings, { ...BESIDE_AGENT, disk: new NodeDisk(), clock, yaml, besideDocker })
  return { kind: 'taken', activation, end: taken.lock.release }
}
