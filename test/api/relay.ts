// SPDX-License-Identifier: Apache-2.0
/**
 * A TCP relay between the agent and the test API server, which can freeze the connections that are
 * open: they stay open and carry nothing, as when a machine or a firewall on the way dies.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import type { ApiServer } from '../../demo/api-server/server.ts'

interface Relay {
  /** The URL under which it passes on to this server. */
  to(server: ApiServer): string
  /** How many there have been. */
  readonly connections: number
  readonly open: number
  /** By the agent. */
  readonly bytesSent: number
  /** The next connection after it passes on again. */
  freeze(): void
}

export async function startRelay(t: Test): Promise<Relay> {
  let [connections, bytesSent, target] = [0, 0, 0]
  let freezesNext = false
  const pairs = new Set<readonly [Socket, Socket]>()
  const server = createServer((client) => {
    connections += 1
    const upstream = connect(target, '127.0.0.1')
    const pair = [client, upstream] as const
    pairs.add(pair)
    const close = (): void => {
      client.destroy()
      upstream.destroy()
      pairs.delete(pair)
    }
    for (const socket of pair) socket.on('error', () => {}).on('close', close)
    client.on('data', (chunk) => {
      bytesSent += chunk.length
    })
    if (freezesNext) {
      freezesNext = false
      return
    }
    client.pipe(upstream)
    upstream.pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  t.teardown(() => {
    server.close()
    for (const [client, upstream] of pairs) {
      client.destroy()
      upstream.destroy()
    }
  })
  return {
    to(api) {
      target = api.port
      return `https://127.0.0.1:${port}`
    },
    get connections() {
      return connections
    },
    get open() {
      return pairs.size
    },
    get bytesSent() {
      return bytesSent
    },
    freeze() {
      freezesNext = pairs.size === 0
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream)
        upstream.unpipe(client)
        // Closing is heard no more, either.
        upstream.pause()
      }
    },
  }
}
