/**
 * R4, begin: the record is not about what the config holds now, or `retry` was raised. R6, the
 * switch: it is, but was finished before this node came to use the config, so it proves nothing
 * about nodes such as this one.
 */
import { isFinished } from './plan.ts'
import type { RolloutState } from './record.ts'
import { afterRestUs, claimAtUs, type Standing, waits, waitsForEvidence, waitsUntil } from './standing.ts'
import type { RolloutConfig, RolloutDecision } from './view.ts'
import { writeBegin } from './write.ts'

export function begin(standing: Standing): RolloutDecision | undefined {
  const { node, nowUs, rollout } = standing
  if (rollout !== undefined && !cameAfterwards(standing)) return undefined
  const what = rollout === undefined ? 'its rollout has not begun' : 'its rollout was over before this node came to use it: it begins anew'
  if (!node.ready.ok) return waits(`${what}; this node cannot begin it now: ${node.ready.detail}`)
  const dispute = findDispute(standing)
  if (dispute !== undefined) return waits(dispute)
  const rests = node.controlPlane || isOfAnotherConfig(standing)
  const atUs = rests ? afterRestUs(standing) : claimAtUs(standing, 0)
  if (nowUs < atUs) return waitsUntil(atUs, `${what}; other nodes may begin it before this one`)
  const unproven = waitsForEvidence(standing, what)
  if (unproven !== undefined) return unproven
  return writeBegin(standing, 'claim', { kind: 'wait', detail: `${what}: this node begins it` })
}

/** Control planes need no new generation: they claim in every stage. */
function cameAfterwards({ node, plan, observation: { arrived }, rollout }: Standing): boolean {
  if (rollout === undefined || node.arrival !== 'switched' || node.controlPlane || node.promoted) return false
  const wasFinished = arrived.generation === rollout.state.generation && isFinished(plan, arrived.stage)
  return rollout.finished && wasFinished && rollout.mine === undefined
}

/**
 * Another node has begun a content that this one does not find in the config. That node lies, or
 * nodes use two keys of one ConfigMap. To begin anew would go to and fro without end, and each time
 * one more node would start. The admission policy allows one content for each version of the
 * config.
 *
 * @returns what to tell people; undefined: there is no dispute
 */
export function findDispute({ config, record: { state } }: Standing): string | undefined {
  if (state === undefined || state.hash === config.hash || isOther(state, config)) return undefined
  if (state.configVersion !== config.resourceVersion) return undefined
  return `the record names another content (${state.hash}) for this very version of the config: a node has begun it falsely, or nodes use two keys of it; edit the config`
}

/**
 * The config was made anew, or two configs use one record by mistake: a rest lets it change to and
 * fro slowly.
 */
function isOfAnotherConfig({ config, record: { state } }: Standing): boolean {
  return state !== undefined && isOther(state, config)
}

function isOther(state: RolloutState, config: RolloutConfig): boolean {
  return state.configUid !== config.uid
}
