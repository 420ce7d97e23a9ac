// SPDX-License-Identifier: Apache-2.0
/**
 * The rule that must hold whenever a node starts a content: the record that it has just read says
 * so. Reads the record's words itself.
 */
import { freeShare, keepOrder } from '../../src/rollout/plan.ts'
import type { StartReading } from './fleet-agent.ts'
import type { FleetNode } from './fleet-node.ts'
import type { Started } from './ledger.ts'
import { planOf } from './parsed.ts'
import { Violation } from './violation.ts'
import { type Clock, checkWindow } from './windows.ts'
import { placeOf } from './zone-invariants.ts'

const NAME = 'no node goes without a record that says so'
/** A lost answer, and the moment before the start. */
const OLDEST_READING_US = 15_000_000

interface StartTime {
  readonly nowUs: number
  /** When the record that was read stopped being the newest. */
  readonly replacedAtUs: number | undefined
  readonly clock: Clock | undefined
  /** Since when the node has read the record without a break. */
  readonly contactSinceUs: number
  claimedAtUs(node: string, words: string): number | undefined
}

export function checkStart(node: FleetNode, reading: StartReading, time: StartTime): Started['by'] {
  const { nowUs, replacedAtUs } = time
  const { traits } = node
  const { config, record } = reading
  if (config.rollout === 'off') return 'no rollout'
  const plan = planOf(config)
  if (!plan.ok || config.rollout === undefined || record === undefined)
    throw new Violation(NAME, `${traits.name} had none (${reading.turn})`)
  if (replacedAtUs !== undefined && nowUs - replacedAtUs > OLDEST_READING_US) {
    throw new Violation(NAME, `${traits.name} had read one that was replaced ${(nowUs - replacedAtUs) / 1e6} s before`)
  }
  const [version, generation, stage, hash] = (record.data.state ?? '').split(' ')
  if (version !== '1' || hash !== config.content.hash) throw new Violation(NAME, `${traits.name}: the state is "${record.data.state}"`)
  if (config.paused) throw new Violation('nobody starts during a pause', traits.name)
  const isExcluded = (key: string) => config.excluded.some((excluded) => key === `node.${excluded}`)
  const words = Object.entries(record.data).filter(
    ([key, value]) => key.startsWith('node.') && value.startsWith(`${generation} `) && !isExcluded(key),
  )
  const vetoes = words.filter(([, value]) => value.split(' ')[2] === 'veto').length
  const kept = keepOrder(plan.plan, node.began?.waves, node.began?.zones)
  const share = freeShare(kept, Number(stage))
  if (share < 1 && vetoes >= (stage === '0' ? 1 : plan.plan.maxVetoes)) {
    throw new Violation('nobody starts what is halted', `${traits.name}: ${vetoes} vetoes in stage ${stage}`)
  }
  const mine = words.find(([key]) => key === `node.${traits.name}`)?.[1].split(' ')[2]
  const hasOwnWord = !isExcluded(`node.${traits.name}`) && (mine === 'claim' || mine === 'proof')
  if (time.clock !== undefined && !hasOwnWord) checkWindow(config, time.clock, nowUs, OLDEST_READING_US, traits.name)
  if (isExcluded(`node.${traits.name}`)) {
    if (share < 1 && !node.promoted.has(config.content.hash))
      throw new Violation('an excluded node starts what the others have proved to the end', `${traits.name} (${reading.turn})`)
    if (traits.controlPlane && vetoes >= plan.plan.maxVetoes) throw new Violation('nobody starts what is halted', traits.name)
    return 'share'
  }
  if (hasOwnWord) return 'own word'
  if (traits.controlPlane) throw new Violation('a control plane always claims', `${traits.name} (${reading.turn})`)
  if (node.promoted.has(config.content.hash)) return 'again'
  if (placeOf(node, config.content.hash).share < share) {
    const silent = words.filter(([key, value]) => value.startsWith(`${generation} ${stage} claim`) && isSilent(key, value, time)).length
    if (share === 1 || silent <= plan.plan.maxSilent) return 'share'
    throw new Violation('silence stops a stage', `${traits.name}: ${silent} claims are silent`)
  }
  throw new Violation(NAME, `${traits.name} is neither free in stage ${stage} nor has it claimed (${reading.turn})`)
}

/** For a node that has been able to read the record since before the claim. */
function isSilent(key: string, value: string, { nowUs, contactSinceUs, claimedAtUs }: StartTime): boolean {
  const [, , , seconds, controlPlane] = value.split(' ')
  const atUs = claimedAtUs(key.slice(5), value)
  return controlPlane === undefined && atUs !== undefined && atUs > contactSinceUs && nowUs - atUs > (Number(seconds) + 60) * 1e6
}
