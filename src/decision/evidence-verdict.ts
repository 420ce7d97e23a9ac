/**
 * What follows from the evidence: whether the config that runs has failed, and whether a trial that
 * is over may be promoted. Pure.
 */
import { type Damage, type Finding, levelOf } from './evidence.ts'
import { judgeEvidence, viewEvidence } from './evidence-judge.ts'
import type { Snapshot } from './snapshot.ts'

export interface EvidenceFailure {
  readonly reason: 'evidence'
  /** The kind and what was seen. */
  readonly detail: string
  readonly damage: Damage
}

/**
 * The health record decides about `process` and `healthz`: it knows for how long they may be ill.
 */
function listRequired(snapshot: Snapshot): readonly Finding[] {
  const { evidence: policy } = snapshot.policy
  return judgeEvidence(snapshot).filter(({ kind }) => kind !== 'process' && kind !== 'healthz' && levelOf(policy, kind) === 'required')
}

/** One-way damage goes first, since it decides whether the config is ever tried again. */
export function findEvidenceFailure(snapshot: Snapshot): EvidenceFailure | undefined {
  const failed = listRequired(snapshot).filter(({ answer }) => answer === 'no')
  const worst = failed.find(({ damage }) => damage === 'one-way') ?? failed[0]
  return worst && { reason: 'evidence', detail: `${worst.kind}: ${worst.detail}`, damage: worst.damage }
}

/**
 * The kinds of evidence that a trial still waits for when its time is over. Empty: it has passed.
 */
export function listMissingEvidence(snapshot: Snapshot): readonly Finding[] {
  const required = listRequired(snapshot)
  const open = required.filter(({ answer, isDoubtful }) => answer === 'no' || isDoubtful)
  return open.length > 0 ? open : listMissingContact(snapshot, required)
}

/**
 * One of `lease` and `ready` has to prove that kubelet reaches the API server, wherever that could
 * be found out. Without a health port, nothing else tells whether kubelet works.
 */
function listMissingContact(snapshot: Snapshot, required: readonly Finding[]): readonly Finding[] {
  const process = viewEvidence(snapshot)?.process
  const contact = required.filter(({ kind }) => kind === 'lease' || kind === 'ready')
  if (process === undefined || contact.some(({ answer }) => answer === 'yes')) return []
  const { lease, node } = process
  const isKnowable = lease?.resourceVersion !== undefined || node?.firstReportedAtMs !== undefined
  const isBlind = snapshot.healthz === undefined && (lease !== undefined || node !== undefined)
  return isKnowable || isBlind ? contact : []
}
