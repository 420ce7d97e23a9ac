// SPDX-License-Identifier: Apache-2.0
/**
 * What a thousand agents do to others when the same happens to all of them at once: to the leases
 * of kubelets where they have the identities of nodes, and to a controller where they have a
 * ServiceAccount. The API server is a real one with a tenth of its seats and short queues (see
 * storm/cluster.ts), so a thousand agents meet what ten thousand would. Shows where requests queue
 * and are refused; how long a request takes is that of this machine, whose processors the agents
 * share. The floor is the same writes without agents.
 */
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../test/real/lab/eventually.ts'
import { startDaemon, tailOf } from '../../test/real/lab/processes.ts'
import { CONFIG_MAP, KUBELET, nodeNames } from '../fleet/node.ts'
import { buildWatch } from '../peers/build-watch.ts'
import { percentile } from '../statistics.ts'
import { StormAgents } from '../storm/client.ts'
import { type Identity, openStormCluster } from '../storm/cluster.ts'
import { lateness } from '../storm/lateness.ts'
import { Neighbour } from '../storm/neighbour.ts'
import { measure, play, restartApiserver, SCENARIOS, type ScenarioName, type Stage, type Stretch, settleFirst } from '../storm/scenarios.ts'
import { type ServerCounts, sumOf } from '../storm/server-counts.ts'
import { NAMESPACE } from '../world/objects.ts'
import type { Figure, Measured } from './figure.ts'

export interface StormPlan {
  readonly agents: number
  readonly identities: readonly Identity[]
  readonly scenarios: readonly ScenarioName[]
  /** Without agents, before and after. */
  readonly floorSeconds: number
  readonly idleSeconds: number
}

const PROCESSES = 2
/** Of the API server, etcd and who writes beside the agents. */
const NICENESS = -10
const MOST_RATIO = 1.5
const MOST_MS = 2000
const SYNC_MS = 180_000

interface StormRun {
  readonly identity: Identity
  readonly floors: readonly Stretch[]
  readonly idle: Stretch
  readonly played: readonly { readonly name: ScenarioName; readonly stretch: Stretch }[]
  /** client-go's, after a restart of the server. undefined: no such scenario. */
  readonly reflectors: Stretch | undefined
}

export async function measureStorms(plan: StormPlan): Promise<Measured> {
  const runs: StormRun[] = []
  preferServer()
  for (const identity of plan.identities) runs.push(await measureIdentity(identity, plan))
  const details = runs.map((run) => ({
    identity: run.identity,
    floors: run.floors.map(toDetails),
    idle: toDetails(run.idle),
    played: run.played.map(({ name, stretch }) => ({ name, ...toDetails(stretch) })),
    ...(run.reflectors && { reflectors: toDetails(run.reflectors) }),
  }))
  return { figures: runs.flatMap(toFigures), details: { plan, runs: details } }
}

/**
 * Before other programs on this machine, where that is allowed; what is started from here has it.
 */
function preferServer(): void {
  try {
    setPriority(NICENESS)
  } catch {
    process.stderr.write('  other programs on this machine disturb the measurement: no right to a lower niceness\n')
  }
}

async function measureIdentity(identity: Identity, plan: StormPlan): Promise<StormRun> {
  const { agents: count, scenarios, floorSeconds, idleSeconds } = plan
  const progress = (what: string): void => void process.stderr.write(`  ${identity}: ${what}\n`)
  const names = nodeNames(count)
  progress(`starting a control plane with ${count} Nodes`)
  const cluster = await openStormCluster(names, identity)
  try {
    const neighbour = new Neighbour(cluster.writers, identity === 'node' ? KUBELET : 'busy-controller')
    await neighbour.createLeases()
    const stage: Stage = { cluster, neighbour, names }
    const floors = [await measure(stage, floorSeconds, undefined)]
    const agents = new StormAgents(PROCESSES)
    const played: { name: ScenarioName; stretch: Stretch }[] = []
    let idle: Stretch
    try {
      progress(`starting ${count} agents`)
      await settleFirst({ ...stage, agents })
      idle = await measure(stage, idleSeconds, agents)
      for (const name of scenarios) {
        progress(`${name}, for ${SCENARIOS[name].seconds} s`)
        played.push({ name, stretch: await play(name, { ...stage, agents }) })
      }
    } finally {
      await agents.stop()
    }
    floors.push(await measure(stage, floorSeconds, undefined))
    const reflectors = scenarios.includes('restart') ? await measureReflectors(stage, progress) : undefined
    return { identity, floors, idle, played, reflectors }
  } finally {
    await cluster.close()
  }
}

