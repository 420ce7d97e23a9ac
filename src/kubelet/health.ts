// SPDX-License-Identifier: Apache-2.0
/**
 * Probes kubelet's `/healthz`. Never throws and never waits longer than its limit: a server that
 * accepts the connection but does not answer is not healthy.
 */
import { get } from 'node:http'
import type { HealthTarget } from '../ports/probes.ts'
import { errorCode } from '../values/errors.ts'
import type { PortHealth } from './verified-health.ts'

export class NetworkHealthProbe {
  readonly #timeoutMs: number

  constructor(timeoutMs = 2000) {
    this.#timeoutMs = timeoutMs
  }

  async healthz({ host, port }: HealthTarget): Promise<PortHealth> {
    const limit = new AbortController()
    // Not AbortSignal.timeout(), whose timer wakes the process also after the answer.
    const timer = setTimeout(() => limit.abort(), this.#timeoutMs)
    const answer = await ask({ host, port, signal: limit.signal })
    clearTimeout(timer)
    return limit.signal.aborted ? { ...answer, ok: false, detail: `no answer within ${this.#timeoutMs / 1000} s` } : answer
  }
}

function ask(target: HealthTarget & { readonly signal: AbortSignal }): Promise<PortHealth> {
  return new Promise((resolve) => {
    let isReached = false
    const fail = (error: Error) => {
      const isRefused = errorCode(error) === 'ECONNREFUSED'
      const detail = isRefused ? 'connection refused' : error.message
      resolve({ ok: false, detail, ...(!isReached && { unreached: isRefused ? 'refused' : 'other' }) })
    }
    // A new connection each time: a reused one may be to a previous kubelet process.
    const request = get({ ...target, path: '/healthz', agent: false }, (response) => {
      const { statusCode } = response
      response.on('error', fail)
      response.on('end', () => resolve({ ok: statusCode === 200, detail: statusCode === 200 ? 'ok' : `HTTP ${statusCode}` }))
      response.resume()
    })
    request.on('socket', (socket) =>
      socket.once('connect', () => {
        isReached = true
      }),
    )
    request.on('error', fail)
  })
}
