// SPDX-License-Identifier: Apache-2.0
/**
 * An API server in the same process, for the demo, the tests and the benchmark: HTTPS, over HTTP/2
 * or HTTP/1.1 as the client wishes, with its own certificate authority, and Nodes, ConfigMaps,
 * Events and Leases in memory, complete enough for kubectl. Clients authenticate with a client
 * certificate or a bearer token. It can be stopped and started again on the same port with the same
 * data, and faults can be injected (see `Fault`).
 */

import type { IncomingMessage } from 'node:http'
import { createSecureServer, type Http2ServerRequest, type ServerHttp2Session } from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket, Server as TlsServer } from 'node:tls'
import { handle, type World } from './handle.ts'
import { kubeconfigText } from './kubeconfig.ts'
import { ObjectTable } from './object-table.ts'
import { type Fault, faultyReply, plainReply } from './reply.ts'
import { ADMIN, type ApiRequest, type Identity, parseTarget, verbOf } from './request.ts'
import { Store } from './store.ts'
import { type Authority, createAuthority, issueCertificate, type KeyPair } from './x509.ts'

export interface ApiServerOptions {
  /** 0: any free port; it stays the same after a stop and a start. */
  readonly port?: number
  /**
   * true: like an API server up to 1.21, which stores `Node.spec.configSource`. false: like one
   * from 1.26 on, which drops it.
   */
  readonly storesConfigSource?: boolean
  readonly version?: string
  /** false: HTTP/1.1 alone, as an old proxy speaks it. */
  readonly http2?: boolean
  /** HTTP/2: how many requests a connection may carry at once. */
  readonly maxConcurrentStreams?: number
  readonly authorize?: (request: ApiRequest) => boolean
  readonly fault?: (request: ApiRequest) => Fault | undefined
  readonly secondMs?: number
  readonly bookmarkSeconds?: number
  /** The clock for recorded requests. */
  readonly now?: () => number
  /** The number of events that a watch can resume from. */
  readonly historyLimit?: number
}

export interface ApiServer {
  readonly url: string
  readonly port: number
  readonly caPem: string
  readonly store: Store
  /** The objects, for tests and the demo: without authentication and faults. */
  readonly objects: ObjectTable
  /** How many are open. */
  readonly connections: number
  /** Those of HTTP/2, oldest first. */
  readonly sessions: ReadonlySet<ServerHttp2Session>
  /** Whether it offers HTTP/2; takes effect at the next start. */
  http2: boolean
  /** The latest requests, oldest first. */
  readonly requests: ApiRequest[]
  /** May be changed at any time. undefined: no faults. */
  fault: ((request: ApiRequest) => Fault | undefined) | undefined
  authorize: (request: ApiRequest) => boolean
  /** A kubeconfig with embedded certificates. */
  kubeconfig(identity?: Identity): string
  issueCertificate(identity: Identity): KeyPair
  issueToken(identity: Identity): string
  revokeToken(token: string): void
  /** Breaks every open connection, like a crash or a failed load balancer. */
  disconnectAll(): void
  stop(): Promise<void>
  start(): Promise<void>
}

