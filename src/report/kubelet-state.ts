// SPDX-License-Identifier: Apache-2.0
/**
 * The state of kubelet itself for the reports: whether it is steady, which config it is about to
 * run between two starts, and whether it is ill while its node is paused. Pure.
 */

import { describePause, findNodePause, type Pause } from '../decision/find-pause.ts'
import { lastRunSource } from '../decision/held-sources.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { isOutOfLoop } from '../health/illness.ts'
import { WHY_UNEXECUTED } from '../health/sample.ts'
import { describeSource, type HeldSource } from '../subject/config-source.ts'

type Steadiness = 'steady' | 'starting' | 'unhealthy'

const STEADY_US = 10e6

/**
 * Whether the running kubelet has stayed up long enough for its config to be reported as ready:
 * otherwise a kubelet that exits soon after each start would be reported as ready at every other
 * look. Uses the health of this process if it is known, and else the age of the process.
 */
export function findSteadiness({ now, running, health, healthz, policy }: Snapshot): Steadiness {
  if (running.kind !== 'known') return 'starting'
  // Never longer than a trial, however short trials are configured to be.
  const steadyUs = Math.min(STEADY_US, policy.trialUs)
  const isYoung = now.monotonicUs - running.startedAtUs < steadyUs
  const isKnown = health?.subject === running.key && health.invocationId === running.invocationId && healthz?.ok !== 'unknown'
  if (isKnown && health.healthySinceUs === undefined) return isYoung ? 'starting' : 'unhealthy'
  return isYoung ? 'starting' : 'steady'
}

/**
 * The config that is about to run while kubelet is between two starts. undefined: kubelet runs, or
 * nothing starts it again by itself. In a crash loop, the report between two starts is the same as
 * the report while a process runs.
 */
export function findUpcoming({ unit, running, nextStart }: Snapshot): HeldSource | undefined {
  if (running.kind !== 'none' || unit.kind !== 'known' || nextStart.kind !== 'known') return undefined
  switch (unit.activity) {
    case 'auto-restart':
    case 'queued':
    case 'starting':
    case 'running':
      return nextStart.held
    case 'stopping':
    case 'stopped':
    case 'exited':
    case 'left-down':
    case 'failed':
    case 'not-found':
      return undefined
  }
}

/** Why systemd does not execute kubelet, where that takes long: one text until it does. */
export function findUnexecuted({ health, now, policy }: Snapshot): string | undefined {
  const sinceUs = health?.unexecutedSinceUs ?? now.monotonicUs
  return now.monotonicUs - sinceUs > policy.toleranceUs ? WHY_UNEXECUTED : undefined
}

/**
 * A kubelet that is not well while its node itself is paused. Nothing ends that state but an
 * operator, so the condition says so, and names the pause.
 * @returns one text for as long as it lasts. undefined: kubelet is well, or the node not paused
 */
export function findIllInPause(snapshot: Snapshot): string | undefined {
  return findNodePause(snapshot) === undefined ? undefined : findIll(snapshot)
}

/** The same of a kubelet that is kept from the wanted config on purpose, whoever did that. */
export function findIll(snapshot: Snapshot): string | undefined {
  const what = describeIllness(snapshot)
  return what === undefined ? undefined : `${what}${snapshot.requests.hold === 'local' ? RESET : sayNoRollback(snapshot)}`
}

const RESET = '; reset on the node: what the cluster assigns is ignored until kubelet-cfg-agent resume'

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
  const unexecuted = findUnexecuted(snapshot)
  if (unexecuted !== undefined) return `kubelet cannot start, since ${unexecuted}`
  const isOver = unit.kind === 'known' && health !== undefined && isOutOfLoop(health, unit, now.monotonicUs, policy)
  if (Math.max(health?.pausedExits ?? 0, health?.exits ?? 0) >= policy.crashLimit && !isOver)
    return `kubelet exits again and again with ${what}`
  if (running.kind !== 'known' || findSteadiness(snapshot) !== 'unhealthy') return undefined
  const isLate = now.monotonicUs - running.startedAtUs > policy.startDeadlineUs
  return isLate ? `kubelet runs ${what} and is not healthy` : undefined
}

function wayOut({ by }: Pause): string {
  return by === 'node' ? 'kubelet-cfg-agent resume' : 'the annotation is removed from the Node'
}
