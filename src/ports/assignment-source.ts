/** The port for the assignment of this node. Adapters: `src/source/`. */
import type { Desired } from '../decision/desired.ts'
import type { ReadLocalConfig } from './local-config.ts'

/** Reads this node's assignment from the cluster, or from a directory of manifests. */
export interface AssignmentSource {
  /**
   * The latest known assignment, from memory; it is kept while the API server is unreachable.
   * @param readLocal called only where a part is assigned
   */
  desired(readLocal: ReadLocalConfig): Desired
  /** Starts watching and returns immediately. `onChange` only wakes the loop. */
  start(onChange: () => void): void
  stop(): Promise<void>
}
