/**
 * One HTTP answer on its way out, and the faults that can befall it on the way: what a network, a proxy or an overloaded API server does
 * to an answer, whatever the answer was to be.
 */
import type { ServerResponse } from 'node:http'

export interface Reply {
  head(status: number, headers?: Readonly<Record<string, string>>): void
  write(text: string): void
  /** Ends the answer in good order. */
  end(): void
  /** Breaks the connection. */
  destroy(): void
  onClose(listener: () => void): void
}

export type Fault =
  /** Another answer than the right one: a proxy's, an authorizer's, an overloaded server's. */
  | { readonly kind: 'answer'; readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Breaks the connection without an answer. */
  | { readonly kind: 'disconnect' }
  /** Breaks the connection in the middle of the body. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** Falls silent in the middle of the body, without closing. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  /** Ends the body in good order after a while: a server-side timeout, a graceful shutdown. */
  | { readonly kind: 'end'; readonly afterMs: number }
  /** Puts this in front of the body. */
  | { readonly kind: 'garbage'; readonly text: string }
  | { readonly kind: 'slow'; readonly bytes: number; readonly everyMs: number }
  | { readonly kind: 'content-type'; readonly value: string }

export function plainReply(response: ServerResponse): Reply {
  const isOpen = (): boolean => !response.writableEnded && !response.destroyed
  return {
    head(status, headers = {}) {
      if (isOpen()) response.writeHead(status, { 'content-type': 'application/json', ...headers }).flushHeaders()
    },
    write(text) {
      if (isOpen() && text !== '') response.write(text)
    },
    end: () => void response.end(),
    destroy: () => void response.destroy(),
    onClose: (listener) => void response.once('close', listener),
  }
}

/** The reply as it arrives under this fault. */
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
      // Let what was written leave before the connection breaks.
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

/** A refusal as an API server words it. */
export function refusal(status: number, reason: string, headers: Readonly<Record<string, string>> = {}): Fault {
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: `test: ${reason}`, reason, code: status }
  return { kind: 'answer', status, headers, body: `${JSON.stringify(body)}\n` }
}

/** An error inside a watch: the answer is 200, its first event says ERROR. */
export function errorEvent(status: number, reason: string): Fault {
  const object = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: `test: ${reason}`, reason, code: status }
  return { kind: 'answer', status: 200, body: `${JSON.stringify({ type: 'ERROR', object })}\n` }
}
