// SPDX-License-Identifier: Apache-2.0
/**
 * The whole agent on a simulated node: the real stores, activation and loop. Only preflight is
 * simulated: it decides by what the config says about itself.
 */

import { Loop, type PassObserver } from '../../src/agent/loop.ts'
import { ContentRecognizer } from '../../src/agent/recognize-content.ts'
import { StatesFlag } from '../../src/agent/states-flag.ts'
import { FileCheckpoints } from '../../src/checkpoint/checkpoints.ts'
import { contentHash } from '../../src/checkpoint/content.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { LastingFaults } from '../../src/checkpoint/lasting-faults.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { FileRecords } from '../../src/checkpoint/records.ts'
import { FileRequests } from '../../src/checkpoint/requests.ts'
import { SameContents } from '../../src/checkpoint/same-contents.ts'
import type { Acceptance, PreflightResult } from '../../src/decision/verdict.ts'
import type { Activation } from '../../src/ports/activation.ts'
import type { Log } from '../../src/ports/log.ts'
import { keyOf, type Preflight, type PreflightRequest } from '../../src/ports/preflight.ts'
import type { ConfigFacts, ConfigFiles, RuntimeProbe } from '../../src/ports/probes.ts'
import { FileHistory } from '../../src/report/history.ts'
import { RecentAnswers } from '../../src/runtime/recent-answers.ts'
import type { TrialKey } from '../../src/subject/trial-key.ts'
import { DropInActivation } from '../../src/systemd/drop-in-activation.ts'
import { EnvActivation } from '../../src/systemd/env-activation.ts'
import { FileActivation } from '../../src/systemd/file-activation.ts'
import { heldBy } from '../kubelet/held-by.ts'
import { behaviourOf, cpuPolicyOf, healthzPortOf, isSameMeaning } from './behaviour.ts'
import { DIRECTORY, DROP_IN_PATH, ENV_FILE, LOCAL_PATH, RUNTIME_DIRECTORY } from './paths.ts'
import { SimEvidence } from './sim-evidence.ts'
import { CONTAINERD, runtimeEndpointOf } from './sim-runtime.ts'
import type { SimWorld } from './sim-world.ts'

/** How long a pass waits for the container runtime. */
const MOST_WAIT_MS = 2000

/**
 * As exact as kubelet's own binary, and as slow for some configs. A fallback does not wait for it.
 */
class SimPreflight implements Preflight {
  readonly #world: SimWorld
  readonly #answerAtUs = new Map<TrialKey, number>()

  constructor(world: SimWorld) {
    this.#world = world
  }

