/**
 * R4, vetoes: the node reports that the content failed on it, as long as the record does not say
 * so. So a record that was deleted, recreated or restored learns it. A verdict from before `retry`
 * was raised does not count. What was last-known-good here fails late: that begins no rollout,
 * which would halt for all nodes what they may have run for long.
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
  const turn: RolloutTurn = { kind: rollout === undefined || rollout.halted ? 'halted' : 'wait', detail }
  if (rollout === undefined) {
    if (node.workedBefore) return keeps(turn)
    const dispute = findDispute(standing)
    return dispute === undefined ? writeBegin(standing, 'veto', turn) : keeps({ ...turn, detail: `${detail}; ${dispute}` })
  }
  const isRecorded = rollout.mine?.kind === 'veto' || rollout.vetoes.length >= MOST_VETOES
  return isRecorded || !mayHalt(standing, rollout) ? keeps(turn) : writeVeto(standing, rollout, node.verdict.reason, turn)
}

/**
 * A finished rollout is open to all nodes but control planes, which still start one at a time. The
 * late failure of a worker, or the rollback of an operator there, would stop nothing but these.
 */
function mayHalt({ node }: Standing, { finished }: Rollout): boolean {
  return !finished || node.controlPlane
}
