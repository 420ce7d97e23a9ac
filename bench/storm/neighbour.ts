// SPDX-License-Identifier: Apache-2.0
/**
 * Who writes beside the agents, at the same priority level: kubelets that renew their leases, or a
 * controller. Each write is due at a time of its own, whether or not the one before has ended, and
 * is tried again: as late as Retry-After says after a 429, as client-go does, and ten times a
 * second where the server is away, so that a write is as late as the server makes it.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { openKubeApi } from '../../src/compose/kube-api.ts'
import type { KubeApi, KubeRequest } from '../../src/ports/kube-api.ts'
import { viewOf } from '../fleet/cluster.ts'
import type { Written } from './lateness.ts'

/** Of a 429 without Retry-After. */
const RETRY_MS = 1000
const AWAY_MS = 100
const LIMIT_MS = 10_000
const MOST_FAILURES = 1000

export interface Writer {
  readonly kubeconfig: string
  /** Its lease. */
  readonly namespace: string
  readonly name: string
}

interface OpenWriter extends Writer {
  readonly api: KubeApi
}

export class Neighbour {
  readonly #writers: readonly OpenWriter[]

  constructor(writers: readonly Writer[], userAgent: string) {
    this.#writers = writers.map((writer) => ({ ...writer, api: openKubeApi(viewOf(writer.kubeconfig), { userAgent }) }))
  }

  async createLeases(): Promise<void> {
    for (const { api, namespace, name } of this.#writers) {
      const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec: renewed(name) }
      const answer = await api.request({ method: 'POST', path: leases(namespace), body, contentType: 'application/json' })
      if (answer.kind !== 'ok') throw new Error(`lease ${namespace}/${name}: ${answer.detail}`)
    }
  }

  /** `stop` waits for the writes that are under way, and returns all of them. */
  start(everyMs: number): { stop(): Promise<readonly Written[]> } {
    const startedMs = performance.now()
    const pending: Promise<Written>[] = []
    const timer = setInterval(() => {
      while (startedMs + pending.length * everyMs <= performance.now()) pending.push(this.#write(startedMs + pending.length * everyMs))
    }, 5)
    return {
      stop() {
        clearInterval(timer)
        return Promise.all(pending)
      },
    }
  }

  async #write(dueMs: number): Promise<Written> {
    const writer = this.#next()
    let [refused, failed] = [0, 0]
    for (;;) {
      const answer = await writer.api.request(renewal(writer))
      if (answer.kind === 'ok') return { dueMs, doneMs: performance.now(), refused, failed }
      const isBusy = answer.kind === 'refused' && answer.status === 429
      if (isBusy) refused += 1
      else failed += 1
      // A server that has just started forbids until it has read the roles.
      if (failed > MOST_FAILURES) throw new Error(`lease ${writer.name}: ${answer.detail}`)
      await pause(isBusy ? (answer.retryAfterMs ?? RETRY_MS) : AWAY_MS)
    }
  }

  #serial = 0
  #next(): OpenWriter {
    const writer = this.#writers[this.#serial++ % this.#writers.length]
    if (writer === undefined) throw new Error('nobody writes')
    return writer
  }
}

function renewal({ namespace, name }: Writer): KubeRequest {
  const body = { spec: renewed(name) }
  return { method: 'PATCH', path: `${leases(namespace)}/${name}`, body, contentType: 'application/merge-patch+json', timeoutMs: LIMIT_MS }
}

function leases(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
}

function renewed(holderIdentity: string): object {
  return { holderIdentity, leaseDurationSeconds: 40, renewTime: `${new Date().toISOString().slice(0, -1)}000Z` }
}
