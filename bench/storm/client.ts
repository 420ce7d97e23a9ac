// SPDX-License-Identifier: Apache-2.0
/** The benchmark's client for the processes that run the agents of a storm. */
import { setPriority } from 'node:os'
import type { Flags } from '../../src/settings/resolve-settings.ts'
import { AgentProcesses } from '../agent-processes.ts'

export type AgentsSettings = Pick<Flags, 'spreadUs' | 'trialUs'>

export interface AgentsReport {
  /** `PATCH nodes/status 200`: how often since the last report. */
  readonly counts: Readonly<Record<string, number>>
  /** When each condition was written, in ms since 1970. */
  readonly tellings: readonly number[]
  /** When each watch was accepted. */
  readonly openings: readonly number[]
  readonly openWatches: number
  /** How many agents wait in each phase. */
  readonly phases: Readonly<Record<string, number>>
  /** The warnings and errors in their logs. */
  readonly complaints: Readonly<Record<string, number>>
}

export type AgentsCall =
  | { readonly method: 'set'; readonly settings: AgentsSettings }
  | { readonly method: 'turn' }
  | { readonly method: 'report' }

/** On real nodes the agents take no CPU from the API server, so here they do not precede it. */
const NICENESS = 0

/** A call other than `report` is answered with undefined. */
export class StormAgents extends AgentProcesses<AgentsCall, AgentsReport | undefined> {
  constructor(processes: number) {
    super(new URL('./agents.ts', import.meta.url), processes)
    for (const pid of this.pids) setPriority(pid, NICENESS)
  }

  /** As an edit of the config file and SIGHUP, for all of them. */
  async set(settings: AgentsSettings): Promise<void> {
    await this.callAll({ method: 'set', settings })
  }

  /** The content `turned` turns out bad on all nodes. */
  async turn(): Promise<void> {
    await this.callAll({ method: 'turn' })
  }

  /** What they have done since the last report. */
  async report(): Promise<AgentsReport> {
    const parts = (await this.callAll({ method: 'report' })).filter((part) => part !== undefined)
    const sum = (what: 'counts' | 'phases' | 'complaints'): Record<string, number> => {
      const total: Record<string, number> = {}
      for (const part of parts) for (const [key, count] of Object.entries(part[what])) total[key] = (total[key] ?? 0) + count
      return total
    }
    return {
      counts: sum('counts'),
      tellings: parts.flatMap(({ tellings }) => tellings),
      openings: parts.flatMap(({ openings }) => openings),
      openWatches: parts.reduce((total, { openWatches }) => total + openWatches, 0),
      phases: sum('phases'),
      complaints: sum('complaints'),
    }
  }
}
