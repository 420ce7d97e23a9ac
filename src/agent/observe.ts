/**
 * The look around: reads everything that matters and returns it as one Snapshot. Truth is read, not remembered; what cannot be read is
 * unknown. It writes the health record, into which each look is folded, and otherwise nothing but what an earlier pass could not.
 */
import { isDeepStrictEqual } from 'node:util'
import { runningConfigPath } from '../decision/base-config.ts'
import type { ConfigSource, ContentHash, HeldSource } from '../decision/config-source.ts'
import { LOCAL, LOCAL_CONTENT } from '../decision/config-source.ts'
import type { Desired } from '../decision/desired.ts'
import { resolveDesired } from '../decision/desired.ts'
import { findPause } from '../decision/find-pause.ts'
import type { HealthRecord, HealthSample, Running } from '../decision/health.ts'
import { forgetIllness, recordSample } from '../decision/health-record.ts'
import type { Instant } from '../decision/instant.ts'
import type { Policy } from '../decision/policy.ts'
import type { NextStart, Snapshot, Trouble } from '../decision/snapshot.ts'
import type { TrialKey } from '../decision/trial-key.ts'
import { trialKey } from '../decision/trial-key.ts'
import type { KnownUnit, UnitState } from '../decision/unit-state.ts'
import type { Acceptance } from '../decision/verdict.ts'
import { DEFAULT_HEALTHZ } from '../kubelet/health-target.ts'
import type { Activation, ActivationState } from '../ports/activation.ts'
import type { AssignmentSource } from '../ports/assignment-source.ts'
import type { Clock } from '../ports/clock.ts'
import type { Preflight } from '../ports/preflight.ts'
import type { ConfigFacts, DrainProbe, HealthProbe, HealthTarget } from '../ports/probes.ts'
import type { Checkpoints, OperatorRequests, Records, RuntimeRecords } from '../ports/store.ts'
import type { Unit } from '../ports/unit.ts'

const NOTHING: ReadonlySet<TrialKey> = new Set()

/** Everything the agent can look at. */
export interface ObservationPorts {
  readonly nodeName: string
  readonly policy: () => Policy
  readonly clock: Clock
  readonly assignment: Pick<AssignmentSource, 'desired'>
  readonly checkpoints: Checkpoints
  readonly records: Records
  readonly runtime: RuntimeRecords
  readonly requests: Pick<OperatorRequests, 'read'>
  readonly unit: Pick<Unit, 'observe' | 'stillRuns'>
  readonly activation: Pick<Activation, 'read'>
  readonly configFacts: ConfigFacts
  readonly probe: HealthProbe
  /** Content of an object as a checkpoint of it would have. */
  readonly contentOf: (data: Readonly<Record<string, string>>, key: string) => ContentHash
  readonly accepted: ReadonlyMap<TrialKey, Acceptance>
  /** undefined: nobody here can judge. */
  readonly preflight: Pick<Preflight, 'basis' | 'pending'> | undefined
  readonly drain: DrainProbe
  /** The socket of the runtime that this node seems to have, where neither flag nor config names one. */
  readonly defaultRuntimeSocket: () => string | undefined
}

/** What was seen of kubelet: the part of a look that takes a command and a request, and so most of its time. */
export interface KubeletObservation {
  readonly at: Instant
  readonly unit: UnitState
  readonly healthz: HealthSample['healthz']
}

type KubeletPorts = Pick<ObservationPorts, 'clock' | 'unit' | 'probe' | 'configFacts'> & { readonly checkpoints: Pick<Checkpoints, 'path'> }

/** The process of a look before is asked for its health, as long as it is the same one. */
export async function probeKubeletAgain(eyes: KubeletPorts, { unit }: KubeletObservation): Promise<KubeletObservation> {
  const healthz = await askHealth(eyes, unit)
  return { at: eyes.clock.now(), unit, healthz }
}

