/**
 * Probes the container runtimes that kubelet uses, or would use: that of the fallback, and that of
 * its next start.
 */
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
  const fallback = await findRuntimeSocket(ports, unit, isNext ? next : lastKnownGood)
  const target = next === undefined ? undefined : await findRuntimeSocket(ports, unit, next)
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
  const { unit, lastKnownGood } = snapshot
  const isOnDisk = step.data === undefined
  if (step.fallback || !isOnDisk || unit.kind === 'unknown' || isKubeletInside(unit.command)) return
  const next = { source: step.source, content: contentOfKey(step.key) }
  await Promise.all([lastKnownGood, next].map((held) => findRuntimeSocket(ports, unit, held))).catch(() => {})
}

interface RuntimeSocket {
  readonly path: string
  /** The config that might name it cannot be read. */
  readonly isGuessed: boolean
}

/** Kubelet's flag wins over its config. A kubelet whose config names none takes the default. */
async function findRuntimeSocket(ports: SocketPorts, unit: KnownUnit, held: HeldSource): Promise<RuntimeSocket | undefined> {
  // A file that the agent replaces holds the candidate, not the local config.
  const isReplaced = held.source === 'local' && unit.wiring.kind === 'ready' && unit.wiring.replacesLocalFile
  const files = listConfigFiles(unit, findFile(ports, unit, held))
  const inConfig = async () => (isReplaced || files === undefined ? undefined : (await ports.configFacts.of(files)).runtimeEndpoint)
  const endpoint = unit.runtimeEndpoint ?? (await inConfig()) ?? ports.defaultRuntimeSocket()
  return endpoint === undefined ? undefined : { path: toSocketPath(endpoint), isGuessed: isReplaced && unit.runtimeEndpoint === undefined }
}

/** Where the checkpoint is gone, the file in place still holds the config. undefined: local. */
function findFile({ checkpoints }: SocketPorts, { wiring }: KnownUnit, { source, onlyInPlace }: HeldSource): string | undefined {
  if (source === 'local') return undefined
  return onlyInPlace === true && wiring.kind === 'ready' ? wiring.path : checkpoints.path(source)
}

/** Kubelet itself serves dockershim's socket, up to 1.23: it says nothing of the runtime. */
export function isCriSocket<T extends { readonly path: string }>(socket: T | undefined): socket is T {
  return socket?.path.startsWith('/') === true && !socket.path.endsWith('/dockershim.sock')
}
