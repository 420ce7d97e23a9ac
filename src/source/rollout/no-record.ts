/**
 * In place of the worker where assignments come from a directory. Nodes coordinate a rollout
 * through a record in the cluster, and there is none: what has a rollout waits, and says why.
 */
import type { RolloutSubject } from '../../decision/rollout-subject.ts'
import type { RolloutKnowledge } from '../../decision/staging-state.ts'
import type { RolloutPort } from '../../ports/assignment-source.ts'

const DETAIL =
  'a rollout needs an API server, and the agent takes its assignment from a directory; set the annotation kubelet-cfg-agent.io/rollout to `off`'

export class NoRolloutRecord implements RolloutPort {
  #known: RolloutKnowledge | undefined

  follow(subject: RolloutSubject | undefined): void {
    if (subject === undefined) {
      this.#known = undefined
      return
    }
    const { config, node } = subject
    const turn = { kind: 'wait', detail: DETAIL } as const
    this.#known = { config: `${config.namespace}/${config.name}`, hash: node.hash, turn, confirmedAtUs: undefined, progress: undefined }
  }

  known(): RolloutKnowledge | undefined {
    return this.#known
  }

  async stop(): Promise<void> {}
}
