/**
 * The KubeApi port over node:https, with the credentials of a kubeconfig. Never throws, and never
 * retries: that is up to the caller.
 *
 * Does not use client-node's `Watch`, which in 1.4 cannot be made safe from outside: it cannot be
 * timed out or aborted before the response headers arrive (kubernetes-client/javascript issue
 * 2860), it drops lines that do not parse, and of a refusal it keeps only the status code, not the
 * Status object or Retry-After.
 */

import { createHash } from 'node:crypto'
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https'
import type { KubeAnswer, KubeApi, KubeRefusal, KubeRequest, KubeWatchEnd, KubeWatchRequest, PartialForm } from '../ports/kube-api.ts'
import { errorMessage } from '../values/errors.ts'
import type { Access, KubeconfigReading, TlsMaterial } from './access.ts'
import { readRefusal } from './answer.ts'
import { parseEvent, parseJson, splitLines } from './lines.ts'
import { unlessAborted } from './unless-aborted.ts'

/**
 * Not imported: an import evaluates every export, and the list of root certificates takes 1 MB that
 * a cluster with its own authority does not need.
 */
const tls = process.getBuiltinModule('node:tls')

const REQUEST_TIMEOUT_MS = 30_000
/** How much longer than timeoutSeconds a watch may last before it is cut off. */
const WATCH_GRACE_MS = 30_000
/** An object in etcd has at most 1.5 MiB; JSON escapes make it longer. */
const BODY_LIMIT = 8 * 1024 * 1024
/** An API server closes an idle connection after some 90 s; the agent closes it first. */
const IDLE_CONNECTION_MS = 45_000

export interface KubeconfigView {
  current(): KubeconfigReading
  forget(): void
}

export interface KubeApiOptions {
  readonly userAgent: string
  /** Only for a Retry-After date from a server that sends no Date header. */
  readonly wallMs: () => number
}

interface Unreachable {
  readonly kind: 'unreachable'
  readonly detail: string
}

interface Outgoing {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly contentType: string | undefined
  readonly body: string | undefined
  readonly as: PartialForm | undefined
}

export class HttpsKubeApi implements KubeApi {
  readonly #kubeconfig: KubeconfigView
  readonly #options: KubeApiOptions
  #connections: { readonly key: string; readonly agent: HttpAgent } | undefined

  constructor(kubeconfig: KubeconfigView, options: KubeApiOptions) {
    this.#kubeconfig = kubeconfig
    this.#options = options
  }

