/**
 * The rule for a trial that has passed: first it is recorded for what, then last-known-good moves.
 * That is so also for a config that is no longer assigned, but goes on since the assigned one was
 * refused. Pure.
 */
import { sameSource } from './config-source.ts'
import { listMissingEvidence } from './evidence-verdict.ts'
import type { TargetSituation } from './situation.ts'
import type { Step } from './step.ts'
import { measureTrial } from './trial.ts'

export function promote({ snapshot, target }: TargetSituation): Step | undefined {
  const { nextStart, lastKnownGood, proven, running } = snapshot
  if (target.source === 'local' || target.verdict !== undefined) return undefined
  const isStandIn = target.fallback && !target.goesOn
  if (isStandIn && target.content !== lastKnownGood.content) return undefined
  if (nextStart.kind !== 'known' || !sameSource(nextStart.held.source, target.source)) return undefined
  if (proven !== target.key) {
    const trial = measureTrial(snapshot, target.key)
    const isOver = trial?.remainingUs === 0 && listMissingEvidence(snapshot).length === 0
    return isOver ? { kind: 'prove', key: target.key } : undefined
  }
  if (isStandIn || sameSource(lastKnownGood.source, target.source)) return undefined
  if (running.kind !== 'known' || running.key !== target.key) return undefined
  // A new version of the same content moves last-known-good along; previous stays.
  const previous = lastKnownGood.content === target.content ? undefined : lastKnownGood.source
  return { kind: 'promote', target: { source: target.source, content: target.content }, previous }
}
