// SPDX-License-Identifier: Apache-2.0
/**
 * HTTP for Prometheus and for probes: `/metrics`, `/healthz` (the loop is running), `/readyz` (the
 * assignment is known). Any account of the machine can connect to a loopback address, so that what
 * a client costs is bounded: one request a connection, of which only the first lines are read, one
 * rendering a second for all clients, and few connections for a short time. The server of
 * `node:http` parses all requests that arrive together before it answers the first. The agent works
 * without the server: if the address is in use, it logs a warning and retries.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Log } from '../ports/log.ts'
import { formatListenAddress, type ListenAddress } from '../values/go-syntax.ts'

interface ReportServerOptions {
  readonly address: ListenAddress
  readonly render: () => Promise<{ readonly contentType: string; readonly body: string }>
  readonly isAlive: () => ProbeResult
  readonly isReady: () => ProbeResult
  readonly log: Log
  readonly retryMs?: number
  readonly limitMs?: number
  readonly freshMs?: number
}
/** `detail` is the body of the response: `ok`, or what is wrong. */
export interface ProbeResult {
  readonly ok: boolean
  readonly detail: string
}

const RETRY_MS = 30_000
/** From the connection to the last byte of the answer: Prometheus waits no longer by default. */
const LIMIT_MS = 10_000
/** How long a rendering is the answer to further requests. */
const FRESH_MS = 1000
const MAX_CONNECTIONS = 32
const MAX_HEAD_BYTES = 8192

export class ReportServer {
  readonly #options: ReportServerOptions
  readonly #server: Server
  /** In the order of their arrival. */
  readonly #connections = new Set<Socket>()
  /** Connections that have not sent a whole request yet. */
  readonly #silent = new Set<Socket>()
  #rendering: { readonly page: Promise<Page>; readonly atMs: number } | undefined
  #retry: NodeJS.Timeout | undefined
  #warned = false
  #stopped = false

  constructor(options: ReportServerOptions) {
    this.#options = options
    this.#server = createServer((socket) => this.#accept(socket))
    this.#server.on('error', (error) => this.#listenLater(error))
    this.#server.on('listening', () => {
      // The name of the host may be looked up for a while, and the server be stopped meanwhile.
      if (this.#stopped) {
        this.#server.close()
        return
      }
      this.#warned = false
      this.#options.log.info('serving metrics', { address: formatListenAddress(this.boundTo ?? this.#options.address) })
    })
  }

  /** Returns at once. */
  start(): void {
    // A connection that could not be accepted is an error too, and the server goes on listening.
    if (this.#stopped || this.#server.listening) return
    const { host, port } = this.#options.address
    this.#server.listen(host === '' ? { port } : { host, port })
  }

  /** For good. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#retry)
    if (!this.#server.listening) return
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      for (const socket of this.#connections) socket.destroy()
    })
  }

  /** undefined while the server is not listening. */
  get boundTo(): ListenAddress | undefined {
    const bound = this.#server.address() as AddressInfo | null
    return bound === null ? undefined : { host: bound.address, port: bound.port }
  }

  #listenLater(error: Error): void {
    if (this.#stopped) return
    const address = formatListenAddress(this.#options.address)
    if (!this.#warned) this.#options.log.warn('metrics cannot be served; retrying', { address, error })
    this.#warned = true
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => this.start(), this.#options.retryMs ?? RETRY_MS)
    this.#retry.unref()
  }

  #accept(socket: Socket): void {
    // A client that holds its connections open keeps no other client away.
    const [first] = [...this.#silent, ...this.#connections]
    if (first !== undefined && this.#connections.size >= MAX_CONNECTIONS) {
      this.#forget(first)
      first.destroy()
    }
    this.#connections.add(socket)
    this.#silent.add(socket)
    const limit = setTimeout(() => socket.destroy(), this.#options.limitMs ?? LIMIT_MS)
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(limit)
      this.#forget(socket)
    })
    let head = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      head += chunk
      const isWhole = head.includes('\r\n\r\n')
      if (!isWhole && head.length <= MAX_HEAD_BYTES) return
      socket.removeAllListeners('data').pause()
      this.#silent.delete(socket)
      void this.#make(() => this.#answer(head, isWhole)).then((page) => send(socket, page, head.startsWith('HEAD ')))
    })
  }

  #forget(socket: Socket): void {
    this.#connections.delete(socket)
    this.#silent.delete(socket)
  }

  #answer(head: string, isWhole: boolean): Page | Promise<Page> {
    if (!isWhole) return { status: '431 Request Header Fields Too Large', ...plain('too long') }
    const request = /^(\S+) (\S+) HTTP\/1\.[01]\r\n/.exec(head)
    if (request === null) return { status: '400 Bad Request', ...plain('not a request of HTTP/1') }
    const { isAlive, isReady } = this.#options
    const [, method, target = ''] = request
    const pages: Readonly<Record<string, () => Page | Promise<Page>>> = {
      '/metrics': () => this.#render(),
      '/healthz': () => probePage(isAlive()),
      '/readyz': () => probePage(isReady()),
    }
    const path = target.replace(/\?.*/, '')
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined
    if (page === undefined) return { status: '404 Not Found', ...plain('not found') }
    if (method !== 'GET' && method !== 'HEAD') {
      return { status: '405 Method Not Allowed', header: 'Allow: GET, HEAD', ...plain('only GET and HEAD') }
    }
    return page()
  }

  #render(): Promise<Page> {
    const atMs = performance.now()
    if (this.#rendering === undefined || atMs - this.#rendering.atMs >= (this.#options.freshMs ?? FRESH_MS)) {
      this.#rendering = { page: this.#make(async () => ({ status: '200 OK', ...(await this.#options.render()) })), atMs }
    }
    return this.#rendering.page
  }

  /** Never rejects: an answer that fails is a bug in the agent, and ends nothing. */
  async #make(page: () => Page | Promise<Page>): Promise<Page> {
    try {
      return await page()
    } catch (error) {
      this.#options.log.error('a request for metrics or a probe could not be answered', { error })
      return { status: '500 Internal Server Error', ...plain('internal error, see the log') }
    }
  }
}

interface Page {
  readonly status: string
  readonly contentType: string
  readonly body: string
  readonly header?: string
}

function probePage({ ok, detail }: ProbeResult): Page {
  return { status: ok ? '200 OK' : '503 Service Unavailable', ...plain(detail) }
}

function plain(text: string): Omit<Page, 'status'> {
  return { contentType: 'text/plain; charset=utf-8', body: `${text}\n` }
}

function send(socket: Socket, { status, contentType, body, header }: Page, withoutBody: boolean): void {
  const head = [
    `HTTP/1.1 ${status}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    ...(header === undefined ? [] : [header]),
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${withoutBody ? '' : body}`)
  socket.destroySoon()
}
