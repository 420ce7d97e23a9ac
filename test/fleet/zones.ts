// SPDX-License-Identifier: Apache-2.0
/** The zones of a simulated fleet, and plans that name them in some order, or others. */
import { DEFAULT_PLAN } from '../../src/rollout/plan.ts'
import type { RolloutNode } from '../../src/rollout/view.ts'
import type { Random } from '../sim/random.ts'
import type { Traits } from './fleet-node.ts'
import type { PlacedNode } from './schedule.ts'

const ZONES = ['zone-a', 'zone-b', 'zone-c', 'zone-d'] as const

export function zoneOf({ zone }: Pick<Traits, 'zone'>): RolloutNode['zone'] {
  return zone === undefined ? undefined : { label: DEFAULT_PLAN.zoneLabel, value: zone }
}

/** Some nodes have no label, and a zone may have nearly all of them. */
export function putIntoZones(nodes: readonly PlacedNode[], random: Random): readonly PlacedNode[] {
  const crowded = random.pick(ZONES)
  const zone = () => (random.chance(0.1) ? undefined : random.chance(0.4) ? crowded : random.pick(ZONES))
  return nodes.map((node) => ({ ...node, traits: { ...node.traits, zone: zone() } }))
}

/** Names of zones in random order. One may be empty, and nodes may be in none of them. */
export function randomZones(random: Random): string {
  const named = [...ZONES, 'zone-of-nobody'].filter(() => random.chance(0.6))
  const first = named[random.between(0, Math.max(1, named.length))]
  return first === undefined ? '' : `zones: [${[first, ...named.filter((zone) => zone !== first)].join(', ')}]`
}
