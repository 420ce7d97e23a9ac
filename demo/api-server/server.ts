/**
 * An API server in the same process, for the demo, the tests and the benchmark: HTTPS with its own
 * certificate authority, and Nodes, ConfigMaps, Events and Leases in memory, complete enough for
 * kubectl. Clients authenticate with a client certificate or a bearer token. It can be stopped and
 * started again on the same port with the same data, and faults can be injected (see `Fault`).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
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

  const serve = (message: IncomingMessage, response: ServerResponse): void => {
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
  const server = createServer(
    { key: serving.key, cert: serving.certificate, ca: authority.certificate, requestCert: true, rejectUnauthorized: false },
    serve,
  )

  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  let port = options.port ?? 0
  const start = async (): Promise<void> => {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject)
        resolve()
      })
    })
    port = (server.address() as AddressInfo).port
  }
  await start()

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
    disconnectAll: () => server.closeAllConnections(),
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      // closeAllConnections() misses connections whose TLS handshake is not complete, and close()
      // waits for them.
      for (const socket of sockets) socket.destroy()
      await closed
    },
    start,
  }
  return api
}

function certify(authority: Authority, { user, groups }: Identity): KeyPair {
  return issueCertificate(authority, { commonName: user, organizations: groups }, { kind: 'client' })
}

function readRequest(message: IncomingMessage, tokens: ReadonlyMap<string, Identity>, atMs: number): ApiRequest {
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
