/**
 * Probes kubelet's `/healthz`. Never throws and never waits longer than its limit: a server that
 * accepts the connection but does not answer is not healthy.
 */
import { get } from 'node:http'
import type { HealthProbe, HealthTarget } from '../ports/probes.ts'
import { errorCode } from '../values/errors.ts'

export class NetworkHealthProbe implements HealthProbe {
  readonly #timeoutMs: number

  constructor(timeoutMs = 2000) {
    this.#timeoutMs = timeoutMs
  }

  healthz({ host, port }: HealthTarget): Promise<{ ok: boolean; detail: string }> {
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    return new Promise((resolve) => {
      const fail = (detail: string) =>
        resolve({ ok: false, detail: timeout.aborted ? `no answer within ${this.#timeoutMs / 1000} s` : detail })
      // A new connection each time: a reused one may be to a previous kubelet process.
      const request = get({ host, port, path: '/healthz', agent: false, signal: timeout }, (response) => {
        const { statusCode } = response
        response.on('error', (error) => fail(error.message))
        response.on('end', () => resolve({ ok: statusCode === 200, detail: statusCode === 200 ? 'ok' : `HTTP ${statusCode}` }))
        response.resume()
      })
      request.on('error', (error) => fail(describe(error)))
    })
  }
}

function describe(error: Error): string {
  return errorCode(error) === 'ECONNREFUSED' ? 'connection refused' : error.message
}
