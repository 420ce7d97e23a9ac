// SPDX-License-Identifier: Apache-2.0
/**
 * The rule for checkpoints that nothing needs any more: all but the newest few of those as the
 * cluster has them, and of those with this node's overlay. Never one that a record, kubelet's next
 * start or the running process names, nor the one that it was rendered from. Nor the one that the
 * process was started from, nor one that did damage which nothing undoes. Pure.
 */

import { awaitsBaseline } from '../evidence/schedule.ts'
import type { CheckpointInfo, ConfigMapSource } from '../subject/config-source.ts'
import { namedSources } from './held-sources.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import type { TargetSituation } from './target.ts'

export function prune({ snapshot, target }: TargetSituation): Step | undefined {
  // The restart is a moment away.
  if (awaitsBaseline(snapshot, target.key)) return undefined
  const checkpoints = choosePrunable(snapshot)
  return checkpoints.length === 0 ? undefined : { kind: 'prune', checkpoints }
}

export function choosePrunable(snapshot: Snapshot): readonly CheckpointInfo[] {
  const { assigned, damagedFallbacks = [], leftDamaged, nextStart, unit, policy } = snapshot
  if (snapshot.checkpoints.length <= policy.keepCheckpoints) return []
  // While one name is unknown, any checkpoint may be the one it stands for.
  if (assigned.kind === 'damaged' || damagedFallbacks.length > 0 || leftDamaged === true || nextStart.kind === 'unknown') return []
  if (unit.kind === 'unknown' || unit.process.kind === 'unknown') return []
  const inProcess = unit.process.kind === 'checkpoint' ? [unit.process] : []
  const inUse: readonly Version[] = [...namedSources(snapshot), ...inProcess, ...listStartedFrom(snapshot), ...listHarmful(snapshot)]
  const paths = new Set(
    inUse.flatMap((version) => [pathOf(version), pathOf({ uid: version.uid, resourceVersion: version.resourceVersion })]),
  )
  // By the time they were saved: resourceVersions are opaque and never ordered.
  const newestFirst = [...snapshot.checkpoints].sort((a, b) => b.savedAtMs - a.savedAtMs || (pathOf(a) < pathOf(b) ? 1 : -1))
  const asReceived = newestFirst.filter(({ overlay }) => overlay === undefined)
  const rendered = newestFirst.filter(({ overlay }) => overlay !== undefined)
  const old = [asReceived, rendered].flatMap((checkpoints) => checkpoints.slice(policy.keepCheckpoints))
  return old.filter((checkpoint) => !paths.has(pathOf(checkpoint)))
}

/**
 * The source that the process was started from when it was first seen. Where kubelet reads another
 * file, its command line names no checkpoint. Once no record names a wording of this content, a new
 * wording can be compared with this one alone.
 */
function listStartedFrom({ health }: Snapshot): readonly ConfigMapSource[] {
  const source = health?.lastProcess?.source
  return source === undefined || source === 'local' ? [] : [source]
}

/**
 * Configs that did damage which cannot be undone. Another wording of one must not be tried either,
 * and only its bytes tell that it is one.
 */
function listHarmful({ verdicts }: Snapshot): readonly ConfigMapSource[] {
  return [...verdicts.values()].flatMap(({ damage, source }) => (damage === 'one-way' && source !== 'local' ? [source] : []))
}

type Version = Pick<ConfigMapSource, 'uid' | 'resourceVersion' | 'overlay'>

function pathOf({ uid, resourceVersion, overlay }: Version): string {
  return overlay === undefined ? `${uid}/${resourceVersion}` : `${uid}/${resourceVersion}/${overlay}`
}
