// SPDX-License-Identifier: Apache-2.0
/**
 * The writes of a compromised node. Where the API server has the admission policy, that holds it.
 */
import type { FleetAgent } from './fleet-agent.ts'
import type { FleetWorld } from './fleet-world.ts'
import { type Lie, recordName } from './schedule.ts'

export function tellLie(world: FleetWorld, agent: FleetAgent, lie: Lie): void {
  const { config } = agent.node
  if (config === undefined) return
  const record = world.record(config)
  const write = (data: Readonly<Record<string, string | null>>, then?: () => void) => {
    const { resourceVersion } = world.record(config)
    world.api.patch(agent, recordName(config), resourceVersion, data, (answer) => answer.kind === 'done' && then?.())
  }
  const [, generation = '0', stage = '0', hash = '-'] = (record.data.state ?? '1 0 0 - - 0 0').split(' ')
  const key = `node.${agent.name}`
  const turn = `${generation} ${stage}`
  switch (lie) {
    case 'false-proof':
      write({ [key]: `${turn} claim 900` }, () => write({ [key]: `${turn} proof` }))
      return
    case 'claim-and-hang':
      write({ [key]: `${turn} claim 14400` })
      return
    case 'claim-as-control-plane':
      write({ [key]: `${turn} claim 14400 control-plane` })
      return
    case 'veto':
      write({ [key]: `${turn} veto I do not like it` })
      return
    case 'garbage':
      write({ [key]: 'believe me' })
      return
    case 'false-begin':
      beginFalsely(world, agent, config, Number(generation) + 1, hash, write)
      return
  }
}

function beginFalsely(
  world: FleetWorld,
  agent: FleetAgent,
  name: string,
  generation: number,
  hash: string,
  write: (data: Readonly<Record<string, string | null>>) => void,
): void {
  const config = world.config(name)
  const retry = /retry: *([0-9]+)/.exec(config.planText ?? '')?.[1] ?? '0'
  const old = Object.keys(world.record(name).data).filter((key) => key.startsWith('node.'))
  const falseHash = hash === 'f00d' ? 'feed' : 'f00d'
  write({
    ...Object.fromEntries(old.map((key): [string, null] => [key, null])),
    state: `1 ${generation} 0 ${falseHash} ${config.uid} ${config.resourceVersion} ${retry}`,
    [`node.${agent.name}`]: `${generation} 0 claim 900`,
  })
}
