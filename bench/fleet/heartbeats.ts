/**
 * Heartbeats of a whole fleet, at its rhythm. Never more than a few requests at a time, so that a server that cannot keep up is not buried: then fewer are sent
 * than are due, and that is said.
 */
import { HttpsKubeApi, type KubeconfigView } from '../../src/kube/kube-api.ts'
import { beatsDue } from './due.ts'
import { heartbeat, KUBELET } from './node.ts'

/** Each has its own connections, and keeps two. */
const CLIENTS = 4
const AT_A_TIME = 2 * CLIENTS
const TICK_MS = 20

export interface Beaten {
  readonly done: number
  readonly due: number
  readonly latenciesMs: readonly number[]
}

export class Heartbeats {
  readonly #clients: readonly HttpsKubeApi[]
  readonly #names: readonly string[]
  #serial = 0

  constructor(kubeconfig: KubeconfigView, names: readonly string[]) {
    this.#clients = Array.from({ length: CLIENTS }, () => new HttpsKubeApi(kubeconfig, { userAgent: KUBELET, wallMs: Date.now }))
    this.#names = names
  }

  /** Begins at once. `beaten`: of the time since the start or the last call; `stop` waits for those under way. */
  start(everyMs: number): { beaten(): Beaten; stop(): Promise<void> } {
    const startedMs = performance.now()
    const latenciesMs: number[] = []
    const underWay = new Set<Promise<void>>()
    let sent = 0
    let toldDue = 0
    let fault: unknown
    const due = (): number => beatsDue(performance.now() - startedMs, this.#names.length, everyMs)
    const beat = (): void => {
      sent += 1
      const one: Promise<void> = this.#beat()
        .then((tookMs) => {
          latenciesMs.push(tookMs)
          if (sent < due()) beat()
        })
        .catch((error: unknown) => {
          fault ??= error
        })
        .finally(() => underWay.delete(one))
      underWay.add(one)
    }
    const timer = setInterval(() => {
      while (sent < due() && underWay.size < AT_A_TIME) beat()
    }, TICK_MS)
    return {
      beaten() {
        if (fault !== undefined) throw fault
        const now = due()
        const told = { due: now - toldDue, done: latenciesMs.length, latenciesMs: [...latenciesMs] }
        toldDue = now
        latenciesMs.length = 0
        return told
      },
      async stop() {
        clearInterval(timer)
        sent = Number.POSITIVE_INFINITY
        while (underWay.size > 0) await Promise.all(underWay)
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
