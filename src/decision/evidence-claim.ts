/**
 * Whether the evidence that a proof needs can be read, before this node claims to be a witness of a
 * rollout: what cannot be read while the config before it runs cannot be read in the trial either.
 * What the answers say is no matter here, since another config may change it. Pure.
 */
import type { RolloutNode } from '../rollout/view.ts'
import { type EvidencePolicy, levelOf, OPTIONAL_KINDS } from './evidence.ts'
import type { Question } from './evidence-facts.ts'
import { isBaselineOld, missingBeforeClaim } from './evidence-schedule.ts'
import type { Baseline } from './evidence-state.ts'
import type { Snapshot } from './snapshot.ts'
import type { TrialKey } from './trial-key.ts'

/** @param candidate what the node would claim to start */
export function findEvidenceAccess(snapshot: Snapshot, candidate: TrialKey): RolloutNode['evidence'] {
  const { evidence, running, unit, policy } = snapshot
  // Evidence cannot be read while kubelet is down, and some node has to start the fix.
  if (running.kind !== 'known' || unit.kind === 'unknown' || unit.activity !== 'running') return { kind: 'readable' }
  const baseline = evidence?.baseline
  const isTaken = baseline?.candidate === candidate && baseline.invocationId === running.invocationId && !isBaselineOld(snapshot)
  const missing = missingBeforeClaim(isTaken ? baseline : undefined, policy.evidence)
  if (missing.length > 0) return { kind: 'unread' }
  const problems = baseline === undefined || !isTaken ? [] : listProblems(baseline, policy.evidence)
  return problems.length === 0 ? { kind: 'readable' } : { kind: 'unreadable', detail: problems.join('; ') }
}

function listProblems(baseline: Baseline, policy: EvidencePolicy): readonly string[] {
  const required = OPTIONAL_KINDS.filter((kind) => levelOf(policy, kind) === 'required')
  return required.flatMap((kind) => {
    const question: Question = kind === 'ready' ? 'node' : kind
    const problem = baseline.unread?.find((unread) => unread.question === question)
    if (problem !== undefined) return [`${kind}: ${problem.detail}`]
    const isUnknown = kind === 'pods' && baseline.podsAtMs === undefined
    return isUnknown ? ['pods: which pods have failed before is not known'] : []
  })
}
