/**
 * The rule for what an operator asked for on the node: forget verdicts, or roll back what runs.
 * Pure.
 */
import { nextAfter, type TargetSituation } from './situation.ts'
import type { Step } from './step.ts'
import type { Verdict } from './verdict.ts'

export function answerRequest(situation: TargetSituation): Step | undefined {
  const { snapshot, target } = situation
  const { requests, verdicts, suspendedVerdicts, now } = snapshot
  if (requests.retry)
    return {
      kind: 'forgive',
      drop: [...verdicts.keys(), ...suspendedVerdicts.keys()],
      requested: true,
      why: 'retry was requested on the node',
    }
  if (requests.rollback === undefined) return undefined
  if (requests.rollback.content !== target.content || target.source === 'local') return { kind: 'drop-rollback' }
  const verdict: Verdict = {
    key: target.key,
    state: 'confirmed',
    reason: 'requested',
    detail: 'rollback was requested on the node',
    source: target.source,
    atWallMs: now.wallMs,
  }
  return { kind: 'condemn', verdict, next: nextAfter(situation, target)?.source, requested: true }
}
