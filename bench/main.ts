// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run bench -- [--quick] [--minutes N] [--only
 * start,apply,change,idle,memory,work,greedy,preflight,plugin,peers,fleet,storms]`: measures the
 * costs of the agent, with the bundle in dist/ and the Node.js of the packages, and for most
 * figures a floor in the same run. `fleet` measures the costs of many agents for a real
 * kube-apiserver; `--agents N` and `--modes whole,metadata` apply only to it. `storms` measures
 * what the writes of others take where the same happens to all of them at once; `--agents N`,
 * `--identities node,account` and `--storms refuse,rollback,restart,winner` apply only to it.
 * Prints a table and writes all results to bench/results/latest.json. The run succeeds even if a
 * target is missed.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { measureApply } from './figures/apply.ts'
import { measureChange } from './figures/change.ts'
import type { Measured } from './figures/figure.ts'
import { type FleetMode, type FleetPlan, measureFleet } from './figures/fleet.ts'
import { measureGreedy } from './figures/greedy.ts'
import { measureIdle } from './figures/idle.ts'
import { measureMemory, QUICK_PLAN, slowPlan } from './figures/memory.ts'
import { measurePeers } from './figures/peers.ts'
import { measurePlugin } from './figures/plugin.ts'
import { measurePreflight } from './figures/preflight.ts'
import { measureStart } from './figures/start.ts'
import { measureStorms, type StormPlan } from './figures/storms.ts'
import { measureWork } from './figures/work.ts'
import { install } from './installed.ts'
import { SCENARIO_NAMES } from './storm/scenarios.ts'
import { renderTable } from './table.ts'

/** Measured with systemd 252. */
const REAL_SYSTEMCTL_MS = 4

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '30' },
    only: { type: 'string', default: 'start,apply,change,idle,memory,work,greedy,preflight,plugin,peers,fleet,storms' },
    agents: { type: 'string' },
    modes: { type: 'string', default: 'whole,metadata' },
    identities: { type: 'string', default: 'node,account' },
    storms: { type: 'string', default: 'refuse,rollback,restart,winner' },
  },
})
const { quick } = values
const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error(`--minutes ${values.minutes}: must be a positive number`)
const agents = Number(values.agents ?? (quick ? 50 : 1000))
if (!(Number.isInteger(agents) && agents > 0)) throw new Error(`--agents ${values.agents}: must be a positive whole number`)
const modes: readonly FleetMode[] = chosen('modes', ['whole', 'metadata'])
const stormPlan: StormPlan = {
  agents,
  identities: chosen('identities', ['node', 'account']),
  scenarios: chosen('storms', SCENARIO_NAMES),
  floorSeconds: quick ? 10 : 30,
  idleSeconds: quick ? 10 : 30,
}
const fleetPlan: FleetPlan = { agents, modes, floorSeconds: quick ? 10 : 15, idleSeconds: 60, stressSeconds: quick ? 20 : 30 }

const MEASUREMENTS: Readonly<Record<string, () => Promise<Measured>>> = {
  start: () => measureStart(quick ? 10 : 30),
  change: () => measureChange(quick ? 20 : 100),
  apply: async () => merge([await measureApply(quick ? 40 : 300, 0), await measureApply(quick ? 20 : 100, REAL_SYSTEMCTL_MS)]),
  idle: () => measureIdle(quick ? 60 : 180),
  memory: () => measureMemory(quick ? QUICK_PLAN : slowPlan(minutes)),
  work: () => measureWork(quick ? { changes: 30, quietMinutes: 1 } : { changes: 100, quietMinutes: 10 }),
  greedy: () => measureGreedy(quick ? 40 : 300),
  preflight: () => measurePreflight(quick ? 40 : 200),
  plugin: () => measurePlugin(quick ? 3 : 5),
  peers: () => measurePeers(quick ? 3 : 10),
  fleet: () => measureFleet(fleetPlan),
  storms: () => measureStorms(stormPlan),
}

const selected = values.only.split(',')
const unknown = selected.filter((name) => !(name in MEASUREMENTS))
if (unknown.length > 0) throw new Error(`--only ${unknown.join(',')}: must be some of ${Object.keys(MEASUREMENTS).join(', ')}`)

const { version } = await install()
const measured: Record<string, Measured> = {}
for (const name of selected) {
  process.stderr.write(`measuring ${name} (load ${loadavg()[0]?.toFixed(1)}) ...\n`)
  const result = await MEASUREMENTS[name]?.()
  if (result !== undefined) measured[name] = result
}
const figures = Object.values(measured).flatMap(({ figures }) => figures)
const run = { at: new Date().toISOString(), node: version, quick, load: loadavg(), figures, measured }
const results = new URL('./results/', import.meta.url)
mkdirSync(results, { recursive: true })
writeFileSync(new URL('latest.json', results), `${JSON.stringify(run, undefined, 2)}\n`)
process.stdout.write(`\nNode.js ${version}, load ${loadavg()[0]?.toFixed(1)}\n${renderTable(figures)}`)

/** In the order in which they are known. */
function chosen<T extends string>(flag: 'modes' | 'identities' | 'storms', known: readonly T[]): readonly T[] {
  const given = values[flag].split(',')
  const unknown = given.filter((name) => !known.some((one) => one === name))
  if (unknown.length > 0) throw new Error(`--${flag} ${unknown.join(',')}: must be some of ${known.join(', ')}`)
  return known.filter((name) => given.includes(name))
}

function merge(parts: readonly Measured[]): Measured {
  return { figures: parts.flatMap((part) => part.figures), details: { parts: parts.map(({ details }) => details) } }
}