/** @param before the process that was there then is asked while systemd is: most often it is still the one. */
export async function observeKubelet(eyes: KubeletPorts, before?: KubeletObservation): Promise<KubeletObservation> {
  const asked = before && settle(askHealth(eyes, before.unit))
  const unit = await eyes.unit.observe()
  const early = await asked
  const healthz = early?.ok === true && isSameProcess(unit, before?.unit) ? early.value : await askHealth(eyes, unit)
  return { at: eyes.clock.now(), unit, healthz }
}

async function askHealth(eyes: KubeletPorts, unit: UnitState): Promise<HealthSample['healthz']> {
  const target = unit.kind === 'known' ? await findHealthTarget(eyes, unit) : undefined
  return target === undefined ? undefined : eyes.probe.healthz(target)
}

function isSameProcess(unit: UnitState, before: UnitState | undefined): boolean {
  if (unit.kind === 'unknown' || before === undefined || before.kind === 'unknown') return false
  return unit.invocationId === before.invocationId && isDeepStrictEqual(unit.process, before.process)
}

/** A promise that nobody may wait for must not reject. */
async function settle<T>(work: Promise<T>): Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false }> {
  return work.then(
    (value) => ({ ok: true, value }),
    () => ({ ok: false }),
  )
}

/** @param kubelet as seen a moment ago; without it, kubelet is looked at now. */
export async function observe(eyes: ObservationPorts, troubles: readonly Trouble[], kubelet?: KubeletObservation): Promise<Snapshot> {
  const { checkpoints, records, runtime } = eyes
  const policy = eyes.policy()
  const { at, unit, healthz } = kubelet ?? (await observeKubelet(eyes))
  const before = runtime.health()
  const boot = eyes.clock.now().bootId
  const known = before?.bootId === boot ? before : undefined
  const activation: ActivationState = readActivation(eyes, unit)
  const nextStart = resolveNextStart(activation, checkpoints)
  const lastKnownGood = holdFallback(records, checkpoints, 'last-known-good')
  const previous = holdFallback(records, checkpoints, 'previous')
  const running = identifyRunning(unit, known, activation, boot, checkpoints)
  const settled = running.kind === 'known' && nextStart.kind === 'known' && running.content === nextStart.held.content
  const well = settled && unit.kind === 'known' && unit.activity === 'running' && healthz?.ok !== false
  // Asked where it matters: kubelet is not well, or may be about to be restarted.
  const runtimeUp = well || unit.kind === 'unknown' ? undefined : await probeRuntime(eyes, unit, lastKnownGood.source)
  const now = eyes.clock.now()
  const requests = eyes.requests.read()
  const assigned = records.read('assigned')
  const assignedContent = assigned.kind === 'source' ? contentOf(assigned.source, checkpoints) : undefined
  const held: HeldSource[] = [LOCAL, lastKnownGood, previous]
  if (nextStart.kind === 'known') held.unshift(nextStart.held)
  if (assigned.kind === 'source') held.push({ source: assigned.source, content: assignedContent })
  const sample = { at, unit, running, healthz, runtimeUp }
  const desired = eyes.assignment.desired()
  const recordedChannelState = records.channelState()
  const paused = findPause({ requests, desired, recordedChannelState }) !== undefined
  const health = foldHealth(eyes, before, sample, nextStart, policy, paused, held)
  const drained = waitsForDrain(eyes, unit, running, assignedContent) ? eyes.drain.isDrained() : undefined
  return {
    now,
    nodeName: eyes.nodeName,
    policy,
    desired,
    desiredContent: contentOfDesired(eyes, desired),
    storedContent: findStored(desired, checkpoints),
    requests,
    recordedChannelState,
    assigned,
    assignedContent,
    lastKnownGood,
    previous,
    proven: records.proven(),
    verdicts: records.verdicts(),
    accepted: eyes.accepted,
    preflightPending: eyes.preflight?.pending() ?? NOTHING,
    basis: eyes.preflight?.basis(),
    drained,
    unit,
    nextStart,
    running,
    health,
    runtimeUp,
    restarts: runtime.restarts(),
    spread: runtime.spread(),
    checkpoints: checkpoints.list(),
    troubles,
  }
}

