// SPDX-License-Identifier: Apache-2.0
/**
 * The costs of a fleet of watching agents for a real kube-apiserver: once with a server that stores
 * `spec.configSource`, for which agents watch whole Nodes, and once with a server that drops the
 * field, for which they watch only metadata. The agents are the real client code, many per process
 * (see fleet/agents.ts). The floor is the same server with the same heartbeats, without agents.
 * Everything shares the processors of this machine.
 */
import { execFileSync } from 'node:child_process'
import { eventually } from '../../test/real/lab/eventually.ts'
import { seededRandom } from '../../test/sim/random.ts'
import { findBuilt } from '../built.ts'
import { FleetAgents, type RequestCounts } from '../fleet/agents-client.ts'
import { type FleetCluster, openFleetCluster } from '../fleet/cluster.ts'
import type { ServerGauges } from '../fleet/gauges.ts'
import { nodeNames } from '../fleet/node.ts'
import { countConfigMapRenewals, countNodeRenewals, type Renewals } from '../fleet/renewals.ts'
import { type Traffic, trafficBetween } from '../fleet/socket-bytes.ts'
import { type Rhythm, readSockets, type Window, watchFleet } from '../fleet/window.ts'
import { readDescriptorLimit } from '../processes.ts'
import type { Figure, Measured } from './figure.ts'

export type FleetMode = 'whole' | 'metadata'

export interface FleetPlan {
  readonly agents: number
  readonly modes: readonly FleetMode[]
  readonly floorSeconds: number
  /** Long enough for bookmarks, which come once a minute. */
  readonly idleSeconds: number
  readonly stressSeconds: number
}

const USUAL_MS = 300_000
const STRESS_MS = 10_000
/** Each uses at most one core; the server and the heartbeats need some, too. */
const PROCESSES = 2
const LARGE_FLEET = 10_000
const RENEWAL_HOURS = 2000
const CONNECTIONS_EACH = 1
/** No watch ends within the measured minute. */
const MOST_REQUESTS_PER_MINUTE = 0.05

interface FleetRun {
  readonly mode: FleetMode
  readonly sizes: FleetCluster['sizes']
  readonly floor: { readonly usual: Window; readonly stress: Window; readonly gauges: ServerGauges }
  readonly started: { readonly seconds: number; readonly traffic: Traffic; readonly requests: RequestCounts }
  readonly usual: Window
  readonly stress: Window
  readonly gauges: ServerGauges
}

interface FleetRenewals {
  readonly node: Renewals
  readonly configMap: Renewals
  readonly quietConfigMap: Renewals
}

export async function measureFleet(plan: FleetPlan): Promise<Measured> {
  const obstacle = findObstacle(plan.agents)
  if (obstacle !== undefined) {
    process.stderr.write(`${obstacle}: skipping the costs for the API server\n`)
    return { figures: [], details: { obstacle } }
  }
  const runs: FleetRun[] = []
  for (const mode of plan.modes) runs.push(await measureMode(mode, plan))
  const figures: Figure[] = []
  const renewed: Record<string, unknown> = {}
  for (const run of runs) {
    const random = seededRandom(1).next
    const node = await countNodeRenewals(RENEWAL_HOURS, run.mode === 'whole', random)
    const configMap = await countConfigMapRenewals(RENEWAL_HOURS, true, random)
    const quietConfigMap = await countConfigMapRenewals(RENEWAL_HOURS, false, random)
    renewed[run.mode] = { hours: RENEWAL_HOURS, node, configMap, quietConfigMap }
    figures.push(...toFigures(run, plan.agents, { node, configMap, quietConfigMap }))
  }
  return { figures, details: { plan, runs, renewed } }
}

