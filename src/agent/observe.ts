// SPDX-License-Identifier: Apache-2.0
/**
 * Observes the node: reads everything that the decision needs and returns it as one Snapshot. Truth
 * is read, not remembered, and what cannot be read is unknown. Writes the health record, into which
 * each observation is folded, and nothing else but what an earlier pass could not write.
 */

import { type Desired, resolveDesired, sourceOf } from '../decision/desired.ts'
import { findNodePause } from '../decision/find-pause.ts'
import { fallbackSources } from '../decision/held-sources.ts'
import { isLocalAssigned } from '../decision/left.ts'
import { FALLBACK_NAMES, recallRestarts } from '../decision/records.ts'
import { renameInHealth } from '../decision/rename-kubelet.ts'
import type { NextStart, Policy, Snapshot, Trouble } from '../decision/snapshot.ts'
import type { Acceptance, Verdict } from '../decision/verdict.ts'
import { hasStarted } from '../decision/why-down.ts'
import { recallBaseline } from '../evidence/baseline.ts'
import type { HealthRecord } from '../health/fold.ts'
import { isFailing, isStrangers, type Running } from '../health/sample.ts'
import type { Activation, ActivationState } from '../ports/activation.ts'
import type { AssignmentSource } from '../ports/assignment-source.ts'
import type { Preflight } from '../ports/preflight.ts'
import type { DrainProbe } from '../ports/probes.ts'
import type { Checkpoints, OperatorRequests, Records } from '../ports/store.ts'
import type { LastWords, Unit, UnitJobs } from '../ports/unit.ts'
import { type ConfigSource, type ContentHash, type HeldSource, LOCAL, LOCAL_CONTENT, withoutOverlay } from '../subject/config-source.ts'
import { type TrialKey, trialKey } from '../subject/trial-key.ts'
import type { UnitState } from '../subject/unit-state.ts'
import { foldHealth } from './fold-health.ts'
import {
  type CheckpointContents,
  findKeyless,
  hold,
  holdFallback,
  identifyLocal,
  identifyRunning,
  listNamedSources,
  readContentOnce,
  readLocalConfig,
  readSourceRecord,
  resolveNextStart,
} from './node-configs.ts'
import { type AnswerPorts, observeAnswers } from './observe-answers.ts'
import { explainUnit, type KubeletObservation, type KubeletPorts, observeKubelet } from './observe-kubelet.ts'
import { type NeedsObservation, type NeedsPorts, NOT_PROBED, probeNeeds } from './probe-needs.ts'
import { type RecognitionPorts, recognizeDesired } from './recognize-content.ts'

const NOTHING: ReadonlySet<TrialKey> = new Set()

/** Everything that the agent reads. */
export interface ObservationPorts extends KubeletPorts, NeedsPorts, AnswerPorts, RecognitionPorts {
  readonly nodeName: string
  readonly policy: () => Policy
  readonly assignment: Pick<AssignmentSource, 'desired'>
  readonly checkpoints: Checkpoints
  readonly records: Records
  readonly requests: Pick<OperatorRequests, 'read'>
  readonly unit: Pick<Unit, 'observe' | 'stillRuns'>
  readonly activation: Pick<Activation, 'read' | 'readLocal'>
  readonly accepted: ReadonlyMap<TrialKey, Acceptance>
  /** undefined: preflight is not available. */
  readonly preflight: Pick<Preflight, 'basis' | 'pending' | 'obstacle'> | undefined
  readonly drain: DrainProbe
  readonly lastWords: LastWords
  readonly jobs: UnitJobs
}

