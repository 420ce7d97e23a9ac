/**
 * The rule for a trial that has passed. The first step records which content passed it, on which
 * kubelet. The second moves last-known-good. That is so also for a config that is no longer
 * assigned, but goes on since the assigned one was refused. Pure.
 */
import { type ConfigSource, sameSource } from './config-source.ts'
import { findByKey } from './find-verdict.ts'
import { isLocalAssigned } from './left.ts'
import { isTrialPassed } from './open-trial.ts'
import type { FallbackName } from './records.ts'
import type { TargetSituation } from './situation.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import type { Target } from './target.ts'
import { hasPassed, identityOfKey, trialKey } from './trial-key.ts'

export function promote({ snapshot, target }: TargetSituation): Step | undefined {
  const { nextStart, lastKnownGood, running } = snapshot
  // Last-known-good is local with it, whatever goes on.
  if (target.source === 'local' || isLocalAssigned(snapshot) || target.verdict !== undefined) return undefined
  const isStandIn = target.fallback && !target.goesOn
  if (isStandIn && target.content !== lastKnownGood.content) return undefined
  if (nextStart.kind !== 'known' || nextStart.held.content !== target.content) return undefined
  if (!hasPassed(snapshot, target.key)) {
    return isTrialPassed(snapshot, target.key) ? { kind: 'prove', key: target.key } : undefined
  }
  // Its checkpoint is gone: it could not be the fallback of another config.
  if (nextStart.held.onlyInPlace === true) return undefined
  // A pause keeps the version that kubelet starts with, also where only the version is new.
  if (!sameSource(nextStart.held.source, target.source)) return undefined
  if (isStandIn || sameSource(lastKnownGood.source, target.source)) return undefined
  if (running.kind !== 'known' || running.key !== target.key) return undefined
  return { kind: 'promote', target: { source: target.source, content: target.content }, previous: findPrevious(snapshot, target) }
}

/** undefined: the record stays. */
function findPrevious(snapshot: Snapshot, target: Target): ConfigSource | undefined {
  const displaced = findDisplaced(snapshot, target)
  if (displaced !== undefined || !isDamaged(snapshot, 'previous')) return displaced
  // It becomes what it counts as: nothing is pruned while a record is damaged.
  return snapshot.previous.source
}

/** What previous has to name from now on. undefined: what it names already. */
function findDisplaced(snapshot: Snapshot, target: Target): ConfigSource | undefined {
  const { source, content } = snapshot.lastKnownGood
  // Nobody knows what it named, perhaps the target itself. What previous names did pass a trial.
  if (isDamaged(snapshot, 'last-known-good')) return undefined
  // A new version of the same content moves last-known-good along.
  if (content === target.content) return undefined
  // What has failed since it was promoted is no fallback, and must not displace the one that works.
  const hasFailed = content !== undefined && findByKey(snapshot.verdicts, trialKey(content, identityOfKey(target.key))) !== undefined
  return hasFailed ? undefined : source
}

function isDamaged({ damagedFallbacks = [] }: Snapshot, name: FallbackName): boolean {
  return damagedFallbacks.includes(name)
}
