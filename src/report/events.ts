// SPDX-License-Identifier: Apache-2.0
/**
 * Transitions as Kubernetes Events: how one is made, and how they are sent, oldest first. Pure,
 * apart from what is passed in.
 */

import { dirname, join } from 'node:path'
import type { Transition } from '../decision/records.ts'
import {
  downloadFailedMessage,
  invalidMessage,
  promotedMessage,
  rejectedMessage,
  restartingMessage,
  rolledBackMessage,
} from '../decision/status-texts.ts'
import type { Files } from '../ports/files.ts'
import { cutToBytes } from '../values/cut.ts'
import { Crowd } from './crowd.ts'
import { showTime } from './deadlines.ts'
import { instantOf } from './history.ts'
import type { WorkOptions } from './node-field.ts'
import type { Work } from './report-worker.ts'
import { adviseOnRefusal, FORBIDDEN_MS, FORBIDDEN_TRIES, isDeniedByPolicy, isFinal, RequestPace } from './request-pace.ts'

export const EVENT_NAMESPACE = 'default'
const COMPONENT = 'kubelet-cfg-agent'
/** Newer servers refuse longer messages (`NoteLengthLimit`). */
const MESSAGE_BYTES = 1024

interface NodeEvent {
  readonly apiVersion: 'v1'
  readonly kind: 'Event'
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly involvedObject: { readonly kind: 'Node'; readonly name: string; readonly uid: string }
  readonly type: 'Normal' | 'Warning'
  readonly reason: EventReason
  readonly message: string
  readonly source: { readonly component: string; readonly host: string }
  readonly firstTimestamp: string
  readonly lastTimestamp: string
  readonly count: 1
}
type EventReason =
  | 'KubeletConfigChanged'
  | 'KubeletConfigRejected'
  | 'KubeletConfigRolledBack'
  | 'KubeletConfigPromoted'
  | 'KubeletConfigDownloadFailed'
  | 'KubeletConfigInvalid'

/**
 * Turns a transition into a Kubernetes Event. The name is derived from the transition, so sending
 * an event twice creates one event. Upstream: `makeEvent` and `KubeletConfigChangedEventReason` in
 * Kubernetes 1.20 `pkg/kubelet/kubeletconfig`; only the component differs. undefined: this
 * transition makes no event.
 */
