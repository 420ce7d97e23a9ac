// SPDX-License-Identifier: Apache-2.0
/**
 * The KubeApi port over HTTPS, with the credentials of a kubeconfig. Never throws, and never
 * retries: that is up to the caller.
 *
 * Does not use client-node's `Watch`, which in 1.4 cannot be made safe from outside: it cannot be
 * timed out or aborted before the response headers arrive (kubernetes-client/javascript issue
 * 2860), it drops lines that do not parse, and of a refusal it keeps only the status code, not the
 * Status object or Retry-After.
 */

import type {
  KubeAnswer,
  KubeApi,
  KubeRefusal,
  KubeRequest,
  KubeSilence,
  KubeWatchEnd,
  KubeWatchRequest,
  PartialForm,
} from '../ports/kube-api.ts'
import { errorMessage } from '../values/errors.ts'
import type { KubeconfigReading } from './access.ts'
import { jsonOrUndefined, parseEvent, readRefusal, splitLines } from './answer.ts'
import { unlessAborted } from './backoff.ts'
import type { Answered, Outgoing, Transport } from './transport.ts'

const REQUEST_TIMEOUT_MS = 30_000
/** How much longer than timeoutSeconds a watch may last before it is cut off. */
const WATCH_GRACE_MS = 30_000
/** An object in etcd has at most 1.5 MiB; JSON escapes make it longer. */
const BODY_LIMIT = 8 * 1024 * 1024

export interface KubeconfigView {
  current(): KubeconfigReading
  forget(): void
}

interface KubeApiOptions {
  readonly transport: Transport
  readonly userAgent: string
  /** Only for a Retry-After date from a server that sends no Date header. */
  readonly wallMs: () => number
}

interface Question {
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

  async #send(question: Question, signal: AbortSignal): Promise<KubeAnswer> {
    const opened = await this.#open(question, signal)
    if (!isAnswered(opened)) return opened
    const text = await readBody(opened, signal)
    if (typeof text !== 'string') return text
    return isSuccess(opened) ? parseAnswer(opened, text) : this.#refuse(opened, text)
  }

  async #stream(request: KubeWatchRequest, signal: AbortSignal, onData: () => void): Promise<KubeWatchEnd> {
    const query = { ...request.query, watch: 'true' }
    const question = { method: 'GET', path: request.path, query, body: undefined, contentType: undefined, as: request.as }
    const opened = await this.#open(question, signal)
    if (!isAnswered(opened)) return opened
    onData()
    if (isSuccess(opened)) {
      request.onOpen?.(readDate(opened))
      return readEvents(opened, request, signal, onData)
    }
    const text = await readBody(opened, signal)
    return this.#refuse(opened, typeof text === 'string' ? text : '')
  }

  /** Sends the request; resolves when the response headers have arrived. */
  async #open(question: Question, signal: AbortSignal): Promise<Answered | KubeSilence> {
    const reading = this.#kubeconfig.current()
    if (reading.kind !== 'ok') return notAsked(reading.detail)
    const { server } = reading.credentials
    const outcome = await unlessAborted(reading.credentials.access(), signal)
    if (outcome === undefined) return unreachable(String(signal.reason))
    if (!outcome.ok) return notAsked(outcome.detail)
    const { access } = outcome
    const search = new URLSearchParams(question.query).toString()
    const { body } = question
    const outgoing: Outgoing = {
      method: question.method,
      path: `${server.pathname.replace(/\/$/, '')}${question.path}${search === '' ? '' : `?${search}`}`,
      headers: {
        accept: question.as === undefined ? 'application/json' : `application/json;as=${question.as};g=meta.k8s.io;v=v1`,
        'user-agent': this.#options.userAgent,
        ...access.headers,
        ...(body !== undefined && { 'content-type': question.contentType ?? 'application/json' }),
      },
      body,
    }
    try {
      return await this.#options.transport.send({ server, access }, outgoing, signal)
    } catch (error) {
      return unreachable(describe(error))
    }
  }

  #refuse({ status, headers }: Answered, body: string): KubeRefusal {
    if (status === 401) this.#kubeconfig.forget()
    return readRefusal(status, headers, body, this.#options.wallMs())
  }
}

