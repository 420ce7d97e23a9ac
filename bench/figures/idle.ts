/**
 * CPU time of the agent and its commands on a node where nothing happens: the config has passed its
 * trial, observations come at their usual pace, and systemctl takes as much CPU as the real one.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { startAgent, startFloor } from '../agent.ts'
import { install } from '../installed.ts'
import { monotonicUs, readCpuTime } from '../processes.ts'
import { openWorld } from '../world/client.ts'
import { REAL_SYSTEMCTL_US } from '../world/objects.ts'
import type { Measured } from './figure.ts'

const SETTLING_MS = 40_000
const LIMIT_PERCENT = 0.1

export async function measureIdle(seconds: number): Promise<Measured> {
  const installed = await install()
  const world = await openWorld({ systemctlCostUs: REAL_SYSTEMCTL_US })
  const agent = startAgent(installed, world.paths, { flags: ['--trial-duration=1s'] })
  const floor = startFloor(installed, 'idle.mjs')
  try {
    await world.active()
    await pause(SETTLING_MS)
    const before = { agent: readCpuTime(agent.pid), floor: readCpuTime(floor.pid), atUs: monotonicUs() }
    await pause(seconds * 1000)
    const after = { agent: readCpuTime(agent.pid), floor: readCpuTime(floor.pid), atUs: monotonicUs() }
    const elapsedMs = (after.atUs - before.atUs) / 1000
    const ownMs = after.agent.ownMs - before.agent.ownMs
    const childrenMs = after.agent.childrenMs - before.agent.childrenMs
    const percent = (100 * (ownMs + childrenMs)) / elapsedMs
    return {
      figures: [
        {
          name: 'CPU while idle, with child processes',
          unit: '% of a core',
          agent: percent,
          floor: (100 * (after.floor.ownMs - before.floor.ownMs)) / elapsedMs,
          result: `${percent.toFixed(3)} %`,
          target: `< ${LIMIT_PERCENT} %`,
          met: percent < LIMIT_PERCENT,
        },
      ],
      details: { seconds, ownMs, childrenMs },
    }
  } finally {
    await Promise.all([agent.stop(), floor.stop()])
    await world.close()
  }
}
