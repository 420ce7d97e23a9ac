/**
 * Nodes that have their turn: by their own claim in the record (also after a crash between the
 * write and the start), by a trial that the content passed on them before (R5), or by the wave that
 * is open (R1).
 */
import { formatDuration } from '../values/durations.ts'
import { freeShare, ROLLOUT_EXCLUDE_ANNOTATION } from './plan.ts'
import { describeStage, describeWave } from './progress.ts'
import { goes, type Rollout, type Standing, waits, waitsUntil } from './standing.ts'
import { haltControlPlanes } from './stop.ts'
import type { RolloutDecision } from './view.ts'

export function goOnOwnClaim(_standing: Standing, { mine }: Rollout): RolloutDecision | undefined {
  return mine?.kind === 'claim' || mine?.kind === 'proof' ? goes(`the record has this node's ${mine.kind}`, true) : undefined
}

/**
 * An administrator trusts this node with no rollout any more: it starts what the others have
 * proved. A control plane goes beside those that claim one after another.
 */
export function standAside(standing: Standing): RolloutDecision | undefined {
  const { plan, node, rollout } = standing
  if (!plan.excluded.includes(node.name)) return undefined
  const why = `the annotation ${ROLLOUT_EXCLUDE_ANNOTATION} of the config excludes this node`
  if (rollout?.finished !== true) return waits(`${why}: it starts the content when the rollout is finished`)
  return (node.controlPlane ? haltControlPlanes(standing, rollout) : undefined) ?? goSpread(standing, why)
}

/**
 * A node may return to a content that passed here before, even while claims of other nodes are
 * silent. Control planes are excepted, so that they do not all restart at once (R8).
 */
export function goAgain(standing: Standing): RolloutDecision | undefined {
  const { promoted, controlPlane } = standing.node
  return promoted && !controlPlane ? goSpread(standing, 'it has been last-known-good on this node before') : undefined
}

/**
 * A new node that joins a finished rollout starts at once. Older nodes may join with many others,
 * as when the agent is installed on a whole fleet.
 */
export function goFree(standing: Standing, rollout: Rollout): RolloutDecision | undefined {
  const { node, plan, place } = standing
  const { state, finished } = rollout
  if (place.share >= freeShare(plan, state.stage)) return undefined
  const detail = describeStage(plan, state.stage, rollout)
  return finished && node.arrival === 'joined' && node.young === true ? goes(detail) : goSpread(standing, detail)
}

/**
 * The spread begins when this node is let go, so also when a pause, a halt or a silence is over.
 * Otherwise all nodes that waited for that would start at once.
 */
function goSpread({ nowUs, place, plan, observation }: Standing, detail: string): RolloutDecision {
  const atUs = (observation.letGoUs ?? nowUs) + Math.floor(place.spread * plan.spreadUs)
  const decision = nowUs < atUs ? waitsUntil(atUs, `${detail}; nodes start spread over ${formatDuration(plan.spreadUs)}`) : goes(detail)
  return { ...decision, letGo: true }
}

/** Why a node waits for a later stage. */
export function describeWaiting({ plan, place, node }: Standing, rollout: Rollout): string {
  const stage = describeStage(plan, rollout.state.stage, rollout)
  return node.controlPlane ? `${stage}; control planes start it one at a time` : `${stage}; ${describeWave(plan, place.share)}`
}
