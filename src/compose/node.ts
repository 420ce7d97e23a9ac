// SPDX-License-Identifier: Apache-2.0
/**
 * The adapters that read and change the state of one node, for the agent, its helper and the
 * commands. With a read-only disk they only read.
 */
import { hostname } from 'node:os'
import { setTimeout as after } from 'node:timers/promises'
import { ANY_UNIT, findNodeName } from '../agent/identity.ts'
import { ContentRecognizer } from '../agent/recognize-content.ts'
import { FileCheckpoints } from '../checkpoint/checkpoints.ts'
import { contentHash } from '../checkpoint/content.ts'
import type { Disk } from '../checkpoint/disk.ts'
import { ReadOnlyDisk } from '../checkpoint/disk.ts'
import { DurableFiles } from '../checkpoint/files.ts'
import { LastingFaults } from '../checkpoint/lasting-faults.ts'
import { layoutOf } from '../checkpoint/layout.ts'
import { NodeDisk } from '../checkpoint/node-disk.ts'
import { FileRecords, FileRuntimeRecords } from '../checkpoint/records.ts'
import { FileRequests } from '../checkpoint/requests.ts'
import { SameContents } from '../checkpoint/same-contents.ts'
import type { OnSetAside } from '../checkpoint/set-aside.ts'
import { lookAtSocket, NodeOwnedFiles } from '../directory/owned-files.ts'
import { readKubeconfig } from '../kube/credentials.ts'
import { KubeconfigFile } from '../kube/kubeconfig.ts'
import { ConfigFileFacts } from '../kubelet/config-file.ts'
import { NetworkHealthProbe } from '../kubelet/health.ts'
import { findRuntimeSocket } from '../kubelet/node-facts.ts'
import { ProcPortHolders } from '../kubelet/read-port-holder.ts'
import { SameConfigs } from '../kubelet/same-config.ts'
import { VerifiedHealthProbe } from '../kubelet/verified-health.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { DEAF, type UnitSignals } from '../ports/unit.ts'
import { RecentAnswers, trustedRuntime } from '../runtime/recent-answers.ts'
import { mostWaitMs, type Settings } from '../settings/settings.ts'
import { UnitActivation } from '../systemd/activation.ts'
import { FileKubeletBinary } from '../systemd/binary-identity.ts'
import { SystemFileOwnership } from '../systemd/file-ownership.ts'
import { HeldAnswer } from '../systemd/held-answer.ts'
import { JournalJobResults } from '../systemd/job-results.ts'
import { JournalLastWords } from '../systemd/last-words.ts'
import { MergedFiles } from '../systemd/merged-files.ts'
import { Systemctl } from '../systemd/systemctl.ts'
import { besideSystemctl } from '../values/child-environment.ts'
import { AGENT_VERSION, openKubeApi } from './kube-api.ts'

/** The same in all processes of this program. */
export interface Programs {
  readonly clock: Clock
  readonly yaml: YamlReader
  /** For `JudgeOptions`. */
  readonly standIn: readonly string[]
}

export type Stores = ReturnType<typeof openStores>

interface StoresWorld extends Programs {
  readonly disk: Disk
  readonly log: Log
  readonly onSetAside: OnSetAside
  readonly signals: UnitSignals
}

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
/** For a process beside the agent, which has nothing to log and looks once. */
const BESIDE_AGENT = { log: SILENT, onSetAside: () => {}, signals: DEAF } as const

export function openStores(settings: Settings, { disk, clock, yaml, standIn, log, onSetAside, signals }: StoresWorld) {
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
    standIn,
    owned: new NodeOwnedFiles(),
    defaultRuntimeSocket: findRuntimeSocket,
    clock,
  }
}

/** The node as a process beside the agent sees it, which changes nothing. */
export function openBeside(settings: Settings, programs: Programs) {
  const stores = openStores(settings, { ...programs, ...BESIDE_AGENT, disk: new ReadOnlyDisk(new NodeDisk()) })
  const kubeconfig = openKubeconfig(settings, SILENT)
  return {
    stores,
    kubeconfig,
    api: openKubeApi(kubeconfig, { userAgent: `kubelet-cfg-agent/${AGENT_VERSION}` }),
    nodeName: (kubelet = ANY_UNIT) => findNodeName(settings, stores.files, { hostName: hostname, kubeconfig, kubelet: () => kubelet }),
    ...openRuntime(settings, { clock: programs.clock, log: SILENT, onChange: () => {} }),
  }
}

/** The stores of `release`, which takes the agent's place. */
export function openInPlace(settings: Settings, programs: Programs): Stores {
  return openStores(settings, { ...programs, ...BESIDE_AGENT, disk: new NodeDisk() })
}

export function openKubeconfig({ kubeconfig }: Settings, log: Log): KubeconfigFile {
  return new KubeconfigFile(kubeconfig, (path) => readKubeconfig(path, Date.now), log)
}

interface RuntimeWorld {
  readonly clock: Clock
  readonly log: Log
  /** Called when the container runtime begins or ceases to answer. */
  readonly onChange: () => void
}

/** The container runtime, as the agent and its commands ask it. */
export function openRuntime(settings: Settings, world: RuntimeWorld) {
  const runtime = trustedRuntime(async () => {
    const [{ CriRuntime }, { GrpcChannel }] = await Promise.all([import('../runtime/cri-runtime.ts'), import('../runtime/grpc-channel.ts')])
    return new CriRuntime((socket) => new GrpcChannel(socket))
  }, lookAtSocket)
  const sleep = (ms: number) => after(ms, undefined, { ref: false })
  return { runtime, runtimeProbe: new RecentAnswers({ ...world, runtime, sleep, waitMs: mostWaitMs(settings) }) }
}
