/**
 * R1, proofs: kubelet runs the content. A witness writes that its trial passed, even after its
 * deadline.
 */
import { restUs } from './order.ts'
import { goes, type Standing } from './standing.ts'
import type { RolloutDecision } from './view.ts'
import { writeProof } from './write.ts'

export function prove(standing: Standing): RolloutDecision | undefined {
  const { node, rollout } = standing
  if (!node.runs) return undefined
  if (rollout?.mine?.kind !== 'claim') return goes('kubelet already runs it', mayBeLost(standing))
  if (!node.proven)
    return { turn: { kind: 'go', detail: 'kubelet already runs it; this node has not proved it yet', asks: 'proof' }, follow: true }
  return writeProof(standing, rollout, rollout.mine, { kind: 'go', detail: 'kubelet already runs it, and its trial has passed' })
}

/**
 * A backup that is restored may have the claim again without its proof, for which others wait. So a
 * witness looks on for a while, as long as the rollout is on its way.
 */
function mayBeLost({ nowUs, node, rollout, observation: { changedUs } }: Standing): boolean {
  return rollout?.mine?.kind === 'proof' && !rollout.finished && nowUs - changedUs < 3 * restUs(node.trialUs)
}