/** @param kubelet as observed a moment ago. undefined: it is observed now. */
export async function observe(ports: ObservationPorts, troubles: readonly Trouble[], kubelet?: KubeletObservation): Promise<Snapshot> {
  const { records } = ports
  const checkpoints = readContentOnce(ports.checkpoints)
  const policy = ports.policy()
  const seen = kubelet ?? (await observeKubelet(ports))
  const past = recallHealth(ports, seen.unit)
  const restarts = recallRestarts(records.get('restarts') ?? [], () => records.get('last-restart'), seen.unit, seen.at)
  const unit = await explainUnit(ports, seen.unit, past.ofThisBoot, restarts)
  const { activation, kept } = readDisk(ports, checkpoints, unit, past.ofThisBoot?.lastProcess)
  const left = readLeft(ports, checkpoints)
  const leftSources = (left.left ?? []).map(({ source }) => source)
  const named = listNamedSources(kept.assigned, kept.lastKnownGood.source, kept.previous.source, ...leftSources)
  const passed = [kept.lastKnownGood, kept.previous, ...(left.left ?? [])].map(({ content }) => content)
  const running = identifyRunning(unit, past.ofThisBoot, activation, seen.at.bootId, checkpoints, { named, passed })
  const look = { unit, healthz: seen.healthz, health: past.ofThisBoot }
  const { movesHealthPort, ...runtimes } = await probeNeedsWhereTheyMatter(ports, look, kept, running)
  const healthz = isStrangers(seen.healthz) && movesHealthPort === true ? { ...seen.healthz, ok: false } : seen.healthz
  const now = ports.clock.now()
  const requests = ports.requests.read()
  const held = listHeld({ ...kept, ...left })
  const desired = ports.assignment.desired(() => readLocalConfig(ports.activation, unit))
  await recognizeDesired(ports, { desired, unit, running, held, lastProcess: past.ofThisBoot?.lastProcess })
  const channel = recallChannel(records)
  const cannotStart = findCannotStart(ports, unit, past.ofThisBoot)
  const health = await foldHealth(ports, past.record, {
    sample: { at: seen.at, port: seen.port, healthz, unit, running, ...runtimes },
    nextStart: kept.nextStart,
    isUnreadable: isUnreadable(kept.nextStart, checkpoints),
    policy,
    excused: findNodePause({ requests, desired, ...channel }) !== undefined || cannotStart !== undefined,
    held,
  })
  const desiredContent = contentOfDesired(ports, desired)
  const assignedContent = kept.assignedContent ?? findKeyless(kept.assigned, checkpoints, [...records.verdicts().keys()], desiredContent)
  const snapshot: Snapshot = {
    now,
    nodeName: ports.nodeName,
    policy,
    desired,
    desiredContent,
    storedContent: findStored(desired, checkpoints),
    storedUnrendered: findStoredUnrendered(ports, checkpoints, desired),
    requests,
    ...channel,
    ...recallStagings(records),
    ...kept,
    ...left,
    assignedContent,
    ...(isLocalInQuestion({ kept, left, running, desired, requests }) && {
      localConfig: identifyLocal(readLocalConfig(ports.activation, unit)),
    }),
    proven: records.get('proven')?.key,
    trialBoots: records.get('trial-boots'),
    verdicts: filterVerdicts(records, (verdict) => verdict.suspended !== true),
    suspendedVerdicts: filterVerdicts(records, (verdict) => verdict.suspended === true),
    accepted: ports.accepted,
    preflightPending: ports.preflight?.pending() ?? NOTHING,
    basis: ports.preflight?.basis(),
    cannotStart,
    ...findDrained(ports, unit, running, [assignedContent, desiredContent]),
    unit,
    running,
    health,
    healthz,
    evidence: recallBaseline(records.get('evidence'), () => records.get('kept-baseline'), now),
    ...runtimes,
    restarts,
    spread: records.get('spread'),
    checkpoints: ports.checkpoints.list(),
    troubles,
  }
  return observeAnswers(ports, snapshot)
}

interface PastHealth {
  readonly record: HealthRecord | undefined
  readonly ofThisBoot: HealthRecord | undefined
}

function recallHealth({ records, clock }: ObservationPorts, unit: UnitState): PastHealth {
  const record = renameInHealth(records.get('health'), unit)
  return { record, ofThisBoot: record?.bootId === clock.now().bootId ? record : undefined }
}

