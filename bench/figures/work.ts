// SPDX-License-Identifier: Apache-2.0
/**
 * Memory after real work: changes of the config with every part of preflight (kubelet's own stages
 * are answered by a stand-in), an overlay that is merged into each, reports to the API server, and
 * metrics that are scraped after each change. Then the node is left alone, and then the same again,
 * which shows whether memory grows with the number of changes. The floor is a bare Node.js of the
 * same binary and age.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startAgent, startFloor } from '../agent.ts'
import { install } from '../installed.ts'
import { type Memory, readMemory } from '../processes.ts'
import { openWorld } from '../world/client.ts'
import { type Figure, type Measured, ratioFigure } from './figure.ts'

const KUBELET = 'v1.34.1'
const LIMIT = 1.45
const ANONYMOUS_LIMIT_MB = 16
/** Two samples of one state differ by about this. */
const FLAT_MB = 1
/** Kubelet's own pace, and Prometheus' default. */
const HEARTBEAT_MS = 10_000
const SCRAPE_EVERY = 6
const OVERLAY = 'imageGCHighThresholdPercent: 84\nevictionHard:\n  imagefs.available: 12%\n'

interface WorkPlan {
  readonly changes: number
  readonly quietMinutes: number
}

export async function measureWork({ changes, quietMinutes }: WorkPlan): Promise<Measured> {
  const installed = await install()
  const world = await openWorld({ kubeletVersion: KUBELET, format: 'yaml' })
  const { paths } = world
  const overlay = join(paths.runtimeDir, '..', 'overlay')
  mkdirSync(overlay, { recursive: true, mode: 0o755 })
  writeFileSync(join(overlay, '10-bench.yaml'), OVERLAY, { mode: 0o644 })
  const port = await findFreePort()
  const scrape = async (): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
    if (!(await answer.text()).includes('kubelet_cfg_agent_')) throw new Error('there are no metrics')
  }
  const agent = startAgent(installed, paths, {
    flags: [`--overlay-dir=${overlay}`, `--metrics-address=127.0.0.1:${port}`, '--trial-duration=1s'],
  })
  const floor = startFloor(installed, 'idle.mjs')
  const change = async (): Promise<void> => {
    for (let i = 0; i < changes; i++) {
      await world.change('agent')
      await world.active()
      await scrape()
    }
  }
  const rest = async (): Promise<{ readonly agent: Memory; readonly floor: Memory }> => {
    const beats = Math.max(1, Math.round((quietMinutes * 60_000) / HEARTBEAT_MS))
    for (let i = 1; i <= beats; i++) {
      await pause(HEARTBEAT_MS)
      await world.heartbeat()
      if (i % SCRAPE_EVERY === 0) await scrape()
    }
    return { agent: readMemory(agent.pid), floor: readMemory(floor.pid) }
  }
  try {
    await world.active()
    const fresh = { agent: readMemory(agent.pid), floor: readMemory(floor.pid) }
    await change()
    const busy = readMemory(agent.pid)
    const first = await rest()
    await change()
    const second = await rest()
    return {
      figures: [
        ratioFigure(`resident memory after ${changes} changes`, 'MiB', first.agent.rssKb / 1024, first.floor.rssKb / 1024, LIMIT),
        anonymousFigure(`anonymous memory after ${changes} changes`, first.agent, first.floor),
        ratioFigure(`resident memory after ${2 * changes} changes`, 'MiB', second.agent.rssKb / 1024, second.floor.rssKb / 1024, LIMIT),
        anonymousFigure(`anonymous memory after ${2 * changes} changes`, second.agent, second.floor),
        growthFigure(second.agent.anonymousKb - first.agent.anonymousKb, changes),
      ],
      details: { changes, quietMinutes, fresh, busy, first, second },
    }
  } finally {
    await Promise.all([agent.stop(), floor.stop()])
    await world.close()
  }
}

function anonymousFigure(name: string, agent: Memory, floor: Memory): Figure {
  const mib = agent.anonymousKb / 1024
  return {
    name,
    unit: 'MiB',
    agent: mib,
    floor: floor.anonymousKb / 1024,
    result: `${mib.toFixed(1)} MiB`,
    target: `<= ${ANONYMOUS_LIMIT_MB} MiB`,
    met: mib <= ANONYMOUS_LIMIT_MB,
  }
}

function growthFigure(grownKb: number, changes: number): Figure {
  const mib = grownKb / 1024
  const result = `${mib.toFixed(1)} MiB`
  return {
    name: `growth over ${changes} changes`,
    unit: 'MiB',
    agent: mib,
    floor: undefined,
    result,
    target: `<= ${FLAT_MB} MiB`,
    met: mib <= FLAT_MB,
  }
}

/**
 * The agent logs the port that it binds, but only a port that is known before it starts can be
 * scraped from the start.
 */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
