// SPDX-License-Identifier: Apache-2.0
/**
 * An HTTP response, and the faults that a test can inject into it: what a network, a proxy or an
 * overloaded API server may do to any response.
 */
import type { ServerResponse } from 'node:http'
import { constants, type Http2ServerResponse } from 'node:http2'
import { addAbortSignal } from 'node:stream'

export interface Reply {
  head(status: number, headers?: Readonly<Record<string, string>>): void
  write(text: string): void
  /** Ends the response normally. */
  end(): void
  /** Breaks the connection, and with it whatever else it carries. */
  destroy(): void
  /** Breaks this response alone: over HTTP/1.1 that is the same. */
  reset(code: number): void
  /** The connection takes no further request. */
  goAway(): void
  onClose(listener: () => void): void
}

export type Fault =
  /** Sends another response: that of a proxy, an authorizer or an overloaded server. */
  | { readonly kind: 'answer'; readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Accepts the request and never responds. */
  | { readonly kind: 'hang' }
  /** Breaks the connection without a response. */
  | { readonly kind: 'disconnect' }
  /** Breaks the connection in the middle of the body. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /**
   * Breaks this response alone (RST_STREAM) in the middle of the body, with an error code of
   * RFC 9113, 7; with `afterBytes: 0`, before its headers.
   */
  | { readonly kind: 'reset'; readonly afterBytes: number; readonly code: number }
  /** Answers, and asks the client to use another connection from now on (GOAWAY). */
  | { readonly kind: 'go-away' }
  /** Stops sending in the middle of the body, without closing. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  /** Ends the body normally after a while: a timeout of the server, a graceful shutdown. */
  | { readonly kind: 'end'; readonly afterMs: number }
  /** Sends this before the body. */
  | { readonly kind: 'garbage'; readonly text: string }
  | { readonly kind: 'slow'; readonly bytes: number; readonly everyMs: number }
  | { readonly kind: 'content-type'; readonly value: string }

export function plainReply(response: ServerResponse | Http2ServerResponse): Reply {
  const isOpen = (): boolean => !response.writableEnded && !response.destroyed
  return {
    head(status, headers = {}) {
      if (!isOpen()) return
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      // HTTP/2 sends them at once.
      if (!('stream' in response)) response.flushHeaders()
    },
    write(text) {
      if (!isOpen() || text === '') return
      if ('stream' in response) response.write(text)
      else response.write(text)
    },
    end: () => void response.end(),
    destroy() {
      if ('stream' in response) response.stream.session?.destroy()
      else response.destroy()
    },
    reset(code) {
      if (!('stream' in response)) response.destroy()
      // close() would end the body before it sends RST_STREAM.
      else if (code === constants.NGHTTP2_INTERNAL_ERROR) response.stream.destroy(new Error('reset'))
      else if (code === constants.NGHTTP2_CANCEL) addAbortSignal(AbortSignal.abort(), response.stream)
      else response.stream.close(code)
    },
    goAway() {
      if ('stream' in response) response.stream.session?.close()
      else response.shouldKeepAlive = false
    },
    onClose(listener) {
      // An answer that a fault has broken off may be closed already, and tells of that only once.
      const closing = 'stream' in response ? response.stream : response
      if (closing.destroyed) listener()
      else closing.once('close', listener)
    },
  }
}

/** The response with this fault. */
export function faultyReply(reply: Reply, fault: Fault): Reply {
  const silent: Reply = { ...reply, head: () => {}, write: () => {}, end: () => {} }
  switch (fault.kind) {
    case 'hang':
      return silent
    case 'disconnect':
      reply.destroy()
      return silent
    case 'answer':
      reply.head(fault.status, fault.headers)
      reply.write(fault.body ?? '')
      reply.end()
      return silent
    case 'content-type':
      return { ...reply, head: (status, headers) => reply.head(status, { ...headers, 'content-type': fault.value }) }
    case 'garbage':
      return {
        ...reply,
        head(status, headers) {
          reply.head(status, headers)
          reply.write(fault.text)
        },
      }
    case 'end':
      return {
        ...reply,
        head(status, headers) {
          reply.head(status, headers)
          const timer = setTimeout(() => reply.end(), fault.afterMs)
          reply.onClose(() => clearTimeout(timer))
        },
      }
    case 'cut':
      return truncated(reply, fault.afterBytes, () => reply.destroy())
    case 'go-away':
      reply.goAway()
      return reply
    case 'reset':
      if (fault.afterBytes > 0) return truncated(reply, fault.afterBytes, () => reply.reset(fault.code))
      reply.reset(fault.code)
      return silent
    case 'stall':
      return truncated(reply, fault.afterBytes, () => {})
    case 'slow':
      return slowed(reply, fault.bytes, fault.everyMs)
  }
}

function truncated(reply: Reply, limit: number, atLimit: () => void): Reply {
  let left = limit
  return {
    ...reply,
    write(text) {
      if (left <= 0) return
      const shown = Buffer.from(text).subarray(0, left).toString()
      left -= Buffer.byteLength(text)
      reply.write(shown)
      // Send what was written before the connection breaks.
      if (left <= 0) setTimeout(atLimit, 10)
    },
    end() {
      if (left > 0) reply.end()
    },
  }
}

function slowed(reply: Reply, bytes: number, everyMs: number): Reply {
  let queue = ''
  let ending = false
  const pump = setInterval(() => {
    reply.write(queue.slice(0, bytes))
    queue = queue.slice(bytes)
    if (queue === '' && ending) reply.end()
  }, everyMs)
  reply.onClose(() => clearInterval(pump))
  return {
    ...reply,
    write(text) {
      queue += text
    },
    end() {
      ending = true
    },
  }
}

/** An error response of the API server. */
export function refusal(status: number, reason: string, headers: Readonly<Record<string, string>> = {}): Fault {
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: `test: ${reason}`, reason, code: status }
  return { kind: 'answer', status, headers, body: `${JSON.stringify(body)}\n` }
}

/** An error in a watch: the status is 200, and the first event is ERROR. */
export function errorEvent(status: number, reason: string): Fault {
  const object = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: `test: ${reason}`, reason, code: status }
  return { kind: 'answer', status: 200, body: `${JSON.stringify({ type: 'ERROR', object })}\n` }
}
