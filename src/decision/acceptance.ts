/** What preflight has said, and whether it still counts: for what is to be activated, for what was refused, and for what waits for a drained node. Pure. */

import type { TargetSituation } from './situation.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import type { Target } from './target.ts'

/**
 * What a refusal rests on may have changed while the config has not: a file that was missing, a setting of the agent. Until preflight says
 * otherwise the verdict stays.
 */
export function recheckRefusal({ snapshot, candidates }: TargetSituation): Step | undefined {
  const { basis, preflightPending } = snapshot
  const [wanted] = candidates
  if (basis === undefined || wanted === undefined || wanted.source === 'local' || wanted.verdict?.state !== 'refused') return undefined
  if (wanted.verdict.basis === basis || preflightPending.has(wanted.key)) return undefined
  return { kind: 'preflight', source: wanted.source, key: wanted.key, data: undefined, fallback: false }
}

/**
 * What has passed its trial and is what kubelet starts with needs no judge: what a node is like while it boots must not take it away. Of anything that is still
 * to be activated the judgement must be of now.
 */
export function isAccepted(snapshot: Snapshot, target: Target, activated: boolean): boolean {
  if (activated && snapshot.proven === target.key) return true
  const acceptance = snapshot.accepted.get(target.key)
  if (acceptance === undefined) return false
  return activated || target.fallback || snapshot.basis === undefined || acceptance.basis === snapshot.basis
}

/** What the target changes and may not as long as the node has pods on it. */
export function listUndrained(snapshot: Snapshot, target: Target): readonly string[] {
  return target.fallback || snapshot.drained === true ? [] : (snapshot.accepted.get(target.key)?.drain ?? [])
}
