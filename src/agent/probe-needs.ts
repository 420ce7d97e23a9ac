// SPDX-License-Identifier: Apache-2.0
/**
 * Probes what kubelet needs besides its config: the container runtimes that it uses, or would use,
 * that of the fallback and that of its next start, and the ports that somebody else may have.
 */
import { isDeepStrictEqual } from 'node:util'
import { localPathBeside } from '../decision/base-config.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { StepOf } from '../decision/step.ts'
import type { HealthRecord } from '../health/fold.ts'
import { findTakenAddress } from '../health/last-words.ts'
import { DEFAULT_HEALTHZ } from '../kubelet/config-file.ts'
import { describeStranger } from '../kubelet/verified-health.ts'
import type { ConfigFacts, PortHolders, RuntimeProbe } from '../ports/probes.ts'
import type { Checkpoints } from '../ports/store.ts'
import { type HeldSource, sameSource } from '../subject/config-source.ts'
import { contentOfKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { asArguments, flagValue } from '../systemd/command-line.ts'
import { isKubeletInside } from '../systemd/distribution.ts'
import { findHealthTarget, findServingPort, isCriSocket, listConfigFiles, resolveRuntimeSocket } from './config-files.ts'

/** The state of the container runtime and the ports. undefined: not known, or not probed. */
export interface NeedsObservation {
  /**
   * Whether the container runtime that the fallback names answers. The candidate's does not count:
   * a config that names a dead socket must not be excused by it.
   */
  readonly runtimeUp: boolean | undefined
  /** The config that kubelet starts with next names another runtime than the fallback does. */
  readonly changesRuntime: boolean | undefined
  /** Whether that other runtime answers. */
  readonly targetRuntimeUp: boolean | undefined
  /** See `HealthSample.portTaken`. */
  readonly portTaken?: string | undefined
  /**
   * The running config has another health port than the fallback. Asked where a stranger has the
   * port.
   */
  readonly movesHealthPort?: boolean | undefined
}

export const NOT_PROBED: NeedsObservation = { runtimeUp: undefined, changesRuntime: undefined, targetRuntimeUp: undefined }

export interface NeedsPorts {
  readonly configFacts: ConfigFacts
  readonly checkpoints: Pick<Checkpoints, 'path'>
  readonly runtimeProbe: RuntimeProbe
  readonly portHolders: PortHolders
  /** The socket of the container runtime that this node seems to have, where nothing names one. */
  readonly defaultRuntimeSocket: () => string | undefined
}

type SocketPorts = Omit<NeedsPorts, 'runtimeProbe' | 'portHolders'>

interface Starts {
  readonly lastKnownGood: HeldSource
  /** undefined: what kubelet starts with next is not known. */
  readonly next: HeldSource | undefined
  /** Kubelet runs that, and a stranger has its health port. */
  readonly lacksHealthPort?: boolean
  /** The health record of this boot. */
  readonly health: Pick<HealthRecord, 'recentExits' | 'subject' | 'exits'> | undefined
}

/** A runtime that k3s starts ends with k3s, so it is no excuse for a kubelet that ended k3s. */
export async function probeNeeds(ports: NeedsPorts, unit: KnownUnit, starts: Starts): Promise<NeedsObservation> {
  const { lastKnownGood, next } = starts
  if (isKubeletInside(unit.command)) return NOT_PROBED
  const isNext = next?.onlyInPlace === true && sameSource(lastKnownGood.source, next.source)
  const fallback = await findRuntimeSocket(ports, unit, isNext ? next : lastKnownGood, next)
  const target = next === undefined ? undefined : await findRuntimeSocket(ports, unit, next, next)
  const areKnown = fallback?.isGuessed === false && target?.isGuessed === false
  const changesRuntime = areKnown ? fallback.path !== target.path : undefined
  const probe = async (socket: RuntimeSocket | undefined) => (isCriSocket(socket?.path) ? ports.runtimeProbe.isUp(socket.path) : undefined)
  const [runtimeUp, targetRuntimeUp, portTaken, movesHealthPort] = await Promise.all([
    probe(fallback),
    changesRuntime === true ? probe(target) : undefined,
    findPortTaken(ports, unit, starts),
    movesHealth(ports, unit, starts),
  ])
  return { runtimeUp, changesRuntime, targetRuntimeUp, portTaken, movesHealthPort }
}

/** undefined: not known. */
async function movesHealth(
  ports: NeedsPorts,
  unit: KnownUnit,
  { lastKnownGood, next, lacksHealthPort }: Starts,
): Promise<boolean | undefined> {
  if (next === undefined || lacksHealthPort !== true) return undefined
  const facts = await Promise.all([next, lastKnownGood].map((held) => readFacts(ports, unit, held, next)))
  const [ours, fallbacks] = facts.map((each) => each && findHealthTarget(unit, each.healthz ?? DEFAULT_HEALTHZ))
  return ours === undefined || fallbacks === undefined ? undefined : !isDeepStrictEqual(ours, fallbacks)
}

/**
 * Who has the port for which kubelet exited last. A config that moved kubelet to that port, or to
 * another address of it, is left like any other that fails, since the fallback can start.
 */
async function findPortTaken(ports: NeedsPorts, unit: KnownUnit, { lastKnownGood, next, health }: Starts): Promise<string | undefined> {
  const taken = health === undefined || health.exits === 0 ? undefined : findTakenAddress(health)
  if (taken === undefined || next === undefined) return undefined
  const configs = await Promise.all([next, lastKnownGood].map((held) => readFacts(ports, unit, held, next)))
  const [ours, fallbacks] = configs.map((facts) => facts && listListeners(facts, unit, taken.port))
  if (ours === undefined || fallbacks === undefined || !ours.some((each) => fallbacks.includes(each))) return undefined
  const holder = await ports.portHolders.keeperOf(taken, 'pid' in unit.process ? unit.process.pid : undefined)
  return holder.kind === 'stranger' ? describeStranger(taken, holder.uid) : undefined
}

/**
 * The addresses at which a kubelet with this config listens at the port, and without which it does
 * not start. Its flags win over its config.
 */
function listListeners({ serving, readOnlyPort }: Partial<Facts>, unit: KnownUnit, port: number): readonly string[] {
  const own = findServingPort(unit, serving)
  const readOnly = Number(flagValue(asArguments(unit.command?.words ?? []), 'read-only-port') ?? readOnlyPort)
  return (own.isOff !== true && own.port === port) || readOnly === port ? [own.host] : []
}

/**
 * Reads ahead, while a config is checked, which runtimes the two configs name: the pass that
 * restarts kubelet into it then does not wait for a parser. Asks none of them, since that pass
 * needs an answer of its own.
 */
export async function readRuntimesAhead(ports: SocketPorts, step: StepOf<'preflight'>, snapshot: Snapshot): Promise<void> {
  const { unit, lastKnownGood, nextStart } = snapshot
  const isOnDisk = step.data === undefined
  if (step.fallback || !isOnDisk || unit.kind === 'unknown' || isKubeletInside(unit.command)) return
  const next = { source: step.source, content: contentOfKey(step.key) }
  const inPlace = nextStart.kind === 'known' ? nextStart.held : undefined
  await Promise.all([lastKnownGood, next].map((held) => findRuntimeSocket(ports, unit, held, inPlace))).catch(() => {})
}

interface RuntimeSocket {
  readonly path: string
  /** The config that might name it cannot be read. */
  readonly isGuessed: boolean
}

/** @param inPlace what kubelet starts with next. undefined: not known */
async function findRuntimeSocket(
  ports: SocketPorts,
  unit: KnownUnit,
  held: HeldSource,
  inPlace: HeldSource | undefined,
): Promise<RuntimeSocket | undefined> {
  const named = unit.runtimeEndpoint === undefined ? await readFacts(ports, unit, held, inPlace) : {}
  const path = resolveRuntimeSocket(unit, named?.runtimeEndpoint, ports.defaultRuntimeSocket)
  return path === undefined ? undefined : { path, isGuessed: named === undefined }
}

type Facts = NonNullable<Awaited<ReturnType<ConfigFacts['of']>>>

/** undefined: the config cannot be read. */
async function readFacts(
  ports: SocketPorts,
  unit: KnownUnit,
  held: HeldSource,
  inPlace: HeldSource | undefined,
): Promise<Partial<Facts> | undefined> {
  const path = findFile(ports, unit, held, inPlace)
  if (path === undefined && unit.wiring.kind === 'ready' && unit.wiring.replacesLocalFile) return undefined
  const files = listConfigFiles(unit, path)
  return files === undefined ? {} : ports.configFacts.of(files)
}

/**
 * Where the checkpoint is gone, the file in place still holds the config. undefined: kubelet has no
 * local config, or nobody knows where it is.
 */
function findFile({ checkpoints }: SocketPorts, unit: KnownUnit, held: HeldSource, inPlace: HeldSource | undefined): string | undefined {
  if (held.source === 'local') return localPathBeside(unit, inPlace)
  return held.onlyInPlace === true && unit.wiring.kind === 'ready' ? unit.wiring.path : checkpoints.path(held.source)
}
