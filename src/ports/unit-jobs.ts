/**
 * The port that tells how the starts of kubelet's unit ended. Adapter:
 * `src/systemd/job-results.ts`.
 */
export interface UnitJobs {
  /**
   * When the latest start of the unit in this boot came to nothing since a unit that it requires
   * had failed, by CLOCK_MONOTONIC. undefined: there was none, or nothing tells. Never rejects.
   */
  dependencyFailedUs(): Promise<number | undefined>
}
