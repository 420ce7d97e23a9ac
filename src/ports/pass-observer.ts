/** The port through which the loop reports each of its passes. */
import type { Snapshot } from '../decision/snapshot.ts'
import type { Step } from '../decision/step.ts'

/** What others may see of a pass: reports, metrics, the simulation's invariants. Must not throw. */
export interface PassObserver {
  decided(snapshot: Snapshot, step: Step): void
  /** The pass is over, whatever became of its step; a pass that hangs never is. `snapshot`: undefined where nothing could be seen. */
  turned?(step: Step, snapshot: Snapshot | undefined): void
}
