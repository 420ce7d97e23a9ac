/**
 * R4, vetoes: the node says that the content failed on it, as long as the record does not say so.
 * So a record that was deleted, made again or restored learns it. A verdict from before `retry` was
 * raised is none.
 */
import { findDispute } from './begin.ts'
import { type Standing, waits } from './standing.ts'
import { MOST_VETOES } from './tally.ts'
import type { RolloutDecision, RolloutTurn } from './view.ts'
import { writeBegin, writeVeto } from './write.ts'

export function tellFailure(standing: Standing): RolloutDecision | undefined {
  const { node, plan, rollout } = standing
  if (node.verdict === undefined || node.verdict.retry < plan.retry) return undefined
  const detail = `it failed on this node: ${node.verdict.reason}`
  const turn: RolloutTurn = { kind: rollout === undefined || rollout.halted ? 'halted' : 'wait', detail }
  if (rollout === undefined) return findDispute(standing) === undefined ? writeBegin(standing, 'veto', turn) : { ...waits(detail), turn }
  const told = rollout.mine?.kind === 'veto' || rollout.vetoes.length >= MOST_VETOES
  return told ? { ...waits(detail), turn } : writeVeto(standing, rollout, node.verdict.reason, turn)
}
