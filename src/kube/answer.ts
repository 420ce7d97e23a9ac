/**
 * Reads a refusal by the API server: its Status object and its Retry-After. Pure.
 * Rules: `metav1.Status` of k8s.io/apimachinery; RFC 9110, 10.2.3.
 */

import type { KubeRefusal } from '../ports/kube-api.ts'
import { isObject } from '../values/is-object.ts'
import { parseJson } from './lines.ts'

export interface AnswerHeaders {
  readonly 'content-type'?: string | undefined
  readonly 'retry-after'?: string | undefined
  readonly date?: string | undefined
}

/** Longer texts are cut for the log. */
const DETAIL_LIMIT = 500

/** `body` may be anything, since a proxy may have answered; only a Status object is quoted. */
export function readRefusal(status: number, headers: AnswerHeaders, body: string, wallMs: number): KubeRefusal {
  const found = readStatusObject(parseJson(body))
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
    retryAfterMs: typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined,
  }
}

/**
 * A date is compared with the server's Date header where there is one, since this machine's clock
 * may be wrong.
 */
function readRetryAfterMs(headers: AnswerHeaders, wallMs: number): number | undefined {
  const text = headers['retry-after']?.trim()
  if (text === undefined || text === '') return undefined
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  const serverNow = Date.parse(headers.date ?? '')
  return Number.isNaN(at) ? undefined : Math.max(0, at - (Number.isNaN(serverNow) ? wallMs : serverNow))
}
