// SPDX-License-Identifier: Apache-2.0
/**
 * A return to local is a change like any other. `meta/` changes at once, as upstream's does. But
 * what ran is kept on record as left: it goes on where preflight refuses the local config, and the
 * node goes back to it where kubelet fails with local, or with what is assigned next. Pure.
 */
import { type ConfigMapSource, type HeldSource, LOCAL_CONTENT } from '../subject/config-source.ts'
import { findRunning } from './held-sources.ts'
import type { Ground, Snapshot } from './snapshot.ts'
import { findVerdict, isOfFailure, type Verdict } from './verdict.ts'

type Assigned = Pick<Snapshot, 'assigned'>

/**
 * Whether the cluster, or an operator, wants local. Not where it only stands in for a damaged
 * record.
 */
export function isLocalAssigned({ assigned }: Assigned): boolean {
  return assigned.kind === 'source' && assigned.source === 'local'
}

export function runsLocal({ running }: Pick<Snapshot, 'running'>): boolean {
  return running.kind === 'known' && running.content === LOCAL_CONTENT
}

/**
 * The configs that the node can go back to instead of local. They are also the fallbacks of a
 * config that is assigned after the return: until that has passed its trial, nothing newer is known
 * to work.
 */
export function listLeft({ left = [] }: Pick<Snapshot, 'left'>): readonly HeldSource[] {
  return left.filter(({ content }) => content !== undefined)
}

/**
 * The configs that a return to local leaves. First the running one, or where nothing runs the one
 * that kubelet starts with next, and then its fallbacks. None of these where local runs already,
 * since no restart of the agent follows. Then those that an earlier return left, if it is not over.
 * Never one that has failed.
 */
export function chooseLeft(snapshot: Snapshot): readonly ConfigMapSource[] {
  const { nextStart, lastKnownGood, previous, unit } = snapshot
  const next = nextStart.kind === 'known' ? nextStart.held : undefined
  const current = runsLocal(snapshot) ? [] : [findRunning(snapshot), next, lastKnownGood, previous]
  const found: ConfigMapSource[] = []
  const contents = new Set<string>()
  for (const held of [...current, ...listLeft(snapshot)]) {
    if (held === undefined || held.source === 'local' || held.content === undefined || contents.has(held.content)) continue
    contents.add(held.content)
    const hasFailed = unit.kind === 'known' && isOfFailure(findVerdict(snapshot, held.content, unit))
    if (!hasFailed) found.push(held.source)
  }
  return found
}

/**
 * Whether preflight's refusal of local counts. It keeps local from replacing what runs. It holds
 * nothing up that an operator forces, nor a node that has nothing else to run.
 */
export function isLocalRefused(snapshot: Ground, verdict: Verdict | undefined): boolean {
  return verdict?.state === 'refused' && isLocalAssigned(snapshot) && snapshot.requests.force !== true && !runsLocal(snapshot)
}
