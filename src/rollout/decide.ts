/** Placeholder of the signature. */
import type { RolloutDecision, RolloutView } from './view.ts'

export function decideRollout(view: RolloutView): RolloutDecision {
  return { turn: { kind: 'wait', detail: `not decided for ${view.node.name} yet` }, follow: true }
}