export function eventOf(transition: Transition, nodeName: string): NodeEvent | undefined {
  const description = describeTransition(transition)
  if (description === undefined) return undefined
  const timestamp = showTime(instantOf(transition).getTime())
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${nodeName}.${BigInt(transition.atNs).toString(16)}`, namespace: EVENT_NAMESPACE },
    // kubelet uses the name as the uid, and `kubectl describe node` searches for that.
    involvedObject: { kind: 'Node', name: nodeName, uid: nodeName },
    type: description.type,
    reason: description.reason,
    message: cutToBytes(description.message, MESSAGE_BYTES),
    source: { component: COMPONENT, host: nodeName },
    firstTimestamp: timestamp,
    lastTimestamp: timestamp,
    count: 1,
  }
}

function describeTransition({ kind, from, to, why }: Transition): Pick<NodeEvent, 'type' | 'reason' | 'message'> | undefined {
  switch (kind) {
    case 'restarting':
      return { type: 'Normal', reason: 'KubeletConfigChanged', message: restartingMessage(to) }
    case 'rejected':
      return { type: 'Warning', reason: 'KubeletConfigRejected', message: rejectedMessage(from, why) }
    case 'rolled-back':
      return { type: 'Warning', reason: 'KubeletConfigRolledBack', message: rolledBackMessage(from, to, why) }
    case 'promoted':
      return { type: 'Normal', reason: 'KubeletConfigPromoted', message: promotedMessage(to) }
    case 'download-failed':
      return { type: 'Warning', reason: 'KubeletConfigDownloadFailed', message: downloadFailedMessage(why) }
    case 'invalid':
      return { type: 'Warning', reason: 'KubeletConfigInvalid', message: invalidMessage(why) }
    case 'assigned':
    case 'synced':
    case 'retrying':
    case 'set-aside':
      return undefined
  }
}

export interface EventWorkOptions extends WorkOptions {
  readonly files: Pick<Files, 'read' | 'makeDirectory' | 'replace'>
  /** The dynamic config directory. */
  readonly directory: string
  readonly history: { after(atNs: string): readonly Transition[] }
  /** The longest queue. Shorter than the history. */
  readonly queueLimit?: number
}

const DEFAULT_QUEUE_LIMIT = 500

/**
 * Sends transitions as Events, oldest first. The queue is the history after a cursor that is kept
 * on disk, so restarts of the agent and outages of the API server lose no event. An event that is
 * sent twice is one event, since its name comes from the transition. If the queue grows too long,
 * the oldest events are dropped, and their number is logged.
 */
export class EventWork implements Work {
  readonly #options: EventWorkOptions
  readonly #pace: RequestPace
  readonly #cursorPath: string
  readonly #crowd: Crowd
  readonly #heldMs: () => number | undefined
  #putOffUntilMs = Number.NEGATIVE_INFINITY
  #cursor: string | undefined
  #queue: readonly Transition[] = []
  #isOutdated = true
  /** 403 answers in a row. */
  #forbidden = 0

  /** @param heldMs how long the Node comes first. undefined: what there is to tell is not shared */
  constructor(options: EventWorkOptions, crowd = new Crowd(options.random), heldMs: () => number | undefined = () => undefined) {
    this.#options = options
    this.#crowd = crowd
    this.#heldMs = heldMs
    this.#pace = new RequestPace(options.clock, options.random)
    this.#cursorPath = join(options.directory, 'meta', 'events-published')
  }

  /** To be called when the history has grown. */
  refresh(): void {
    this.#isOutdated = true
  }

  dueInMs(): number | undefined {
    if (this.#isOutdated) this.#reload()
    if (this.#queue.length === 0) return undefined
    const heldMs = this.#heldMs()
    const sharedInMs = heldMs === undefined ? 0 : Math.max(heldMs, this.#putOffUntilMs - this.#pace.nowMs())
    return Math.max(0, sharedInMs, this.#pace.dueInMs())
  }

  async attempt(): Promise<void> {
    const { api, nodeName, log } = this.#options
    const transition = this.#queue[0]
    if (transition === undefined) return
    const path = `/api/v1/namespaces/${EVENT_NAMESPACE}/events`
    const body = eventOf(transition, nodeName)
    const sinceMs = this.#pace.nowMs()
    const answer = await api.request({ method: 'POST', path, body, contentType: 'application/json' })
    const nowMs = this.#pace.nowMs()
    this.#putOffUntilMs = nowMs + this.#crowd.see(answer, nowMs, nowMs - sinceMs)
    if (answer.kind === 'unreachable') return this.#retryLater('unreachable', answer.detail)
    if (answer.kind === 'refused' && answer.status !== 409 && !isFinal(answer.status) && !isDeniedByPolicy(answer)) {
      const detail = `${answer.detail}${adviseOnRefusal(answer, 'deploy/rbac/status.yaml')}`
      this.#retryLater(`${answer.status} ${answer.reason}`, detail, answer.retryAfterMs)
      return this.#count(answer.status)
    }
    // 409: the event exists already.
    if (answer.kind === 'refused' && answer.status !== 409) {
      const { status, reason, detail } = answer
      log.warn('the API server refused an event; it is dropped', {
        event: body?.metadata.name,
        reason: body?.reason,
        failure: `${status} ${reason}`,
        detail,
      })
    }
    this.#pace.succeeded()
    this.#forbidden = 0
    this.#queue = this.#queue.slice(1)
    this.#advance(transition.atNs)
  }

  #reload(): void {
    const { clock, history, nodeName, log, queueLimit = DEFAULT_QUEUE_LIMIT } = this.#options
    const transitions = history.after('0')
    const newest = transitions.at(-1)
    const cursor = this.#cursor ?? this.#readCursor()
    // The history was lost, and the clock was ahead when it was written. A power cut can take its
    // last lines alone: what they told is published.
    const isAhead = BigInt(cursor) > BigInt(Math.floor(clock.now().wallMs)) * 1_000_000n
    this.#cursor = isAhead && newest !== undefined && BigInt(newest.atNs) < BigInt(cursor) ? '0' : cursor
    const sentNs = BigInt(this.#cursor)
    const queue = transitions.filter((transition) => BigInt(transition.atNs) > sentNs && eventOf(transition, nodeName) !== undefined)
    const dropped = queue.slice(0, Math.max(0, queue.length - queueLimit))
    this.#queue = queue.slice(dropped.length)
    this.#isOutdated = false
    const last = dropped.at(-1)
    if (last === undefined) return
    log.warn('too many events are waiting for the API server; dropped the oldest', { dropped: dropped.length, waiting: this.#queue.length })
    this.#advance(last.atNs)
  }

  #retryLater(failure: string, detail: string, retryAfterMs?: number): void {
    const isNew = this.#pace.failed(failure, retryAfterMs)
    if (isNew) this.#options.log.warn('an event could not be sent; retrying', { failure, detail, waiting: this.#queue.length })
  }

  /** A 5xx answer says nothing about rights. */
  #count(status: number): void {
    if (status === 403) this.#forbidden += 1
    else if (status < 500) this.#forbidden = 0
    if (status === 403 && this.#forbidden > FORBIDDEN_TRIES) this.#pace.hold(FORBIDDEN_MS * (1 + 0.2 * this.#options.random()))
  }

  /**
   * Without a cursor, the whole history is sent again: the server refuses events that it still has,
   * by name.
   */
  #readCursor(): string {
    try {
      const text = this.#options.files.read(this.#cursorPath)?.toString().trim() ?? ''
      return /^\d{1,19}$/.test(text) ? text : '0'
    } catch (error) {
      this.#options.log.warn('the record of sent events could not be read; sending them again', { error })
      return '0'
    }
  }

  #advance(atNs: string): void {
    this.#cursor = atNs
    try {
      this.#options.files.makeDirectory(dirname(this.#cursorPath))
      this.#options.files.replace(this.#cursorPath, `${atNs}\n`)
    } catch (error) {
      this.#options.log.debug('the record of sent events could not be written', { error })
    }
  }
}
