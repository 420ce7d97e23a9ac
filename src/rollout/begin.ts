/**
 * R4, begin: the record is not about what the config holds now, or `retry` was raised. R6, the switch:
 * it is, but was finished before this node came to use the config, so it proves nothing about nodes
 * such as this one.
 */
import { isFinished } from './plan.ts'
import { afterRestUs, claimAtUs, type Standing, waits, waitsUntil } from './standing.ts'
import type { RolloutDecision } from './view.ts'
import { writeBegin } from './write.ts'

export function begin(standing: Standing): RolloutDecision | undefined {
  const { node, nowUs, rollout } = standing
  if (rollout !== undefined && !cameAfterwards(standing)) return undefined
  const what = rollout === undefined ? 'its rollout has not begun' : 'its rollout was over before this node came to use it: it begins anew'
  if (!node.ready.ok) return waits(`${what}: a node begins it that is ready; this one is not: ${node.ready.detail}`)
  const dispute = findDispute(standing)
  const atUs = dispute === undefined && !node.controlPlane ? claimAtUs(standing, 0) : afterRestUs(standing)
  const detail = dispute === undefined ? what : `${dispute}; this node begins it anew unless the record changes`
  if (nowUs < atUs) return waitsUntil(atUs, `${detail}: this node's place is not the first`)
  return writeBegin(standing, 'claim', { kind: 'wait', detail: `${what}: this node begins it` })
}

/** Control planes need no new generation: they claim in every stage. */
function cameAfterwards({ node, plan, observation: { arrived }, rollout }: Standing): boolean {
  if (rollout === undefined || node.arrival !== 'switched' || node.controlPlane || node.promoted) return false
  const wasFinished = arrived.generation === rollout.state.generation && isFinished(plan, arrived.stage)
  return rollout.finished && wasFinished && rollout.mine === undefined
}

/**
 * Another node has begun something that this one does not see in the config. It may be false, or
 * nodes may use two keys of one config, or two configs one record. Then nobody begins anew but after
 * a rest, so that the record does not change to and fro without end.
 */
function findDispute({ config, record: { state } }: Standing): string | undefined {
  if (state === undefined || state.hash === config.hash) return undefined
  if (state.configUid !== config.uid) return 'the record is about another config'
  if (state.configVersion !== config.resourceVersion) return undefined
  return 'the record names another content for this very version of the config'
}
