// SPDX-License-Identifier: Apache-2.0
/**
 * Observes kubelet: systemd's word on the unit, and the answer of its health port. This is the part
 * of a pass that takes a command and requests, and so most of its time.
 */
import { isDeepStrictEqual } from 'node:util'
import { runningConfigPath } from '../decision/base-config.ts'
import type { RestartRecord } from '../decision/records.ts'
import { asksForJobs, explainDown } from '../decision/why-down.ts'
import type { HealthRecord } from '../health/fold.ts'
import type { HealthPort } from '../health/process.ts'
import { type HealthAnswer, PORT_NOT_KNOWN } from '../health/sample.ts'
import { DEFAULT_HEALTHZ } from '../kubelet/config-file.ts'
import type { Clock } from '../ports/clock.ts'
import type { ConfigFacts, HealthProbe } from '../ports/probes.ts'
import type { Checkpoints, RecordStore } from '../ports/store.ts'
import type { Unit, UnitJobs } from '../ports/unit.ts'
import { type ContentHash, nameEarlier } from '../subject/config-source.ts'
import type { KnownUnit, UnitState } from '../subject/unit-state.ts'
import type { Instant } from '../values/durations.ts'
import { configDirectory, findHealthTarget } from './config-files.ts'
import { readContentOnce } from './node-configs.ts'

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
  readonly records: RecordStore<'health'>
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
  if (unit.kind === 'unknown' || unit.process.kind === 'none' || unit.process.kind === 'unknown')
    return { port: undefined, healthz: undefined }
  const port = await findHealthPort(ports, unit)
  const target = findHealthTarget(unit, port)
  if (target === 'none') return { port, healthz: undefined }
  return { port, healthz: target === undefined ? PORT_NOT_KNOWN : await ports.probe.healthz(target, unit.process.pid) }
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
  const record = ports.records.get('health')
  const seen = record?.bootId === ports.clock.now().bootId ? record.lastProcess : undefined
  if (seen?.invocationId === unit.invocationId) {
    if (seen.healthPort !== undefined) return seen.healthPort
    if (!isStillThere(ports, unit, seen.content)) return undefined
  }
  return (await ports.configFacts.of({ path, directory: configDirectory(unit) }))?.healthz
}

/** Whether the file holds what the process was started with, as far as that is known. */
function isStillThere(ports: KubeletPorts, { process, invocationId }: KnownUnit, content: ContentHash): boolean {
  if (process.kind !== 'checkpoint') return content !== nameEarlier(invocationId)
  return readContentOnce(ports.checkpoints).contentToStart({ ...process, kubeletConfigKey: process.key }) === content
}

interface ExplainPorts {
  readonly jobs: UnitJobs
  readonly clock: Clock
}

/**
 * Finds out why the unit is down, where its state alone does not tell. The journal is asked only
 * where a start that the agent or systemd began may have come to nothing.
 * @param health the record of this boot
 * @param restarts that the agent has requested
 */
export async function explainUnit(
  { jobs, clock }: ExplainPorts,
  unit: UnitState,
  health: HealthRecord | undefined,
  restarts: readonly RestartRecord[],
): Promise<UnitState> {
  if (unit.kind === 'unknown' || unit.down === undefined) return unit
  const past = { health, restarts, now: clock.now() }
  if (!asksForJobs(unit, past)) return explainDown(unit, past)
  const down = { ...unit.down, dependencyFailedUs: await jobs.dependencyFailedUs() }
  return explainDown({ ...unit, down }, past)
}
