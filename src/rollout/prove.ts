/**
 * R1, proofs: kubelet runs the content. A witness writes that its trial passed, even after its
 * deadline.
 */
import { goes, type Standing } from './standing.ts'
import type { RolloutDecision } from './view.ts'
import { writeProof } from './write.ts'

export function prove(standing: Standing): RolloutDecision | undefined {
  const { node, rollout } = standing
  if (!node.runs) return undefined
  if (rollout?.mine?.kind !== 'claim') return goes('kubelet already runs it')
  if (!node.proven)
    return { turn: { kind: 'go', detail: 'kubelet already runs it; this node has not proved it yet', asks: 'proof' }, follow: true }
  return writeProof(standing, rollout, rollout.mine, { kind: 'go', detail: 'kubelet already runs it, and its trial has passed' })
}
