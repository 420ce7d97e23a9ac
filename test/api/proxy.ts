// SPDX-License-Identifier: Apache-2.0
/** An HTTP proxy that opens tunnels (CONNECT, RFC 9110, 9.3.6), as a kubeconfig names one. */
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Test } from 'tap'

interface Proxy {
  readonly url: string
  /** How many there have been. */
  readonly tunnels: number
  /** Answers 403. */
  refuses: boolean
}

export async function startProxy(t: Test): Promise<Proxy> {
  const state = { url: '', tunnels: 0, refuses: false }
  const sockets = new Set<Duplex>()
  const server = createServer()
  server.on('connect', (request, client) => {
    if (state.refuses) {
      client.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      return
    }
    const authority = `http://${request.url}`
    // An IPv6 address needs brackets.
    if (!URL.canParse(authority)) {
      client.end('HTTP/1.1 400 Bad Request\r\n\r\n')
      return
    }
    state.tunnels += 1
    const { hostname, port } = new URL(authority)
    // The test API server listens on IPv4 alone.
    const upstream = connect(Number(port), hostname === '[::1]' ? '127.0.0.1' : hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      client.pipe(upstream)
      upstream.pipe(client)
    })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
    for (const socket of sockets) socket.destroy()
  })
  return state
}
