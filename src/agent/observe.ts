/**
 * Observes the node: reads everything that the decision needs and returns it as one Snapshot. Truth
 * is read, not remembered, and what cannot be read is unknown. Writes the health record, into which
 * each observation is folded, and nothing else but what an earlier pass could not write.
 */
import { type ConfigSource, type ContentHash, type HeldSource, LOCAL, LOCAL_CONTENT, withoutOverlay } from '../decision/config-source.ts'
import { type Desired, resolveDesired, sourceOf } from '../decision/desired.ts'
import { findPause } from '../decision/find-pause.ts'
import { isFailing, type Running } from '../decision/health.ts'
import { heldSources } from '../decision/held-sources.ts'
import type { Policy } from '../decision/policy.ts'
import { renameInHealth } from '../decision/rename-kubelet.ts'
import type { Snapshot, Trouble } from '../decision/snapshot.ts'
import { type TrialKey, trialKey } from '../decision/trial-key.ts'
import type { UnitState } from '../decision/unit-state.ts'
import type { Acceptance, Verdict } from '../decision/verdict.ts'
import type { Activation, ActivationState } from '../ports/activation.ts'
import type { AssignmentSource } from '../ports/assignment-source.ts'
import type { LastWords } from '../ports/last-words.ts'
import type { Preflight } from '../ports/preflight.ts'
import type { DrainProbe } from '../ports/probes.ts'
import type { Checkpoints, OperatorRequests, Records, RuntimeRecords } from '../ports/store.ts'
import type { Unit } from '../ports/unit.ts'
import { type CheckpointContents, readContentOnce } from './content-once.ts'
import { foldHealth } from './fold-health.ts'
import { identifyRunning, resolveNextStart } from './identify-running.ts'
import { type AnswerPorts, observeAnswers } from './observe-answers.ts'
import { type KubeletObservation, NOT_PROBED, observeKubelet, probeRuntimes, type RuntimePorts } from './observe-kubelet.ts'
import { listNamed, readAssigned } from './read-assigned.ts'
import { readLocalConfig } from './read-local-config.ts'
import { type RecognitionPorts, recognizeDesired } from './recognize-content.ts'

const NOTHING: ReadonlySet<TrialKey> = new Set()

/** Everything that the agent reads. */
export interface ObservationPorts extends RuntimePorts, AnswerPorts, RecognitionPorts {
  readonly nodeName: string
  readonly policy: () => Policy
  readonly assignment: Pick<AssignmentSource, 'desired'>
  readonly checkpoints: Checkpoints
  readonly records: Records
  readonly runtime: RuntimeRecords
  readonly requests: Pick<OperatorRequests, 'read'>
  readonly unit: Pick<Unit, 'observe' | 'stillRuns'>
  readonly activation: Pick<Activation, 'read' | 'readLocal'>
  readonly accepted: ReadonlyMap<TrialKey, Acceptance>
  /** undefined: preflight is not available. */
  readonly preflight: Pick<Preflight, 'basis' | 'pending'> | undefined
  readonly drain: DrainProbe
  readonly lastWords: LastWords
}