export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const authority = createAuthority('kubernetes')
  const serving = issueCertificate(
    authority,
    { commonName: 'kube-apiserver', organizations: [] },
    { kind: 'server', hosts: ['127.0.0.1', 'localhost', '::1'] },
  )
  const historyLimit = options.historyLimit ?? 1000
  const store = new Store({ storesConfigSource: options.storesConfigSource ?? true, historyLimit })
  const tokens = new Map<string, Identity>()
  const requests: ApiRequest[] = []
  const now = options.now ?? (() => performance.now())
  const world: World = {
    store,
    times: { secondMs: options.secondMs ?? 1000, bookmarkSeconds: options.bookmarkSeconds ?? 60 },
    version: options.version ?? (options.storesConfigSource === false ? 'v1.32.0' : 'v1.20.2'),
    allows: (request) => api.authorize(request),
  }

  const serve = (message: IncomingMessage | Http2ServerRequest, response: Parameters<typeof plainReply>[0]): void => {
    const request = readRequest(message, tokens, now())
    requests.push(request)
    if (requests.length > 10_000) requests.shift()
    const fault = api.fault?.(request)
    const plain = plainReply(response)
    const reply = fault === undefined ? plain : faultyReply(plain, fault)
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      const contentType = (message.headers['content-type'] ?? 'application/json').split(';')[0] ?? ''
      handle(world, { request, contentType, accept: message.headers.accept ?? '', body: Buffer.concat(chunks) }, reply)
    })
  }

  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  const tlsOptions = {
    key: serving.key,
    cert: serving.certificate,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  }
  const { maxConcurrentStreams = 250 } = options
  const create = (): TlsServer => {
    const server = api.http2
      ? createSecureServer({ ...tlsOptions, allowHTTP1: true, maxSessionMemory: 1000, settings: { maxConcurrentStreams } })
      : createServer(tlsOptions)
    server.on('request', serve)
    server.on('session', (session: ServerHttp2Session) => {
      sessions.add(session)
      session.once('close', () => sessions.delete(session))
      // A connection that breaks.
      session.on('error', () => {})
    })
    server.on('connection', (socket: Socket) => {
      // As the servers of node:http and node:https do; that of node:http2 does it for HTTP/2 alone.
      socket.setNoDelay(true)
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    return server
  }

  let port = options.port ?? 0
  let server: TlsServer
  const start = async (): Promise<void> => {
    server = create()
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject)
        resolve()
      })
    })
    port = (server.address() as AddressInfo).port
  }
  // Also connections whose TLS handshake is not complete, which close() waits for.
  const disconnectAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }

  const api: ApiServer = {
    get url() {
      return `https://127.0.0.1:${port}`
    },
    get port() {
      return port
    },
    caPem: authority.certificate,
    store,
    objects: new ObjectTable(store),
    get connections() {
      return sockets.size
    },
    sessions,
    http2: options.http2 ?? true,
    requests,
    fault: options.fault,
    authorize: options.authorize ?? (() => true),
    kubeconfig: (identity = ADMIN) => kubeconfigText(api.url, authority.certificate, certify(authority, identity)),
    issueCertificate: (identity) => certify(authority, identity),
    issueToken(identity) {
      const token = `token-${tokens.size + 1}-${Math.random().toString(36).slice(2)}`
      tokens.set(token, identity)
      return token
    },
    revokeToken: (token) => void tokens.delete(token),
    disconnectAll,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      disconnectAll()
      await closed
    },
    start,
  }
  await start()
  return api
}

function certify(authority: Authority, { user, groups }: Identity): KeyPair {
  return issueCertificate(authority, { commonName: user, organizations: groups }, { kind: 'client' })
}

function readRequest(message: IncomingMessage | Http2ServerRequest, tokens: ReadonlyMap<string, Identity>, atMs: number): ApiRequest {
  const { pathname, searchParams } = new URL(message.url ?? '/', 'https://localhost')
  const socket = message.socket as TLSSocket
  const certificate = socket.authorized ? socket.getPeerCertificate() : undefined
  const method = message.method ?? 'GET'
  const target = parseTarget(pathname)
  return {
    atMs,
    method,
    path: pathname,
    query: searchParams,
    verb: verbOf(method, target, searchParams),
    target,
    identity: tokens.get(message.headers.authorization?.replace(/^Bearer /, '') ?? '') ?? identityOf(certificate?.subject),
    certificate: certificate?.serialNumber ?? '',
  }
}

function identityOf(subject: { CN?: string | string[]; O?: string | string[] } | undefined): Identity | undefined {
  if (subject?.CN === undefined) return undefined
  return { user: String(subject.CN), groups: [subject.O ?? []].flat() }
}
