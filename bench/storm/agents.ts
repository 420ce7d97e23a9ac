// SPDX-License-Identifier: Apache-2.0
/** Many agents in one process, and what they sent. Started by client.ts; answers its calls. */
import { resolveSettings } from '../../src/settings/resolve-settings.ts'
import { answerCalls, startAll } from '../agent-processes.ts'
import { type StormAgent, startStormAgent } from './agent.ts'
import type { AgentsCall, AgentsReport, AgentsSettings } from './client.ts'
import { Tally } from './counted-api.ts'

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

async function start(nodeName: string, kubeconfig: string): Promise<void> {
  agents.push(await startStormAgent({ nodeName, kubeconfig, settings: () => settings, clock, tally, log }))
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

answerCalls<AgentsCall, AgentsReport | undefined>(async (call) => {
  if (call.method === 'start') await startAll(call, start)
  if (call.method === 'set') settings = resolve(call.settings)
  if (call.method === 'turn') for (const agent of agents) agent.turn()
  return call.method === 'report' ? report() : undefined
})