function findObstacle(agents: number): string | undefined {
  if (findBuilt('kube-apiserver') === undefined || findBuilt('etcd') === undefined)
    return 'kube-apiserver and etcd are missing (npm run test:real builds them)'
  // The server needs a descriptor per connection, and some hundred of its own.
  const needed = CONNECTIONS_EACH * agents + 500
  const limit = readDescriptorLimit()
  if (limit < needed) return `${needed} open files are necessary and ${limit} allowed (raise the hard limit: ulimit -Hn, or prlimit(1))`
  try {
    execFileSync('ss', ['-V'], { timeout: 5000, stdio: 'ignore' })
  } catch {
    return 'ss(8) is missing: install iproute2'
  }
  return undefined
}

async function measureMode(mode: FleetMode, { agents: count, floorSeconds, idleSeconds, stressSeconds }: FleetPlan): Promise<FleetRun> {
  const progress = (what: string): void => void process.stderr.write(`  ${mode}: ${what}\n`)
  const names = nodeNames(count)
  progress(`starting a control plane with ${count} Nodes`)
  const cluster = await openFleetCluster(names, mode === 'whole')
  try {
    const measure = (agents: Parameters<typeof watchFleet>[2], rhythm: Rhythm): Promise<Window> => {
      progress(`${rhythm.seconds} s with ${agents === undefined ? 'no' : count} agents and a heartbeat every ${rhythm.everyMs / 1000} s`)
      return watchFleet(cluster, names, agents, rhythm)
    }
    const floorStress = await measure(undefined, { everyMs: STRESS_MS, seconds: floorSeconds })
    const floorUsual = await measure(undefined, { everyMs: USUAL_MS, seconds: floorSeconds })
    const floor = { usual: floorUsual, stress: floorStress, gauges: await cluster.gauges('collected') }
    const startedMs = performance.now()
    const agents = new FleetAgents(PROCESSES)
    try {
      await agents.start(names, cluster.kubeconfigs)
      const sockets = await eventually(
        async () => {
          const seen = await readSockets(cluster.port, agents.pids)
          const { watches } = await cluster.gauges('now')
          const [nodes, configmaps] = [watches.nodes - floor.gauges.watches.nodes, watches.configmaps - floor.gauges.watches.configmaps]
          if (nodes < count || configmaps < count) throw new Error(`${nodes} watches of Nodes, ${configmaps} of ConfigMaps`)
          return seen
        },
        { what: 'the API server has a watch of a Node and one of a ConfigMap for each agent', intervalMs: 1000 },
      )
      const requests = await agents.counts()
      const expected = mode === 'metadata' ? count : 0
      if (requests.metadataWatches !== expected) throw new Error(`${requests.metadataWatches} watches are for metadata, not ${expected}`)
      const started = { seconds: (performance.now() - startedMs) / 1000, traffic: trafficBetween(new Map(), sockets), requests }
      const usual = await measure(agents, { everyMs: USUAL_MS, seconds: idleSeconds })
      const gauges = await cluster.gauges('collected')
      const stress = await measure(agents, { everyMs: STRESS_MS, seconds: stressSeconds })
      return { mode, sizes: cluster.sizes, floor, started, usual, stress, gauges }
    } finally {
      await agents.stop()
    }
  } finally {
    await cluster.close()
  }
}

