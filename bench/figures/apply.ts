/**
 * From a change of the ConfigMap that the API server accepts to the start of the command that restarts kubelet, by when checkpoint and records are durable (the
 * world checks that they are there). What preflight takes is left out, since it has a figure of its own. The floor is a bare script that gets the same event, makes as many fsyncs on the same file system and starts that
 * command. They take turns, so that noise hits both.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAgent, startFloor } from '../agent.ts'
import { median, percentile } from '../statistics.ts'
import { type OpenWorld, openWorld } from '../world/client.ts'
import { CONFIG_MAPS, NAMESPACE } from '../world/objects.ts'
import { type Measured, ratioFigure } from './figure.ts'

const WARM_UP = 10

/** @param systemctlCostMs CPU that each question to systemctl takes; 0 leaves only the agent's own part. */
export async function measureApply(changes: number, systemctlCostMs: number): Promise<Measured> {
  const world = await openWorld(systemctlCostMs * 1000)
  try {
    const fsyncs = await countFsyncs(world)
    const { paths } = world
    const agent = startAgent(paths, { flags: ['--log-level=debug'] })
    const preflights = new PreflightLog(join(paths.stateDir, '..', 'agent.log'))
    const apply = {
      name: CONFIG_MAPS.floor,
      namespace: NAMESPACE,
      dir: join(paths.stateDir, '..', 'floor'),
      systemctl: paths.systemctl,
      unit: 'floor.service',
      fsyncs,
    }
    const floor = startFloor('watch.mjs', [paths.tlsDir, paths.url, 'floor-node', JSON.stringify(apply)])
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
    const name = systemctlCostMs === 0 ? 'change to restart' : `change to restart, systemctl costs ${systemctlCostMs} ms`
    const isTarget = systemctlCostMs === 0
    return {
      figures: [
        ratioFigure(`${name}, p50`, 'ms', median(times.agent), median(times.floor), isTarget ? 3 : undefined),
        ratioFigure(`${name}, p99`, 'ms', percentile(times.agent, 99), percentile(times.floor, 99), isTarget ? 6 : undefined),
      ],
      details: { systemctlCostMs, changes, fsyncs, ...times },
    }
  } finally {
    await world.close()
  }
}

/** What the agent says of each preflight, in a log that grows. */
class PreflightLog {
  readonly #path: string
  #seen = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Of all since it was asked last. */
  takeMs(): number {
    const lines = readFileSync(this.#path, 'utf8').split('\n').slice(0, -1)
    const fresh = lines.slice(this.#seen)
    this.#seen = lines.length
    const took = fresh.filter((line) => line.includes('"preflight answered"')).map((line): { tookMs: number } => JSON.parse(line))
    return took.reduce((sum, { tookMs }) => sum + tookMs, 0)
  }
}

/** Of one change, on the disk that a power loss hits, before the restart. */
async function countFsyncs(world: OpenWorld): Promise<number> {
  const { paths } = world
  const fsyncLog = join(paths.stateDir, '..', 'fsyncs')
  const agent = startAgent(paths, { fsyncLog })
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