/** Asked only as long as what is assigned waits for it. */
function waitsForDrain(eyes: ObservationPorts, unit: UnitState, running: Running, assigned: ContentHash | undefined): boolean {
  if (unit.kind === 'unknown' || assigned === undefined || (running.kind === 'known' && running.content === assigned)) return false
  const acceptance = eyes.accepted.get(trialKey(assigned, unit.kubeletIdentity))
  return acceptance !== undefined && acceptance.drain.length > 0
}

function contentOf(source: ConfigSource, checkpoints: Checkpoints): ContentHash | undefined {
  return source === 'local' ? LOCAL_CONTENT : checkpoints.content(source)
}

function contentOfDesired(eyes: ObservationPorts, desired: Desired): ContentHash | undefined {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return undefined
  const { data, rendered } = desired.object
  return eyes.contentOf(rendered?.data ?? data, desired.ref.kubeletConfigKey)
}

function findStored(desired: Desired, checkpoints: Checkpoints): ContentHash | undefined {
  const source = resolveDesired(desired)
  return source === undefined || source === 'local' ? undefined : checkpoints.content(source)
}

/** A fallback that has no checkpoint, or whose record was damaged, is local: it cannot be downloaded again. The records say so aloud. */
function holdFallback(records: Records, checkpoints: Checkpoints, name: 'last-known-good' | 'previous'): HeldSource {
  const record = records.read(name)
  if (record.kind === 'damaged' || record.source === 'local') return LOCAL
  const content = checkpoints.content(record.source)
  const held = { source: record.source, content }
  return content === undefined && checkpoints.isUnreadable(record.source) ? { ...held, unreadable: true } : held
}

function readActivation(eyes: ObservationPorts, unit: UnitState): ActivationState {
  if (unit.kind === 'unknown') return { kind: 'unknown', detail: unit.detail }
  if (unit.wiring.kind === 'broken') return { kind: 'unknown', detail: unit.wiring.detail }
  return eyes.activation.read(unit.wiring)
}

function resolveNextStart(activation: ActivationState, checkpoints: Checkpoints): NextStart {
  switch (activation.kind) {
    case 'unknown':
      return activation
    case 'local':
      return { kind: 'known', held: LOCAL }
    case 'checkpoint':
      return { kind: 'known', held: { source: activation.source, content: checkpoints.content(activation.source) } }
  }
}

/** What a process runs is fixed when it is first seen: a checkpoint replaced or a binary upgraded under it changes nothing. */
function identifyRunning(
  unit: UnitState,
  health: HealthRecord | undefined,
  activation: ActivationState,
  bootId: string,
  checkpoints: Checkpoints,
): Running {
  if (unit.kind === 'unknown') return { kind: 'unknown', detail: unit.detail }
  const { process } = unit
  if (process.kind === 'none') return { kind: 'none' }
  if (process.kind === 'unknown') return process
  const seen = health?.lastProcess?.invocationId === unit.invocationId ? health.lastProcess : undefined
  const content = seen?.content ?? identifyContent(unit, process, activation, bootId, checkpoints)
  const key = trialKey(content, seen?.kubeletIdentity ?? unit.kubeletIdentity)
  return { kind: 'known', content, key, startedAtUs: unit.startedAtUs, invocationId: unit.invocationId }
}

