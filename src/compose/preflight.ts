// SPDX-License-Identifier: Apache-2.0
/**
 * Composes preflight with its rules, this node, and kubelet's own binary. Loaded with the first
 * config that is checked: an agent that waits must not hold tables of rules in its memory.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after, setImmediate as nextTurn } from 'node:timers/promises'
import type { ClientIdentity } from '../kube/access.ts'
import { readMachineFacts } from '../kubelet/node-facts.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { ContainerRuntime } from '../ports/probes.ts'
import { KubeletPort } from '../preflight/configz/kubelet-port.ts'
import { inspectHere } from '../preflight/inspect-here.ts'
import { KubeletBinaries } from '../preflight/kubelet/binaries.ts'
import { KubeletJudge } from '../preflight/kubelet/judge.ts'
import type { VersionAnswer } from '../preflight/kubelet/judgement.ts'
import { readImageService, readRuntime } from '../preflight/node/read-runtime.ts'
import { readSurroundings } from '../preflight/node/read-surroundings.ts'
import type { SurroundingNeeds, Surroundings } from '../preflight/node/surroundings.ts'
import { toChangePolicy } from '../settings/preflight-settings.ts'
import type { Settings } from '../settings/settings.ts'
import { besideSystemctl } from '../values/child-environment.ts'
import type { Stores } from './node.ts'

interface InspectionWorld {
  /** The settings in force: some change while the agent runs. */
  settings(): Settings
  readonly stores: Pick<Stores, 'files' | 'unit' | 'checkpoints' | 'yaml' | 'standIn' | 'activation' | 'lastWords'>
  readonly runtime: Pick<ContainerRuntime, 'probe' | 'cgroupDriver' | 'imageDirectory'>
  readonly kubeconfig: ClientIdentity
  readonly api: Pick<KubeApi, 'request'>
  nodeName(): string | Promise<string>
  readonly signal: AbortSignal
  /** The answers about kubelets' versions that are known already. undefined: none. */
  readonly versions?: Map<string, VersionAnswer>
}

export function openInspection({ settings, stores, runtime, kubeconfig, api, nodeName, signal, versions }: InspectionWorld) {
  const { runtimeDir, systemctl } = settings()
  const binaries = new KubeletBinaries(versions)
  const judged = join(runtimeDir, 'judged')
  const openJudge = (directory: string, direct: boolean) =>
    new KubeletJudge({
      version: (binary) => binaries.version(binary),
      systemdRun: besideSystemctl(systemctl, 'systemd-run'),
      systemctl,
      directory,
      direct,
      standIn: stores.standIn,
      memory: { read: () => stores.files.read(judged), write: (text) => stores.files.replace(judged, text) },
    })
  return inspectHere({
    settings,
    policy: () => toChangePolicy(settings()),
    stores,
    binaries,
    judge: openJudge(join(runtimeDir, 'judge'), false),
    openDirectJudge: () => openJudge(process.getuid?.() === 0 ? join(runtimeDir, 'judge') : scratchDirectory(), true),
    lookAround: lookAtMachine,
    readRuntime: (socket) => readRuntime(socket, runtime),
    readImageService: (socket) => readImageService(socket, runtime),
    configz: { port: new KubeletPort(kubeconfig), api, nodeName },
    nextTurn: () => nextTurn(),
    after: (ms) => after(ms, undefined, { ref: false }),
    signal,
  })
}

/** For a user who may not write to the runtime directory. */
function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-cfg-agent-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export function lookAtMachine(needs: SurroundingNeeds, limitMs = 2000): Promise<Surroundings> {
  return readSurroundings(needs, limitMs, { facts: readMachineFacts })
}