function findCannotStart({ preflight, records }: ObservationPorts, unit: UnitState, health: HealthRecord | undefined): string | undefined {
  if (unit.kind === 'unknown' || hasStarted(unit.kubeletIdentity, { proven: records.get('proven')?.key, health })) return undefined
  return preflight?.obstacle(unit.kubeletIdentity)
}

/** The config that kubelet starts with next, and the configs that the records name. */
type Kept = Pick<Snapshot, 'nextStart' | 'lastKnownGood' | 'previous' | 'damagedFallbacks' | 'assigned' | 'assignedContent'>
type Left = Pick<Snapshot, 'left' | 'leftDamaged' | 'triedLocalConfig'>

function readDisk(
  ports: ObservationPorts,
  checkpoints: CheckpointContents,
  unit: UnitState,
  lastProcess: HealthRecord['lastProcess'],
): { readonly activation: ActivationState; readonly kept: Kept } {
  const { records } = ports
  const activation = readActivation(ports, unit)
  const nextStart = resolveNextStart(activation, checkpoints)
  const traces = { unit, activation, lastProcess }
  const fallbacks = {
    'last-known-good': readSourceRecord(records, 'last-known-good', traces),
    previous: readSourceRecord(records, 'previous', traces),
  }
  const lastKnownGood = holdFallback(fallbacks['last-known-good'], checkpoints)
  const previous = holdFallback(fallbacks.previous, checkpoints)
  const damagedFallbacks = FALLBACK_NAMES.filter((name) => fallbacks[name].kind === 'damaged')
  const assigned = readSourceRecord(records, 'assigned', traces)
  const assignedContent = assigned.kind === 'source' ? contentOf(assigned.source, checkpoints) : undefined
  const kept = { nextStart, lastKnownGood, previous, assigned, assignedContent }
  return { activation, kept: damagedFallbacks.length === 0 ? kept : { ...kept, damagedFallbacks } }
}

/** The configs that a return to local has left. */
function readLeft({ records }: ObservationPorts, checkpoints: CheckpointContents): Left {
  const record = records.get('left')
  if (record === 'damaged') return { leftDamaged: true }
  if (record === undefined || record.sources.length === 0) return {}
  const { sources, localConfig } = record
  return { left: sources.map((source) => hold(source, checkpoints)), triedLocalConfig: localConfig }
}

/** The local config is read only where a return to it is under way, or about to be. */
function isLocalInQuestion({ kept, left, running, desired, requests }: LocalQuestion): boolean {
  if (left.left !== undefined) return true
  if (running.kind === 'known' && running.content === LOCAL_CONTENT) return false
  return isLocalAssigned(kept) || desired.kind === 'local' || requests.hold === 'local'
}

interface LocalQuestion extends Pick<Snapshot, 'running' | 'desired' | 'requests'> {
  readonly kept: Kept
  readonly left: Left
}

/**
 * In the order in which a content is looked for. The assigned version comes last: a process that
 * runs the same content was started from an older one.
 */
function listHeld(kept: Kept & Left): readonly HeldSource[] {
  const { assigned, assignedContent } = kept
  return [LOCAL, ...fallbackSources(kept), ...(assigned.kind === 'source' ? [{ source: assigned.source, content: assignedContent }] : [])]
}

/** The other needs of kubelet matter where it is not well, or may be restarted soon. */
async function probeNeedsWhereTheyMatter(
  ports: ObservationPorts,
  { unit, healthz, health }: Pick<KubeletObservation, 'unit' | 'healthz'> & { readonly health: HealthRecord | undefined },
  { nextStart, lastKnownGood }: Kept,
  running: Running,
): Promise<NeedsObservation> {
  const next = nextStart.kind === 'known' ? nextStart.held : undefined
  const isSettled = running.kind === 'known' && next !== undefined && running.content === next.content
  const isWell = isSettled && unit.kind === 'known' && unit.activity === 'running' && !isFailing(healthz) && !isStrangers(healthz)
  if (isWell || unit.kind === 'unknown') return NOT_PROBED
  return probeNeeds(ports, unit, { lastKnownGood, next, health, lacksHealthPort: isSettled && isStrangers(healthz) })
}

