/**
 * What follows from the evidence: whether the config that runs has failed, whether a trial that is
 * over may be promoted, and whether a fallback brought back what a config had lost. Pure.
 */
import { type EvidenceFinding, type EvidenceKind, levelOf } from './evidence.ts'
import { judgeEvidence, viewEvidence } from './evidence-judge.ts'
import { isObserved } from './evidence-schedule.ts'
import type { Snapshot } from './snapshot.ts'
import { measureHealth, measureTrial } from './trial.ts'
import { contentOfKey, type TrialKey } from './trial-key.ts'
import { type ConfigFailure, isSeenByHealth, type Verdict } from './verdict.ts'

/**
 * Without those that the health record decides about: it knows for how long kubelet may be ill.
 */
function listRequired(snapshot: Snapshot): readonly EvidenceFinding[] {
  const { evidence: policy } = snapshot.policy
  return judgeEvidence(snapshot).filter(({ kind }) => kind !== 'process' && kind !== 'healthz' && levelOf(policy, kind) === 'required')
}

/**
 * A failure of the process that runs, on trial or as a fallback. One-way damage goes first, since
 * it decides whether the config is ever tried again, and what the node may have done itself last.
 */
export function findEvidenceFailure(snapshot: Snapshot): ConfigFailure | undefined {
  if (!isObserved(snapshot)) return undefined
  const failed = listRequired(snapshot).filter(({ answer }) => answer === 'no')
  const worst = failed.find(({ damage }) => damage === 'one-way') ?? failed.find(({ mayBeNodes }) => !mayBeNodes) ?? failed[0]
  if (worst === undefined) return undefined
  const { kind, detail, damage, mayBeNodes } = worst
  return { reason: 'evidence', detail: `${kind}: ${detail}`, damage, evidence: kind, ...(mayBeNodes && { doubtful: true }) }
}

/**
 * The kinds of evidence that a trial still waits for when its time is over. Empty: it has passed.
 */
export function listMissingEvidence(snapshot: Snapshot): readonly EvidenceKind[] {
  return listOpen(snapshot).map(({ kind }) => kind)
}

function listOpen(snapshot: Snapshot): readonly EvidenceFinding[] {
  const required = listRequired(snapshot)
  const open = required.filter(({ answer, isDoubtful }) => answer === 'no' || isDoubtful)
  const held = isVouchedFor(snapshot) ? open.filter(({ isUncompared }) => !isUncompared) : open
  return held.length > 0 ? held : listMissingContact(snapshot, required)
}

/**
 * Whether nothing has to be compared with before. A person said so of what runs; or it was promoted
 * here, and passes its trial on another kubelet: that moves last-known-good nowhere.
 */
function isVouchedFor({ running, lastKnownGood, requests }: Snapshot): boolean {
  if (running.kind !== 'known') return false
  return lastKnownGood.content === running.content || requests.promote?.content === running.content
}

/** The kinds that would be a no if the node had been well before, which nobody knows. */
export function listUncompared(snapshot: Snapshot): readonly EvidenceKind[] {
  return listRequired(snapshot).flatMap(({ kind, isUncompared }) => (isUncompared ? [kind] : []))
}

/**
 * Whether all evidence that is required is known, and says yes. A trial may pass without: what
 * cannot be read holds nothing up. But it proves nothing to other nodes.
 */
export function isEvidenceKnown(snapshot: Snapshot): boolean {
  return listUnknownEvidence(snapshot).length === 0
}

/**
 * What a proof still needs. Static pods and pods are compared with what ran before. Where nothing
 * ran before, the config cannot have lost anything, and the other evidence proves it.
 */
export function listUnknownEvidence(snapshot: Snapshot): readonly EvidenceFinding[] {
  const open = listRequired(snapshot).filter(({ answer }) => answer !== 'yes')
  return startedFromNothing(snapshot) ? open.filter(({ kind, answer }) => answer === 'no' || !COMPARED.includes(kind)) : open
}

const COMPARED: readonly EvidenceKind[] = ['static-pods', 'pods']

/**
 * Whether the agent started this content while no kubelet ran: a baseline is taken before each
 * other restart, and outlives a boot. After a boot there is no record of a restart, so that what
 * ran before is not known where the baseline is lost.
 */
function startedFromNothing({ running, restarts, evidence, now }: Snapshot): boolean {
  if (running.kind !== 'known') return false
  const { content } = running
  if ([evidence?.baseline, evidence?.displaced].some((each) => each !== undefined && contentOfKey(each.candidate) === content)) return false
  return restarts.some(({ bootId, target }) => bootId === now.bootId && target === running.key)
}

/**
 * Kubelet has to have reached the API server, wherever that can be found out: it renewed its Lease,
 * or it reported since its start, if only that a node which had not been Ready still is not.
 * Without a health port, nothing else tells whether kubelet works.
 */
function listMissingContact(snapshot: Snapshot, required: readonly EvidenceFinding[]): readonly EvidenceFinding[] {
  const process = viewEvidence(snapshot)?.process
  const contact = required.filter(({ kind }) => kind === 'lease' || kind === 'ready')
  if (process === undefined || contact.some(({ answer }) => answer === 'yes')) return []
  const { lease, node } = process
  if (contact.some(({ kind }) => kind === 'ready') && node?.reportedAtUs !== undefined) return []
  const isKnowable = lease?.resourceVersion !== undefined || node?.firstReportedAtMs !== undefined
  const isBlind = snapshot.healthz === undefined && (lease !== undefined || node !== undefined)
  return isKnowable || isBlind ? contact : []
}

/** undefined: the trial is not over, or waits for no evidence. */
export function describeMissingEvidence(snapshot: Snapshot, key: TrialKey): string | undefined {
  if (measureTrial(snapshot, key)?.remainingUs !== 0) return undefined
  const open = listOpen(snapshot)
  if (open.length === 0) return undefined
  const missing = open.filter(({ isUncompared }) => !isUncompared).map(({ kind }) => kind)
  if (missing.length > 0) return `is over, but for evidence that is missing: ${missing.join(', ')}`
  const kinds = open.map(({ kind }) => kind)
  return `is over, but ${kinds.join(', ')} ${kinds.length === 1 ? 'says' : 'say'} no, and whether that was so before is not known: mend it, or run kubelet-cfg-agent promote`
}

/**
 * Whether what a config failed with has passed. Where kubelet was healthy all the while, its health
 * says nothing: then evidence says it, or a whole trial of what runs instead.
 */
export function isBroughtBack(snapshot: Snapshot, { reason, evidence }: Verdict): boolean {
  if (isSeenByHealth(reason)) return true
  const { running } = snapshot
  const required = listRequired(snapshot)
  if (required.find(({ kind }) => kind === evidence)?.answer === 'yes') return true
  const trial = running.kind === 'known' ? measureHealth(snapshot, running.key) : undefined
  // What cannot be compared speaks neither for nor against the config, but where it failed with
  // that.
  const isOpen = ({ kind, isDoubtful, isUncompared }: EvidenceFinding) => isDoubtful && (!isUncompared || kind === evidence)
  return trial?.remainingUs === 0 && required.every((each) => each.answer !== 'no' && !isOpen(each))
}
