// SPDX-License-Identifier: Apache-2.0
/**
 * Sends the heartbeats of a whole fleet, only a few requests at a time. If the server cannot keep
 * up, fewer heartbeats are sent than are due, and the result shows it.
 */

import { openKubeApi } from '../../src/compose/kube-api.ts'
import type { HttpsKubeApi, KubeconfigView } from '../../src/kube/kube-api.ts'
import { beatsDue } from './due.ts'
import { heartbeat, KUBELET } from './node.ts'

/** Each has a connection of its own. */
const CLIENTS = 4
const AT_A_TIME = 2 * CLIENTS
const TICK_MS = 20

interface Beaten {
  readonly done: number
  readonly due: number
  readonly latenciesMs: readonly number[]
}

export class Heartbeats {
  readonly #clients: readonly HttpsKubeApi[]
  readonly #names: readonly string[]
  #serial = 0

  constructor(kubeconfig: KubeconfigView, names: readonly string[]) {
    this.#clients = Array.from({ length: CLIENTS }, () => openKubeApi(kubeconfig, { userAgent: KUBELET }))
    this.#names = names
  }

  /**
   * `beaten`: the heartbeats since the start or the last call. `stop` waits for the pending ones.
   */
  start(everyMs: number): { beaten(): Beaten; stop(): Promise<void> } {
    const startedMs = performance.now()
    const latenciesMs: number[] = []
    const pending = new Set<Promise<void>>()
    let sent = 0
    let countedDue = 0
    let fault: unknown
    const due = (): number => beatsDue(performance.now() - startedMs, this.#names.length, everyMs)
    const beat = (): void => {
      sent += 1
      const request: Promise<void> = this.#beat()
        .then((tookMs) => {
          latenciesMs.push(tookMs)
          if (sent < due()) beat()
        })
        .catch((error: unknown) => {
          fault ??= error
        })
        .finally(() => pending.delete(request))
      pending.add(request)
    }
    const timer = setInterval(() => {
      while (sent < due() && pending.size < AT_A_TIME) beat()
    }, TICK_MS)
    return {
      beaten() {
        if (fault !== undefined) throw fault
        const now = due()
        const beaten = { due: now - countedDue, done: latenciesMs.length, latenciesMs: [...latenciesMs] }
        countedDue = now
        latenciesMs.length = 0
        return beaten
      },
      async stop() {
        clearInterval(timer)
        sent = Number.POSITIVE_INFINITY
        while (pending.size > 0) await Promise.all(pending)
      },
    }
  }

  async #beat(): Promise<number> {
    const serial = this.#serial++
    const name = this.#names[serial % this.#names.length] ?? ''
    const client = this.#clients[serial % CLIENTS]
    const startedMs = performance.now()
    const answer = await client?.request({
      method: 'PATCH',
      path: `/api/v1/nodes/${name}/status`,
      contentType: 'application/strategic-merge-patch+json',
      body: heartbeat(`${new Date().toISOString().slice(0, 19)}Z`),
    })
    if (answer?.kind !== 'ok') throw new Error(`the heartbeat of ${name}: ${answer?.detail}`)
    return performance.now() - startedMs
  }
}
