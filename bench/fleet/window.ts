// SPDX-License-Identifier: Apache-2.0
/**
 * Measures over a period: what the API server used, what the agents received, and their requests.
 */
import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { countDescriptors, monotonicUs, readCpuTime, readMemory } from '../processes.ts'
import { mean, percentile } from '../statistics.ts'
import type { FleetAgents, RequestCounts } from './agents-client.ts'
import type { FleetCluster } from './cluster.ts'
import { Heartbeats } from './heartbeats.ts'
import { parseSockets, type SocketCounts, type Traffic, trafficBetween } from './socket-bytes.ts'

const SAMPLE_MS = 1000

export interface Rhythm {
  readonly everyMs: number
  readonly seconds: number
}

export interface Window {
  readonly everyMs: number
  readonly minutes: number
  /** In percent of a core. */
  readonly apiserverCpu: number
  readonly etcdCpu: number
  readonly apiserverRssKb: number
  readonly descriptors: number
  readonly heartbeats: { readonly done: number; readonly due: number; readonly p50Ms: number; readonly p99Ms: number }
  /** All agents together. undefined: there are none. */
  readonly fleet: (Traffic & { readonly connections: number; readonly requests: RequestCounts }) | undefined
}

/** The first few heartbeats, which open connections, are not measured. */
const WARM_UP_MS = 2000

export async function watchFleet(
  cluster: FleetCluster,
  names: readonly string[],
  agents: FleetAgents | undefined,
  { everyMs, seconds }: Rhythm,
): Promise<Window> {
  const heartbeats = new Heartbeats(cluster.kubeconfig, names).start(everyMs)
  try {
    await pause(WARM_UP_MS)
    heartbeats.beaten()
    const before = await sample(cluster, agents)
    const rss: number[] = []
    const sampling = setInterval(() => rss.push(readMemory(cluster.apiserverPid).rssKb), SAMPLE_MS)
    await pause(seconds * 1000)
    clearInterval(sampling)
    const after = await sample(cluster, agents)
    const { latenciesMs, done, due } = heartbeats.beaten()
    const elapsedMs = (after.atUs - before.atUs) / 1000
    const percent = (beforeMs: number, afterMs: number): number => (100 * (afterMs - beforeMs)) / elapsedMs
    return {
      everyMs,
      minutes: elapsedMs / 60_000,
      apiserverCpu: percent(before.apiserverMs, after.apiserverMs),
      etcdCpu: percent(before.etcdMs, after.etcdMs),
      apiserverRssKb: mean(rss),
      descriptors: countDescriptors(cluster.apiserverPid),
      heartbeats: { done, due, p50Ms: percentile(latenciesMs, 50), p99Ms: percentile(latenciesMs, 99) },
      fleet:
        before.counts === undefined || after.counts === undefined
          ? undefined
          : {
              ...trafficBetween(before.sockets, after.sockets),
              connections: after.sockets.size,
              requests: {
                ...after.counts,
                requests: after.counts.requests - before.counts.requests,
                watches: after.counts.watches - before.counts.watches,
                metadataWatches: after.counts.metadataWatches - before.counts.metadataWatches,
                events: after.counts.events - before.counts.events,
              },
            },
    }
  } finally {
    await heartbeats.stop()
  }
}

interface Sample {
  readonly atUs: number
  readonly apiserverMs: number
  readonly etcdMs: number
  readonly sockets: SocketCounts
  readonly counts: RequestCounts | undefined
}

async function sample(cluster: FleetCluster, agents: FleetAgents | undefined): Promise<Sample> {
  const counts = await agents?.counts()
  const sockets = agents === undefined ? new Map<number, never>() : await readSockets(cluster.port, agents.pids)
  const cpu = { apiserverMs: readCpuTime(cluster.apiserverPid).ownMs, etcdMs: readCpuTime(cluster.etcdPid).ownMs }
  return { atUs: monotonicUs(), ...cpu, sockets, counts }
}

export async function readSockets(port: number, pids: ReadonlySet<number>): Promise<SocketCounts> {
  const options = { timeout: 20_000, maxBuffer: 64 * 1024 * 1024, env: { PATH: process.env.PATH, LC_ALL: 'C' } }
  const { stdout } = await promisify(execFile)('ss', ['-tinHOp', 'dport', '=', `:${port}`], options)
  return parseSockets(stdout, port, pids)
}
