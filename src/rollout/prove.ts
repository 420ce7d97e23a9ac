/**
 * R1, proofs: kubelet runs the content. A witness writes that its trial passed, also when that is
 * late.
 */
import { goes, type Standing } from './standing.ts'
import type { RolloutDecision } from './view.ts'
import { writeProof } from './write.ts'

export function prove(standing: Standing): RolloutDecision | undefined {
  const { node, rollout } = standing
  if (!node.runs) return undefined
  if (rollout?.mine?.kind !== 'claim') return goes('kubelet runs it')
  if (!node.proven)
    return { turn: { kind: 'go', detail: 'kubelet runs it, and this node is a witness of its trial', asks: 'proof' }, follow: true }
  return writeProof(standing, rollout, rollout.mine, { kind: 'go', detail: 'kubelet runs it, and its trial has passed' })
}
