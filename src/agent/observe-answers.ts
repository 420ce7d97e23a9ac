// SPDX-License-Identifier: Apache-2.0
/**
 * Observes what has been answered in the background: about the evidence, and about the record of a
 * rollout, whose turn may ask for the evidence. Asks what is due then.
 */
import { isDeepStrictEqual } from 'node:util'
import { findBasePath } from '../decision/base-config.ts'
import { findNodePause } from '../decision/find-pause.ts'
import { describeRolloutSubject } from '../decision/rollout-subject.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { withEvidence } from '../decision/target.ts'
import { awaitBaseline, dropBaseline, keepBaseline, renewBaseline, withEarlier } from '../evidence/baseline.ts'
import { type Baseline, CONTRACTS, type EvidenceRecord, type Question } from '../evidence/kinds.ts'
import { recordFacts } from '../evidence/record.ts'
import {
  awaitsBaseline,
  dueEvidence,
  findCandidateOfBaseline,
  isBaselineAbandoned,
  isBaselineEarly,
  isBaselineOld,
  startsWithContent,
} from '../evidence/schedule.ts'
import { healthOfRunning } from '../health/process.ts'
import type { RolloutPort } from '../ports/assignment-source.ts'
import type { EvidenceProbe, EvidenceSubject } from '../ports/evidence.ts'
import type { ConfigFacts } from '../ports/probes.ts'
import type { Checkpoints, RecordStore } from '../ports/store.ts'
import type { TrialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { asArguments, flagValue } from '../systemd/command-line.ts'
import { findServingPort, isCriSocket, listConfigFiles, resolveRuntimeSocket } from './config-files.ts'

export interface AnswerPorts extends EvidencePorts {
  readonly records: EvidencePorts['records'] & RecordStore<'rollout-turn'>
  /** undefined: there is no API server to coordinate through, or a command observes. */
  readonly rollout?: RolloutPort | undefined
}

/** @param before with the evidence as it was recorded last, and nothing of a record */
export async function observeAnswers(ports: AnswerPorts, before: Snapshot): Promise<Snapshot> {
  const known = findKnownRollout(ports, before)
  const snapshot = await observeEvidence(ports, known === undefined ? before : { ...before, rollout: known })
  const rollout = observeRollout(ports, snapshot)
  return rollout === known ? snapshot : { ...snapshot, rollout }
}

/** The record of the rollout as its worker knows it. A turn in it may ask for evidence. */
function findKnownRollout({ rollout: port, records }: AnswerPorts, { stagings }: Snapshot): Snapshot['rollout'] {
  if (stagings.length === 0) return undefined
  if (port !== undefined) return port.known()
  // A command shows what the running agent knew last. No turn follows from that.
  const last = records.get('rollout-turn')
  return last && { ...last, confirmedAtUs: undefined }
}

/** Hands over what this node has to say, and takes what is known. */
function observeRollout(ports: AnswerPorts, snapshot: Snapshot): Snapshot['rollout'] {
  const { rollout: port } = ports
  if (port !== undefined && snapshot.stagings.length === 0) port.follow(undefined)
  else if (port !== undefined) {
    const subject = describeRolloutSubject(snapshot)
    // While the assignment is not known, what was followed goes on.
    if (subject !== undefined || snapshot.desired.kind !== 'unknown') port.follow(subject)
  }
  return findKnownRollout(ports, snapshot)
}

/**
 * How long a pass waits for the answers before a restart. They mostly come within some
 * milliseconds, and another pass would cost more. The restart itself waits longer.
 */
const ANSWERS_MS = 200

export interface EvidencePorts {
  readonly records: RecordStore<'evidence' | 'kept-baseline'>
  readonly checkpoints: Pick<Checkpoints, 'path'>
  readonly configFacts: ConfigFacts
  readonly defaultRuntimeSocket: () => string | undefined
  /** undefined: nothing is asked, as by a command. */
  readonly evidence?: EvidenceProbe | undefined
}

/** @param before with the evidence as it was recorded last */
export async function observeEvidence(ports: EvidencePorts, before: Snapshot): Promise<Snapshot> {
  const { evidence: probe } = ports
  const { running, unit } = before
  if (probe === undefined || unit.kind === 'unknown') return before
  const candidate = findCandidateOfBaseline(before)
  // First the answers: until its answer is in the record, a question is due.
  let snapshot = fold(before, candidate, probe)
  const { questions, write } = dueEvidence(snapshot, candidate)
  if (write) probe.write()
  if (questions.length > 0 && running.kind === 'known') {
    probe.ask(questions, await describeEvidenceSubject(ports, snapshot, unit, running.invocationId, questions))
    if (candidate !== undefined && isRestartWaiting(snapshot, candidate)) {
      await probe.answered(ANSWERS_MS)
      snapshot = fold(snapshot, candidate, probe)
    }
  }
  writeKept(ports, snapshot, candidate)
  const { evidence } = snapshot
  if (evidence !== undefined && evidence !== before.evidence) ports.records.put('evidence', evidence)
  return snapshot
}

/**
 * First, and at each look: the agent may end before it has written both, or an earlier one wrote
 * one.
 */
function writeKept({ records }: EvidencePorts, snapshot: Snapshot, candidate: TrialKey | undefined): void {
  const before = records.get('kept-baseline')
  const kept = keepBaseline(snapshot.evidence, snapshot, candidate, before)
  if (kept !== before && !isDeepStrictEqual(kept, before)) records.put('kept-baseline', kept)
}

/** Not a claim in a rollout, for which there is time. */
function isRestartWaiting(snapshot: Snapshot, candidate: TrialKey): boolean {
  return startsWithContent(snapshot.nextStart, candidate) && awaitsBaseline(snapshot, candidate)
}

function fold(snapshot: Snapshot, candidate: TrialKey | undefined, probe: EvidenceProbe): Snapshot {
  const { now, nodeName, running, verdicts, suspendedVerdicts, proven, lastKnownGood, previous, policy, evidence, restarts, unit } =
    snapshot
  const before =
    candidate === undefined || evidence === undefined ? evidence : takeBaselineAgain(evidence, snapshot, candidate, probe.asksSinceUs())
  const { startDeadlineUs } = policy
  const record = recordFacts(before, {
    now,
    nodeName,
    running,
    verdicts,
    suspendedVerdicts,
    proven,
    lastKnownGood,
    previous,
    candidate,
    changes: candidate === undefined ? undefined : snapshot.accepted.get(candidate)?.changes,
    startDeadlineUs,
    levels: policy.evidence,
    restarts,
    ...(unit.kind === 'known' && { nRestarts: unit.nRestarts }),
    healthySinceUs: healthOfRunning(snapshot)?.healthySinceUs,
    unseenUs: snapshot.health?.unseenUs,
    facts: probe.take(),
    isPaused: findNodePause(snapshot) !== undefined,
    writtenAtUs: probe.writtenAtUs(),
  })
  return withEvidence(snapshot, record)
}

/**
 * Takes the baseline again if it is older than the reports of the running kubelet, or too old.
 * Waits for it again if it lacks answers.
 */
function takeBaselineAgain(evidence: EvidenceRecord, snapshot: Snapshot, candidate: TrialKey, asksSinceUs: number): EvidenceRecord {
  if (isBaselineEarly(snapshot)) return renewBaseline(evidence, snapshot.now)
  if (isBaselineOld(snapshot)) return dropBaseline(evidence, snapshot)
  return isBaselineAbandoned(snapshot, candidate, asksSinceUs) ? awaitBaseline(evidence, snapshot.now) : evidence
}

/** Kubelet's flags win over its config. */
async function describeEvidenceSubject(
  ports: EvidencePorts,
  snapshot: Snapshot,
  unit: KnownUnit,
  invocationId: string,
  questions: readonly Question[],
): Promise<EvidenceSubject> {
  const path = findBasePath(ports.checkpoints, unit, snapshot)
  const files = path === undefined ? undefined : listConfigFiles(unit, path)
  const facts = files && (await ports.configFacts.of(files))
  const flags = asArguments(unit.command?.words ?? [])
  const { host, port, isOff } = findServingPort(unit, facts?.serving)
  const runtimeSocket = resolveRuntimeSocket(unit, facts?.runtimeEndpoint, ports.defaultRuntimeSocket)
  const pid = 'pid' in unit.process ? unit.process.pid : undefined
  return {
    invocationId,
    serving: pid !== undefined && isOff !== true && Number.isInteger(port) && port > 0 && port < 65536 ? { host, port, pid } : undefined,
    runtimeSocket: isCriSocket(runtimeSocket) ? runtimeSocket : undefined,
    manifests: questions.some((question) => CONTRACTS[question].readsManifests)
      ? findManifests(snapshot.evidence, invocationId, flagValue(flags, 'pod-manifest-path') ?? facts?.staticPodPath)
      : [],
  }
}

/**
 * The files from which the static pods that ran before may have come, and where kubelet looks while
 * a baseline is taken, or while nobody knows which ran before.
 */
function findManifests(
  { baseline, displaced }: Partial<EvidenceRecord> = {},
  invocationId: string,
  staticPodPath: string | undefined,
): readonly string[] {
  const isBeingTaken = baseline === undefined || baseline.invocationId === invocationId
  const before = displaced ?? (isBeingTaken ? undefined : baseline)
  const { staticPods, idle = [] }: Partial<Baseline> = before === undefined ? {} : withEarlier(before)
  const named = (staticPods ?? []).flatMap(({ manifest }) => (manifest === undefined ? [] : [manifest, ...(manifest.others ?? [])]))
  const files = [...named, ...idle].map(({ path }) => path)
  const isWanted = isBeingTaken || staticPods === undefined
  return [...new Set([...files, ...(isWanted && staticPodPath?.startsWith('/') ? [staticPodPath] : [])])]
}