/** Names that no content has, for what is neither local nor a checkpoint we have: different from everything, so a restart is due. */
function identifyContent(
  unit: KnownUnit,
  process: Exclude<KnownUnit['process'], { kind: 'none' | 'unknown' }>,
  activation: ActivationState,
  bootId: string,
  checkpoints: Checkpoints,
): ContentHash {
  if (process.kind === 'checkpoint') {
    const { uid, resourceVersion, key: kubeletConfigKey, overlay } = process
    const file = { uid, resourceVersion, kubeletConfigKey, overlay }
    return checkpoints.content(file) ?? `missing:${checkpoints.path(file)}`
  }
  if (unit.wiring.kind === 'ready' && unit.wiring.configFlagIsFixed && activation.kind !== 'unknown') {
    const { since } = activation
    // A process started before the file was in place does not run what is in it now.
    if (since !== undefined && since.bootId === bootId && unit.startedAtUs < since.monotonicUs) return `before:${unit.invocationId}`
    if (activation.kind === 'local') return LOCAL_CONTENT
    return checkpoints.content(activation.source) ?? `missing:${checkpoints.path(activation.source)}`
  }
  return process.configPath === unit.localConfigPath ? LOCAL_CONTENT : `other:${process.configPath ?? 'none'}`
}

/** undefined: no process to ask, or none that answers. kubelet's flags win over its config. */
async function findHealthTarget(eyes: KubeletPorts, unit: KnownUnit): Promise<HealthTarget | undefined> {
  if (unit.process.kind === 'none' || unit.process.kind === 'unknown') return undefined
  const path = runningConfigPath(eyes.checkpoints, unit)
  const fromFile = path === undefined ? DEFAULT_HEALTHZ : (await eyes.configFacts.of(path)).healthz
  const port = unit.healthzFlags.port ?? fromFile?.port
  if (port === undefined || port === 0) return undefined
  return { host: unit.healthzFlags.address ?? fromFile?.host ?? DEFAULT_HEALTHZ.host, port }
}

/**
 * Asks the socket of the runtime that the fallback uses, never the candidate's: a config that names a dead socket must not be excused by it.
 * undefined: nobody says which socket that is.
 */
async function probeRuntime(eyes: ObservationPorts, unit: KnownUnit, lastKnownGood: ConfigSource): Promise<boolean | undefined> {
  // A file that is replaced holds the candidate, not what was there before it.
  const replaced = unit.wiring.kind === 'ready' && unit.wiring.replacesLocalFile
  const local = replaced ? undefined : unit.localConfigPath
  const path = lastKnownGood === 'local' ? local : eyes.checkpoints.path(lastKnownGood)
  const endpoint = unit.runtimeEndpoint ?? (path === undefined ? undefined : (await eyes.configFacts.of(path)).runtimeEndpoint)
  const socket = endpoint === undefined ? eyes.defaultRuntimeSocket() : endpoint.replace(/^unix:(\/\/)?/, '')
  if (socket === undefined) return undefined
  return socket.startsWith('/') ? eyes.probe.socketAccepts(socket) : undefined
}

function foldHealth(
  eyes: ObservationPorts,
  before: HealthRecord | undefined,
  sample: Parameters<typeof recordSample>[1],
  nextStart: NextStart,
  policy: Policy,
  paused: boolean,
  held: readonly HeldSource[],
): HealthRecord | undefined {
  if (sample.unit.kind === 'unknown' || nextStart.kind === 'unknown' || nextStart.held.content === undefined) return before
  const subject = trialKey(nextStart.held.content, sample.unit.kubeletIdentity)
  const after = recordSample(before, sample, subject, policy)
  const named = after && nameProcess(after, held)
  const kept = named !== undefined && paused ? forgetIllness(named) : named
  if (kept !== undefined) eyes.runtime.writeHealth(kept)
  return kept
}

/** Once: the records may have moved on by the time somebody asks what this was. */
function nameProcess(health: HealthRecord, held: readonly HeldSource[]): HealthRecord {
  const { lastProcess } = health
  if (lastProcess === undefined || lastProcess.source !== undefined) return health
  const source = held.find(({ content }) => content === lastProcess.content)?.source
  return source === undefined ? health : { ...health, lastProcess: { ...lastProcess, source } }
}
