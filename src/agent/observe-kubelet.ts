/**
 * Observes kubelet: systemd's word on the unit and the answer of its health port. This is the part
 * of a pass that takes a command and a request, and so most of its time.
 */
import { isDeepStrictEqual } from 'node:util'
import { runningConfigPath } from '../decision/base-config.ts'
import type { ConfigSource } from '../decision/config-source.ts'
import type { HealthSample } from '../decision/health.ts'
import type { Instant } from '../decision/instant.ts'
import type { KnownUnit, UnitState } from '../decision/unit-state.ts'
import { DEFAULT_HEALTHZ } from '../kubelet/health-target.ts'
import type { Clock } from '../ports/clock.ts'
import type { ConfigFacts, HealthProbe, HealthTarget } from '../ports/probes.ts'
import type { Checkpoints } from '../ports/store.ts'
import type { Unit } from '../ports/unit.ts'

export interface KubeletObservation {
  readonly at: Instant
  readonly unit: UnitState
  readonly healthz: HealthSample['healthz']
}

export interface KubeletPorts {
  readonly clock: Clock
  readonly unit: Pick<Unit, 'observe'>
  readonly probe: HealthProbe
  readonly configFacts: ConfigFacts
  readonly checkpoints: Pick<Checkpoints, 'path'>
}

/** Probes the health of the process that was seen before, without asking systemd. */
export async function probeKubeletAgain(ports: KubeletPorts, { unit }: KubeletObservation): Promise<KubeletObservation> {
  const healthz = await probeHealth(ports, unit)
  return { at: ports.clock.now(), unit, healthz }
}

/** @param before its process is probed while systemd is asked, since it mostly still runs */
export async function observeKubelet(ports: KubeletPorts, before?: KubeletObservation): Promise<KubeletObservation> {
  const probed = before && settle(probeHealth(ports, before.unit))
  const unit = await ports.unit.observe()
  const early = await probed
  const healthz = early?.ok === true && isSameProcess(unit, before?.unit) ? early.value : await probeHealth(ports, unit)
  return { at: ports.clock.now(), unit, healthz }
}

async function probeHealth(ports: KubeletPorts, unit: UnitState): Promise<HealthSample['healthz']> {
  const target = unit.kind === 'known' ? await findHealthTarget(ports, unit) : undefined
  return target === undefined ? undefined : ports.probe.healthz(target)
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
 * Kubelet's flags win over its config. undefined: there is no process, or it has no health port.
 */
async function findHealthTarget(ports: KubeletPorts, unit: KnownUnit): Promise<HealthTarget | undefined> {
  if (unit.process.kind === 'none' || unit.process.kind === 'unknown') return undefined
  const path = runningConfigPath(ports.checkpoints, unit)
  const fromFile = path === undefined ? DEFAULT_HEALTHZ : (await ports.configFacts.of(path)).healthz
  const port = unit.healthzFlags.port ?? fromFile?.port
  if (port === undefined || port === 0) return undefined
  return { host: unit.healthzFlags.address ?? fromFile?.host ?? DEFAULT_HEALTHZ.host, port }
}

/**
 * Whether the container runtime accepts connections on the socket that the fallback names. The
 * candidate's socket does not count: a config that names a dead socket must not be excused by it.
 * undefined: which socket it is, is not known.
 */
export async function probeRuntime(
  ports: KubeletPorts & { readonly defaultRuntimeSocket: () => string | undefined },
  unit: KnownUnit,
  lastKnownGood: ConfigSource,
): Promise<boolean | undefined> {
  // A file that the agent replaces holds the candidate, not the local config.
  const isReplaced = unit.wiring.kind === 'ready' && unit.wiring.replacesLocalFile
  const local = isReplaced ? undefined : unit.localConfigPath
  const path = lastKnownGood === 'local' ? local : ports.checkpoints.path(lastKnownGood)
  const endpoint = unit.runtimeEndpoint ?? (path === undefined ? undefined : (await ports.configFacts.of(path)).runtimeEndpoint)
  const socket = endpoint === undefined ? ports.defaultRuntimeSocket() : endpoint.replace(/^unix:(\/\/)?/, '')
  if (socket === undefined) return undefined
  return socket.startsWith('/') ? ports.probe.socketAccepts(socket) : undefined
}
