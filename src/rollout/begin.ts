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
  const what =
    rollout === undefined ? 'its rollout has not begun' : 'its rollout finished before this node used the config, so a new one begins'
  if (!node.ready.ok) return waits(`${what}; this node cannot begin it now: ${node.ready.detail}`)
  const dispute = findDispute(standing)
  if (dispute !== undefined) return waits(dispute)
  const rests = node.controlPlane || isOfAnotherConfig(standing)
  const atUs = rests ? afterRestUs(standing) : claimAtUs(standing, 0)
  if (nowUs < atUs) return waitsUntil(atUs, `${what}; other nodes come first, then this one`)
  const unproven = waitsForEvidence(standing, what)
  if (unproven !== undefined) return unproven
  return writeBegin(standing, 'claim', { kind: 'wait', detail: `${what}; this node begins it now` })
}

/** Control planes need no new generation: they claim in every stage. */
function cameAfterwards({ node, plan, observation: { firstPosition }, rollout }: Standing): boolean {
  if (rollout === undefined || node.arrival !== 'switched' || node.controlPlane || node.promoted) return false
  // It was among the nodes that this rollout was for, perhaps before a reboot.
  if (node.sawUnfinished) return false
  const wasFinished = firstPosition.generation === rollout.state.generation && isFinished(plan, firstPosition.stage)
  return rollout.finished && wasFinished && rollout.mine === undefined
}

/**
 * Another node has begun something that this one does not see in the config. It is false, or nodes
 * use two keys of one ConfigMap. If each side began anew, this would never end, and each time one
 * more node would start. The admission policy allows one content for each version of the config.
 */
export function findDispute({ config, record: { state } }: Standing): string | undefined {
  if (state === undefined || state.hash === config.hash || isOther(state, config)) return undefined
  if (state.configVersion !== config.resourceVersion) return undefined
  const claim = `the record says that version ${config.resourceVersion} of the config has other content (hash ${state.hash.slice(0, 12)})`
  const causes = 'nodes that use different keys of this ConfigMap, an edit of a ConfigMap under it, or a false record by a node'
  return `${claim}: possible causes are ${causes}; use one ConfigMap for each key, and edit the config`
}

/**
 * The config was recreated, or two configs use one record. The rest keeps these from alternating
 * quickly.
 */
function isOfAnotherConfig({ config, record: { state } }: Standing): boolean {
  return state !== undefined && isOther(state, config)
}

function isOther(state: RolloutState, config: RolloutConfig): boolean {
  return state.configUid !== config.uid
}
