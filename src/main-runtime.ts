/**
 * The container runtime, as the agent and its commands ask it. The client is loaded with the first
 * question: a node whose kubelet is well does not need it in memory.
 */
import { setTimeout as after } from 'node:timers/promises'
import { configDirectory, isCriSocket, resolveRuntimeSocket } from './agent/config-files.ts'
import { type CheckpointPaths, runningConfigPath } from './decision/base-config.ts'
import type { KnownUnit } from './decision/unit-state.ts'
import { lookAtSocket } from './directory/owned-files.ts'
import type { Clock } from './ports/clock.ts'
import type { Log } from './ports/log.ts'
import type { ConfigFacts, ContainerRuntime, RuntimeAnswer } from './ports/probes.ts'
import { RecentAnswers } from './runtime/recent-answers.ts'
import type { Settings } from './settings/settings.ts'

/** A pass must not take so long that each gap looks like an outage of the agent. */
export function mostWaitMs({ toleranceUs }: Settings): number {
  return Math.min(2000, Math.ceil(toleranceUs / 4000))
}

export interface RuntimeWorld {
  readonly settings: Settings
  readonly clock: Clock
  readonly log: Log
  /** Called when the container runtime begins or ceases to answer. */
  readonly onChange: () => void
}

export function openRuntime({ settings, clock, log, onChange }: RuntimeWorld) {
  const load = loadOnce()
  const sleep = (ms: number) => after(ms, undefined, { ref: false })
  return {
    runtime: lazyRuntime(load),
    runtimeProbe: new RecentAnswers({ load, clock, sleep, log, waitMs: mostWaitMs(settings), onChange }),
  }
}

interface Endpoints {
  readonly configFacts: ConfigFacts
  readonly checkpoints: CheckpointPaths
  readonly defaultRuntimeSocket: () => string | undefined
}

/** Of the runtime that kubelet uses now. */
export async function findRuntimeDoubt(
  { configFacts, checkpoints, defaultRuntimeSocket }: Endpoints,
  unit: KnownUnit,
): Promise<string | undefined> {
  const facts = await configFacts.of({ path: runningConfigPath(checkpoints, unit), directory: configDirectory(unit) })
  const socket = resolveRuntimeSocket(unit, facts?.runtimeEndpoint, defaultRuntimeSocket)
  if (!isCriSocket(socket)) return undefined
  const { stranger, warning } = lookAtSocket(socket)
  if (stranger !== undefined)
    return `${socket} is not asked about the container runtime, since ${stranger}: let only root own and write what leads there`
  return warning
}

/** After a failure the next call tries again: a package upgrade may have completed. */
function loadOnce(): () => Promise<ContainerRuntime> {
  let loaded: Promise<ContainerRuntime> | undefined
  return () => {
    loaded ??= openClient().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return loaded
  }
}

async function openClient(): Promise<ContainerRuntime> {
  const [{ CriRuntime }, { GrpcChannel }] = await Promise.all([import('./runtime/cri-runtime.ts'), import('./runtime/grpc-channel.ts')])
  return trustRoot(new CriRuntime((socket) => new GrpcChannel(socket)))
}

/** An answer that may be of another account than root says nothing of the container runtime. */
function trustRoot(runtime: ContainerRuntime): ContainerRuntime {
  const over = async <T>(socket: string, ask: (path: string) => Promise<RuntimeAnswer<T>>): Promise<RuntimeAnswer<T>> => {
    const { path, stranger } = lookAtSocket(socket)
    return stranger === undefined ? ask(path) : { ok: false, why: 'not-trusted', detail: `${socket} is not asked, since ${stranger}` }
  }
  return {
    probe: (socket) => over(socket, (path) => runtime.probe(path)),
    listPods: (socket) => over(socket, (path) => runtime.listPods(path)),
    cgroupDriver: (socket) => over(socket, (path) => runtime.cgroupDriver(path)),
  }
}

function lazyRuntime(load: () => Promise<ContainerRuntime>): ContainerRuntime {
  return {
    probe: async (socket) => (await load()).probe(socket),
    listPods: async (socket) => (await load()).listPods(socket),
    cgroupDriver: async (socket) => (await load()).cgroupDriver(socket),
  }
}
