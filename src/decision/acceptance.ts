/** What preflight said of a config, and whether it still counts. Pure. */

import type { TargetSituation } from './situation.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import type { Target } from './target.ts'
import { hasPassed } from './trial-key.ts'

/**
 * The rule that asks preflight again. The reason of a refusal may have gone while the config stayed
 * the same: a file that was missing, a setting of the agent. The verdict stays until preflight
 * accepts the config.
 */
export function recheckRefusal({ snapshot, candidates }: TargetSituation): Step | undefined {
  const { basis, preflightPending } = snapshot
  const [wanted] = candidates
  if (basis === undefined || wanted === undefined || wanted.source === 'local' || wanted.verdict?.state !== 'refused') return undefined
  if (wanted.verdict.basis === basis || preflightPending.has(wanted.key)) return undefined
  return { kind: 'preflight', source: wanted.source, key: wanted.key, data: undefined, fallback: false }
}

/**
 * A config that passed its trial and is what kubelet starts with needs no preflight: the state of a
 * booting node must not take it away. A config that is still to be activated needs a current
 * acceptance.
 */
export function isAccepted(snapshot: Snapshot, target: Target, activated: boolean): boolean {
  if (activated && hasPassed(snapshot, target.key)) return true
  const acceptance = snapshot.accepted.get(target.key)
  if (acceptance === undefined) return false
  return activated || target.fallback || snapshot.basis === undefined || acceptance.basis === snapshot.basis
}

/** The fields that the target changes, and that may change on a drained node only. */
export function listUndrained(snapshot: Snapshot, target: Target): readonly string[] {
  return target.fallback || snapshot.drained === true ? [] : (snapshot.accepted.get(target.key)?.drain ?? [])
}