/** As many programs with client-go that follow what the agents follow. */
async function measureReflectors(stage: Stage, progress: (what: string) => void): Promise<Stretch> {
  const { cluster, names } = stage
  progress(`restart, with ${names.length} reflectors of client-go for each object`)
  const program = await buildWatch()
  const flags = [`-fleet=${cluster.kubeconfigs}`, `-namespace=${NAMESPACE}`, `-configmap=${CONFIG_MAP}`]
  const watch = startDaemon('reflectors', program, flags, join(cluster.kubeconfigs, 'reflectors.log'))
  try {
    const isSynced = async () => {
      if (!tailOf(watch.logFile).includes('synced')) throw new Error(tailOf(watch.logFile, 3))
      return true
    }
    await eventually(isSynced, { what: 'the reflectors have their lists', timeoutMs: SYNC_MS, intervalMs: 500 })
    return await measure(stage, SCENARIOS.restart.seconds, undefined, () => restartApiserver(cluster))
  } finally {
    await watch.stop(0)
  }
}

function toFigures({ identity, floors, idle, played, reflectors }: StormRun): Figure[] {
  const floor = lateness(floors.flatMap(({ written }) => written))
  const whose = identity === 'node' ? "kubelets' leases" : "a controller's writes"
  const late = (name: string, { lateness: { p99Ms, maxMs } }: Stretch): Figure[] => {
    const ratio = p99Ms / floor.p99Ms
    const common = { unit: 'ms', agent: p99Ms, floor: floor.p99Ms }
    return [
      {
        ...common,
        name: `${whose}, ${name}: 99th percentile`,
        result: `${ratio.toFixed(2)} x`,
        target: `<= ${MOST_RATIO} x`,
        met: ratio <= MOST_RATIO,
      },
      {
        ...common,
        name: `${whose}, ${name}: latest`,
        agent: maxMs,
        floor: floor.maxMs,
        result: '',
        target: `<= ${MOST_MS}`,
        met: maxMs <= MOST_MS,
      },
    ]
  }
  const counted = (name: string, agent: number, beside: number | undefined, result: string): Figure => ({
    name: `${identity}, ${name}`,
    unit: 'number',
    agent,
    floor: beside,
    result,
    target: '',
    met: undefined,
  })
  const figures = late('idle', idle)
  for (const { name, stretch } of played) {
    const { server, toldAfterMs } = stretch
    const beside = name === 'restart' ? reflectors : undefined
    const told = [50, 100].map((percent) => `${(percentile(toldAfterMs, percent) / 1000).toFixed(1)} s`).join(' and ')
    figures.push(
      ...late(name, stretch),
      counted(`${name}: writes of agents`, sumOf(server.requests, isWrite), undefined, told),
      counted(`${name}: answered 429`, sumOf(server.requests, isRejected), beside && sumOf(beside.server.requests, isRejected), ''),
    )
    if (beside === undefined) continue
    figures.push(
      counted('restart: watches, beside client-go', countWatches(server), countWatches(beside.server), ''),
      counted('restart: reads, beside client-go', sumOf(server.requests, isRead), sumOf(beside.server.requests, isRead), ''),
    )
    figures.push(...late('restart with client-go', beside))
  }
  return figures
}

/** `PATCH nodes/status 200`; the neighbour writes leases. */
function isWrite(what: string): boolean {
  return /^(PATCH|POST) (nodes|nodes\/status|events|configmaps) /.test(what)
}

/** After a restart of the server: those that have ended since, and those that are open. */
function countWatches({ requests, open }: ServerCounts): number {
  const ended = sumOf(requests, (what) => /^WATCH (nodes|configmaps) /.test(what))
  return ended + sumOf(open, (what) => what === 'nodes' || what === 'configmaps')
}

function isRead(what: string): boolean {
  return /^(GET|LIST) (nodes|configmaps) /.test(what)
}

function isRejected(what: string): boolean {
  return what.endsWith(' 429')
}

function toDetails({ seconds, load, lateness: late, server, agents, toldAfterMs, openedAfterMs }: Stretch): object {
  const plain = (counts: ReadonlyMap<string, number>): object => Object.fromEntries([...counts].sort(([, a], [, b]) => b - a))
  const { requests, open, rejected, waitedSeconds } = server
  return {
    ...{ seconds, load, lateness: late },
    server: { requests: plain(requests), open: plain(open), rejected: plain(rejected), waitedSeconds: plain(waitedSeconds) },
    ...(agents && { agents: { ...agents, tellings: agents.tellings.length, openings: agents.openings.length } }),
    toldAfterMs: spread(toldAfterMs),
    openedAfterMs: spread(openedAfterMs),
  }
}

function spread(timesMs: readonly number[]): readonly number[] {
  return [1, 10, 50, 90, 99, 100].map((percent) => percentile(timesMs, percent))
}
