// SPDX-License-Identifier: Apache-2.0
/** The benchmark's client for the processes that run the agents. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { endChild } from '../processes.ts'

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

export type AgentsCall =
  | { readonly method: 'start'; readonly names: readonly string[]; readonly kubeconfigs: string }
  | { readonly method: 'counts' }
export type AgentsAnswer = { readonly ok: true; readonly counts: RequestCounts } | { readonly ok: false; readonly message: string }

export interface RunningAgents {
  readonly pids: ReadonlySet<number>
  counts(): Promise<RequestCounts>
  stop(): Promise<void>
}

/** Resolves when all have read their ConfigMap and started both watches. */
export async function startAgents(names: readonly string[], kubeconfigs: string, processes: number): Promise<RunningAgents> {
  const children = Array.from({ length: processes }, () => fork(fileURLToPath(new URL('./agents.ts', import.meta.url))))
  const stop = async (): Promise<void> => void (await Promise.all(children.map((child) => endChild(child, 'SIGKILL'))))
  try {
    await Promise.all(
      children.map((child, which) => call(child, { method: 'start', names: names.filter((_, i) => i % processes === which), kubeconfigs })),
    )
  } catch (error) {
    await stop()
    throw error
  }
  return {
    pids: new Set(children.map(({ pid }) => pid ?? -1)),
    counts: async () => total(await Promise.all(children.map((child) => call(child, { method: 'counts' })))),
    stop,
  }
}

function call(child: ChildProcess, what: AgentsCall): Promise<RequestCounts> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`a process of agents exited with ${code}`))
    child.once('exit', onExit)
    child.once('message', (answer: AgentsAnswer) => {
      child.off('exit', onExit)
      if (answer.ok) resolve(answer.counts)
      else reject(new Error(answer.message))
    })
    child.send(what)
  })
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
