// SPDX-License-Identifier: Apache-2.0
/**
 * What happens to all agents at the same moment, and what it does to the writes of others. Each
 * scenario brings the fleet to where it begins, and is measured from then on.
 */
import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../test/real/lab/eventually.ts'
import type { AgentsReport, AgentsSettings, StormAgents } from './client.ts'
import type { StormCluster } from './cluster.ts'
import { type Lateness, lateness, type Written } from './lateness.ts'
import type { Neighbour } from './neighbour.ts'
import { type ServerCounts, since } from './server-counts.ts'

/** 25 a second. */
const WRITE_EVERY_MS = 40
/** Before something happens. */
const LEAD_MS = 1000
/** By then the agents have told all of it. */
const TOLD_SECONDS = 75
const SETTLING_MS = 120_000
const QUIET_MS = 4000
/** The shortest spread in which the agents' own limit of what is told in slots counts. */
const SPREAD = '30s'
const SHORT_TRIAL: AgentsSettings = { spreadUs: SPREAD, trialUs: '5s' }
const LONG_TRIAL: AgentsSettings = { spreadUs: SPREAD, trialUs: '10m' }
/** Here each node restarts its kubelet, so how soon all of them do is the operator's. */
const BY_DEFAULT: AgentsSettings = { spreadUs: '2m', trialUs: '10m' }

export interface Stage {
  readonly cluster: StormCluster
  readonly neighbour: Neighbour
  readonly names: readonly string[]
}

interface AgentsStage extends Stage {
  readonly agents: StormAgents
}

export interface Stretch {
  readonly seconds: number
  readonly load: number | undefined
  readonly lateness: Lateness
  readonly written: readonly Written[]
  readonly server: ServerCounts
  readonly agents: AgentsReport | undefined
  /** From what happened to each condition that was written, in ms. */
  readonly toldAfterMs: readonly number[]
  /** From the same, or from the return of the server, to each watch that was accepted, in ms. */
  readonly openedAfterMs: readonly number[]
}

/** The last one leaves the fleet with another assignment. */
export const SCENARIO_NAMES = ['refuse', 'rollback', 'restart', 'winner'] as const
export type ScenarioName = (typeof SCENARIO_NAMES)[number]

interface Scenario {
  readonly seconds: number
  prepare(stage: AgentsStage): Promise<void>
  happen(stage: AgentsStage): Promise<void>
  tidy(stage: AgentsStage): Promise<void>
}

export const SCENARIOS: Readonly<Record<ScenarioName, Scenario>> = {
  refuse: {
    seconds: TOLD_SECONDS,
    prepare: async () => {},
    happen: ({ cluster }) => cluster.edit('refused'),
    async tidy(stage) {
      await stage.cluster.edit('first')
      await untilAll(stage, 'settled')
    },
  },
  rollback: {
    seconds: TOLD_SECONDS,
    async prepare(stage) {
      await stage.agents.set(LONG_TRIAL)
      await stage.cluster.edit('turned')
      await untilAll(stage, 'in-trial')
    },
    happen: ({ agents }) => agents.turn(),
    async tidy(stage) {
      await stage.agents.set(SHORT_TRIAL)
      await stage.cluster.edit('first')
      await untilAll(stage, 'settled')
    },
  },
  restart: {
    seconds: 90,
    prepare: async () => {},
    happen: ({ cluster }) => restartApiserver(cluster),
    tidy: async () => {},
  },
  winner: {
    seconds: 150,
    async prepare(stage) {
      await stage.cluster.select('first', 10)
      await stage.cluster.unlabel(stage.names)
      await untilAll(stage, 'settled')
      await stage.agents.set(BY_DEFAULT)
    },
    happen: ({ cluster }) => cluster.select('high', 20),
    tidy: async () => {},
  },
}

export async function settleFirst(stage: AgentsStage): Promise<void> {
  await stage.agents.set(SHORT_TRIAL)
  await stage.agents.start(stage.names, stage.cluster.kubeconfigs)
  await untilAll(stage, 'settled')
}

export async function play(name: ScenarioName, stage: AgentsStage): Promise<Stretch> {
  const { seconds, prepare, happen, tidy } = SCENARIOS[name]
  await prepare(stage)
  const stretch = await measure(stage, seconds, stage.agents, () => happen(stage))
  await tidy(stage)
  return stretch
}

export async function restartApiserver(cluster: StormCluster): Promise<void> {
  await cluster.stopApiserver()
  await cluster.startApiserver()
}

/** @param happen where it restarts the server, that counts from its return */
export async function measure(
  { cluster, neighbour }: Stage,
  seconds: number,
  agents: StormAgents | undefined,
  happen?: () => Promise<void>,
): Promise<Stretch> {
  const before = await cluster.counts()
  await agents?.report()
  const writing = neighbour.start(WRITE_EVERY_MS)
  await pause(LEAD_MS)
  const atMs = Date.now()
  await happen?.()
  const doneAtMs = Date.now()
  const doneMs = performance.now()
  await pause(seconds * 1000)
  const load = loadavg()[0]
  const written = await writing.stop()
  const end = await cluster.counts()
  const report = await agents?.report()
  const hasRestarted = [...before.requests].some(([what, count]) => (end.requests.get(what) ?? 0) < count)
  return {
    seconds,
    load,
    lateness: lateness(written, hasRestarted ? doneMs : undefined),
    written,
    server: since(hasRestarted ? undefined : before, end),
    agents: report,
    toldAfterMs: after(atMs, report?.tellings),
    openedAfterMs: after(hasRestarted ? doneAtMs : atMs, report?.openings),
  }
}

/** What was before does not count. */
function after(atMs: number, timesMs: readonly number[] = []): number[] {
  return timesMs.filter((timeMs) => timeMs >= atMs).map((timeMs) => timeMs - atMs)
}

/** And until they have told all of it. */
async function untilAll({ agents, names }: AgentsStage, phase: string): Promise<void> {
  // What has been changed just now is no phase yet.
  await pause(QUIET_MS)
  await eventually(
    async () => {
      const { phases, counts } = await agents.report()
      const isTelling = Object.keys(counts).some((what) => /^(PATCH|POST) /.test(what))
      if (phases[phase] !== names.length || isTelling) throw new Error(JSON.stringify({ phases, counts }))
      return true
    },
    { what: `all agents are ${phase} and quiet`, timeoutMs: SETTLING_MS, intervalMs: QUIET_MS },
  )
}
