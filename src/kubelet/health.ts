/**
 * Probes kubelet's `/healthz`. Never throws and never waits longer than its limit: a server that
 * accepts the connection but does not answer is not healthy.
 */
import { get } from 'node:http'
import type { HealthProbe, HealthTarget } from '../ports/probes.ts'
import { errorCode } from '../values/errors.ts'

/** As {@link HealthProbe} has it. */
interface HealthVerdict {
  readonly ok: boolean
  readonly detail: string
}

export class NetworkHealthProbe implements HealthProbe {
  readonly #timeoutMs: number

  constructor(timeoutMs = 2000) {
    this.#timeoutMs = timeoutMs
  }

  async healthz({ host, port }: HealthTarget): Promise<HealthVerdict> {
    const limit = new AbortController()
    // Not AbortSignal.timeout(), whose timer wakes the process also after the answer.
    const timer = setTimeout(() => limit.abort(), this.#timeoutMs)
    const answer = await ask({ host, port, signal: limit.signal })
    clearTimeout(timer)
    return limit.signal.aborted ? { ok: false, detail: `no answer within ${this.#timeoutMs / 1000} s` } : answer
  }
}

function ask(target: HealthTarget & { readonly signal: AbortSignal }): Promise<HealthVerdict> {
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve({ ok: false, detail: describe(error) })
    // A new connection each time: a reused one may be to a previous kubelet process.
    const request = get({ ...target, path: '/healthz', agent: false }, (response) => {
      const { statusCode } = response
      response.on('error', fail)
      response.on('end', () => resolve({ ok: statusCode === 200, detail: statusCode === 200 ? 'ok' : `HTTP ${statusCode}` }))
      response.resume()
    })
    request.on('error', fail)
  })
}

function describe(error: Error): string {
  return errorCode(error) === 'ECONNREFUSED' ? 'connection refused' : error.message
}
