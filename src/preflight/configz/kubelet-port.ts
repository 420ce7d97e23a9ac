// SPDX-License-Identifier: Apache-2.0
/**
 * Asks kubelet on its own port, after it has proved to be this node's kubelet. Never throws.
 *
 * The agent trusts the certificate in the file that this kubelet serves from, byte for byte. Only
 * root can write that file, and only who has its private key can finish the handshake. This holds
 * for a self-signed certificate and for one of the cluster's authority alike, and is narrower than
 * to trust that authority: it has signed the certificates of all nodes. Names and dates in the
 * certificate add nothing to this and are not looked at: kubelet never renews a self-signed one.
 *
 * Nothing is shown to a port that has not proved this: the first connection has no client
 * certificate, and on the second one the request, with its token, is written only after the
 * certificate was compared once more.
 */
import { X509Certificate } from 'node:crypto'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { ClientIdentity } from '../../kube/access.ts'
import type { ConfigzAnswer } from '../../ports/preflight.ts'
import type { HealthTarget } from '../../ports/probes.ts'
import { errorMessage } from '../../values/errors.ts'

const TIMEOUT_MS = 5000
const BODY_LIMIT = 4 * 1024 * 1024
const DETAIL_LIMIT = 300
const PATH = '/configz'

interface ProvingPort {
  readonly target: HealthTarget
  /** PEM: one of these is what kubelet serves. Text after the first certificate is ignored. */
  readonly certificates: readonly string[]
}

export class KubeletPort {
  readonly #identity: ClientIdentity
  readonly #timeoutMs: number

  constructor(identity: ClientIdentity, timeoutMs = TIMEOUT_MS) {
    this.#identity = identity
    this.#timeoutMs = timeoutMs
  }

  async askConfigz({ target, certificates }: ProvingPort): Promise<ConfigzAnswer> {
    const reading = this.#identity.current()
    if (reading.kind !== 'ok') return { kind: 'unreachable', detail: reading.detail }
    const outcome = await reading.credentials.access()
    if (!outcome.ok) return { kind: 'unreachable', detail: outcome.detail }
    const { headers, tls } = outcome.access
    const trusted = certificates.flatMap(readLeaf)
    if (trusted.length === 0) return { kind: 'unproven', detail: 'the file of its certificate holds none' }
    const signal = AbortSignal.timeout(this.#timeoutMs)
    // `ca` only keeps Node.js from loading its list of root certificates: the comparison verifies.
    const options = { ...target, path: PATH, agent: false, signal, ca: trusted.map(String), rejectUnauthorized: false }
    try {
      const proof = await prove(options, trusted)
      proof.destroy()
      const proven = await prove({ ...options, headers, ...(tls.cert && tls.key && { cert: tls.cert, key: tls.key }) }, trusted)
      return await finish(proven)
    } catch (error) {
      if (error instanceof Unproven) return { kind: 'unproven', detail: error.message }
      const detail = signal.aborted ? `no answer within ${this.#timeoutMs / 1000} s` : errorMessage(error)
      return { kind: 'unreachable', detail: `kubelet's port ${target.host}:${target.port}: ${detail}` }
    }
  }
}

class Unproven extends Error {}

/** The first certificate of the file is the one that a server shows as its own. */
function readLeaf(pem: string): X509Certificate[] {
  try {
    return [new X509Certificate(pem)]
  } catch {
    return []
  }
}

/** Resolves when the other side has proved who it is. Node.js writes nothing of it before `end`. */
function prove(options: RequestOptions, trusted: readonly X509Certificate[]): Promise<ClientRequest> {
  return new Promise((resolve, reject) => {
    const sent = request(options)
    sent.on('error', reject)
    sent.on('socket', (socket) => {
      socket.once('secureConnect', () => {
        const served = (socket as TLSSocket).getPeerX509Certificate()?.raw
        if (served !== undefined && trusted.some(({ raw }) => raw.equals(served))) resolve(sent)
        else sent.destroy(new Unproven(`${options.host}:${options.port} serves another certificate than the one in kubelet's file`))
      })
    })
  })
}

function finish(sent: ClientRequest): Promise<ConfigzAnswer> {
  return new Promise((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        body += chunk
        if (body.length > BODY_LIMIT) sent.destroy(new Error(`the answer has more than ${BODY_LIMIT} characters`))
      })
      response.on('error', reject)
      response.on('end', () => resolve(readAnswer(response, body)))
    })
    sent.end()
  })
}

function readAnswer({ statusCode: status = 0 }: IncomingMessage, body: string): ConfigzAnswer {
  if (status !== 200) {
    const words = body.replaceAll(/[^\x21-\x7e]+/g, ' ').trim()
    return { kind: 'refused', by: 'kubelet', status, detail: `${status}: ${words.slice(0, DETAIL_LIMIT)}` }
  }
  try {
    return { kind: 'ok', object: JSON.parse(body) }
  } catch {
    // The error of JSON.parse would quote the text.
    return { kind: 'unreachable', detail: 'the answer is not valid JSON' }
  }
}
