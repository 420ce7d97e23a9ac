/** Where the agent, or the machine, dies. */

/** Thrown through the agent: its process has died. */
export class Crash extends Error {}

export interface CrashPoint {
  /**
   * Counts the operations (write, rename, unlink, sync, command) of all agents in this world, from
   * 1.
   */
  readonly operation: number
  readonly phase: 'before' | 'after'
  readonly powerLoss: boolean
}
