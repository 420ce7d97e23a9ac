// SPDX-License-Identifier: Apache-2.0
/**
 * Asks kubelet's TLS port with the client certificate of the kubeconfig. A token is never sent: the
 * certificate of the port is mostly self-signed, so nobody knows who would get it. Never throws.
 */
import { X509Certificate } from 'node:crypto'
import { request } from 'node:https'
import type { ClientIdentity } from '../kube/access.ts'
import type { HealthTarget } from '../ports/probes.ts'
import { errorMessage } from '../values/errors.ts'
import type { NotAsked } from './kind.ts'
import type { ServingAnswer } from './serving.ts'

const TIMEOUT_MS = 5000
const BODY_BYTES = 4096
/**
 * The alert that Go sends when `GetCertificate` fails (crypto/tls): "no serving certificate
 * available for the kubelet" (pkg/kubelet/certificate/kubelet.go), until someone approves it.
 */
const NO_CERTIFICATE = /alert internal error/

export class ServingProbe {
  readonly #identity: ClientIdentity
  readonly #timeoutMs: number

  constructor(identity: ClientIdentity, timeoutMs = TIMEOUT_MS) {
    this.#identity = identity
    this.#timeoutMs = timeoutMs
  }

  async ask(target: HealthTarget): Promise<ServingAnswer | NotAsked> {
    const reading = this.#identity.current()
    if (reading.kind !== 'ok') return { kind: 'not-asked', detail: reading.detail }
    const outcome = await reading.credentials.access()
    if (!outcome.ok) return { kind: 'not-asked', detail: outcome.detail }
    const { cert, key } = outcome.access.tls
    if (cert === undefined || key === undefined) return { kind: 'not-asked', detail: 'the kubeconfig has no client certificate' }
    return this.#exchange(target, cert, key)
  }

  #exchange({ host, port }: HealthTarget, cert: string, key: string): Promise<ServingAnswer | NotAsked> {
    const signal = AbortSignal.timeout(this.#timeoutMs)
    let hasTls = false
    return new Promise((resolve) => {
      const fail = (error: Error) => {
        if (NO_CERTIFICATE.test(errorMessage(error))) return resolve({ kind: 'no-certificate', detail: errorMessage(error) })
        const detail = signal.aborted ? `no answer within ${this.#timeoutMs / 1000} s` : errorMessage(error)
        resolve({ kind: 'no-tls', detail, isSilent: hasTls && signal.aborted })
      }
      // `ca` only keeps Node.js from loading its list of root certificates: nothing is verified.
      const tls = { cert, key, ca: cert, rejectUnauthorized: false }
      try {
        // A new connection each time: a reused one may be to a previous kubelet process.
        const sent = request({ host, port, path: '/healthz', agent: false, signal, ...tls }, (response) => {
          const status = response.statusCode ?? 0
          let body = ''
          response.setEncoding('utf8')
          response.on('data', (chunk: string) => {
            body = (body + chunk).slice(0, BODY_BYTES)
          })
          response.on('error', fail)
          response.on('end', () =>
            resolve({ kind: 'answered', status, user: status === 403 ? findUser(body) : undefined, ...readValidity(cert) }),
          )
        })
        sent.on('socket', (socket) =>
          socket.on('secureConnect', () => {
            hasTls = true
          }),
        )
        sent.on('error', fail)
        sent.end()
      } catch (error) {
        resolve({ kind: 'not-asked', detail: errorMessage(error) })
      }
    })
  }
}

/** `Forbidden (user=%s, verb=%s, resource=%s, ...`, pkg/kubelet/server/server.go. */
function findUser(body: string): string | undefined {
  return /\buser=([^,)\s]{1,253})/.exec(body)?.[1]
}

/** The validity of the first certificate. Kubelet takes it only within this time. */
function readValidity(pem: string): Pick<Extract<ServingAnswer, { kind: 'answered' }>, 'valid'> {
  try {
    const { validFrom, validTo } = new X509Certificate(pem)
    return { valid: { fromMs: Date.parse(validFrom), untilMs: Date.parse(validTo) } }
  } catch {
    return {}
  }
}