  async check({ data, source, localPath, key, fallback }: PreflightRequest): Promise<PreflightResult> {
    if (this.#world.nowUs < this.#world.preflightFailsUntilUs) throw new Error('preflight: kubelet cannot be started')
    const text = data[keyOf({ source, localPath })]
    if (!fallback && !this.#answerAtUs.has(key)) this.#answerAtUs.set(key, this.#world.nowUs + ((text?.length ?? 0) % 3) * 3e6)
    if (!fallback && this.pending().has(key)) return { kind: 'pending' }
    this.#answerAtUs.delete(key)
    const behaviour = text === undefined ? 'syntax-error' : behaviourOf(text)
    if (behaviour === 'syntax-error') return { kind: 'refused', reason: 'load', detail: 'does not parse' }
    if (this.#world.unit.leavings.kills(text ?? '') && !fallback)
      return { kind: 'refused', reason: 'validate', detail: 'cpu_manager_state was written by policy static' }
    if (behaviour === 'invalid') return { kind: 'refused', reason: 'validate', detail: 'kubeAPIQPS is negative' }
    // The changes of the other configs make no pod fail.
    const changed = [behaviour === 'refuses-pods' ? 'systemReserved.cpu' : 'nodeStatusReportFrequency']
    const drain = behaviour === 'needs-drain' ? ['cpuManagerPolicy'] : []
    const runs = this.#world.unit.process?.text ?? this.#world.nextText() ?? text ?? ''
    if (!this.#world.kind.managers || cpuPolicyOf(text ?? '') === cpuPolicyOf(runs))
      return { kind: 'accepted', remarks: [], drain, changed }
    const managers = ['cpuManagerPolicy']
    return { kind: 'accepted', remarks: [], drain: [...drain, ...managers], managers, changed }
  }

  pending(): ReadonlySet<TrialKey> {
    return new Set([...this.#answerAtUs].filter(([, atUs]) => atUs > this.#world.nowUs).map(([key]) => key))
  }

  obstacle(): undefined {
    return undefined
  }

  basis(): string {
    return basisAt(this.#world, this.#world.nowUs)
  }
}

/**
 * Changes every minute for 20 minutes, and with what a config left. Otherwise it stays the same: a
 * run has to settle.
 */
export function basisAt({ unit }: SimWorld, nowUs: number): string {
  return `${Math.min(20, Math.floor(nowUs / 60e6))} ${unit.leavings.basis}`
}

export function startAgent(world: SimWorld, observer: PassObserver, log: Log): Loop {
  world.disk.restart()
  world.unit.agentStarted()
  const files = new DurableFiles(world.disk)
  const layout = layoutOf(DIRECTORY)
  const clock = { now: () => world.now() }
  const faults = new LastingFaults(clock, log)
  files.makeDirectory(DIRECTORY)
  files.settle(DIRECTORY)
  const accepted = new Map<TrialKey, Acceptance>()
  const preflight = new SimPreflight(world)
  const onSetAside = (what: unknown) => log.error('set aside', { what })
  const activation = activationOn(world, files)
  const alike = new SameContents({ files, layout, log, faults, runtimeDir: RUNTIME_DIRECTORY })
  const checkpoints = new FileCheckpoints(files, layout, onSetAside, faults, alike)
  const isSameConfig = async (a: string, b: string) => isSameMeaning(a, b)
  const recognizer = new ContentRecognizer({ alike, checkpoints, hashOf: contentHash, isSameConfig })
  const shared = {
    clock,
    checkpoints,
    records: new FileRecords({ files, layout, log, onSetAside, faults, run: world.runtime }),
    requests: new FileRequests({ files, layout, log, faults }),
    unit: world.unit,
    activation,
    defaultRuntimeSocket: () => CONTAINERD,
    accepted,
  }
  return new Loop({
    observation: {
      ...shared,
      nodeName: 'node-1',
      policy: () => world.policy,
      assignment: world.assignment,
      configFacts: new SimConfigFacts(files),
      probe: world.unit,
      runtimeProbe: probeRuntime(world, log),
      portHolders: heldBy(),
      contentOf: recognizer.contentOf.bind(recognizer),
      recognize: recognizer.recognize.bind(recognizer),
      preflight,
      drain: {
        isDrained: () => world.drained !== false,
        findExclusives: () => (world.drained === false || world.hasPinnedPods ? { kind: 'held', by: 'a static pod' } : { kind: 'none' }),
      },
      evidence: new SimEvidence(world),
      jobs: { dependencyFailedUs: async () => world.unit.dependencyFailedUs },
      lastWords: { of: async (invocationId) => (world.kind.journal ? world.unit.lastWords(invocationId) : undefined) },
    },
    effects: {
      ...{ ...shared, preflight, history: new FileHistory({ files, directory: DIRECTORY, clock, log }), log },
      statesFlag: new StatesFlag({ files, checkpoints, activation, dynamicConfigDir: DIRECTORY }),
    },
    observer,
    log,
  })
}

/**
 * The agent's own memory of what the runtime answered last. A pass that waits for an answer takes
 * time, in which the node goes on.
 */
function probeRuntime(world: SimWorld, log: Log): RuntimeProbe {
  const { runtime } = world.unit
  if (!world.kind.remembersRuntime) return { isUp: async (socket) => runtime.isUp(socket) }
  const probe = async (socket: string) => {
    const isUp = await runtime.ask(socket)
    if (isUp) return { ok: true, value: { runtimeReady: true } } as const
    return { ok: false, why: 'down', detail: 'it does not answer' } as const
  }
  return new RecentAnswers({
    runtime: { probe },
    clock: { now: () => world.now() },
    sleep: (ms) => world.waitForRuntime(ms),
    log,
    waitMs: MOST_WAIT_MS,
    onChange: () => {
      world.woken = true
    },
  })
}

export function activationOn(world: SimWorld, files: DurableFiles): Activation {
  if (world.kind.activation === 'env') return new EnvActivation({ files, dynamicConfigDir: DIRECTORY, envFile: ENV_FILE })
  const ownership = { give: () => {} }
  const clock = { now: () => world.now() }
  if (world.kind.activation === 'drop-in')
    return new DropInActivation({ files, clock, dynamicConfigDir: DIRECTORY, runtimeDir: RUNTIME_DIRECTORY })
  return new FileActivation({ files, ownership, clock, dynamicConfigDir: DIRECTORY, runtimeDir: RUNTIME_DIRECTORY })
}

/**
 * Of a file that is gone, what it held last applies. Of one that was never read, nothing is known.
 */
class SimConfigFacts implements ConfigFacts {
  readonly #files: DurableFiles
  readonly #texts = new Map<string, string>()

  constructor(files: DurableFiles) {
    this.#files = files
  }

  /** A simulated drop-in sets every field. */
  async of({ path: main = LOCAL_PATH, directory, own }: ConfigFiles) {
    const over = own === undefined ? directory && DROP_IN_PATH : own.content
    const path = over !== undefined && this.#files.stat(over) !== undefined ? over : main
    const text = this.#read(path) ?? this.#texts.get(path)
    if (text === undefined) return undefined
    this.#texts.set(path, text)
    const port = healthzPortOf(text)
    return { healthz: port === 0 ? ('none' as const) : { host: '127.0.0.1', port }, runtimeEndpoint: runtimeEndpointOf(text) }
  }

  #read(path: string): string | undefined {
    try {
      return this.#files.read(path)?.toString()
    } catch {
      return undefined
    }
  }
}
