// SPDX-License-Identifier: Apache-2.0
/** The identity with which a client asks a TLS port, and a server on a port of this machine. */
import type { AddressInfo, Server } from 'node:net'
import type { ClientIdentity } from '../../src/kube/access.ts'

interface Pair {
  readonly certificate: string
  readonly key: string
}

/** @param pair undefined: it has no client certificate */
export function identityOf(pair: Pair | undefined, headers: Readonly<Record<string, string>> = {}): ClientIdentity {
  const tls = { ca: undefined, cert: pair?.certificate, key: pair?.key, servername: undefined, rejectUnauthorized: true }
  const credentials = {
    server: new URL('https://127.0.0.1'),
    access: async () => ({ ok: true as const, access: { headers, tls, proxyUrl: undefined, proxyAgent: undefined } }),
    nodeName: () => 'node-1',
    authorityHashes: () => [],
  }
  return { current: () => ({ kind: 'ok', credentials }) }
}

export function listen(server: Server): Promise<{ readonly host: string; readonly port: number }> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }))
  })
}
