/** The port for kubelet's unit under systemd. Adapter: `src/systemd/systemctl.ts`. */
import type { UnitState } from '../decision/unit-state.ts'

export type CommandOutcome = { readonly ok: true } | { readonly ok: false; readonly detail: string }

/** Kubelet's unit under systemd. */
export interface Unit {
  observe(): Promise<UnitState>
  /** Whether the process of that look still runs, without asking systemd. false: it does not, or that cannot be told. */
  stillRuns(seen: UnitState): boolean
  /**
   * Asks systemd, without waiting, to run kubelet anew: `reset-failed` where it does something, then `try-restart` (or `start` where the unit is failed).
   * Never starts what a person stopped.
   */
  restart(activity: 'failed' | 'other'): Promise<CommandOutcome>
}
