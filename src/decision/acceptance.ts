// SPDX-License-Identifier: Apache-2.0
/** The answer of preflight about a config, and whether it still counts. Pure. */

import { needsStart } from '../health/sample.ts'
import { type ConfigSource, isOther } from '../subject/config-source.ts'
import { hasPassed } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { isLocalAssigned } from './left.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import type { Target, TargetSituation } from './target.ts'
import type { Acceptance, Verdict } from './verdict.ts'
import { hasFailed, isWorthKeeping, runsOnHealthy } from './worth-keeping.ts'

/**
 * The rule that asks preflight again. The reason of a refusal may have gone while the config stayed
 * the same: a file that was missing, a setting of the agent. Local may have changed itself. The
 * verdict stays until preflight accepts the config.
 */
export function recheckRefusal({ snapshot, candidates }: TargetSituation): Step | undefined {
  const { basis, preflightPending } = snapshot
  const [wanted] = candidates
  if (basis === undefined || wanted === undefined || wanted.verdict?.state !== 'refused') return undefined
  if (isOfToday(snapshot, wanted.source, wanted.verdict) || preflightPending.has(wanted.key)) return undefined
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
  if (activated || target.fallback) return true
  return isChangeFromRunning(snapshot, acceptance) && (snapshot.basis === undefined || isOfToday(snapshot, target.source, acceptance))
}

/**
 * Somebody else may have started kubelet with another config since. From that one, the same content
 * is another change, which may have to wait for a drained node.
 */
function isChangeFromRunning({ running }: Snapshot, { changes }: Acceptance): boolean {
  return changes === undefined || running.kind !== 'known' || changes.from === running.content
}

/** Whether a result of preflight rests on what it would rest on now. */
function isOfToday({ basis, localConfig }: Snapshot, source: ConfigSource, result: Acceptance | Verdict): boolean {
  return result.basis === basis && (source !== 'local' || result.localConfig === localConfig)
}

/**
 * Whether kubelet may be restarted with local without preflight: it runs that already, it is not
 * well with what it runs, or an operator forces it. Where local stands in for what failed, kubelet
 * waits for it. A kubelet that is only about to start, as after a boot, may be well with what is in
 * place.
 */
export function needsNoCheck(snapshot: Snapshot, { activity }: KnownUnit): boolean {
  const { running, nextStart, requests } = snapshot
  if (!isLocalAssigned(snapshot) || requests.force === true) return true
  const isInPlace = nextStart.kind === 'known' && nextStart.held.source === 'local'
  if (running.kind === 'none') return isInPlace || needsStart(activity) || hasFailed(snapshot)
  if (running.kind !== 'known' || isOther(running.content)) return true
  return !isWorthKeeping(snapshot)
}

/** The fields that the target changes, and that may not change on this node as it is now. */
export function listUndrained(snapshot: Snapshot, target: Target): readonly string[] {
  // An operator who resets a node knows what runs there.
  const isReset = target.source === 'local' && snapshot.requests.hold === 'local'
  const acceptance = target.fallback || isReset ? undefined : snapshot.accepted.get(target.key)
  return acceptance === undefined ? [] : listWaiting(snapshot, acceptance)
}

/**
 * Pods cannot leave a kubelet that does not run well, nor the state files that it keeps. What
 * changes its managers does not wait for that. One that evidence speaks against runs on, and so do
 * its pods: it is left for a fallback.
 */
export function listWaiting(snapshot: Snapshot, { drain, managers = [] }: Pick<Acceptance, 'drain' | 'managers'>): readonly string[] {
  const undrained = snapshot.drained === true ? [] : drain
  const isFree = snapshot.exclusives?.kind === 'none' || (hasFailed(snapshot) && !runsOnHealthy(snapshot))
  return [...new Set([...undrained, ...(isFree ? [] : managers)])]
}
