/** Changes that no test can notice, since what the agent does stays the same, and why. */

export interface ExplainedChange {
  readonly file: string
  /** As `npm run mutants` prints it. */
  readonly change: string
  readonly why: string
}

export const EXPLAINED: readonly ExplainedChange[] = []
