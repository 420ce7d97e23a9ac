// SPDX-License-Identifier: Apache-2.0
/**
 * Reads what the API server answers: its refusals, the lines of a watch, and what to say where it
 * does not answer. Pure. Rules: `metav1.Status` of k8s.io/apimachinery; RFC 9110, 10.2.3.
 */
import type { KubeRefusal, KubeSilence } from '../ports/kube-api.ts'
import { isObject } from '../values/is-object.ts'

export interface AnswerHeaders {
  readonly 'content-type'?: string | undefined
  readonly 'retry-after'?: string | undefined
  readonly date?: string | undefined
}

/** Longer texts are cut for the log. */
const DETAIL_LIMIT = 500

/** A longer Retry-After is cut to this. */
const RETRY_AFTER_CAP_MS = 3600_000

/** `body` may be anything, since a proxy may have answered; only a Status object is quoted. */
export function readRefusal(status: number, headers: AnswerHeaders, body: string, wallMs: number): KubeRefusal {
  const found = readStatusObject(jsonOrUndefined(body))
  const retryAfterMs = readRetryAfterMs(headers, wallMs) ?? found.retryAfterMs
  const what = found.message ?? `the answer is not a Status object (${headers['content-type'] ?? 'no content type'})`
  return { kind: 'refused', status, reason: found.reason, detail: `${status}: ${what.slice(0, DETAIL_LIMIT)}`, retryAfterMs }
}

/** Does the same for the object of a watch's ERROR event. */
export function readErrorEvent(object: unknown): KubeRefusal {
  const { code, reason, message, retryAfterMs } = readStatusObject(object)
  const status = code ?? 500
  return { kind: 'refused', status, reason, detail: `${status}: ${(message ?? 'an error event').slice(0, DETAIL_LIMIT)}`, retryAfterMs }
}

interface StatusFields {
  readonly code: number | undefined
  readonly reason: string
  readonly message: string | undefined
  readonly retryAfterMs: number | undefined
}

function readStatusObject(object: unknown): StatusFields {
  const status = isObject(object) && object.kind === 'Status' ? object : {}
  const seconds = isObject(status.details) ? status.details.retryAfterSeconds : undefined
  return {
    code: typeof status.code === 'number' ? status.code : undefined,
    reason: typeof status.reason === 'string' ? status.reason : '',
    message: typeof status.message === 'string' ? status.message : undefined,
    retryAfterMs: typeof seconds === 'number' && seconds > 0 ? Math.min(seconds * 1000, RETRY_AFTER_CAP_MS) : undefined,
  }
}

/**
 * A date is compared with the server's Date header where there is one, since this machine's clock
 * may be wrong.
 */
function readRetryAfterMs(headers: AnswerHeaders, wallMs: number): number | undefined {
  const text = headers['retry-after']?.trim()
  if (text === undefined || text === '') return undefined
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, RETRY_AFTER_CAP_MS)
  const at = Date.parse(text)
  const serverNow = Date.parse(headers.date ?? '')
  if (Number.isNaN(at)) return undefined
  return Math.min(Math.max(0, at - (Number.isNaN(serverNow) ? wallMs : serverNow)), RETRY_AFTER_CAP_MS)
}

/**
 * Returns the lines that this chunk completes; undefined: a line exceeds the limit, so the stream
 * is not a watch.
 */
type LineSplitter = (chunk: string) => readonly string[] | undefined

/** The framing of a watch: one JSON document per line, from chunks of any length. */
export function splitLines(limit: number): LineSplitter {
  let unfinished = ''
  return (chunk) => {
    const lines: string[] = []
    let start = 0
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      lines.push(unfinished + chunk.slice(start, end))
      unfinished = ''
      start = end + 1
    }
    unfinished += chunk.slice(start)
    return unfinished.length > limit ? undefined : lines.filter((line) => line.trim() !== '')
  }
}

export function parseEvent(line: string): { readonly type: string; readonly object: unknown } | undefined {
  const event = jsonOrUndefined(line)
  if (!isObject(event) || !('object' in event)) return undefined
  return typeof event.type === 'string' ? { type: event.type, object: event.object } : undefined
}

/** undefined: not valid JSON. The parser's error is dropped, since it quotes the text. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The texts about a request that got no answer that can be used. They are fixed, since the detail
 * may contain a file of the node, an address or the output of a program.
 */
export const SILENCE_TEXTS: Readonly<Record<'unreachable' | NonNullable<KubeSilence['reason']>, string>> = {
  unreachable: 'the API server does not answer',
  'too-long': 'the answer of the API server is too long',
  kubeconfig: 'there is no usable kubeconfig',
}

export function describeSilence({ reason }: KubeSilence): string {
  return SILENCE_TEXTS[reason ?? 'unreachable']
}
