/**
 * The adapters that read and change the state of one node, for the agent and for the commands. With
 * a read-only disk they only read.
 */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { posix } from 'node:path'
import { ContentRecognizer } from './agent/recognize-content.ts'
import { chooseGuessedName, readBinding } from './checkpoint/binding.ts'
import { FileCheckpoints } from './checkpoint/checkpoints.ts'
import { contentHash } from './checkpoint/content.ts'
import type { Disk } from './checkpoint/disk.ts'
import { DurableFiles } from './checkpoint/files.ts'
import { LastingFaults } from './checkpoint/lasting-faults.ts'
import { layoutOf } from './checkpoint/layout.ts'
import { FileRecords } from './checkpoint/records.ts'
import { FileRequests } from './checkpoint/requests.ts'
import { FileRuntimeRecords } from './checkpoint/runtime-records.ts'
import { SameContents } from './checkpoint/same-contents.ts'
import type { OnSetAside } from './checkpoint/set-aside.ts'
import { NodeOwnedFiles } from './directory/owned-files.ts'
import type { KubeconfigReading } from './kube/access.ts'
import { readKubeconfig } from './kube/credentials.ts'
import { ConfigFileFacts } from './kubelet/config-file.ts'
import { NetworkHealthProbe } from './kubelet/health.ts'
import { findRuntimeSocket } from './kubelet/node-facts.ts'
import { ProcPortHolders } from './kubelet/read-port-holder.ts'
import { SameConfigs } from './kubelet/same-config.ts'
import { VerifiedHealthProbe } from './kubelet/verified-health.ts'
import type { YamlReader } from './kubelet/yaml-document.ts'
import { mostWaitMs } from './main-runtime.ts'
import type { Clock } from './ports/clock.ts'
import type { Files } from './ports/files.ts'
import type { Log } from './ports/log.ts'
import { DEAF, type UnitSignals } from './ports/unit-signals.ts'
import type { Settings } from './settings/settings.ts'
import { UnitActivation } from './systemd/activation.ts'
import { FileKubeletBinary } from './systemd/binary-identity.ts'
import { SystemFileOwnership } from './systemd/file-ownership.ts'
import { HeldAnswer } from './systemd/held-answer.ts'
import { JournalJobResults } from './systemd/job-results.ts'
import { JournalLastWords } from './systemd/last-words.ts'
import { MergedFiles } from './systemd/merged-files.ts'
import { Systemctl } from './systemd/systemctl.ts'
import { besideSystemctl } from './values/child-environment.ts'

export type Stores = ReturnType<typeof openStores>

export interface StoresWorld {
  readonly disk: Disk
  readonly clock: Clock
  readonly yaml: YamlReader
  /** For `JudgeOptions`. */
  readonly besideDocker: readonly string[]
  readonly log: Log
  readonly onSetAside: OnSetAside
  readonly signals: UnitSignals
}

const MACHINE_ID = '/etc/machine-id'
export const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
/** For a process beside the agent, which has nothing to log and looks once. */
export const BESIDE_AGENT = { log: SILENT, onSetAside: () => {}, signals: DEAF } as const