  async request(request: KubeRequest): Promise<KubeAnswer> {
    const { method, path, query = {}, timeoutMs = REQUEST_TIMEOUT_MS } = request
    const body = request.body === undefined ? undefined : JSON.stringify(request.body)
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(`no answer in ${timeoutMs} ms`), timeoutMs)
    const answer = await this.#send({ method, path, query, body, contentType: request.contentType, as: request.as }, deadline.signal)
    clearTimeout(timer)
    return answer.kind === 'unreachable' ? { ...answer, detail: `${method} ${path}: ${answer.detail}` } : answer
  }

  async watch(request: KubeWatchRequest): Promise<KubeWatchEnd> {
    const { path, signal, inactivityMs } = request
    const stopper = new AbortController()
    const stop = (): void => stopper.abort('stopped')
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const capMs = (Number(request.query.timeoutSeconds) || 3600) * 1000 + WATCH_GRACE_MS
    const cap = setTimeout(() => stopper.abort('it lasted longer than its timeoutSeconds'), capMs)
    let [isAnswered, isSilent] = [false, false]
    const idle = setTimeout(() => {
      isSilent = true
      stopper.abort(`no data for ${inactivityMs} ms`)
    }, inactivityMs)
    const end = await this.#stream(request, stopper.signal, () => {
      isAnswered = true
      idle.refresh()
    })
    clearTimeout(cap)
    clearTimeout(idle)
    signal.removeEventListener('abort', stop)
    if (signal.aborted) return { kind: 'ended', detail: 'stopped' }
    // Not a failure: where no object of the collection changes, the server sends no bookmarks
    // either, since they would be no newer than the watch (`cacheWatcher.process`,
    // k8s.io/apiserver).
    if (isAnswered && isSilent && end.kind === 'unreachable') return { kind: 'ended', detail: String(stopper.signal.reason) }
    return end.kind === 'refused' ? end : { ...end, detail: `watch of ${path}: ${end.detail}` }
  }

  async #send(outgoing: Outgoing, signal: AbortSignal): Promise<KubeAnswer> {
    const opened = await this.#open(outgoing, signal)
    if (!isResponse(opened)) return opened
    const text = await readBody(opened, signal)
    if (typeof text !== 'string') return text
    return isSuccess(opened) ? parseAnswer(opened, text) : this.#refuse(opened, text)
  }

  async #stream(request: KubeWatchRequest, signal: AbortSignal, onData: () => void): Promise<KubeWatchEnd> {
    const query = { ...request.query, watch: 'true' }
    const outgoing = { method: 'GET', path: request.path, query, body: undefined, contentType: undefined, as: request.as }
    const opened = await this.#open(outgoing, signal)
    if (!isResponse(opened)) return opened
    onData()
    if (isSuccess(opened)) return readEvents(opened, request, signal, onData)
    const text = await readBody(opened, signal)
    return this.#refuse(opened, typeof text === 'string' ? text : '')
  }

  /** Sends the request; resolves when the response headers have arrived. */
  async #open(outgoing: Outgoing, signal: AbortSignal): Promise<IncomingMessage | Unreachable> {
    const reading = this.#kubeconfig.current()
    if (reading.kind !== 'ok') return unreachable(reading.detail)
    const { server } = reading.credentials
    const outcome = await unlessAborted(reading.credentials.access(), signal)
    if (outcome === undefined) return unreachable(String(signal.reason))
    if (!outcome.ok) return unreachable(outcome.detail)
    const { access } = outcome
    const search = new URLSearchParams(outgoing.query).toString()
    const { body } = outgoing
    try {
      const options = {
        method: outgoing.method,
        protocol: server.protocol,
        hostname: server.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: server.port,
        path: `${server.pathname.replace(/\/$/, '')}${outgoing.path}${search === '' ? '' : `?${search}`}`,
        agent: access.proxyAgent ?? this.#agentFor(server, access),
        headers: {
          accept: outgoing.as === undefined ? 'application/json' : `application/json;as=${outgoing.as};g=meta.k8s.io;v=v1`,
          'user-agent': this.#options.userAgent,
          ...access.headers,
          ...(body === undefined
            ? {}
            : { 'content-type': outgoing.contentType ?? 'application/json', 'content-length': Buffer.byteLength(body) }),
        },
      }
      return await exchange(options, body, signal)
    } catch (error) {
      return unreachable(describe(error))
    }
  }

  /** Reuses connections as long as the credentials stay the same. */
  #agentFor(server: URL, access: Access): HttpAgent {
    const key = createHash('sha256')
      .update(JSON.stringify([server.origin, access.tls]))
      .digest('hex')
    if (this.#connections?.key === key) return this.#connections.agent
    const agent = createAgent(server, access.tls)
    const retired = this.#connections?.agent
    this.#connections = { key, agent }
    // Open watches end by themselves; idle connections must not be reused.
    for (const sockets of Object.values(retired?.freeSockets ?? {})) for (const socket of sockets ?? []) socket.destroy()
    return agent
  }

  #refuse(response: IncomingMessage, body: string): KubeRefusal {
    if (response.statusCode === 401) this.#kubeconfig.forget()
    return readRefusal(response.statusCode ?? 0, response.headers, body, this.#options.wallMs())
  }
}

