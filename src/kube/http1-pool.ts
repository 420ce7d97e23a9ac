// SPDX-License-Identifier: Apache-2.0
/**
 * HTTP/1.1 to the API server: one request at a time on each connection, and connections are kept
 * for the next request.
 */
import { Agent, type ClientRequestArgs, request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Answered, Dial, Outgoing, PoolLine } from './transport.ts'

/** An API server closes an idle connection after some 90 s; the agent closes it first. */
const IDLE_CONNECTION_MS = 45_000

export class Http1Pool implements PoolLine {
  readonly ready = Promise.resolve()
  readonly #server: URL
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 2, timeout: IDLE_CONNECTION_MS })
  readonly #adopted: Socket[] = []

  constructor(server: URL, dial: Dial) {
    this.#server = server
    this.#agent.createConnection = (_options, done) => {
      const adopted = this.#adopted.shift()
      if (adopted !== undefined) return adopted.removeAllListeners('timeout').setTimeout(0).ref()
      dial(['http/1.1'], new AbortController().signal).then(
        ({ connection }) => done?.(null, connection),
        // The agent passes the error on, and takes no connection with it.
        (error: Error) => done?.(error, undefined as never),
      )
      return undefined
    }
  }

  isFree(): boolean {
    return (
      this.#adopted.length > 0 || Object.values(this.#agent.freeSockets).some((sockets) => sockets?.some(({ destroyed }) => !destroyed))
    )
  }

  adopt(connection: Socket): void {
    this.#adopted.push(connection)
    // Whoever it was opened for may be gone.
    connection.setTimeout(IDLE_CONNECTION_MS, () => connection.destroy()).unref()
    connection.once('close', () => {
      const at = this.#adopted.indexOf(connection)
      if (at >= 0) this.#adopted.splice(at, 1)
    })
  }

  send = ({ method, path, headers, body }: Outgoing, signal: AbortSignal): Promise<Answered> => {
    const options: ClientRequestArgs = {
      agent: this.#agent,
      host: this.#server.hostname,
      method,
      path,
      // The agent of node:http does not know the port of https.
      headers: { host: this.#server.host, ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
    }
    return new Promise((resolve, reject) => {
      const request = httpRequest(options)
      const abort = (): void => void request.destroy(new Error(String(signal.reason)))
      signal.addEventListener('abort', abort, { once: true })
      request.on('error', reject)
      request.on('response', (response) => {
        const [status, cancel] = [response.statusCode ?? 0, () => void response.destroy()]
        resolve({ status, headers: response.headers, body: response, isWhole: () => response.complete, cancel })
      })
      request.on('close', () => signal.removeEventListener('abort', abort))
      request.end(body)
      if (signal.aborted) abort()
    })
  }

  /** Only idle connections: the others close when they become idle. */
  retire(): void {
    for (const connection of this.#adopted.splice(0)) connection.destroy()
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }
}
