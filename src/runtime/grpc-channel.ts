// SPDX-License-Identifier: Apache-2.0
/**
 * One HTTP/2 connection to a Unix socket, for a few unary calls of gRPC (PROTOCOL-HTTP2.md of
 * grpc/grpc). Calls never reject; each ends within its time, and no answer is kept beyond its
 * limit. The connection is to be closed after them: an agent that waits holds none.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { cutToBytes, onOneLine } from '../values/cut.ts'
import { errorCode, errorMessage } from '../values/errors.ts'

interface ChannelLimits {
  /** The time for each call, and for the connection before it. */
  readonly timeoutMs: number
  readonly maxAnswerBytes: number
}

/** `maxMsgSize`, pkg/kubelet/cri/remote/utils.go: kubelet itself takes no larger answer. */
export const CHANNEL_LIMITS: ChannelLimits = { timeoutMs: 10_000, maxAnswerBytes: 16 << 20 }

const CLOSED = failure('the connection is closed')
const CLOSED_BY_RUNTIME = failure('the runtime closed the connection')

export class GrpcChannel {
  readonly #limits: ChannelLimits
  readonly #session: ClientHttp2Session
  /** Why the connection is of no use any more. */
  #broken: Failure | undefined

  constructor(socket: string, limits: ChannelLimits = CHANNEL_LIMITS) {
    this.#limits = limits
    // grpc-go refuses an authority that is no host name: the path of a socket must not be one.
    this.#session = connectHttp2('http://localhost', {
      createConnection: () => connectSocket({ path: socket }),
      settings: { enablePush: false },
    })
    // Without a listener, a connection that fails would end the process.
    this.#session.on('error', (error) => {
      this.#broken ??= failureOf(error)
    })
    this.#session.on('goaway', () => {
      this.#broken ??= CLOSED_BY_RUNTIME
    })
  }

  /**
   * @param path such as `/runtime.v1.RuntimeService/Status`, called with a message without fields
   */
  call(path: string): Promise<GrpcAnswer> {
    const { timeoutMs, maxAnswerBytes } = this.#limits
    return new Promise((resolve) => {
      let stream: ClientHttp2Stream | undefined
      const end = (answer: GrpcAnswer) => {
        clearTimeout(timer)
        stream?.destroy()
        resolve(answer)
      }
      const timer = setTimeout(() => end(failure(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
      if (this.#broken !== undefined || this.#session.destroyed) return end(this.#broken ?? CLOSED)
      try {
        stream = this.#session.request(headersOf(path, timeoutMs))
      } catch (error) {
        return end(failureOf(error))
      }
      const received = new Received(maxAnswerBytes)
      stream.on('response', (headers) => received.headers(headers))
      stream.on('trailers', (trailers) => received.headers(trailers))
      stream.on('data', (chunk: Buffer) => {
        if (!received.chunk(chunk)) end(failure(`the answer takes more than ${maxAnswerBytes} bytes`))
      })
      stream.on('end', () => {
        if (received.hasHeaders) end(readAnswer(received.answer()))
      })
      stream.on('error', (error) => end(this.#broken ?? failureOf(error)))
      stream.on('close', () => end(this.#broken ?? CLOSED_BY_RUNTIME))
      stream.end(EMPTY_MESSAGE)
    })
  }

  /** A call that has not ended fails. */
  close(): void {
    this.#broken ??= CLOSED
    this.#session.destroy()
  }
}

function headersOf(path: string, timeoutMs: number) {
  return {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    // Servers refuse a call without it: the status comes in the trailers.
    te: 'trailers',
    'grpc-timeout': `${timeoutMs}m`,
  }
}

type Headers = IncomingHttpHeaders & IncomingHttpStatusHeader

/** In bytes: what a part of an answer takes beside its content, which may be a single byte. */
const PART_COST = 256

/** The part of an answer that has been received. */
class Received {
  readonly #limit: number
  readonly #chunks: Buffer[] = []
  #size = 0
  #headers: Headers = {}
  hasHeaders = false

  constructor(limit: number) {
    this.#limit = limit
  }

  headers(headers: Headers): void {
    this.hasHeaders = true
    this.#headers = { ...this.#headers, ...headers }
  }

  /** false: the answer is too long, or in too many parts. */
  chunk(chunk: Buffer): boolean {
    this.#size += chunk.length + PART_COST
    if (this.#size > this.#limit) return false
    this.#chunks.push(chunk)
    return true
  }

  answer(): HttpAnswer {
    return {
      status: this.#headers[':status'],
      contentType: this.#headers['content-type'],
      grpcStatus: textOf(this.#headers['grpc-status']),
      grpcMessage: textOf(this.#headers['grpc-message']),
      body: Buffer.concat(this.#chunks),
    }
  }
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

type Failure = Exclude<GrpcAnswer, { kind: 'ok' }>

function failure(detail: string): Failure {
  return { kind: 'failed', detail }
}

function failureOf(error: unknown): Failure {
  // Of a connection that was never made: node:http2 cancels its streams with the cause.
  if (error instanceof Error && error.cause instanceof Error) return failureOf(error.cause)
  switch (errorCode(error)) {
    case 'ENOENT':
      return failure('the socket does not exist')
    case 'ECONNREFUSED':
      return failure('connection refused')
    case 'EACCES':
    case 'EPERM':
      return { kind: 'denied', detail: 'permission denied' }
    case 'ECONNRESET':
    case 'EPIPE':
      return CLOSED_BY_RUNTIME
    default:
      return failure(errorMessage(error))
  }
}

export type GrpcAnswer =
  | { readonly kind: 'ok'; readonly message: Buffer }
  /** `code` is that of google.rpc.Code. */
  | { readonly kind: 'status'; readonly code: number; readonly detail: string }
  /** The process may not connect to the socket. */
  | { readonly kind: 'denied'; readonly detail: string }
  /** No answer that gRPC knows. */
  | { readonly kind: 'failed'; readonly detail: string }

/** The answer over HTTP/2 by the time that the stream ended. */
interface HttpAnswer {
  readonly status: number | undefined
  readonly contentType: string | undefined
  /** From the trailers, or from the headers of an answer that has nothing else. */
  readonly grpcStatus: string | undefined
  readonly grpcMessage: string | undefined
  readonly body: Buffer
}

/** A frame with a message without fields. */
const EMPTY_MESSAGE: Buffer = Buffer.alloc(5)
const FRAME_HEAD = 5
const MOST_QUOTED = 300

/** The outcome of a call: a message in its frame of five bytes, or why there is none. */
function readAnswer({ status, contentType, grpcStatus, grpcMessage, body }: HttpAnswer): GrpcAnswer {
  if (status !== 200) return { kind: 'failed', detail: `HTTP status ${status ?? 'missing'}` }
  if (contentType?.startsWith('application/grpc') !== true) return { kind: 'failed', detail: 'the answer is not gRPC' }
  if (grpcStatus === undefined) return { kind: 'failed', detail: 'the answer ended without a gRPC status' }
  if (!/^\d{1,9}$/.test(grpcStatus)) return { kind: 'failed', detail: 'the gRPC status is not a number' }
  const code = Number(grpcStatus)
  if (code !== 0) return { kind: 'status', code, detail: `gRPC status ${code}${describe(grpcMessage)}` }
  return readFrame(body)
}

function readFrame(body: Buffer): GrpcAnswer {
  if (body.length < FRAME_HEAD) return { kind: 'failed', detail: 'the answer has no message' }
  // Nothing else was offered in grpc-accept-encoding.
  if (body[0] !== 0) return { kind: 'failed', detail: 'the answer is compressed' }
  const length = body.readUInt32BE(1)
  if (length !== body.length - FRAME_HEAD) {
    return { kind: 'failed', detail: `the message has ${body.length - FRAME_HEAD} bytes where ${length} were announced` }
  }
  return { kind: 'ok', message: body.subarray(FRAME_HEAD) }
}

/** Percent-encoded by the server. It becomes part of a log line. */
function describe(message: string | undefined): string {
  if (message === undefined || message === '') return ''
  return `: ${cutToBytes(onOneLine(decodePercent(message)), MOST_QUOTED)}`
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
