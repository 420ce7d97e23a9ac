/** The port through which the loop reports each of its passes. */
import type { Snapshot } from '../decision/snapshot.ts'
import type { Step } from '../decision/step.ts'

/**
 * Receives each pass: for reports, metrics, and the invariants of the simulation. Must not throw.
 */
export interface PassObserver {
  decided(snapshot: Snapshot, step: Step): void
  /**
   * The pass is over, whether or not its step succeeded. Never called for a pass that hangs.
   * `snapshot` is undefined if the node could not be observed.
   */
  turned?(step: Step, snapshot: Snapshot | undefined): void
}
