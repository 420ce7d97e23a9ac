/**
 * Observes kubelet: systemd's word on the unit, the answer of its health port, and the container
 * runtime's. This is the part of a pass that takes a command and requests, and so most of its time.
 */
import { posix } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { runningConfigPath } from '../decision/base-config.ts'
import { type ContentHash, type HeldSource, sameSource } from '../decision/config-source.ts'
import type { HealthAnswer, HealthPort } from '../decision/health.ts'
import type { Instant } from '../decision/instant.ts'
import { nameEarlier } from '../decision/missing-content.ts'
import type { KnownUnit, UnitState } from '../decision/unit-state.ts'
import { DEFAULT_HEALTHZ } from '../kubelet/health-target.ts'
import type { Clock } from '../ports/clock.ts'
import type { ConfigFacts, ConfigFiles, HealthProbe, HealthTarget, RuntimeProbe } from '../ports/probes.ts'
import type { Checkpoints, RuntimeRecords } from '../ports/store.ts'
import type { Unit } from '../ports/unit.ts'
import { asArguments, flagValue } from '../systemd/flags.ts'
import { isKubeletInside } from '../systemd/kubelet-inside.ts'
import { readContentOnce } from './content-once.ts'

export interface KubeletObservation {
  readonly at: Instant
  readonly unit: UnitState
  /** As the config file says that the process was started with. undefined: not known. */
  readonly port: HealthPort | undefined
  readonly healthz: HealthAnswer
}

type Probed = Pick<KubeletObservation, 'port' | 'healthz'>

export interface KubeletPorts {
  readonly clock: Clock
  readonly unit: Pick<Unit, 'observe'>
  readonly probe: HealthProbe
  readonly configFacts: ConfigFacts
  readonly checkpoints: Pick<Checkpoints, 'path' | 'content' | 'hasKey' | 'isUnreadable' | 'knownAs'>
  readonly runtime: Pick<RuntimeRecords, 'health'>
}

/** Probes the health of the process that was seen before, without asking systemd. */
export async function probeKubeletAgain(ports: KubeletPorts, { unit }: KubeletObservation): Promise<KubeletObservation> {
  const probed = await probeHealth(ports, unit)
  return { at: ports.clock.now(), unit, ...probed }
}

/** @param before its process is probed while systemd is asked, since it mostly still runs */
export async function observeKubelet(ports: KubeletPorts, before?: KubeletObservation): Promise<KubeletObservation> {
  const probing = before && settle(probeHealth(ports, before.unit))
  const unit = await ports.unit.observe()
  const early = await probing
  const probed = early?.ok === true && isSameProcess(unit, before?.unit) ? early.value : await probeHealth(ports, unit)
  return { at: ports.clock.now(), unit, ...probed }
}

async function probeHealth(ports: KubeletPorts, unit: UnitState): Promise<Probed> {
  const hasProcess = unit.kind === 'known' && unit.process.kind !== 'none' && unit.process.kind !== 'unknown'
  if (!hasProcess) return { port: undefined, healthz: undefined }
  const port = await findHealthPort(ports, unit)
  const target = addFlags(port, unit)
  if (target === 'none') return { port, healthz: undefined }
  return { port, healthz: target === undefined ? 'unknown' : await ports.probe.healthz(target) }
}

function isSameProcess(unit: UnitState, before: UnitState | undefined): boolean {
  if (unit.kind === 'unknown' || before === undefined || before.kind === 'unknown') return false
  return unit.invocationId === before.invocationId && isDeepStrictEqual(unit.process, before.process)
}

/** For a promise that may be left behind: its rejection must not end the process. */
async function settle<T>(work: Promise<T>): Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false }> {
  return work.then(
    (value) => ({ ok: true, value }),
    () => ({ ok: false }),
  )
}

/**
 * The port belongs to the process. Its file may be gone or hold another config by now: the
 * directory was lost, a restore of etcd gave the version other content, or the agent has replaced
 * the file. So it is recorded when the process is first seen.
 */
async function findHealthPort(ports: KubeletPorts, unit: KnownUnit): Promise<HealthPort | undefined> {
  const path = runningConfigPath(ports.checkpoints, unit)
  if (path === undefined) return DEFAULT_HEALTHZ
  const record = ports.runtime.health()
  const seen = record?.bootId === ports.clock.now().bootId ? record.lastProcess : undefined
  if (seen?.invocationId === unit.invocationId) {
    if (seen.healthPort !== undefined) return seen.healthPort
    if (!isStillThere(ports, unit, seen.content)) return undefined
  }
  return (await ports.configFacts.of({ path, directory: configDirectory(unit) })).healthz
}