function isUnreadable(nextStart: NextStart, checkpoints: CheckpointContents): boolean {
  if (nextStart.kind === 'unknown' || nextStart.held.source === 'local') return false
  return checkpoints.isUnreadable(nextStart.held.source)
}

/** Pods are listed only while a config that is wanted waits for them, or for a drained node. */
function findDrained(
  ports: ObservationPorts,
  unit: UnitState,
  running: Running,
  wanted: readonly (ContentHash | undefined)[],
): Pick<Snapshot, 'drained' | 'exclusives'> {
  const waiting = wanted.flatMap((content) => findAcceptance(ports, unit, running, content) ?? [])
  const drained = waiting.some(({ drain }) => drain.length > 0) ? ports.drain.isDrained() : undefined
  const fields = waiting.flatMap(({ managers = [] }) => managers)
  const asks = fields.length > 0 && unit.kind === 'known'
  return { drained, ...(asks && { exclusives: ports.drain.findExclusives(unit, fields) }) }
}

/** undefined also: kubelet runs it already. */
function findAcceptance(
  ports: ObservationPorts,
  unit: UnitState,
  running: Running,
  wanted: ContentHash | undefined,
): Acceptance | undefined {
  if (unit.kind === 'unknown' || wanted === undefined || (running.kind === 'known' && running.content === wanted)) return undefined
  return ports.accepted.get(trialKey(wanted, unit.kubeletIdentity))
}

function contentOf(source: ConfigSource, checkpoints: CheckpointContents): ContentHash | undefined {
  return source === 'local' ? LOCAL_CONTENT : checkpoints.contentToStart(source)
}

function contentOfDesired(ports: ObservationPorts, desired: Desired): ContentHash | undefined {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return undefined
  const { data, rendered } = desired.object
  return ports.contentOf(rendered?.data ?? data, desired.ref.kubeletConfigKey)
}

function findStored(desired: Desired, checkpoints: CheckpointContents): ContentHash | undefined {
  const source = resolveDesired(desired)
  return source === undefined || source === 'local' ? undefined : checkpoints.content(source)
}

function findStoredUnrendered(
  { contentOf }: ObservationPorts,
  checkpoints: CheckpointContents,
  desired: Desired,
): Snapshot['storedUnrendered'] {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found' || desired.object.rendered === undefined) return undefined
  const { ref, object } = desired
  const source = withoutOverlay(sourceOf(ref, object))
  try {
    const stored = checkpoints.content(source)
    if (stored === undefined) return checkpoints.isUnreadable(source) ? 'unreadable' : 'missing'
    return stored === contentOf(object.data, ref.kubeletConfigKey) ? 'same' : 'differs'
  } catch {
    // Kubelet never starts with these files: a disk that does not return them must stop no
    // decision.
    return 'unreadable'
  }
}

function recallChannel(records: Records): Pick<Snapshot, 'recordedChannelState' | 'channelStateDamaged'> {
  const state = records.get('channel-state')
  return state === 'damaged' ? { recordedChannelState: undefined, channelStateDamaged: true } : { recordedChannelState: state }
}

function recallStagings(records: Records): Pick<Snapshot, 'stagings' | 'stagingsDamaged'> {
  const stagings = records.get('stagings') ?? []
  return stagings === 'damaged' ? { stagings: [], stagingsDamaged: true } : { stagings }
}

function filterVerdicts(records: Records, isWanted: (verdict: Verdict) => boolean): ReadonlyMap<TrialKey, Verdict> {
  return new Map([...records.verdicts()].filter(([, verdict]) => isWanted(verdict)))
}

function readActivation(ports: ObservationPorts, unit: UnitState): ActivationState {
  if (unit.kind === 'unknown') return { kind: 'unknown', detail: unit.detail }
  if (unit.wiring.kind === 'broken') return { kind: 'unknown', detail: unit.wiring.detail }
  return ports.activation.read(unit.wiring)
}
