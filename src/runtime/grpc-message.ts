/**
 * gRPC over HTTP/2, as far as a unary call needs it (PROTOCOL-HTTP2.md of grpc/grpc): a message in
 * its frame of five bytes, and the outcome of a call from its headers, trailers and body. Pure.
 */
import { cutToBytes, onOneLine } from '../values/cut.ts'

export type GrpcAnswer =
  | { readonly kind: 'ok'; readonly message: Buffer }
  /** `code` is that of google.rpc.Code. */
  | { readonly kind: 'status'; readonly code: number; readonly detail: string }
  /** The process may not connect to the socket. */
  | { readonly kind: 'denied'; readonly detail: string }
  /** No answer that gRPC knows. */
  | { readonly kind: 'failed'; readonly detail: string }

/** What came over HTTP/2 by the time that the stream ended. */
export interface HttpAnswer {
  readonly status: number | undefined
  readonly contentType: string | undefined
  /** From the trailers, or from the headers of an answer that has nothing else. */
  readonly grpcStatus: string | undefined
  readonly grpcMessage: string | undefined
  readonly body: Buffer
}

export const UNIMPLEMENTED = 12
/** A frame with a message without fields. */
export const EMPTY_MESSAGE: Buffer = Buffer.alloc(5)
const FRAME_HEAD = 5
const MOST_QUOTED = 300

export function readAnswer({ status, contentType, grpcStatus, grpcMessage, body }: HttpAnswer): GrpcAnswer {
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
