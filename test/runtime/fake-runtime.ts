// SPDX-License-Identifier: Apache-2.0
/** A container runtime for tests: an HTTP/2 server on a Unix socket that answers as it is told. */
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { frame } from './wire.ts'

export type Behaviour = (stream: ServerHttp2Stream, path: string) => void

export class FakeRuntime {
  readonly socket: string
  /** Paths and headers of the calls. */
  readonly calls: string[] = []
  readonly headers: Readonly<Record<string, unknown>>[] = []
  readonly sessions = new Set<ServerHttp2Session>()
  behaviour: Behaviour
  readonly #server = createServer()

  constructor(socket: string, behaviour: Behaviour) {
    this.socket = socket
    this.behaviour = behaviour
    this.#server.on('session', (session) => {
      this.sessions.add(session)
      session.on('error', () => {})
      session.on('close', () => this.sessions.delete(session))
    })
    this.#server.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      const path = String(headers[':path'])
      this.calls.push(path)
      this.headers.push(headers)
      this.behaviour(stream, path)
    })
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(this.socket, resolve))
  }

  async close(): Promise<void> {
    for (const session of this.sessions) session.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }
}

const HEAD = { ':status': 200, 'content-type': 'application/grpc' }

/** A message, and status 0 in the trailers. */
export function answerWith(stream: ServerHttp2Stream, body: Buffer): void {
  answerBytes(stream, frame(body))
}

export function answerBytes(stream: ServerHttp2Stream, bytes: Buffer, trailers: Record<string, string> = { 'grpc-status': '0' }): void {
  stream.respond(HEAD, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers(trailers))
  stream.end(bytes)
}

/** As grpc-go does it: headers alone. */
export function answerStatus(stream: ServerHttp2Stream, code: number, detail = ''): void {
  stream.respond({ ...HEAD, 'grpc-status': String(code), 'grpc-message': detail }, { endStream: true })
}