/** Whether the file holds what the process was started with, as far as that is known. */
function isStillThere(ports: KubeletPorts, { process, invocationId }: KnownUnit, content: ContentHash): boolean {
  if (process.kind !== 'checkpoint') return content !== nameEarlier(invocationId)
  return readContentOnce(ports.checkpoints).contentToStart({ ...process, kubeletConfigKey: process.key }) === content
}

/** Kubelet's flags win over its config. */
function addFlags(fromFile: HealthPort | undefined, { healthzFlags }: KnownUnit): HealthTarget | 'none' | undefined {
  const file = fromFile === 'none' ? { port: 0, host: undefined } : fromFile
  const port = healthzFlags.port ?? file?.port
  if (port === undefined) return undefined
  return port === 0 ? 'none' : { host: healthzFlags.address ?? file?.host ?? DEFAULT_HEALTHZ.host, port }
}

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

export interface RuntimePorts extends KubeletPorts {
  readonly runtimeProbe: RuntimeProbe
  /** The socket of the container runtime that this node seems to have, where nothing names one. */
  readonly defaultRuntimeSocket: () => string | undefined
}

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

interface RuntimeSocket {
  readonly path: string
  /** The config that might name it cannot be read. */
  readonly isGuessed: boolean
}

/** Kubelet's flag wins over its config. A kubelet whose config names none takes the default. */
async function findRuntimeSocket(ports: RuntimePorts, unit: KnownUnit, held: HeldSource): Promise<RuntimeSocket | undefined> {
  // A file that the agent replaces holds the candidate, not the local config.
  const isReplaced = held.source === 'local' && unit.wiring.kind === 'ready' && unit.wiring.replacesLocalFile
  const files = listConfigFiles(unit, findFile(ports, unit, held))
  const inConfig = async () => (isReplaced || files === undefined ? undefined : (await ports.configFacts.of(files)).runtimeEndpoint)
  const endpoint = unit.runtimeEndpoint ?? (await inConfig()) ?? ports.defaultRuntimeSocket()
  return endpoint === undefined ? undefined : { path: toSocketPath(endpoint), isGuessed: isReplaced && unit.runtimeEndpoint === undefined }
}

/** Where the checkpoint is gone, the file in place still holds the config. undefined: local. */
function findFile({ checkpoints }: RuntimePorts, { wiring }: KnownUnit, { source, onlyInPlace }: HeldSource): string | undefined {
  if (source === 'local') return undefined
  return onlyInPlace === true && wiring.kind === 'ready' ? wiring.path : checkpoints.path(source)
}

/**
 * The files that kubelet makes this config of, whatever the agent has put in place.
 * @param checkpoint undefined: the local config
 */
export function listConfigFiles(unit: KnownUnit, checkpoint: string | undefined): ConfigFiles | undefined {
  const { localConfigPath, wiring } = unit
  const directory = configDirectory(unit)
  if (wiring.kind !== 'ready' || !wiring.laysOverLocal) {
    const path = checkpoint ?? localConfigPath
    return path === undefined ? undefined : { path, directory }
  }
  const content = checkpoint === localConfigPath ? undefined : checkpoint
  return { path: localConfigPath, directory, own: { path: wiring.path, content } }
}

/** Of kubelet's drop-ins. A process that runs was started with what is in place. */
function configDirectory({ wiring, command }: KnownUnit): string | undefined {
  if (wiring.kind === 'ready' && wiring.laysOverLocal) return posix.dirname(wiring.path)
  return flagValue(asArguments(command?.words ?? []), 'config-dir') || undefined
}

/** The same path for the same socket: /var/run is a link to /run (file-hierarchy(7)). */
export function toSocketPath(endpoint: string): string {
  return endpoint.replace(/^unix:(\/\/)?/, '').replace(/^\/var\/run\//, '/run/')
}

/** Kubelet itself serves dockershim's socket, up to 1.23: it says nothing of the runtime. */
export function isCriSocket<T extends { readonly path: string }>(socket: T | undefined): socket is T {
  return socket?.path.startsWith('/') === true && !socket.path.endsWith('/dockershim.sock')
}
