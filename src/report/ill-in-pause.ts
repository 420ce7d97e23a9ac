/**
 * A kubelet that is not well while its node itself is paused. Nothing ends that state but an
 * operator, so the condition says so, and names the pause. Pure.
 */
import { describeSource } from '../decision/config-source.ts'
import { isOutOfLoop } from '../decision/find-failure.ts'
import { describePause, findNodePause, type Pause } from '../decision/find-pause.ts'
import { lastRunSource } from '../decision/held-sources.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { findSteadiness } from './steadiness.ts'

/** @returns one text for as long as it lasts. undefined: kubelet is well, or the node not paused */
export function findIllInPause(snapshot: Snapshot): string | undefined {
  const what = findNodePause(snapshot) === undefined ? undefined : describeIllness(snapshot)
  return what === undefined ? undefined : `${what}${sayNoRollback(snapshot)}`
}

/** For messages about a kubelet that may not be well. */
export function sayNoRollback(snapshot: Snapshot): string {
  const pause = findNodePause(snapshot)
  return pause === undefined ? '' : `; ${describePause(pause)}: nothing is rolled back, and no other config starts, until ${wayOut(pause)}`
}

function describeIllness(snapshot: Snapshot): string | undefined {
  const { unit, running, health, now, policy } = snapshot
  const source = lastRunSource(snapshot)
  const what = source === undefined ? 'its config' : describeSource(source)
  if (unit.kind === 'known' && unit.activity === 'failed') return 'systemd gave kubelet up'
  // Nothing starts it: somebody stopped it.
  if (unit.kind === 'known' && (unit.activity === 'stopped' || unit.activity === 'not-found')) return undefined
  const isOver = unit.kind === 'known' && health !== undefined && isOutOfLoop(health, unit, now.monotonicUs, policy)
  if ((health?.pausedExits ?? 0) >= policy.crashLimit && !isOver) return `kubelet exits again and again with ${what}`
  if (running.kind !== 'known' || findSteadiness(snapshot) !== 'unhealthy') return undefined
  const isLate = now.monotonicUs - running.startedAtUs > policy.startDeadlineUs
  return isLate ? `kubelet runs ${what} and is not healthy` : undefined
}

function wayOut({ by }: Pause): string {
  return by === 'node' ? 'kubelet-cfg-agent resume' : 'the annotation is removed from the Node'
}
