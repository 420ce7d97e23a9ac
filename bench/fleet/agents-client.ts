// SPDX-License-Identifier: Apache-2.0
/** The benchmark's client for the processes that run the agents. */
import { AgentProcesses } from '../agent-processes.ts'

export interface RequestCounts {
  /** Reads, and the dry run that tests whether the server stores a field. */
  readonly requests: number
  readonly watches: number
  /** How many of these are only for metadata. */
  readonly metadataWatches: number
  /** Including bookmarks. */
  readonly events: number
  readonly openWatches: number
  /** The warnings and errors in their logs. */
  readonly complaints: readonly string[]
}

export interface CountsCall {
  readonly method: 'counts'
}

export class FleetAgents extends AgentProcesses<CountsCall, RequestCounts> {
  constructor(processes: number) {
    super(new URL('./agents.ts', import.meta.url), processes)
  }

  async counts(): Promise<RequestCounts> {
    return total(await this.callAll({ method: 'counts' }))
  }
}

function total(parts: readonly RequestCounts[]): RequestCounts {
  const sum = (what: Exclude<keyof RequestCounts, 'complaints'>): number => parts.reduce((total, part) => total + part[what], 0)
  return {
    requests: sum('requests'),
    watches: sum('watches'),
    metadataWatches: sum('metadataWatches'),
    events: sum('events'),
    openWatches: sum('openWatches'),
    complaints: parts.flatMap(({ complaints }) => complaints),
  }
}
