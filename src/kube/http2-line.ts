// SPDX-License-Identifier: Apache-2.0
/**
 * One HTTP/2 connection to the API server (RFC 9113), which carries any number of requests and
 * watches. Its health is checked as in client-go (`ReadIdleTimeout`, `PingTimeout`): after 30 s
 * without a frame it sends a PING, and without an answer in 15 s it closes, since a connection
 * that died silently would hold every watch.
 */
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2'
import type { Answered, Dialled, Line, Outgoing } from './transport.ts'
import { RequestNotTaken } from './transport.ts'

/** Loads the module when it is needed: where only HTTP/1.1 is spoken, it takes no memory. */
const loadHttp2 = () => process.getBuiltinModule('node:http2')

/** An API server closes an idle connection after some 90 s; the agent closes it first. */
const IDLE_CONNECTION_MS = 45_000
/**
 * How much may be on the way to a stream, and to all of them: enough for a long list over a slow
 * network. Nothing is allocated for it.
 */
const WINDOW_BYTES = 512 * 1024
/** As for HTTP/1.1 in Node.js. */
const MOST_HEADER_BYTES = 16 * 1024

export interface ConnectionHealth {
  readonly readIdleMs: number
  readonly pingTimeoutMs: number
}

export const CONNECTION_HEALTH: ConnectionHealth = { readIdleMs: 30_000, pingTimeoutMs: 15_000 }

export class Http2Line implements Line {
  readonly ready: Promise<void>
  readonly #session: ClientHttp2Session
  readonly #authority: string
  readonly #health: ConnectionHealth
  #isReady = false
  #open = 0
  #idle: NodeJS.Timeout | undefined
  #ping: NodeJS.Timeout | undefined

  constructor({ connection }: Dialled, server: URL, health: ConnectionHealth, onEnd: () => void) {
    this.#health = health
    // Node.js leaves out the brackets of an IPv6 address.
    this.#authority = server.host
    const session = loadHttp2().connect(server.origin, {
      createConnection: () => connection,
      // Neither side remembers headers to compress the next: a server with thousands of connections
      // would keep them all, for a few requests an hour.
      maxDeflateDynamicTableSize: 0,
      settings: { headerTableSize: 0, enablePush: false, initialWindowSize: WINDOW_BYTES, maxHeaderListSize: MOST_HEADER_BYTES },
    })
    this.#session = session
    session.once('connect', () => session.setLocalWindowSize(WINDOW_BYTES))
    this.ready = new Promise((resolve) => {
      session.once('close', resolve).once('remoteSettings', () => {
        this.#isReady = true
        resolve()
      })
    })
    // The streams of the session get the error.
    session.on('error', () => {})
    session.on('goaway', onEnd)
    session.once('close', () => {
      clearTimeout(this.#idle)
      clearTimeout(this.#ping)
      onEnd()
    })
    session.on('timeout', () => this.#check())
    session.setTimeout(health.readIdleMs)
    this.#rest()
  }

  isFree(): boolean {
    const { maxConcurrentStreams = Number.POSITIVE_INFINITY } = this.#session.remoteSettings
    return this.#isReady && !this.#session.closed && !this.#session.destroyed && this.#open < maxConcurrentStreams
  }

  send = ({ method, path, headers, body }: Outgoing, signal: AbortSignal): Promise<Answered> => {
    const { constants } = loadHttp2()
    if (this.#session.closed || this.#session.destroyed) return Promise.reject(new RequestNotTaken('the connection was closed'))
    const pseudoHeaders = { ':method': method, ':authority': this.#authority, ':path': path }
    const stream = this.#session.request({ ...headers, ...pseudoHeaders }, { endStream: body === undefined })
    this.#begin(stream)
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        if (!stream.readableEnded) stream.close(constants.NGHTTP2_CANCEL)
      }
      const abort = (): void => {
        reject(new Error(String(signal.reason)))
        cancel()
      }
      signal.addEventListener('abort', abort, { once: true })
      let isAnswered = false
      stream.once('response', (answer: IncomingHttpHeaders & IncomingHttpStatusHeader) => {
        isAnswered = true
        const isWhole = () => stream.rstCode === constants.NGHTTP2_NO_ERROR
        resolve({ status: answer[':status'] ?? 0, headers: answer, body: stream, isWhole, cancel })
      })
      stream.on('error', (error) => {
        if (stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM) reject(error)
      })
      stream.once('close', () => {
        signal.removeEventListener('abort', abort)
        if (isAnswered) return
        // The network may be gone.
        if (signal.aborted) this.#check()
        const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
        reject(isRefused ? new RequestNotTaken('the server refused the request (REFUSED_STREAM)') : new Error('the connection was closed'))
      })
      if (body !== undefined) stream.end(body)
      if (signal.aborted) abort()
    })
  }

  retire(): void {
    this.#session.close()
  }

  #begin(stream: ClientHttp2Stream): void {
    this.#open += 1
    clearTimeout(this.#idle)
    this.#session.ref()
    stream.once('close', () => {
      this.#open -= 1
      if (this.#open === 0) this.#rest()
    })
  }

  /** Keeps no program alive while nothing is under way, and closes after a while. */
  #rest(): void {
    if (this.#session.destroyed) return
    this.#session.unref()
    this.#idle = setTimeout(() => this.retire(), IDLE_CONNECTION_MS).unref()
  }

  #check(): void {
    if (this.#ping !== undefined || this.#session.destroyed) return
    const { readIdleMs, pingTimeoutMs } = this.#health
    this.#ping = setTimeout(() => this.#session.destroy(new Error(`no answer to a PING in ${pingTimeoutMs} ms`)), pingTimeoutMs).unref()
    this.#session.ping(() => {
      clearTimeout(this.#ping)
      this.#ping = undefined
      // Node.js counts an answer to a PING as no activity.
      this.#session.setTimeout(readIdleMs)
    })
  }
}
