/**
 * The rule for what an operator asked for on the node: forget verdicts, or roll back what runs.
 * What is to be promoted has to pass its trial first: see `promote.ts`. Pure.
 */
import type { ContentHash } from './config-source.ts'
import { nextAfter, type TargetSituation } from './situation.ts'
import type { Step } from './step.ts'
import { hasPassed } from './trial-key.ts'
import type { Verdict } from './verdict.ts'

/** Not what is no longer wanted, and nothing that stands in for it. */
function isPromotable({ snapshot, target }: TargetSituation, { content }: { readonly content: ContentHash }): boolean {
  if (target.content !== content || target.source === 'local' || target.verdict !== undefined) return false
  return !hasPassed(snapshot, target.key) && (!target.fallback || target.goesOn)
}

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
  if (requests.promote !== undefined && !isPromotable(situation, requests.promote)) return { kind: 'drop-promote' }
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
