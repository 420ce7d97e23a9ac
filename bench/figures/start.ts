// SPDX-License-Identifier: Apache-2.0
/**
 * The time from the start of the process to the first watch at the API server. The floor is a bare
 * script with the same two requests.
 */
import { rmSync } from 'node:fs'
import { startAgent, startFloor } from '../agent.ts'
import { install } from '../installed.ts'
import { median, percentile } from '../statistics.ts'
import { openWorld } from '../world/client.ts'
import { NODE } from '../world/objects.ts'
import type { Measured } from './figure.ts'

const LIMIT_MS = 60

export async function measureStart(runs: number): Promise<Measured> {
  const installed = await install()
  const world = await openWorld()
  try {
    const { paths } = world
    const times = { agent: [] as number[], floor: [] as number[] }
    for (let i = 0; i < runs; i++) {
      const agent = startAgent(installed, paths)
      times.agent.push(((await world.firstWatch(NODE)) - agent.startedAtUs) / 1000)
      await agent.stop()
      rmSync(paths.stateDir, { recursive: true, force: true })
      const floor = startFloor(installed, 'watch.mjs', [paths.tlsDir, paths.url, 'floor-node'])
      times.floor.push(((await world.firstWatch('floor-node')) - floor.startedAtUs) / 1000)
      await floor.stop()
    }
    const differenceMs = median(times.agent) - median(times.floor)
    return {
      figures: [
        {
          name: 'start to first watch, p50',
          unit: 'ms',
          agent: median(times.agent),
          floor: median(times.floor),
          result: `+ ${differenceMs.toFixed(0)} ms`,
          target: `<= + ${LIMIT_MS} ms`,
          met: differenceMs <= LIMIT_MS,
        },
      ],
      details: { runs, p90: { agent: percentile(times.agent, 90), floor: percentile(times.floor, 90) }, ...times },
    }
  } finally {
    await world.close()
  }
}
