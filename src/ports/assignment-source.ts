/** The port that says what the cluster, or a directory of manifests, wants of this node. Adapters: `src/source/`. */
import type { Desired } from '../decision/desired.ts'

/** Where assignments come from: the cluster, or a directory of manifests. */
export interface AssignmentSource {
  /** The latest view, from memory. Keeps the last known answer while the server is away. */
  desired(): Desired
  /** Starts to watch. `onChange` only wakes the loop. Returns at once. */
  start(onChange: () => void): void
  stop(): Promise<void>
}
