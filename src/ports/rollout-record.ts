/**
 * The port for the record that nodes coordinate a rollout through. Adapter:
 * `src/source/rollout/rollout-worker.ts`.
 */
import type { RolloutSubject } from '../decision/rollout-subject.ts'
import type { RolloutKnowledge } from '../decision/staging-state.ts'

/** Never throws and never waits: the record is read and written in the background. */
export interface RolloutPort {
  /**
   * What this node has to say. undefined: no rollout concerns it. A turn that changes wakes the
   * loop.
   */
  follow(subject: RolloutSubject | undefined): void
  /** What is known of the record of the subject, from memory. */
  known(): RolloutKnowledge | undefined
}
