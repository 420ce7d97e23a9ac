/** The port for kubelet's systemd unit. Adapter: `src/systemd/systemctl.ts`. */
import type { RestartOutcome } from '../decision/effects-of-answer.ts'
import type { UnitState } from '../decision/unit-state.ts'

export interface Unit {
  observe(): Promise<UnitState>
  /**
   * Whether the process of that observation still runs, without running systemctl. false: no, or
   * unknown.
   */
  stillRuns(seen: UnitState): boolean
  /**
   * Tells systemd to restart kubelet, and does not wait for it: `reset-failed` where that has an
   * effect, then `try-restart`, or `start` if the unit is failed, or `restart` if it is starting or
   * waits for its next start. Never starts a unit that an operator stopped, unless that happens
   * while these commands run. undefined: they were cut off, and systemd may have been told or not.
   */
  restart(activity: 'failed' | 'other'): Promise<RestartOutcome | undefined>
}
