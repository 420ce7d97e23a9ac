// SPDX-License-Identifier: Apache-2.0
/**
 * The time from the API server's acceptance of a changed ConfigMap to the start of the command that
 * restarts kubelet; checkpoint and records are durable by then, which the world verifies. Without
 * the time for preflight, which has a figure of its own. The floor is a bare script that receives
 * the same event, makes the same number of fsyncs on the same file system and starts the same
 * command. They alternate, so noise affects both.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAgent, startFloor, WITHOUT_SERVING } from '../agent.ts'
import { type Installed, install } from '../installed.ts'
import { PreflightLog } from '../preflight-log.ts'
import { median, percentile } from '../statistics.ts'
import { type OpenWorld, openWorld } from '../world/client.ts'
import { CONFIG_MAPS, NAMESPACE } from '../world/objects.ts'
import { type Measured, ratioFigure } from './figure.ts'

const WARM_UP = 10

/** @param systemctlCostMs CPU time of each systemctl command; 0 leaves only the agent's own part */
export async function measureApply(changes: number, systemctlCostMs: number): Promise<Measured> {
  const installed = await install()
  const world = await openWorld({ systemctlCostUs: systemctlCostMs * 1000 })
  try {
    const fsyncs = await countFsyncs(installed, world)
    const { paths } = world
    const agent = startAgent(installed, paths, { flags: ['--log-level=debug', WITHOUT_SERVING] })
    const preflights = new PreflightLog(join(paths.stateDir, '..', 'agent.log'))
    const apply = {
      name: CONFIG_MAPS.floor,
      namespace: NAMESPACE,
      dir: join(paths.stateDir, '..', 'floor'),
      systemctl: paths.systemctl,
      unit: 'floor.service',
      fsyncs,
    }
    const floor = startFloor(installed, 'watch.mjs', [paths.tlsDir, paths.url, 'floor-node', JSON.stringify(apply)])
    const times = { agent: [] as number[], floor: [] as number[], preflight: [] as number[] }
    await world.active()
    for (let i = 0; i < WARM_UP + changes; i++) {
      const agentUs = await world.change('agent')
      const preflightMs = preflights.takeMs()
      await world.active()
      const floorUs = await world.change('floor')
      if (i < WARM_UP) continue
      times.agent.push(agentUs / 1000 - preflightMs)
      times.preflight.push(preflightMs)
      times.floor.push(floorUs / 1000)
    }
    await Promise.all([agent.stop(), floor.stop()])
    const name = systemctlCostMs === 0 ? 'change to restart' : `change to restart, systemctl takes ${systemctlCostMs} ms`
    const isTarget = systemctlCostMs === 0
    return {
      figures: [
        ratioFigure(`${name}, p50`, 'ms', median(times.agent), median(times.floor), isTarget ? 2 : undefined),
        ratioFigure(`${name}, p99`, 'ms', percentile(times.agent, 99), percentile(times.floor, 99), isTarget ? 3 : undefined),
      ],
      details: { systemctlCostMs, changes, fsyncs, ...times },
    }
  } finally {
    await world.close()
  }
}

/** The number of fsyncs on disk for one change, before the restart. */
async function countFsyncs(installed: Installed, world: OpenWorld): Promise<number> {
  const { paths } = world
  const fsyncLog = join(paths.stateDir, '..', 'fsyncs')
  const agent = startAgent(installed, paths, { flags: [WITHOUT_SERVING], fsyncLog })
  await world.active()
  const counts: number[] = []
  for (let i = 0; i < 5; i++) {
    const before = countLines(fsyncLog, paths.stateDir)
    await world.change('agent')
    counts.push(countLines(fsyncLog, paths.stateDir) - before)
    await world.active()
  }
  await agent.stop()
  return median(counts)
}

function countLines(file: string, prefix: string): number {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(prefix)).length
}
