/**
 * One HTTP/2 connection to a Unix socket, for a few unary calls of gRPC. Calls never reject; each
 * ends within its time, and no answer is kept beyond its limit. The connection is to be closed after
 * them: an agent that waits holds none.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { errorCode, errorMessage } from '../values/errors.ts'
import { EMPTY_MESSAGE, type GrpcAnswer, type HttpAnswer, readAnswer } from './grpc-message.ts'

export interface ChannelLimits {
  /** Of each call, and of the connection before it. */
  readonly timeoutMs: number
  readonly maxAnswerBytes: number
}

/** `maxMsgSize`, pkg/kubelet/cri/remote/utils.go: kubelet itself takes no larger answer. */
export const LIMITS: ChannelLimits = { timeoutMs: 10_000, maxAnswerBytes: 16 << 20 }

export class GrpcChannel {
  readonly #limits: ChannelLimits
  readonly #session: ClientHttp2Session
  /** Why the connection is of no use any more. */
  #broken: string | undefined

  constructor(socket: string, limits: ChannelLimits = LIMITS) {
    this.#limits = limits
    // grpc-go refuses an authority that is no host name: the path of a socket must not be one.
    this.#session = connectHttp2('http://localhost', {
      createConnection: () => connectSocket({ path: socket }),
      settings: { enablePush: false },
    })
    // Without a listener, a connection that fails would end the process.
    this.#session.on('error', (error) => {
      this.#broken ??= describe(error)
    })
    this.#session.on('goaway', () => {
      this.#broken ??= 'the runtime closed the connection'
    })
  }

  /** @param path such as `/runtime.v1.RuntimeService/Status`, called with a message without fields */
  call(path: string): Promise<GrpcAnswer> {
    const { timeoutMs, maxAnswerBytes } = this.#limits
    return new Promise((resolve) => {
      let stream: ClientHttp2Stream | undefined
      const end = (answer: GrpcAnswer) => {
        clearTimeout(timer)
        stream?.destroy()
        resolve(answer)
      }
      const fail = (detail: string) => end({ kind: 'failed', detail })
      const timer = setTimeout(() => fail(`no answer within ${timeoutMs / 1000} s`), timeoutMs)
      if (this.#broken !== undefined || this.#session.destroyed) return fail(this.#broken ?? 'the connection is closed')
      try {
        stream = this.#session.request(headersOf(path, timeoutMs))
      } catch (error) {
        return fail(describe(error))
      }
      const received = new Received(maxAnswerBytes)
      stream.on('response', (headers) => received.headers(headers))
      stream.on('trailers', (trailers) => received.headers(trailers))
      stream.on('data', (chunk: Buffer) => {
        if (!received.chunk(chunk)) fail(`the answer is longer than ${maxAnswerBytes} bytes`)
      })
      stream.on('end', () => {
        if (received.hasHeaders) end(readAnswer(received.answer()))
      })
      stream.on('error', (error) => fail(this.#broken ?? describe(error)))
      stream.on('close', () => fail(this.#broken ?? 'the runtime closed the connection'))
      stream.end(EMPTY_MESSAGE)
    })
  }

  /** A call that has not ended fails. */
  close(): void {
    this.#broken ??= 'the connection is closed'
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

/** What has come of an answer. */
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

  /** false: the answer is too long. */
  chunk(chunk: Buffer): boolean {
    this.#size += chunk.length
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

function describe(error: unknown): string {
  // Of a connection that was never made: node:http2 cancels its streams with the cause.
  if (error instanceof Error && error.cause instanceof Error) return describe(error.cause)
  switch (errorCode(error)) {
    case 'ENOENT':
      return 'the socket does not exist'
    case 'ECONNREFUSED':
      return 'connection refused'
    case 'EACCES':
      return 'permission denied'
    case 'ECONNRESET':
    case 'EPIPE':
      return 'the runtime closed the connection'
    default:
      return errorMessage(error)
  }
}
