// SPDX-License-Identifier: Apache-2.0
/** Many agents in one process, and what they sent. Started by client.ts; answers its calls. */
import { join } from 'node:path'
import { resolveSettings } from '../../src/settings/resolve-settings.ts'
import { type StormAgent, startStormAgent } from './agent.ts'
import type { AgentsAnswer, AgentsCall, AgentsReport, AgentsSettings } from './client.ts'
import { Tally } from './counted-api.ts'

/** The number of agents that start at the same time. */
const STARTING_AT_A_TIME = 25

const clock = {
  now() {
    const wallMs = performance.timeOrigin + performance.now()
    return { bootId: 'boot-1', monotonicUs: Math.round(wallMs * 1000), wallMs }
  },
}
const tally = new Tally()
const agents: StormAgent[] = []
const complaints = new Map<string, number>()
let settings = resolve({})

const complain = (message: string): void => {
  complaints.set(message, (complaints.get(message) ?? 0) + 1)
}
const log = { debug() {}, info() {}, warn: complain, error: complain }

function resolve(given: AgentsSettings) {
  const flags = { metricsAddress: '', channels: 'label,annotation,selector', ...given }
  const resolved = resolveSettings({ flags, env: {}, file: { kind: 'absent', path: '' } })
  if (!resolved.ok) throw new Error(resolved.problems.join('; '))
  return resolved.settings
}

async function start(names: readonly string[], kubeconfigs: string): Promise<void> {
  const left = [...names]
  const startSome = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const kubeconfig = join(kubeconfigs, `${name}.conf`)
      agents.push(await startStormAgent({ nodeName: name, kubeconfig, settings: () => settings, clock, tally, log }))
    }
  }
  await Promise.all(Array.from({ length: STARTING_AT_A_TIME }, startSome))
}

/** And begins to count anew. */
function report(): AgentsReport {
  const phases: Record<string, number> = {}
  for (const agent of agents) {
    const phase = agent.phase() ?? 'none'
    phases[phase] = (phases[phase] ?? 0) + 1
  }
  const { openWatches, tellings, openings } = tally
  const seen = {
    counts: Object.fromEntries(tally.counts),
    tellings,
    openings,
    openWatches,
    phases,
    complaints: Object.fromEntries(complaints),
  }
  tally.counts.clear()
  tally.tellings = []
  tally.openings = []
  complaints.clear()
  return seen
}

process.on('message', async (call: AgentsCall) => {
  const answer = (reply: AgentsAnswer): void => void process.send?.(reply)
  try {
    if (call.method === 'start') await start(call.names, call.kubeconfigs)
    if (call.method === 'set') settings = resolve(call.settings)
    if (call.method === 'turn') for (const agent of agents) agent.turn()
    answer({ ok: true, value: call.method === 'report' ? report() : undefined })
  } catch (error) {
    answer({ ok: false, message: error instanceof Error ? error.message : String(error) })
  }
})
process.on('disconnect', () => process.exit(0))