/** @param kubelet as observed a moment ago. undefined: it is observed now. */
export async function observe(ports: ObservationPorts, troubles: readonly Trouble[], kubelet?: KubeletObservation): Promise<Snapshot> {
  const { records, runtime } = ports
  const checkpoints = readContentOnce(ports.checkpoints)
  const policy = ports.policy()
  const { at, unit, port, healthz } = kubelet ?? (await observeKubelet(ports))
  const before = renameInHealth(runtime.health(), unit)
  const boot = ports.clock.now().bootId
  const known = before?.bootId === boot ? before : undefined
  const activation: ActivationState = readActivation(ports, unit)
  const nextStart = resolveNextStart(activation, checkpoints)
  const lastKnownGood = holdFallback(records, checkpoints, 'last-known-good')
  const previous = holdFallback(records, checkpoints, 'previous')
  const assigned = readAssigned(records, { unit, activation, lastProcess: known?.lastProcess })
  const named = listNamed(assigned, lastKnownGood.source, previous.source)
  const running = identifyRunning(unit, known, activation, boot, checkpoints, named)
  const settled = running.kind === 'known' && nextStart.kind === 'known' && running.content === nextStart.held.content
  const well = settled && unit.kind === 'known' && unit.activity === 'running' && !isFailing(healthz)
  // Probed only where it matters: kubelet is not well, or may be restarted soon.
  const next = nextStart.kind === 'known' ? nextStart.held : undefined
  const runtimes = well || unit.kind === 'unknown' ? NOT_PROBED : await probeRuntimes(ports, unit, lastKnownGood, next)
  const now = ports.clock.now()
  const requests = ports.requests.read()
  const assignedContent = assigned.kind === 'source' ? contentOf(assigned.source, checkpoints) : undefined
  // The assigned version comes last: a process that runs the same content was started from an older
  // one.
  const older = heldSources({ assigned: { kind: 'damaged', detail: '' }, assignedContent, lastKnownGood, previous, nextStart })
  const held = [LOCAL, ...older, ...(assigned.kind === 'source' ? [{ source: assigned.source, content: assignedContent }] : [])]
  const sample = { at, unit, running, healthz, ...runtimes }
  const desired = ports.assignment.desired(() => readLocalConfig(ports.activation, unit))
  await recognizeDesired(ports, { desired, unit, running, held, lastProcess: known?.lastProcess })
  const recordedChannelState = records.channelState()
  const paused = findPause({ requests, desired, recordedChannelState }) !== undefined
  const isUnreadable = next !== undefined && next.source !== 'local' && checkpoints.isUnreadable(next.source)
  const health = await foldHealth(ports, before, { sample: { ...sample, port }, nextStart, isUnreadable, policy, paused, held })
  const desiredContent = contentOfDesired(ports, desired)
  const drained = [assignedContent, desiredContent].some((wanted) => waitsForDrain(ports, unit, running, wanted))
    ? ports.drain.isDrained()
    : undefined
  const snapshot: Snapshot = {
    now,
    nodeName: ports.nodeName,
    policy,
    desired,
    desiredContent,
    storedContent: findStored(desired, checkpoints),
    storedUnrendered: findStoredUnrendered(ports, checkpoints, desired),
    requests,
    recordedChannelState,
    stagings: records.stagings(),
    assigned,
    assignedContent,
    lastKnownGood,
    previous,
    proven: records.proven(),
    verdicts: filterVerdicts(records, (verdict) => verdict.suspended !== true),
    retrials: filterVerdicts(records, (verdict) => verdict.suspended === true),
    accepted: ports.accepted,
    preflightPending: ports.preflight?.pending() ?? NOTHING,
    basis: ports.preflight?.basis(),
    drained,
    unit,
    nextStart,
    running,
    health,
    healthz,
    evidence: runtime.evidence(),
    ...runtimes,
    restarts: runtime.restarts(),
    spread: runtime.spread(),
    checkpoints: ports.checkpoints.list(),
    troubles,
  }
  return observeAnswers(ports, snapshot)
}

/** Whether the node is drained is only asked while the wanted config waits for it. */
function waitsForDrain(ports: ObservationPorts, unit: UnitState, running: Running, wanted: ContentHash | undefined): boolean {
  if (unit.kind === 'unknown' || wanted === undefined || (running.kind === 'known' && running.content === wanted)) return false
  const acceptance = ports.accepted.get(trialKey(wanted, unit.kubeletIdentity))
  return acceptance !== undefined && acceptance.drain.length > 0
}

function contentOf(source: ConfigSource, checkpoints: CheckpointContents): ContentHash | undefined {
  return source === 'local' ? LOCAL_CONTENT : checkpoints.content(source)
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

function filterVerdicts(records: Records, isWanted: (verdict: Verdict) => boolean): ReadonlyMap<TrialKey, Verdict> {
  return new Map([...records.verdicts()].filter(([, verdict]) => isWanted(verdict)))
}

/** A fallback whose record was damaged is local: it cannot be downloaded again. */
function holdFallback(records: Records, checkpoints: CheckpointContents, name: 'last-known-good' | 'previous'): HeldSource {
  const record = records.read(name)
  if (record.kind === 'damaged' || record.source === 'local') return LOCAL
  const content = checkpoints.contentToStart(record.source)
  const held = { source: record.source, content }
  return content === undefined && checkpoints.isUnreadable(record.source) ? { ...held, unreadable: true } : held
}

function readActivation(ports: ObservationPorts, unit: UnitState): ActivationState {
  if (unit.kind === 'unknown') return { kind: 'unknown', detail: unit.detail }
  if (unit.wiring.kind === 'broken') return { kind: 'unknown', detail: unit.wiring.detail }
  return ports.activation.read(unit.wiring)
}
