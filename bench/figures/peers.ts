// SPDX-License-Identifier: Apache-2.0
/**
 * Memory and CPU of the agent beside a program with client-go that watches the same Node and the
 * same ConfigMap and does nothing more (bench/peers/watch). Both are idle, with a heartbeat of
 * kubelet a minute.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { startAgent, startProgram } from '../agent.ts'
import { install } from '../installed.ts'
import { buildWatch } from '../peers/build-watch.ts'
import { monotonicUs, readCpuTime, readMemory } from '../processes.ts'
import { openWorld } from '../world/client.ts'
import { CONFIG_MAPS, NAMESPACE, NODE, REAL_SYSTEMCTL_US } from '../world/objects.ts'
import { type Measured, ratioFigure } from './figure.ts'

const BESIDE = 'beside a watch with client-go'
const SETTLING_MS = 90_000
const HEARTBEAT_MS = 60_000

export async function measurePeers(minutes: number): Promise<Measured> {
  const installed = await install()
  const program = await buildWatch()
  const world = await openWorld({ systemctlCostUs: REAL_SYSTEMCTL_US })
  const agent = startAgent(installed, world.paths, { flags: ['--trial-duration=1s'] })
  const names = [`-kubeconfig=${world.paths.kubeconfig}`, `-node=${NODE}`, `-namespace=${NAMESPACE}`, `-configmap=${CONFIG_MAPS.agent}`]
  const watch = startProgram([program, ...names])
  try {
    await world.active()
    await pause(SETTLING_MS)
    const cpuOf = (pid: number): number => {
      const { ownMs, childrenMs } = readCpuTime(pid)
      return ownMs + childrenMs
    }
    const read = () => ({ atMs: monotonicUs() / 1000, agentMs: cpuOf(agent.pid), watchMs: cpuOf(watch.pid) })
    const before = read()
    for (let minute = 0; minute < minutes; minute++) {
      await world.heartbeat()
      await pause(HEARTBEAT_MS)
    }
    const after = read()
    const percent = (of: 'agentMs' | 'watchMs'): number => (100 * (after[of] - before[of])) / (after.atMs - before.atMs)
    const [ours, theirs] = [readMemory(agent.pid), readMemory(watch.pid)]
    return {
      figures: [
        ratioFigure(`resident memory, ${BESIDE}`, 'MiB', ours.rssKb / 1024, theirs.rssKb / 1024, undefined),
        ratioFigure(`anonymous memory, ${BESIDE}`, 'MiB', ours.anonymousKb / 1024, theirs.anonymousKb / 1024, undefined),
        ratioFigure(`CPU while idle, ${BESIDE}`, '% of a core', percent('agentMs'), percent('watchMs'), undefined),
      ],
      details: { minutes },
    }
  } finally {
    await Promise.all([agent.stop(), watch.stop()])
    await world.close()
  }
}
