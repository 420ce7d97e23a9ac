// SPDX-License-Identifier: Apache-2.0
/** Nodes that are gone for good, alone or in groups, in the middle of a wave. */
import { SECOND_US } from '../../src/values/durations.ts'
import { seededRandom } from '../sim/random.ts'
import type { FleetAgent } from './fleet-agent.ts'
import type { FleetWorld } from './fleet-world.ts'
import type { Vanish } from './schedule.ts'

export function vanish(world: FleetWorld, { config, of, count, how, seed }: Vanish): void {
  const random = seededRandom(seed)
  const { content } = world.config(config)
  const isMeant = ({ node }: FleetAgent) => of === 'any' || (node.runs.hash === content.hash) === (of === 'started')
  const left = world.agents.filter((agent) => agent.node.isUp && agent.node.config === config && isMeant(agent))
  for (let more = Math.min(count, left.length); more > 0; more -= 1) {
    const [agent] = left.splice(random.between(0, left.length), 1)
    if (agent === undefined) return
    if (how === 'scaled-down') {
      agent.node.isCordoned = true
      // As long as its pods take to leave.
      world.queue.after(random.between(30, 600) * SECOND_US, () => remove(world, agent, true))
    } else remove(world, agent, how === 'deleted')
  }
}

function remove(world: FleetWorld, { name, node }: FleetAgent, isDeleted: boolean): void {
  world.trace(name, () => (isDeleted ? 'is deleted' : 'is dead'))
  node.isDeleted ||= isDeleted
  node.die()
}

/** The nodes of a config that are gone for good. */
export function goneNodes({ agents }: FleetWorld, config: string): readonly string[] {
  return agents.filter(({ node }) => node.state === 'dead' && node.config === config).map(({ name }) => name)
}
