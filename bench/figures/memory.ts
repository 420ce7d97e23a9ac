// SPDX-License-Identifier: Apache-2.0
/**
 * Resident memory while the agent receives the Node's status every ten seconds, compared with a
 * bare Node.js of the same age; and its growth. With --quick, some thousands of events in quick
 * succession show the plateau.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { startAgent, startFloor } from '../agent.ts'
import { install } from '../installed.ts'
import { type Memory, monotonicUs, readMemory } from '../processes.ts'
import { fitSlope, mean } from '../statistics.ts'
import { openWorld } from '../world/client.ts'
import { type Measured, ratioFigure } from './figure.ts'

const LIMIT = 1.7

interface MemoryPlan {
  readonly heartbeats: number
  readonly everyMs: number
  /** The number of heartbeats per sample. */
  readonly sampleEvery: number
}

/** With the heartbeats that older kubelets send by default. */
export function slowPlan(minutes: number): MemoryPlan {
  return { heartbeats: minutes * 6, everyMs: 10_000, sampleEvery: 1 }
}
export const QUICK_PLAN: MemoryPlan = { heartbeats: 5000, everyMs: 20, sampleEvery: 25 }

interface Sample {
  readonly minute: number
  readonly agent: Memory
  readonly floor: Memory
}

export async function measureMemory({ heartbeats, everyMs, sampleEvery }: MemoryPlan): Promise<Measured> {
  const installed = await install()
  const world = await openWorld()
  const agent = startAgent(installed, world.paths)
  const floor = startFloor(installed, 'idle.mjs')
  const samples: Sample[] = []
  try {
    await world.active()
    const startUs = monotonicUs()
    for (let i = 1; i <= heartbeats; i++) {
      await pause(everyMs)
      await world.heartbeat()
      if (i % sampleEvery !== 0) continue
      const minute = (monotonicUs() - startUs) / 60e6
      samples.push({ minute, agent: readMemory(agent.pid), floor: readMemory(floor.pid) })
    }
  } finally {
    await Promise.all([agent.stop(), floor.stop()])
    await world.close()
  }
  const half = samples.slice(Math.floor(samples.length / 2))
  const at = (kind: 'agent' | 'floor', what: keyof Memory): number => mean(half.map((sample) => sample[kind][what])) / 1024
  const { slope, noise } = fitSlope(half.map(({ minute, agent: { anonymousKb } }) => ({ x: minute / 60, y: anonymousKb / 1024 })))
  return {
    figures: [
      ratioFigure('resident memory', 'MiB', at('agent', 'rssKb'), at('floor', 'rssKb'), LIMIT),
      ratioFigure('anonymous memory', 'MiB', at('agent', 'anonymousKb'), at('floor', 'anonymousKb'), undefined),
      {
        name: 'growth of anonymous memory, second half',
        unit: 'MiB/h',
        agent: slope,
        floor: undefined,
        result: `${slope.toFixed(1)} +- ${noise.toFixed(1)}`,
        target: 'within noise',
        met: slope <= noise,
      },
    ],
    details: { heartbeats, everyMs, samples },
  }
}