function toFigures({ mode, sizes, floor, usual, stress, started, gauges }: FleetRun, agents: number, renewed: FleetRenewals): Figure[] {
  const extent = mode === 'whole' ? 'whole Node' : 'metadata'
  const row = (name: string, unit: string, value: number, without: number | undefined, result: string): Figure => ({
    name: `${name}, ${extent}`,
    unit,
    agent: value,
    floor: without,
    result,
    target: '',
    met: undefined,
  })
  const figures: Figure[] = []
  for (const [name, window, without] of [
    ['heartbeat every 5 min', usual, floor.usual],
    ['heartbeat every 10 s', stress, floor.stress],
  ] as const) {
    const perMinute = (window.fleet?.receivedBytes ?? Number.NaN) / agents / window.minutes
    const { done, due } = window.heartbeats
    const more = window.apiserverCpu - without.apiserverCpu
    const heartbeats = done < 0.98 * due ? `${done} of ${due} beats` : ''
    figures.push(
      row(`received per agent, ${name}`, 'B/min', perMinute, undefined, heartbeats),
      row(`received by ${LARGE_FLEET} agents, ${name}`, 'MB/min, computed', (perMinute * LARGE_FLEET) / 1e6, undefined, ''),
      row(`API server's CPU, ${name}`, '% of a core', window.apiserverCpu, without.apiserverCpu, `${signed(more)} %`),
    )
  }
  // These are valid even if the machine cannot keep up with the heartbeats.
  const perBeat = stress.fleet === undefined ? Number.NaN : stress.fleet.receivedBytes / stress.heartbeats.done
  const [cpuMs, floorCpuMs] = [cpuMsPerBeat(stress), cpuMsPerBeat(floor.stress)]
  figures.push(
    row('received per heartbeat, stress', 'B', perBeat, undefined, ''),
    row("API server's CPU per heartbeat, stress", 'ms', cpuMs, floorCpuMs, `${signed(cpuMs - floorCpuMs)} ms`),
  )
  const [rssMb, floorRssMb] = [usual.apiserverRssKb / 1024, floor.usual.apiserverRssKb / 1024]
  const [liveMb, floorLiveMb] = [liveMbOf(gauges), liveMbOf(floor.gauges)]
  const perAgentKb = ((liveMb - floorLiveMb) * 1024) / agents
  const counts = usual.fleet?.requests
  const perMinute = ((counts?.requests ?? Number.NaN) + (counts?.watches ?? Number.NaN)) / agents / usual.minutes
  const perHour = (...renewals: readonly Renewals[]): number =>
    renewals.reduce((sum, { watches, reads, questions }) => sum + watches + reads + questions, 0) / RENEWAL_HOURS
  figures.push(
    row("API server's resident memory", 'MiB', rssMb, floorRssMb, `${signed(rssMb - floorRssMb)} MiB`),
    row("API server's live heap and stacks", 'MiB', liveMb, floorLiveMb, `${perAgentKb.toFixed(0)} KiB per agent`),
    row("API server's open files", 'number', usual.descriptors, floor.usual.descriptors, ''),
    row('connections per agent', 'number', (usual.fleet?.connections ?? Number.NaN) / agents, undefined, ''),
    row('received per agent at its start', 'B', started.traffic.receivedBytes / agents, undefined, ''),
    {
      ...row('requests per agent while idle', '1/min', perMinute, undefined, perMinute.toFixed(3)),
      target: `< ${MOST_REQUESTS_PER_MINUTE}`,
      met: perMinute < MOST_REQUESTS_PER_MINUTE,
    },
    // A watch that ends is restarted, and every 15 to 30 minutes everything is read again.
    row('received per agent by renewals, computed', 'B/min', renewalBytes(sizes, renewed) / RENEWAL_HOURS / 60, undefined, ''),
    row('requests over hours, computed', '1/h', perHour(renewed.node, renewed.configMap), undefined, ''),
    row('requests over hours if no ConfigMap changes, computed', '1/h', perHour(renewed.node, renewed.quietConfigMap), undefined, ''),
  )
  return figures
}

/** Counts only the objects. The response to a dry run is the whole Node, too. */
function renewalBytes({ wholeBytes, metadataBytes, configMapBytes }: FleetCluster['sizes'], { node, configMap }: FleetRenewals): number {
  const nodeReads = node.wholeReads * wholeBytes + (node.reads - node.wholeReads) * metadataBytes
  return nodeReads + (node.questions / 2) * wholeBytes + configMap.reads * configMapBytes
}

function cpuMsPerBeat({ apiserverCpu, minutes, heartbeats }: Window): number {
  return ((apiserverCpu / 100) * minutes * 60_000) / heartbeats.done
}

function liveMbOf({ liveHeapBytes, stackBytes }: ServerGauges): number {
  return (liveHeapBytes + stackBytes) / 2 ** 20
}

function signed(value: number): string {
  return `${value < 0 ? '-' : '+'} ${Math.abs(value).toFixed(1)}`
}
