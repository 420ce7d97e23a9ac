/**
 * Probes the container runtimes that kubelet uses, or would use: that of the fallback, and that of
 * its next start.
 */
import { localPathBeside } from '../decision/base-config.ts'
import { type HeldSource, sameSource } from '../decision/config-source.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { StepOf } from '../decision/step.ts'
import { contentOfKey } from '../decision/trial-key.ts'
import type { KnownUnit } from '../decision/unit-state.ts'
import type { ConfigFacts, RuntimeProbe } from '../ports/probes.ts'
import type { Checkpoints } from '../ports/store.ts'
import { isKubeletInside } from '../systemd/kubelet-inside.ts'
import { toSocketPath } from '../values/socket-path.ts'
import { listConfigFiles } from './config-files.ts'

/** What is known of the container runtime. undefined: not known, or not probed. */
export interface RuntimeObservation {
  /**
   * Whether the container runtime that the fallback names answers. The candidate's does not count:
   * a config that names a dead socket must not be excused by it.
   */
  readonly runtimeUp: boolean | undefined
  /** The config that kubelet starts with next names another runtime than the fallback does. */
  readonly changesRuntime: boolean | undefined
  /** Whether that other runtime answers. */
  readonly targetRuntimeUp: boolean | undefined
}

export const NOT_PROBED: RuntimeObservation = { runtimeUp: undefined, changesRuntime: undefined, targetRuntimeUp: undefined }

export interface RuntimePorts {
  readonly configFacts: ConfigFacts
  readonly checkpoints: Pick<Checkpoints, 'path'>
  readonly runtimeProbe: RuntimeProbe
  /** The socket of the container runtime that this node seems to have, where nothing names one. */
  readonly defaultRuntimeSocket: () => string | undefined
}

type SocketPorts = Omit<RuntimePorts, 'runtimeProbe'>

/**
 * A runtime that k3s starts ends with k3s, so it is no excuse for a kubelet that ended k3s.
 * @param next undefined: what kubelet starts with next is not known
 */
export async function probeRuntimes(
  ports: RuntimePorts,
  unit: KnownUnit,
  lastKnownGood: HeldSource,
  next: HeldSource | undefined,
): Promise<RuntimeObservation> {
  if (isKubeletInside(unit.command)) return NOT_PROBED
  const isNext = next?.onlyInPlace === true && sameSource(lastKnownGood.source, next.source)
  const fallback = await findRuntimeSocket(ports, unit, isNext ? next : lastKnownGood, next)
  const target = next === undefined ? undefined : await findRuntimeSocket(ports, unit, next, next)
  const areKnown = fallback?.isGuessed === false && target?.isGuessed === false
  const changesRuntime = areKnown ? fallback.path !== target.path : undefined
  const probe = async (socket: RuntimeSocket | undefined) => (isCriSocket(socket) ? ports.runtimeProbe.isUp(socket.path) : undefined)
  const [runtimeUp, targetRuntimeUp] = await Promise.all([probe(fallback), changesRuntime === true ? probe(target) : undefined])
  return { runtimeUp, changesRuntime, targetRuntimeUp }
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

/**
 * Kubelet's flag wins over its config. A kubelet whose config names none takes the default.
 * @param inPlace what kubelet starts with next. undefined: not known
 */
async function findRuntimeSocket(
  ports: SocketPorts,
  unit: KnownUnit,
  held: HeldSource,
  inPlace: HeldSource | undefined,
): Promise<RuntimeSocket | undefined> {
  const named = unit.runtimeEndpoint === undefined ? await readEndpoint(ports, unit, held, inPlace) : { endpoint: unit.runtimeEndpoint }
  const endpoint = named?.endpoint ?? ports.defaultRuntimeSocket()
  return endpoint === undefined ? undefined : { path: toSocketPath(endpoint), isGuessed: named === undefined }
}

/** undefined: the config cannot be read. */
async function readEndpoint(
  ports: SocketPorts,
  unit: KnownUnit,
  held: HeldSource,
  inPlace: HeldSource | undefined,
): Promise<{ readonly endpoint: string | undefined } | undefined> {
  const path = findFile(ports, unit, held, inPlace)
  if (path === undefined && unit.wiring.kind === 'ready' && unit.wiring.replacesLocalFile) return undefined
  const files = listConfigFiles(unit, path)
  if (files === undefined) return { endpoint: undefined }
  const facts = await ports.configFacts.of(files)
  return facts && { endpoint: facts.runtimeEndpoint }
}

/**
 * Where the checkpoint is gone, the file in place still holds the config. undefined: kubelet has no
 * local config, or nobody knows where it is.
 */
function findFile({ checkpoints }: SocketPorts, unit: KnownUnit, held: HeldSource, inPlace: HeldSource | undefined): string | undefined {
  if (held.source === 'local') return localPathBeside(unit, inPlace)
  return held.onlyInPlace === true && unit.wiring.kind === 'ready' ? unit.wiring.path : checkpoints.path(held.source)
}

/** Kubelet itself serves dockershim's socket, up to 1.23: it says nothing of the runtime. */
export function isCriSocket<T extends { readonly path: string }>(socket: T | undefined): socket is T {
  return socket?.path.startsWith('/') === true && !socket.path.endsWith('/dockershim.sock')
}
