/**
 * The composition of the commands: their view of the node. They read without changing anything, and
 * write requests; only `release` may take the node over. Loaded for a command, never by the agent.
 */
import { existsSync } from 'node:fs'
import { type ObservationPorts, observe } from './agent/observe.ts'
import { DurableFiles } from './checkpoint/files.ts'
import type { Layout } from './checkpoint/layout.ts'
import { findLockHolder, takeLock } from './checkpoint/lock.ts'
import { NodeDisk } from './checkpoint/node-disk.ts'
import { ReadOnlyDisk } from './checkpoint/read-only-disk.ts'
import { RequestWriter } from './checkpoint/request-writer.ts'
import type { CommandContext, TakeOver } from './cli/command.ts'
import { readInput } from './cli/read-input.ts'
import { readRights } from './cli/rights.ts'
import type { Terminal } from './cli/terminal.ts'
import type { Desired } from './decision/desired.ts'
import { readKubeconfig } from './kube/credentials.ts'
import { HttpsKubeApi } from './kube/kube-api.ts'
import { KubeconfigFile } from './kube/kubeconfig.ts'
import { openInspection } from './main-inspection.ts'
import { openRuntime } from './main-runtime.ts'
import { findNodeName, openStores } from './main-stores.ts'
import { applyOverlay } from './overlay/apply-overlay.ts'
import { readOverlayFiles } from './overlay/overlay-files.ts'
import { readOverlay } from './overlay/read-overlay.ts'
import type { OverlayView } from './overlay/view.ts'
import type { Clock } from './ports/clock.ts'
import type { Log } from './ports/log.ts'
import { readHistory } from './report/history.ts'
import { type Settings, toPolicy } from './settings/settings.ts'
import { toChannelSettings } from './settings/source-settings.ts'
import { readAssignmentOnce, readManifestsOnce } from './source/read-once.ts'

export interface CommandWorld {
  readonly clock: Clock
  readonly terminal: Terminal
  readonly version: string
}

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export function openNode(settings: Settings, { clock, terminal, version }: CommandWorld): CommandContext {
  const stores = openStores(settings, new ReadOnlyDisk(new NodeDisk()), clock, SILENT, () => {})
  const kubeconfig = new KubeconfigFile(settings.kubeconfig, (path) => readKubeconfig(path, Date.now), SILENT)
  const api = new HttpsKubeApi(kubeconfig, { userAgent: `kubelet-cfg-agent/${version}`, wallMs: Date.now })
  const nodeName = () => findNodeName(settings, stores.files)
  const inspection = openInspection({ settings: () => settings, stores, signal: new AbortController().signal })
  const { runtimeProbe } = openRuntime({ settings, clock, log: SILENT, onChange: () => {} })
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
    const { parseDocuments } = await import('./kubelet/yaml.ts')
    return readManifestsOnce(settings.manifestDir, nodeName(), toChannelSettings(settings), stores.files, parseDocuments)
  }
  return {
    settings,
    terminal,
    version,
    observe: (desired = { kind: 'unknown', detail: 'only the running agent reads the assignment from the cluster' }) =>
      observe(
        observation(() => desired),
        [],
      ),
    fetchDesired: async () => applyOverlay(await readCluster(), await openOverlay(settings)),
    readOverlay: () => openOverlay(settings),
    api,
    nodeName,
    checkpoints: stores.checkpoints,
    files: stores.files,
    readInput,
    inspect: inspection.inspect,
    compare: inspection.compare,
    unit: stores.unit,
    activation: stores.activation,
    requests: stores.requests,
    requestWriter: new RequestWriter(new DurableFiles(new NodeDisk()), stores.layout),
    takeOver: () => takeOver(settings, stores.layout, clock),
    history: { read: () => readHistory(stores.files, settings.dynamicConfigDir) },
    agent: () => findLockHolder(stores.layout.lock),
    rights: readRights,
    uid: process.getuid?.() ?? 0,
    nodeFacts: async () => (await import('./kubelet/node-facts.ts')).readNodeFacts(),
  }
}

async function openOverlay({ overlayDir }: Settings): Promise<OverlayView> {
  const found = overlayDir === undefined ? undefined : readOverlayFiles(overlayDir)
  if (found === undefined || (found.kind === 'files' && found.files.size === 0)) return { kind: 'none' }
  if (found.kind === 'faulty') return found
  const view = readOverlay(found.files, await import('./kubelet/yaml.ts'))
  return view.kind === 'faulty' ? { kind: 'faulty', detail: `${overlayDir}/${view.detail}` } : view
}

function takeOver(settings: Settings, { directory, lock: lockPath }: Layout, clock: Clock): TakeOver {
  if (!existsSync(directory)) return { kind: 'untouched' }
  const taken = takeLock(lockPath, process.pid)
  if (!taken.ok) return { kind: 'refused', detail: taken.detail }
  const { activation } = openStores(settings, new NodeDisk(), clock, SILENT, () => {})
  return { kind: 'taken', activation, end: taken.lock.release }
}
