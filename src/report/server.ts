/**
 * HTTP for Prometheus and for probes: `/metrics`, `/healthz` (the loop is running), `/readyz` (the
 * assignment is known). Read only, without state, with limits on time and connections. The agent
 * works without it: if the address is in use, it logs a warning and retries.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Log } from '../ports/log.ts'
import { formatListenAddress, type ListenAddress } from '../values/listen-address.ts'

export interface ReportServerOptions {
  readonly address: ListenAddress
  readonly render: () => Promise<{ readonly contentType: string; readonly body: string }>
  readonly isAlive: () => ProbeResult
  readonly isReady: () => ProbeResult
  readonly log: Log
  readonly retryMs?: number
}
/** `detail` is the body of the response: `ok`, or what is wrong. */
export interface ProbeResult {
  readonly ok: boolean
  readonly detail: string
}

const RETRY_MS = 30_000
const REQUEST_TIMEOUT_MS = 10_000
const MAX_CONNECTIONS = 32

export class ReportServer {
  readonly #options: ReportServerOptions
  readonly #server: Server
  #retry: NodeJS.Timeout | undefined
  #warned = false
  #stopped = false

  constructor(options: ReportServerOptions) {
    this.#options = options
    const limits = { headersTimeout: REQUEST_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: REQUEST_TIMEOUT_MS }
    this.#server = createServer({ ...limits, connectionsCheckingInterval: REQUEST_TIMEOUT_MS }, (request, response) => {
      void this.#respond(request, response)
    })
    this.#server.maxConnections = MAX_CONNECTIONS
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
      this.#server.closeAllConnections()
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

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { isAlive, isReady, render, log } = this.#options
    const path = (request.url ?? '').split('?')[0]
    const pages: Readonly<Record<string, () => Promise<Page>>> = {
      '/metrics': async () => ({ status: 200, ...(await render()) }),
      '/healthz': async () => probePage(isAlive()),
      '/readyz': async () => probePage(isReady()),
    }
    try {
      const page = path !== undefined && Object.hasOwn(pages, path) ? pages[path] : undefined
      if (page === undefined) return send(request, response, { status: 404, ...plain('not found') })
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('Allow', 'GET, HEAD')
        return send(request, response, { status: 405, ...plain('only GET and HEAD') })
      }
      send(request, response, await page())
    } catch (error) {
      log.error('a request for metrics or health could not be answered', { path, error })
      send(request, response, { status: 500, ...plain('internal error, see the log') })
    }
  }
}

interface Page {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

function probePage({ ok, detail }: ProbeResult): Page {
  return { status: ok ? 200 : 503, ...plain(detail) }
}

function plain(text: string): Omit<Page, 'status'> {
  return { contentType: 'text/plain; charset=utf-8', body: `${text}\n` }
}

function send(request: IncomingMessage, response: ServerResponse, { status, contentType, body }: Page): void {
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}
