// SPDX-License-Identifier: Apache-2.0
/**
 * The helper's side of the protocol: answers what the agent asks, one request a line. Pure; what
 * opens the node, writes and ends the process is passed in.
 */
import { errorMessage } from '../values/errors.ts'
import type { HelperCancel, HelperReply, HelperRequest } from './protocol.ts'

/** The arguments come from the agent that started this process, which is of the same version. */
export type Methods = Readonly<Record<string, (signal: AbortSignal, ...args: never[]) => unknown>>

/** For probes of kubelet that are ended. The agent itself has to end within 2 s. */
const END_MS = 1500

interface HelperServerParts<Context extends { readonly version: string }> {
  readonly version: string
  /**
   * Called with the first request.
   * @param context what came with the latest one
   */
  open(context: () => Context, ended: AbortSignal): Methods
  /** Kept by the agent for the next helper. */
  readonly memory: Map<string, unknown>
  write(reply: HelperReply): void
  /** Ends the process, after this time at the latest. */
  exit(afterMs: number): void
}

export class HelperServer<Context extends { readonly version: string }> {
  readonly #parts: HelperServerParts<Context>
  readonly #ended = new AbortController()
  readonly #running = new Map<number, AbortController>()
  #node: { context: Context; readonly methods: Methods } | undefined

  constructor(parts: HelperServerParts<Context>) {
    this.#parts = parts
  }

  hear(line: string): void {
    const message = JSON.parse(line) as HelperRequest | HelperCancel
    if ('cancel' in message) this.#running.get(message.cancel)?.abort()
    else void this.#answer(message)
  }

  end(): void {
    this.#ended.abort()
    for (const stopper of this.#running.values()) stopper.abort()
    this.#parts.exit(this.#running.size === 0 ? 0 : END_MS)
  }

  async #answer({ id, method, args, context, memory }: HelperRequest): Promise<void> {
    const parts = this.#parts
    const stopper = new AbortController()
    this.#running.set(id, stopper)
    try {
      const { methods } = this.#open(context)
      for (const [key, value] of Object.entries(memory ?? {})) if (!parts.memory.has(key)) parts.memory.set(key, value)
      const known = Object.hasOwn(methods, method) ? methods[method] : undefined
      if (known === undefined) throw new Error(`there is no method ${method}`)
      const result = await known(stopper.signal, ...(args as never[]))
      parts.write({ id, ok: true, result, memory: Object.fromEntries(parts.memory) })
    } catch (error) {
      parts.write({ id, ok: false, detail: errorMessage(error) })
    } finally {
      this.#running.delete(id)
      if (this.#ended.signal.aborted && this.#running.size === 0) parts.exit(0)
    }
  }

  /** While the package is upgraded, the agent is of the earlier version for a while. */
  #open(given: unknown): { readonly methods: Methods } {
    const { version, open } = this.#parts
    const context = given as Context | null
    if (context?.version !== version)
      throw new Error(`the helper has version ${version}, and the agent ${context?.version}: restart kubelet-cfg-agent`)
    if (this.#node === undefined) {
      const node = { context, methods: {} }
      this.#node = Object.assign(node, { methods: open(() => node.context, this.#ended.signal) })
    }
    this.#node.context = context
    return this.#node
  }
}
