/**
 * The proof that a witness owes to a rollout: its trial has passed, but not all evidence that is
 * required was known then. Last-known-good moves as always. Other nodes learn of it as soon as the
 * evidence is known, while the claim is open. Pure.
 */
import { listUnknownEvidence } from '../evidence/judge.ts'
import { owesProof } from './rollout-turn.ts'
import type { TargetSituation } from './situation.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import { measureTrial } from './trial.ts'

/**
 * The rule that gives the proof. What the trial did not show has to hold for as long as a trial.
 */
export function proveLate({ snapshot, target }: TargetSituation): Step | undefined {
  const { running } = snapshot
  if (target.verdict !== undefined || !owesProof(snapshot) || running.kind !== 'known' || running.key !== target.key) return undefined
  const isHealthy = measureTrial(snapshot, target.key)?.remainingUs === 0
  return isHealthy && listUnknownEvidence(snapshot).length === 0 ? { kind: 'prove', key: target.key } : undefined
}

/** undefined: this node owes no proof. */
export function describeOwedProof(snapshot: Snapshot): string | undefined {
  if (!owesProof(snapshot)) return undefined
  const [first] = listUnknownEvidence(snapshot)
  const why = first === undefined ? 'kubelet has to be healthy for as long as a trial' : `${first.kind}: ${first.detail}`
  return `its trial has passed, but this node cannot prove that to its rollout yet: ${why}`
}
