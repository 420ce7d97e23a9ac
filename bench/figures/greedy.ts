// SPDX-License-Identifier: Apache-2.0
/**
 * The harm that clients of the metrics can do to the agent: the time of a change, and the agent's
 * memory, beside eight clients that send 3,000 requests at once and never read an answer. The floor
 * is the same agent beside the same clients of another server, so that both share the processors
 * with them.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { startAgent, startFloor, WITHOUT_SERVING } from '../agent.ts'
import { install } from '../installed.ts'
import { readMemory } from '../processes.ts'
import { median, percentile } from '../statistics.ts'
import { openWorld } from '../world/client.ts'
import { type Measured, ratioFigure } from './figure.ts'
import { findFreePort } from './work.ts'

const WARM_UP_MS = 2000

interface Run {
  readonly times: readonly number[]
  readonly rssMb: number
}

export async function measureGreedy(changes: number): Promise<Measured> {
  const [agent, floor] = [await measure(changes, true), await measure(changes, false)]
  const name = 'change to restart, beside greedy clients'
  return {
    figures: [
      ratioFigure(`${name}, p50`, 'ms', median(agent.times), median(floor.times), undefined),
      ratioFigure(`${name}, p99`, 'ms', percentile(agent.times, 99), percentile(floor.times, 99), 2),
      ratioFigure('resident, beside greedy clients', 'MiB', agent.rssMb, floor.rssMb, 1.5),
    ],
    details: { changes, agent, floor },
  }
}

async function measure(changes: number, isAttacked: boolean): Promise<Run> {
  const installed = await install()
  const world = await openWorld()
  const port = await findFreePort()
  const agent = startAgent(installed, world.paths, { flags: [`--metrics-address=127.0.0.1:${port}`, WITHOUT_SERVING] })
  const clients = startFloor(installed, 'greedy.mjs', [String(isAttacked ? port : 0)])
  try {
    await world.active()
    await pause(WARM_UP_MS)
    const times: number[] = []
    let rssMb = 0
    for (let i = 0; i < changes; i++) {
      times.push((await world.change('agent')) / 1000)
      rssMb = Math.max(rssMb, readMemory(agent.pid).rssKb / 1024)
      await world.active()
    }
    return { times, rssMb }
  } finally {
    await Promise.all([clients.stop(), agent.stop()])
    await world.close()
  }
}
