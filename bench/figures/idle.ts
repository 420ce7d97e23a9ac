// SPDX-License-Identifier: Apache-2.0
/**
 * CPU time of the agent and its commands on a node where nothing happens: the config has passed its
 * trial, and observations come at their usual pace. Once where systemd is heard, as on most nodes,
 * and once where it is not: then it is asked, and systemctl takes as much CPU as the real one.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { startAgent, startFloor } from '../agent.ts'
import { install } from '../installed.ts'
import { countTransfers, countWakeUps, monotonicUs, readCpuTime, readOwnCpuMs } from '../processes.ts'
import { openWorld } from '../world/client.ts'
import { REAL_SYSTEMCTL_US } from '../world/objects.ts'
import type { Measured } from './figure.ts'

/** By then what the start has left in memory has been collected, which happens once. */
const SETTLING_MS = 70_000
/** Twice what is counted, on an idle machine as on a busy one. */
const MOST_WAKE_UPS = 60
const LIMIT_PERCENT = { heard: 0.03, asked: 0.1 }

export async function measureIdle(seconds: number): Promise<Measured> {
  const [heard, asked] = [await measure(seconds, 'heard'), await measure(seconds, 'asked')]
  return { figures: [...heard.figures, ...asked.figures], details: { heard: heard.details, asked: asked.details } }
}

async function measure(seconds: number, systemd: 'heard' | 'asked'): Promise<Measured> {
  const installed = await install()
  const world = await openWorld({ systemctlCostUs: REAL_SYSTEMCTL_US })
  const agent = startAgent(installed, world.paths, { flags: ['--trial-duration=1s'], hasBus: systemd === 'heard' })
  const floor = startFloor(installed, 'idle.mjs')
  const read = () => ({
    wakeUps: countWakeUps(agent.pid),
    transfers: countTransfers(agent.pid),
    floorWakeUps: countWakeUps(floor.pid),
    agentMs: readOwnCpuMs(agent.pid),
    childrenMs: readCpuTime(agent.pid).childrenMs,
    floorMs: readOwnCpuMs(floor.pid),
    atMs: monotonicUs() / 1000,
  })
  try {
    await world.active()
    await pause(SETTLING_MS)
    const before = read()
    // Its own CPU time in each half minute: what happens now and then stands out.
    const halves: number[] = []
    let after = before
    while (after.atMs - before.atMs < seconds * 1000) {
      const { agentMs } = after
      await pause(30_000)
      after = read()
      halves.push(after.agentMs - agentMs)
    }
    const elapsedMs = after.atMs - before.atMs
    const ownMs = after.agentMs - before.agentMs
    const childrenMs = after.childrenMs - before.childrenMs
    const percent = (100 * (ownMs + childrenMs)) / elapsedMs
    const limit = LIMIT_PERCENT[systemd]
    const aMinute = (count: number) => Math.round((60_000 * count) / elapsedMs)
    const wakeUps = aMinute(after.wakeUps - before.wakeUps)
    return {
      figures: [
        {
          name: `CPU while idle, with child processes, systemd is ${systemd}`,
          unit: '% of a core',
          agent: percent,
          floor: (100 * (after.floorMs - before.floorMs)) / elapsedMs,
          result: `${percent.toFixed(3)} %`,
          target: `<= ${limit} %`,
          met: percent <= limit,
        },
        {
          name: `wake-ups while idle, systemd is ${systemd}`,
          unit: 'a minute',
          agent: wakeUps,
          floor: aMinute(after.floorWakeUps - before.floorWakeUps),
          result: String(wakeUps),
          target: `<= ${MOST_WAKE_UPS}`,
          met: wakeUps <= MOST_WAKE_UPS,
        },
      ],
      details: { elapsedMs, ownMs, childrenMs, halves, transfersAMinute: aMinute(after.transfers - before.transfers) },
    }
  } finally {
    await Promise.all([agent.stop(), floor.stop()])
    await world.close()
  }
}