function readBody({ body, isWhole, cancel }: Answered, signal: AbortSignal): Promise<string | KubeSilence> {
  return new Promise((resolve) => {
    let text = ''
    body.setEncoding('utf8')
    body.on('data', (chunk: string) => {
      text += chunk
      if (text.length <= BODY_LIMIT) return
      resolve(tooLong('the answer'))
      cancel()
    })
    body.on('end', () => isWhole() && resolve(text))
    body.on('error', (error) => resolve(unreachable(describeEnd(error, signal))))
    body.on('close', () => resolve(unreachable(describeClose('the connection was closed in the middle of the answer', signal))))
  })
}

function readEvents(answered: Answered, { onEvent }: KubeWatchRequest, signal: AbortSignal, onData: () => void): Promise<KubeWatchEnd> {
  const { body, isWhole, cancel } = answered
  return new Promise((resolve) => {
    let isOver = false
    const finish = (end: KubeWatchEnd): void => {
      isOver = true
      resolve(end)
      cancel()
    }
    if (!isJson(answered)) {
      finish(unreachable(`the answer is ${contentTypeOf(answered)}, not JSON`))
      return
    }
    const split = splitLines(BODY_LIMIT)
    body.setEncoding('utf8')
    body.on('data', (chunk: string) => {
      if (isOver) return
      onData()
      const lines = split(chunk)
      if (lines === undefined) finish(tooLong('an event'))
      for (const line of lines ?? []) {
        if (isOver || signal.aborted) return
        const event = parseEvent(line)
        if (event === undefined) finish(unreachable('a line is not a watch event'))
        else onEvent(event)
      }
    })
    body.on('end', () => isWhole() && finish({ kind: 'ended', detail: 'ended by the server' }))
    body.on('error', (error) => finish(unreachable(describeEnd(error, signal))))
    body.on('close', () => finish(unreachable(describeClose('the connection was closed', signal))))
  })
}

function parseAnswer(answered: Answered, text: string): KubeAnswer {
  if (!isJson(answered)) return unreachable(`the answer is ${contentTypeOf(answered)}, not JSON`)
  const object = jsonOrUndefined(text)
  if (object === undefined) return unreachable('the answer is not valid JSON')
  const serverMs = readDate(answered)
  return { kind: 'ok', object, ...(serverMs !== undefined && { serverMs }) }
}

function readDate({ headers }: Answered): number | undefined {
  const serverMs = Date.parse(headers.date ?? '')
  return Number.isFinite(serverMs) ? serverMs : undefined
}

function isJson({ headers }: Answered): boolean {
  return /^application\/json\b/i.test(headers['content-type'] ?? '')
}

function contentTypeOf({ headers }: Answered): string {
  return (headers['content-type'] ?? 'of no content type').slice(0, 80)
}

function isSuccess({ status }: Answered): boolean {
  return status >= 200 && status < 300
}

function isAnswered(opened: Answered | KubeSilence): opened is Answered {
  return !('kind' in opened)
}

function unreachable(detail: string): KubeSilence {
  return { kind: 'unreachable', detail }
}

function notAsked(detail: string): KubeSilence {
  return { ...unreachable(detail), reason: 'kubeconfig' }
}

function tooLong(what: string): KubeSilence {
  return { ...unreachable(`${what} has more than ${BODY_LIMIT} characters`), reason: 'too-long' }
}

/** A request aborted by the agent itself ends with an error, or without an end. */
function describeEnd(error: unknown, signal: AbortSignal): string {
  return describeClose(describe(error), signal)
}

function describeClose(detail: string, signal: AbortSignal): string {
  return signal.aborted ? String(signal.reason) : detail
}

/** Errors of Node's network and TLS layers contain addresses and reasons, but no headers. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ')
  return errorMessage(error)
}
