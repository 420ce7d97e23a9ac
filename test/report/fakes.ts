// SPDX-License-Identifier: Apache-2.0
/**
 * A clock that the test moves, a log in memory, and a scripted API server that keeps the status of
 * one Node.
 */
import type { Clock } from '../../src/ports/clock.ts'
import type { KubeAnswer, KubeApi, KubeRequest } from '../../src/ports/kube-api.ts'
import type { Log } from '../../src/ports/log.ts'
import type { JointField } from '../../src/report/node-work.ts'
import type { Sleep, Work } from '../../src/report/report-worker.ts'

const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

export class FakeTime {
  #nowMs = 0
  #sleepers: { readonly atMs: number; readonly wake: () => void }[] = []
  wallMs = 1_700_000_000_000

  readonly clock: Clock = { now: () => ({ bootId: 'b1', monotonicUs: this.#nowMs * 1000, wallMs: this.wallMs }) }

  readonly sleep: Sleep = (ms, signal) =>
    new Promise((resolve) => {
      const sleeper = { atMs: this.#nowMs + ms, wake: resolve }
      this.#sleepers.push(sleeper)
      signal.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        resolve()
      })
    })

  get nowMs(): number {
    return this.#nowMs
  }

  get sleepers(): number {
    return this.#sleepers.length
  }

  /** Runs everything that is due in this time, in order. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    await tick()
    for (;;) {
      const next = this.#sleepers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0]
      if (next === undefined) break
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      this.wallMs += 1
      this.#sleepers = this.#sleepers.filter((other) => other !== next)
      next.wake()
      await tick()
    }
    this.#nowMs = endMs
  }
}

export class FakeLog implements Log {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[] = []
  debug = this.#at('debug')
  info = this.#at('info')
  warn = this.#at('warn')
  error = this.#at('error')

  said(level: string): string[] {
    return this.lines.filter((line) => line.level === level).map(({ message }) => message)
  }

  #at(level: string) {
    return (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
      this.lines.push({ level, message, fields })
    }
  }
}

type Json = Readonly<Record<string, unknown>>
interface NodePatch {
  readonly metadata?: { readonly annotations?: Json; readonly labels?: Json }
  readonly status?: { readonly config?: Json; readonly conditions?: readonly Json[] }
}

export class FakeApi implements KubeApi {
  readonly requests: (KubeRequest & { readonly atMs: number })[] = []
  /** Called first; undefined: the server handles the request. */
  fault: (request: KubeRequest) => KubeAnswer | undefined = () => undefined
  dropsConfig = false
  config: unknown
  conditions: readonly Json[] = [{ type: 'Ready', status: 'True' }]
  annotations: Json = {}
  labels: Json = {}
  readonly events = new Map<string, unknown>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  async request(request: KubeRequest): Promise<KubeAnswer> {
    this.requests.push({ ...request, atMs: this.#nowMs() })
    const fault = this.fault(request)
    if (fault !== undefined) return fault
    if (request.method === 'POST') return this.#create(request.body as { metadata: { name: string } })
    if (request.method === 'PATCH') this.#patch(request.body as NodePatch)
    return { kind: 'ok', object: this.node() }
  }

  node(): object {
    const { config, conditions, annotations, labels } = this
    return { metadata: { uid: 'node-uid', annotations, labels }, status: { ...(config !== undefined && { config }), conditions } }
  }

  #patch({ metadata, status }: NodePatch): void {
    if (status?.config !== undefined && !this.dropsConfig) this.config = merge(this.config as Json | undefined, status.config)
    if (metadata?.annotations !== undefined) this.annotations = merge(this.annotations, metadata.annotations)
    if (metadata?.labels !== undefined) this.labels = merge(this.labels, metadata.labels)
    for (const condition of status?.conditions ?? []) {
      this.conditions = [...this.conditions.filter(({ type }) => type !== condition.type), condition]
    }
  }

  async watch(): Promise<never> {
    throw new Error('the publisher does not watch')
  }

  #create(event: { metadata: { name: string } }): KubeAnswer {
    if (this.events.has(event.metadata.name)) return refusal(409, 'AlreadyExists')
    this.events.set(event.metadata.name, event)
    return { kind: 'ok', object: event }
  }
}

export function refusal(status: number, reason = '', retryAfterMs?: number): KubeAnswer {
  return { kind: 'refused', status, reason, detail: reason, retryAfterMs }
}

/** RFC 7386, one level deep, which is enough here. */
function merge(old: Json | undefined, patch: Json): Json {
  return Object.fromEntries(Object.entries({ ...old, ...patch }).filter(([, value]) => value !== null))
}

/** Writes one field of the Node by its own path. */
export function alone(field: Pick<JointField, 'dueInMs' | 'begin'>, api: Pick<KubeApi, 'request'>): Work {
  return {
    dueInMs: () => field.dueInMs(),
    async attempt() {
      const exchange = field.begin()
      if (exchange !== undefined) exchange.settle(await api.request(exchange.request))
    },
  }
}
