// SPDX-License-Identifier: Apache-2.0
/** The benchmark's client for the processes that run the agents of a storm. */
import { type ChildProcess, fork } from 'node:child_process'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Flags } from '../../src/settings/resolve-settings.ts'
import { endChild } from '../processes.ts'

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
  | { readonly method: 'start'; readonly names: readonly string[]; readonly kubeconfigs: string }
  | { readonly method: 'set'; readonly settings: AgentsSettings }
  | { readonly method: 'turn' }
  | { readonly method: 'report' }
export type AgentsAnswer =
  | { readonly ok: true; readonly value: AgentsReport | undefined }
  | { readonly ok: false; readonly message: string }

/**
 * On real nodes the agents take no processor from the API server: here they have no precedence, as
 * it has.
 */
const NICENESS = 0

export class StormAgents {
  readonly #children: readonly ChildProcess[]

  constructor(processes: number) {
    this.#children = Array.from({ length: processes }, () => fork(fileURLToPath(new URL('./agents.ts', import.meta.url))))
    for (const { pid } of this.#children) if (pid !== undefined) setPriority(pid, NICENESS)
  }

  /** Resolves when all know what is assigned to them. */
  async start(names: readonly string[], kubeconfigs: string): Promise<void> {
    await this.#callEach((which) => ({ method: 'start', names: names.filter((_, i) => i % this.#children.length === which), kubeconfigs }))
  }

  /** As an edit of the config file and SIGHUP, for all of them. */
  async set(settings: AgentsSettings): Promise<void> {
    await this.#callEach(() => ({ method: 'set', settings }))
  }

  /** The content `turned` turns out bad on all nodes. */
  async turn(): Promise<void> {
    await this.#callEach(() => ({ method: 'turn' }))
  }

  /** What they have done since the last report. */
  async report(): Promise<AgentsReport> {
    const parts = (await this.#callEach(() => ({ method: 'report' }))).filter((part) => part !== undefined)
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

  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => endChild(child, 'SIGKILL')))
  }

  #callEach(what: (which: number) => AgentsCall): Promise<(AgentsReport | undefined)[]> {
    return Promise.all(this.#children.map((child, which) => call(child, what(which))))
  }
}

function call(child: ChildProcess, what: AgentsCall): Promise<AgentsReport | undefined> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`a process of agents exited with ${code}`))
    child.once('exit', onExit)
    child.once('message', (answer: AgentsAnswer) => {
      child.off('exit', onExit)
      if (answer.ok) resolve(answer.value)
      else reject(new Error(answer.message))
    })
    child.send(what)
  })
}
