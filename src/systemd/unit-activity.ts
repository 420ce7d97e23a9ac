/**
 * What systemd's states mean for the agent. Pure. The states are those of systemd 252 (`unit-def.c`); later ones that are known are named
 * with the version that brought them.
 */
import type { UnitActivity } from '../decision/unit-state.ts'
import type { UnitProperties } from './unit-properties.ts'

type ShownState = Pick<UnitProperties, 'loadState' | 'activeState' | 'subState' | 'result' | 'mainPid'>

export function classifyActivity(unit: ShownState): UnitActivity {
  // 254 passes through inactive or failed on its way to an automatic restart, and may queue that one.
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
      // Whom systemd had to kill, since it did not end in time after `systemctl stop`, was stopped all the same.
      return unit.result === 'timeout' ? 'stopped' : 'failed'
    case 'inactive':
      return unit.loadState === 'not-found' ? 'not-found' : 'stopped'
    default:
      // maintenance (253): systemd could not clean up after the unit.
      return 'failed'
  }
}

/** As in `systemctl status`, for people: `active (running)`, `failed (exit-code)`. */
export function summarizeState(unit: Pick<UnitProperties, 'activeState' | 'subState' | 'result'>): string {
  const result = unit.result === 'success' || unit.result === '' ? '' : `, ${unit.result}`
  const sub = unit.subState === unit.activeState ? '' : unit.subState
  const inside = `${sub}${result}`.replace(/^, /, '')
  return inside === '' ? unit.activeState : `${unit.activeState} (${inside})`
}

/**
 * Which command runs kubelet anew, where `activity` is what the caller saw and `shown` what is now. reset-failed turns a failed unit into an inactive
 * one, which try-restart leaves alone and the next look takes for stopped by a person: systemd may have given the unit up in between.
 * @param shown a string: not known.
 */
export function chooseVerb(activity: 'failed' | 'other', shown: ShownState | string): 'start' | 'try-restart' {
  const now = typeof shown === 'string' ? activity : classifyActivity(shown)
  return now === 'failed' || (now === 'stopped' && activity === 'failed') ? 'start' : 'try-restart'
}

/**
 * Whether `reset-failed` has something to zero before kubelet is run anew. Of a unit that runs and whose starts nobody counts it has not: a start that is no
 * automatic one zeroes NRestarts itself (`service_start()`, by `flush_n_restarts`), and so kubelet need not wait for one more command.
 * @param last what the last look saw; undefined: nothing.
 */
export function needsReset(last: UnitActivity | undefined, startLimited: boolean): boolean {
  return last !== 'running' || startLimited
}
