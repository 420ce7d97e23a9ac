// SPDX-License-Identifier: Apache-2.0
/**
 * The transport of requests to the API server, as types: `kube-api.ts` sends over a Transport, and
 * `connections.ts` builds one from lines. A line is a connection, or a pool of connections that
 * carry one request at a time.
 */
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Access } from './access.ts'
import type { AnswerHeaders } from './answer.ts'

/** Where a request goes, and as whom. */
export interface ServerTarget {
  readonly server: URL
  readonly access: Access
}

export interface Outgoing {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export interface Answered {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: Readable
  /** At the end of the body: whether the server ended it. Otherwise it broke off. */
  isWhole(): boolean
  /** Ends the request; whatever else the connection carries goes on. */
  cancel(): void
}

/** Rejects if no response headers arrive: with the signal's reason after an abort. */
type Send = (outgoing: Outgoing, signal: AbortSignal) => Promise<Answered>

export interface Transport {
  send(target: ServerTarget, outgoing: Outgoing, signal: AbortSignal): Promise<Answered>
}

export interface Line {
  /** Resolves when it is known how many requests it takes, or when it has closed. */
  readonly ready: Promise<void>
  /** Whether the line takes one more request at once. */
  isFree(): boolean
  /** Sends at once, also if it is not free. */
  readonly send: Send
  /** Takes no further request. Those under way run to their end, then it closes. */
  retire(): void
}

/** HTTP/1.1: a pool of connections. */
export interface PoolLine extends Line {
  /** The next request goes over this connection. */
  adopt(connection: Socket): void
}

export type Protocol = 'h2' | 'http/1.1'

export interface Dialled {
  readonly protocol: Protocol
  readonly connection: Socket
}

/** Opens a connection to the server, through its proxy if it has one. */
export type Dial = (protocols: readonly Protocol[], signal: AbortSignal) => Promise<Dialled>

/** The server has not looked at the request, so it may be sent again, whatever it asks for. */
export class RequestNotTaken extends Error {}
