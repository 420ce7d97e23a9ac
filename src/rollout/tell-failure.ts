/**
 * R4, vetoes: the node reports that the content failed on it, as long as the record does not say
 * so. So a record that was deleted, recreated or restored learns it. A verdict from before `retry`
 * was raised does not count. What fails when its rollout is over, or was last-known-good here
 * before the record was about another content, fails late. That begins no rollout, and halts no
 * later one of the same content, as of a revert to it: all nodes may have run it for long.
 */
import { findDispute } from './begin.ts'
import { MOST_VETOES } from './record.ts'
import { keeps, type Rollout, type Standing } from './standing.ts'
import { describeRemedy } from './stop.ts'
import type { RolloutDecision, RolloutTurn } from './view.ts'
import { writeBegin, writeVeto } from './write.ts'

export function tellFailure(standing: Standing): RolloutDecision | undefined {
  const { node, plan, rollout } = standing
  if (node.verdict === undefined || node.verdict.retry < plan.retry) return undefined
  const retry = Math.max(node.verdict.retry, rollout?.state.retry ?? 0)
  const detail = `it failed on this node: ${node.verdict.reason}; ${describeRemedy(retry)}`
  if (rollout === undefined) {
    if (node.workedBefore || isLate(standing))
      return { ...keeps({ kind: 'failed', detail }), failed: isOfOther(standing) ? 'late' : undefined }
    const dispute = findDispute(standing)
    return dispute === undefined
      ? { ...writeBegin(standing, 'veto', { kind: 'halted', detail }), failed: 'in-rollout' }
      : keeps({ kind: 'halted', detail: `${detail}; ${dispute}` })
  }
  const turn: RolloutTurn = { kind: rollout.halted ? 'halted' : 'failed', detail }
  if (rollout.mine?.kind === 'veto') return { ...keeps(turn), failed: 'in-rollout' }
  if (isLate(standing) || !mayHalt(standing, rollout)) return { ...keeps(turn), failed: 'late' }
  const isFull = rollout.vetoes.length >= MOST_VETOES
  return { ...(isFull ? keeps(turn) : writeVeto(standing, rollout, node.verdict.reason, turn)), failed: 'in-rollout' }
}

/** A record that was made again or restored may have lost the rollout in which it failed. */
function isOfOther({ config, record: { state }, observation: { lostUs } }: Standing): boolean {
  return state !== undefined && state.hash !== config.hash && lostUs === undefined
}

/** Control planes tell the others all the same, since these start one at a time. */
function isLate({ node }: Standing): boolean {
  return node.verdict?.late === true && !node.controlPlane
}

/**
 * A finished rollout is open to all nodes but control planes, which still start one at a time. The
 * late failure of a worker, or the rollback of an operator there, would stop nothing but these.
 */
function mayHalt({ node }: Standing, { finished }: Rollout): boolean {
  return !finished || node.controlPlane
}
