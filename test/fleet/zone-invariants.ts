// SPDX-License-Identifier: Apache-2.0
/**
 * The order of zones, read from plan and record a second time: which nodes a stage is open to, and
 * that no node of a later zone becomes a witness while one of an earlier zone could.
 */

import { freeShare, keepOrder } from '../../src/rollout/plan.ts'
import { SECOND_US } from '../../src/values/durations.ts'
import { shareOf } from './content.ts'
import type { FleetAgent } from './fleet-agent.ts'
import type { ConfigObject, RecordObject } from './fleet-api.ts'
import type { FleetNode } from './fleet-node.ts'
import { planOf } from './parsed.ts'
import { Violation } from './violation.ts'

/** The place of a node in the order of the zones that it saw first. */
export function placeOf(
  { traits, began }: FleetNode,
  hash: string,
): { readonly zone: number; readonly within: number; readonly share: number } {
  const zones = began?.zones?.zones ?? []
  const count = Math.max(1, zones.length)
  const found = traits.zone === undefined ? -1 : zones.indexOf(traits.zone)
  const zone = found === -1 ? count - 1 : found
  const within = shareOf(`${traits.uid}\n${hash}`)
  return { zone, within, share: (zone + within) / count }
}

interface Claiming {
  readonly writer: FleetAgent
  readonly agents: readonly FleetAgent[]
  readonly config: ConfigObject
  readonly before: RecordObject
  /** Since when the stage is open, and since when the record is as it was. */
  readonly openedUs: number
  readonly changedUs: number
  readonly nowUs: number
}

/** All nodes of a fleet claim within so much time for each zone. */
const CLAIMS_US = 30 * SECOND_US
/** For the requests, the evidence, and conflicts with others. */
const LATE_US = 20 * SECOND_US

/**
 * In a world in which nothing but time keeps nodes from claiming. Stage 0 begins with one claim.
 */
export function earlierZonesClaimFirst({ writer, agents, config, before, openedUs, changedUs, nowUs }: Claiming): void {
  const plan = planOf(config)
  const [, generation = '', stage = '0', hash] = (before.data.state ?? '').split(' ')
  const order = writer.node.began?.zones
  if (!plan.ok || order === undefined || writer.node.traits.controlPlane || stage === '0' || hash !== config.content.hash) return
  if (plan.plan.windows.length > 0) return
  const words = Object.entries(before.data).filter(([key, value]) => key.startsWith('node.') && value.startsWith(`${generation} `))
  const taken = words.filter(([, value]) => value.startsWith(`${generation} ${stage} `) && !value.endsWith('control-plane')).length
  // Where a place is free since a claim fell silent, each node counts from when it found that.
  if (taken >= plan.plan.witnesses) return
  const share = freeShare(keepOrder(plan.plan, writer.node.began?.waves, order), Number(stage))
  const openZones = Math.floor(share * order.zones.length)
  const zone = placeOf(writer.node, hash).zone
  const fromUs = Math.max(openedUs + plan.plan.restUs, changedUs) + LATE_US
  const couldClaim = (agent: FleetAgent): boolean => {
    const place = placeOf(agent.node, hash)
    const dueUs = fromUs + (Math.max(0, place.zone - openZones) + place.within) * CLAIMS_US
    return place.zone < zone && place.share >= share && nowUs > dueUs && isWilling(agent, config, openedUs)
  }
  const hasWord = new Set(words.map(([key]) => key.slice(5)))
  const first = agents.find((agent) => agent !== writer && !hasWord.has(agent.name) && couldClaim(agent))
  if (first === undefined) return
  const told = `${writer.name} of zone ${zone} in stage ${stage}, before ${first.name} of zone ${placeOf(first.node, hash).zone}`
  throw new Violation('no node of a later zone claims while one of an earlier zone could', told)
}

function isWilling(agent: FleetAgent, { content, excluded }: ConfigObject, sinceUs: number): boolean {
  const { node, name } = agent
  const { hash } = content
  const { traits, verdicts, promoted, runs, began } = node
  const isPlain = !traits.liar && !traits.old && !traits.controlPlane && !excluded.includes(name)
  const isFresh = runs.hash !== hash && !promoted.has(hash) && !verdicts.has(hash) && began?.hash === hash
  return isPlain && isFresh && agent.connected() && agent.followsSinceUs < sinceUs && agent.unreadySinceUs === undefined
}
