// SPDX-License-Identifier: Apache-2.0
/**
 * Maps systemd's states to what they mean for the agent. Pure. The states are those of systemd 252
 * (`unit-def.c`); later ones have a comment with the version that added them.
 */

import { findFile, layoutOf } from '../checkpoint/layout.ts'
import type { KnownUnit, KubeletProcess, UnitActivity } from '../subject/unit-state.ts'
import type { UnitProperties } from './unit-properties.ts'

type ShownState = Pick<UnitProperties, 'loadState' | 'activeState' | 'subState' | 'result' | 'mainPid' | 'startTimedOut' | 'hasJob'>

export function classifyActivity(unit: ShownState): UnitActivity {
  // systemd 254 and later leave it so where a unit that it requires fails at its automatic restart:
  // nothing is in the queue any more, and nothing starts it.
  if (unit.subState === 'auto-restart-queued' && !unit.hasJob) return 'left-down'
  // Before an automatic restart, a unit goes through these sub-states, inactive or failed by its
  // active state, and its start may be queued.
  if (/^(dead|failed)-before-auto-restart$|^auto-restart(-queued)?$/.test(unit.subState)) return 'auto-restart'
  switch (unit.activeState) {
    case 'active':
    case 'reloading':
    case 'refreshing': // 257
      return unit.mainPid > 0 ? 'running' : 'starting'
    case 'activating':
      return 'starting'
    case 'deactivating':
      return 'stopping'
    case 'failed':
      if (unit.hasJob) return 'queued'
      // `systemctl stop` was requested, kubelet did not exit in time, and systemd killed it: still
      // a stop. But nobody stopped a kubelet that was not ready in time (Type=notify).
      return unit.result === 'timeout' && !unit.startTimedOut ? 'stopped' : 'failed'
    case 'inactive':
      if (unit.loadState === 'not-found') return 'not-found'
      // A restart is a stop and then a start, and the start waits in the queue for a moment. The
      // job of a unit that is down can only be a start: a stop has nothing to do
      // (`job_type_is_redundant()`).
      return unit.hasJob ? 'queued' : 'stopped'
    default:
      // maintenance (253): systemd could not clean up after the unit.
      return 'failed'
  }
}

/** Where systemd waits to start the unit. A start that is queued waits since the process ended. */
export function findWait(
  { restartWait, down }: Pick<UnitProperties, 'restartWait' | 'down'>,
  activity: UnitActivity,
): Pick<KnownUnit, 'restartWait'> {
  if (activity === 'queued') return { restartWait: { sinceUs: down.mainExitUs } }
  return activity === 'auto-restart' ? { restartWait } : {}
}

/**
 * Whether systemd refused the last start (systemd.unit(5), "StartLimitIntervalSec="). A process
 * that failed before leaves its own result instead (`service_enter_dead()`).
 */
export function hasHitStartLimit({ activeState, result }: Pick<UnitProperties, 'activeState' | 'result'>): boolean {
  return activeState === 'failed' && result === 'start-limit-hit'
}

/** As in `systemctl status`: `active (running)`, `failed (exit-code)`. */
export function summarizeState(unit: Pick<UnitProperties, 'activeState' | 'subState' | 'result'>): string {
  const result = unit.result === 'success' || unit.result === '' ? '' : `, ${unit.result}`
  const sub = unit.subState === unit.activeState ? '' : unit.subState
  const inside = `${sub}${result}`.replace(/^, /, '')
  return inside === '' ? unit.activeState : `${unit.activeState} (${inside})`
}

/**
 * Chooses the command that restarts kubelet. reset-failed makes a failed unit inactive; try-restart
 * then does nothing, and the unit would look as if an operator had stopped it. systemd may have
 * given up the unit since the caller's observation, and it may give up one that waits for its
 * restart before reset-failed comes. A unit that is still starting (Type=notify) is not active yet,
 * so that try-restart does nothing in some versions of systemd (`job_type_collapse()` of 248 to
 * 251); restart replaces the start.
 * @param activity as observed by the caller
 * @param shown the present state; a string: not known
 */
export function chooseVerb(activity: 'failed' | 'other', shown: ShownState | string): 'start' | 'restart' | 'try-restart' {
  const now = typeof shown === 'string' ? activity : classifyActivity(shown)
  if (now === 'starting' || now === 'auto-restart' || now === 'left-down') return 'restart'
  return now === 'failed' || (now === 'stopped' && activity === 'failed') ? 'start' : 'try-restart'
}

/**
 * Whether `reset-failed` has an effect before a restart of kubelet. It has none for a running unit
 * without a start limit: a start that is not automatic resets NRestarts itself (`service_start()`,
 * through `flush_n_restarts`). Leaving the command out restarts kubelet sooner.
 * @param last the last observation; undefined: there is none
 */
export function needsReset(last: UnitActivity | undefined, startLimited: boolean): boolean {
  return last !== 'running' || startLimited
}

/**
 * The config that a kubelet process was started with, from its `--config`.
 * @param configPath undefined: the process has no `--config`
 */
export function describeProcess(dynamicConfigDir: string, pid: number, configPath: string | undefined): KubeletProcess {
  const file = configPath === undefined ? undefined : findFile(layoutOf(dynamicConfigDir), configPath)
  if (file === undefined) return { kind: 'other', pid, configPath }
  const { kubeletConfigKey: key, ...version } = file
  return { kind: 'checkpoint', pid, key, ...version }
}