export function openStores(settings: Settings, { disk, clock, yaml, besideDocker, log, onSetAside, signals }: StoresWorld) {
  const files = new DurableFiles(disk)
  const mergedFiles = new MergedFiles(files)
  const layout = layoutOf(settings.dynamicConfigDir)
  const { dynamicConfigDir, envFile, runtimeDir, systemctl, kubeletUnit, kubeletConfigDir, activation } = settings
  const faults = new LastingFaults(clock, log)
  const alike = new SameContents({ files, layout, log, faults, runtimeDir })
  const checkpoints = new FileCheckpoints(files, layout, onSetAside, faults, alike)
  const configs = new SameConfigs(yaml)
  const isSame = (a: string, b: string) => configs.isSame(a, b)
  const recognizer = new ContentRecognizer({ alike, checkpoints, hashOf: contentHash, isSameConfig: isSame })
  const portHolders = new ProcPortHolders()
  const journal = { journalctl: besideSystemctl(systemctl, 'journalctl'), unit: kubeletUnit }
  return {
    files,
    layout,
    checkpoints,
    records: new FileRecords({ files, layout, log, onSetAside, faults, run: new FileRuntimeRecords(files, runtimeDir, log) }),
    requests: new FileRequests({ files, layout, log, faults }),
    unit: new Systemctl({
      systemctl,
      unit: kubeletUnit,
      envFile,
      activation,
      kubeletConfigDir,
      dynamicConfigDir,
      binary: new FileKubeletBinary({ files, directory: runtimeDir, clock, log }),
      identifyMerged: mergedFiles.identify.bind(mergedFiles),
      held: new HeldAnswer(signals, clock),
    }),
    lastWords: new JournalLastWords(journal),
    jobs: new JournalJobResults(journal),
    activation: new UnitActivation({ files, ownership: new SystemFileOwnership(), clock, dynamicConfigDir, envFile, runtimeDir, log }),
    configFacts: new ConfigFileFacts(files, yaml),
    probe: new VerifiedHealthProbe(new NetworkHealthProbe(mostWaitMs(settings)), portHolders, clock),
    portHolders,
    contentOf: recognizer.contentOf.bind(recognizer),
    recognize: recognizer.recognize.bind(recognizer),
    yaml,
    besideDocker,
    owned: new NodeOwnedFiles(),
    defaultRuntimeSocket: findRuntimeSocket,
    clock,
  }
}

/**
 * Removes what a crash may have left unfinished. Only the agent's own: the directory may be shared
 * (`--adopt`), and files of other programs may begin with dots, too.
 */
export function settleStores({ files, layout, records }: Stores, log: Log): void {
  try {
    const ours = [layout.meta, layout.checkpoints, layout.rendered, layout.requests]
    files.settle(
      layout.directory,
      ours.map((path) => posix.basename(path)),
    )
    records.markLocal()
  } catch (error) {
    log.warn('cannot remove what a crash may have left unfinished', { error })
  }
}

/**
 * The host name is only a guess (early at boot it can be `localhost`), so the node's name in the
 * state on disk goes before it, where this machine wrote that.
 */
export function findNodeName(settings: Settings, files: Files, sources: Partial<NameSources> = {}): string {
  const { hostName, readCredentials, onUnread } = {
    hostName: hostname,
    readCredentials: () => readKubeconfig(settings.kubeconfig, Date.now),
    onUnread: undefined,
    ...sources,
  }
  const kept = () => {
    try {
      return readBinding(files, layoutOf(settings.dynamicConfigDir))
    } catch (error) {
      if (onUnread === undefined) throw error
      onUnread(error)
      return undefined
    }
  }
  // kubelet makes its node's name of it in the same way (`GetHostname`, pkg/util/node/node.go).
  return findCertainName(settings, readCredentials) ?? chooseGuessedName(kept(), readMachineHash(files), hostName().trim().toLowerCase())
}

/** Where the name of the node comes from, besides the settings and the state on disk. */
export interface NameSources {
  hostName(): string
  readCredentials(): KubeconfigReading
  /** The state on disk then counts as none. Without this function, the error is thrown. */
  readonly onUnread?: (error: unknown) => void
}

/** The name that a setting or the node's certificate says. undefined: neither does. */
function findCertainName(settings: Settings, readCredentials: () => KubeconfigReading): string | undefined {
  if (settings.nodeName !== undefined) return settings.nodeName
  const reading = settings.manifestDir === undefined ? readCredentials() : undefined
  return reading?.kind === 'ok' ? reading.credentials.nodeName() : undefined
}

/**
 * machine-id(5) wants the ID itself to stay on the machine. undefined: it has none, as in an image
 * or at a first boot, or it cannot be read.
 */
export function readMachineHash(files: Files): string | undefined {
  try {
    const id = files.read(MACHINE_ID)?.toString('latin1').trim() ?? ''
    return /^[0-9a-f]{32}$/.test(id) ? createHash('sha256').update(`kubelet-cfg-agent ${id}`).digest('hex') : undefined
  } catch {
    return undefined
  }
}