function createAgent(server: URL, material: TlsMaterial): HttpAgent {
  const options = { keepAlive: true, keepAliveMsecs: 30_000, maxFreeSockets: 2, timeout: IDLE_CONNECTION_MS }
  if (server.protocol === 'http:') return new HttpAgent(options)
  const { cert, key, servername, rejectUnauthorized } = material
  // Set explicitly: `node --use-openssl-ca` (it avoids parsing the root certificates at each start)
  // would trust another list.
  const ca = material.ca ?? [...tls.rootCertificates]
  const secureContext = tls.createSecureContext({ ca, ...(cert && { cert }), ...(key && { key }) })
  return new HttpsAgent({ ...options, secureContext, rejectUnauthorized, ...(servername && { servername }) })
}

function exchange(options: RequestOptions, body: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = options.protocol === 'http:' ? httpRequest(options) : httpsRequest(options)
    const abort = (): void => void request.destroy(new Error(String(signal.reason)))
    signal.addEventListener('abort', abort, { once: true })
    request.on('error', reject)
    request.on('response', resolve)
    request.on('close', () => signal.removeEventListener('abort', abort))
    request.end(body)
    if (signal.aborted) abort()
  })
}

function readBody(response: IncomingMessage, signal: AbortSignal): Promise<string | Unreachable> {
  return new Promise((resolve) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
      if (text.length > BODY_LIMIT) response.destroy(new Error(`the answer has more than ${BODY_LIMIT} characters`))
    })
    response.on('end', () => resolve(text))
    response.on('error', (error) => resolve(unreachable(describeEnd(error, signal))))
    response.on('close', () => resolve(unreachable('the connection was closed in the middle of the answer')))
  })
}

function readEvents(
  response: IncomingMessage,
  { onEvent }: KubeWatchRequest,
  signal: AbortSignal,
  onData: () => void,
): Promise<KubeWatchEnd> {
  return new Promise((resolve) => {
    const finish = (end: KubeWatchEnd): void => {
      resolve(end)
      response.destroy()
    }
    if (!isJson(response)) {
      finish(unreachable(`the answer is ${contentTypeOf(response)}, not JSON`))
      return
    }
    const split = splitLines(BODY_LIMIT)
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      if (response.destroyed) return
      onData()
      const lines = split(chunk)
      if (lines === undefined) finish(unreachable(`an event has more than ${BODY_LIMIT} characters`))
      for (const line of lines ?? []) {
        if (response.destroyed || signal.aborted) return
        const event = parseEvent(line)
        if (event === undefined) finish(unreachable('a line is not a watch event'))
        else onEvent(event)
      }
    })
    response.on('end', () => finish({ kind: 'ended', detail: 'ended by the server' }))
    response.on('error', (error) => finish(unreachable(describeEnd(error, signal))))
    response.on('close', () => finish(unreachable('the connection was closed')))
  })
}

function parseAnswer(response: IncomingMessage, text: string): KubeAnswer {
  if (!isJson(response)) return unreachable(`the answer is ${contentTypeOf(response)}, not JSON`)
  const object = parseJson(text)
  if (object === undefined) return unreachable('the answer is not valid JSON')
  const serverMs = Date.parse(response.headers.date ?? '')
  return { kind: 'ok', object, ...(Number.isFinite(serverMs) && { serverMs }) }
}

function isJson(response: IncomingMessage): boolean {
  return /^application\/json\b/i.test(response.headers['content-type'] ?? '')
}

function contentTypeOf(response: IncomingMessage): string {
  return (response.headers['content-type'] ?? 'of no content type').slice(0, 80)
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300
}

function isResponse(opened: IncomingMessage | Unreachable): opened is IncomingMessage {
  return !('kind' in opened)
}

function unreachable(detail: string): Unreachable {
  return { kind: 'unreachable', detail }
}

/** A request aborted by the agent itself ends with a connection reset. */
function describeEnd(error: unknown, signal: AbortSignal): string {
  return signal.aborted ? String(signal.reason) : describe(error)
}

/** Errors of Node's network and TLS layers contain addresses and reasons, but no headers. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ')
  return errorMessage(error)
}
