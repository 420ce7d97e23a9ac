// SPDX-License-Identifier: Apache-2.0
/**
 * Opens connections to the API server: TCP and TLS, or a tunnel through the proxy of the
 * kubeconfig. The TLS handshake offers the protocols (ALPN); a server that chooses none speaks
 * HTTP/1.1.
 */
import type { Agent } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import type { Access, TlsMaterial } from './access.ts'
import type { Dial, Protocol, ServerTarget } from './transport.ts'

/**
 * Not imported: an import evaluates every export, and the list of root certificates takes 1 MB that
 * a cluster with its own authority does not need.
 */
const tls = process.getBuiltinModule('node:tls')
const net = process.getBuiltinModule('node:net')

/** As client-go has it for TCP alone. */
const DIAL_TIMEOUT_MS = 30_000
const TCP_KEEP_ALIVE_MS = 30_000

/** The members of hpagent's agents, which client-node puts there for a proxy. */
type ProxyAgent = Omit<Agent, 'createConnection'> & {
  createConnection(options: ConnectionOptions & { timeout: number }, done: (error: Error | null, socket?: Socket | null) => void): void
}

export function createDialer({ server, access }: ServerTarget): Dial {
  const host = server.hostname.replace(/^\[(.*)\]$/, '$1')
  const isPlain = server.protocol === 'http:'
  const address = { host, port: Number(server.port) || (isPlain ? 80 : 443) }
  let ownTls: ConnectionOptions | undefined
  return async (protocols, signal) => {
    ownTls ??= isPlain ? {} : tlsOptions(host, access.tls)
    const options = { ...ownTls, ...address, ...(!isPlain && { ALPNProtocols: [...protocols] }) }
    // The module takes some milliseconds to load: while the network is busy with the handshake.
    if (!isPlain && protocols.includes('h2')) setImmediate(() => process.getBuiltinModule('node:http2'))
    const limit = AbortSignal.any([signal, AbortSignal.timeout(DIAL_TIMEOUT_MS)])
    const socket = await connect(options, isPlain, access, limit)
    // Whoever uses it sees the error too; while nobody does, it must not end the program.
    socket.on('error', () => {})
    socket.setNoDelay(true)
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS)
    return { protocol: chosenProtocol(socket), connection: socket }
  }
}

function tlsOptions(host: string, { ca, cert, key, servername, rejectUnauthorized }: TlsMaterial): ConnectionOptions {
  const secureContext = tls.createSecureContext({
    // Set explicitly: `node --use-openssl-ca` (it avoids parsing the root certificates at each
    // start) would trust another list.
    ca: ca ?? [...tls.rootCertificates],
    ...(cert && { cert }),
    ...(key && { key }),
  })
  return { secureContext, rejectUnauthorized, servername: servername || (net.isIP(host) === 0 ? host : '') }
}

function connect(
  options: ConnectionOptions & { host: string; port: number },
  isPlain: boolean,
  access: Access,
  limit: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let socket: Socket | undefined
    const abort = (): void => {
      reject(new Error(limit.reason?.name === 'TimeoutError' ? `no connection in ${DIAL_TIMEOUT_MS} ms` : String(limit.reason)))
      socket?.destroy()
    }
    const use = (opened: Socket): void => {
      socket = opened
      const done = (): void => {
        limit.removeEventListener('abort', abort)
        opened.off('error', reject)
        opened.off('close', closed)
        resolve(opened)
      }
      const closed = (): void => reject(new Error('the connection was closed before it could be used'))
      opened.once('error', reject)
      opened.once('close', closed)
      if (limit.aborted) abort()
      else if (!isPlain) opened.once('secureConnect', done)
      else if (opened.connecting) opened.once('connect', done)
      else done()
    }
    limit.addEventListener('abort', abort, { once: true })
    const { proxyAgent } = access
    if (proxyAgent === undefined) {
      use(isPlain ? net.connect(options) : tls.connect(options))
      return
    }
    ;(proxyAgent as ProxyAgent).createConnection({ ...forTunnel(options), timeout: DIAL_TIMEOUT_MS }, (error, tunnel) => {
      if (tunnel) use(tunnel)
      else reject(new Error(`the proxy opens no tunnel: ${error?.message ?? 'no reason'}`))
    })
  })
}

/**
 * The agents of hpagent ask the proxy for `host:port`, where an IPv6 address needs brackets
 * (RFC 9110, 9.3.6). The certificate has it without them.
 */
function forTunnel<Options extends ConnectionOptions & { readonly host: string }>(options: Options): Options {
  const { host } = options
  if (net.isIP(host) !== 6) return options
  const bracketed = `[${host}]`
  return {
    ...options,
    host: bracketed,
    checkServerIdentity: (name, certificate) => tls.checkServerIdentity(name === bracketed ? host : name, certificate),
  }
}

function chosenProtocol(socket: Socket | TLSSocket): Protocol {
  return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1'
}
