// SPDX-License-Identifier: Apache-2.0
/** Processes of many agents each: how the benchmark calls them, and how their program answers. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorMessage } from '../src/values/errors.ts'
import { endChild } from './processes.ts'
import { someAtATime } from './some-at-a-time.ts'

/** Starts the agents of these nodes. Each has a kubeconfig in the directory, NODE.conf. */
export interface StartCall {
  readonly method: 'start'
  readonly names: readonly string[]
  readonly kubeconfigs: string
}

type Answer<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly message: string }

/** The number of agents of one process that start at the same time. */
const STARTING_AT_A_TIME = 25

export class AgentProcesses<Call extends object, Value> {
  readonly #children: readonly ChildProcess[]

  /** @param program of each process: `answerCalls` */
  constructor(program: URL, processes: number) {
    this.#children = Array.from({ length: processes }, () => fork(fileURLToPath(program)))
  }

  get pids(): ReadonlySet<number> {
    return new Set(this.#children.flatMap(({ pid }) => pid ?? []))
  }

  /** Resolves when all know what is assigned to them. */
  async start(names: readonly string[], kubeconfigs: string): Promise<void> {
    const namesOf = (which: number) => names.filter((_, index) => index % this.#children.length === which)
    await this.#callEach((which) => ({ method: 'start', names: namesOf(which), kubeconfigs }))
  }

  protected callAll(what: Call): Promise<Value[]> {
    return this.#callEach(() => what)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => endChild(child, 'SIGKILL')))
  }

  #callEach(what: (which: number) => Call | StartCall): Promise<Value[]> {
    return Promise.all(this.#children.map((child, which) => callOne<Value>(child, what(which))))
  }
}

function callOne<Value>(child: ChildProcess, what: object): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`a process of agents exited with ${code}`))
    child.once('exit', onExit)
    child.once('message', (answer: Answer<Value>) => {
      child.off('exit', onExit)
      if (answer.ok) resolve(answer.value)
      else reject(new Error(answer.message))
    })
    child.send(what)
  })
}

/** The process ends with the benchmark. */
export function answerCalls<Call, Value>(answerTo: (call: Call | StartCall) => Promise<Value>): void {
  process.on('message', async (call: Call | StartCall) => {
    const answer = (reply: Answer<Value>): void => void process.send?.(reply)
    try {
      answer({ ok: true, value: await answerTo(call) })
    } catch (error) {
      answer({ ok: false, message: errorMessage(error) })
    }
  })
  process.on('disconnect', () => process.exit(0))
}

export function startAll({ names, kubeconfigs }: StartCall, start: (name: string, kubeconfig: string) => Promise<void>): Promise<void> {
  return someAtATime(names, STARTING_AT_A_TIME, (name) => start(name, join(kubeconfigs, `${name}.conf`)))
}
