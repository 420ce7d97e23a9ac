/**
 * Invariant 9: a healthy kubelet is restarted only for the cluster's, an operator's or a verdict's
 * sake. What is merely unknown, lost or refused restarts nothing.
 */
import assert from 'node:assert/strict'
import { LOCAL_CONTENT } from '../../src/decision/config-source.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step } from '../../src/decision/step.ts'
import { contentOfKey, trialKey } from '../../src/decision/trial-key.ts'

export function checkCause(snapshot: Snapshot, step: Step): void {
  if (step.kind !== 'restart') return
  const target = contentOfKey(step.record.target)
  const isCaused = isWanted(snapshot, target) || isCondemned(snapshot)
  assert(isCaused, `invariant 9: a healthy kubelet is restarted into ${target}, and ${snapshot.desired.kind} is desired`)
}

/** By the cluster or an operator, as far as that is known; or what was assigned last. */
function isWanted({ desired, desiredContent, requests, assignedContent }: Snapshot, target: string): boolean {
  if (target === LOCAL_CONTENT && (requests.hold === 'local' || desired.kind === 'local')) return true
  return target === desiredContent || target === assignedContent
}

/** What runs has failed, or what is assigned has, so that a fallback runs. */
function isCondemned({ unit, running, assignedContent, verdicts, policy }: Snapshot): boolean {
  if (unit.kind === 'unknown') return false
  const contents = [running.kind === 'known' ? running.content : undefined, assignedContent]
  const keys = contents.flatMap((content) => (content === undefined ? [] : [trialKey(content, unit.kubeletIdentity)]))
  // The kubelet that runs may have been upgraded on disk since it started.
  if (running.kind === 'known') keys.push(running.key)
  // What did damage is not tried again on any kubelet.
  keys.push(
    ...[...verdicts.values()].flatMap(({ damage, key }) => (damage === 'one-way' && contentOfKey(key) === assignedContent ? [key] : [])),
  )
  return keys.some((key) => {
    const verdict = verdicts.get(key)
    return verdict !== undefined && (verdict.state !== 'refused' || policy.whenRefused === 'last-known-good')
  })
}
