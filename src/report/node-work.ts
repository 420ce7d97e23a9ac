// SPDX-License-Identifier: Apache-2.0
/**
 * Writes all fields of the Node that are due in one patch of `/status`: conditions, annotation,
 * label and `status.config`. Kubernetes from 1.20 on keeps labels and annotations in such a patch
 * (`nodeStatusStrategy` keeps only `spec` as it was), and NodeRestriction judges both paths alike
 * (`admitNode`). So what a node has to tell is one write, and nobody sees half of it.
 *
 * Where the server or a right refuses that patch for good, or a field is missing in the answer,
 * each field is written alone for a while, by the path of its own. Then one field that is refused
 * holds up no other.
 */
import type { KubeAnswer, KubeRequest } from '../ports/kube-api.ts'
import { composePatches } from '../values/merge-patch.ts'
import type { Crowd } from './crowd.ts'
import type { Exchange } from './field-work.ts'
import type { WorkOptions } from './node-field.ts'
import type { Work } from './report-worker.ts'
import { isFinal, RequestPace, WRITE_SPACING_MS } from './request-pace.ts'

/** A `FieldWork` of any field, as its owner sees it. */
export interface JointField {
  dueInMs(): number | undefined
  dueTogetherInMs(): number | undefined
  looksFirst(): boolean
  begin(): Exchange | undefined
  putOff(ms: number): void
}

/**
 * When to try one patch again: a server that has just started answers 403 until it knows the
 * rights. Each refusal in a row doubles the time: a server may be upgraded, a right granted.
 */
const APART_FIRST_MS = 60_000
const APART_MS = 3600_000
/** A webhook that fails for one field answers 500 to the one patch of all, each time. */
const MOST_SERVER_ERRORS = 5

export class NodeWork implements Work {
  readonly #options: WorkOptions
  readonly #fields: readonly JointField[]
  readonly #crowd: Crowd
  readonly #pace: RequestPace
  readonly #path: string
  #apartUntilMs = Number.NEGATIVE_INFINITY
  #apartForMs = APART_FIRST_MS
  /** In a row, to one patch of several fields. */
  #serverErrors = 0

  constructor(options: WorkOptions, fields: readonly JointField[], crowd: Crowd) {
    this.#options = options
    this.#fields = fields
    this.#crowd = crowd
    this.#pace = new RequestPace(options.clock, options.random)
    this.#path = `/api/v1/nodes/${options.nodeName}/status`
  }

  dueInMs(): number | undefined {
    const isApart = this.#isApart()
    const due = this.#fields.map((field) => (isApart ? field.dueInMs() : field.dueTogetherInMs())).filter((ms) => ms !== undefined)
    return due.length === 0 ? undefined : Math.max(Math.min(...due), this.#pace.dueInMs())
  }

  async attempt(): Promise<void> {
    if (this.#isApart()) return this.#writeApart()
    const due = this.#fields.filter((field) => field.dueTogetherInMs() === 0)
    const unread = due.filter((field) => field.looksFirst())
    const exchanges = (unread.length > 0 ? unread : due).map((field) => field.begin()).filter((exchange) => exchange !== undefined)
    const [first] = exchanges
    if (first === undefined) return
    const request = unread.length > 0 ? first.request : this.#join(exchanges)
    const { answer, putOffMs } = await this.#send(request)
    const isAlone = exchanges.length === 1 && first.request.path === request.path
    const isError = answer.kind === 'refused' && answer.status === 500 && !isAlone
    if (isError) this.#serverErrors += 1
    const isBroken = isError && this.#serverErrors >= MOST_SERVER_ERRORS
    if (isBroken || (answer.kind === 'refused' && (answer.status === 403 || isFinal(answer.status)))) {
      this.#goApart()
      // Nothing else could be tried for it.
      if (isAlone) first.settle(answer)
      return
    }
    if (answer.kind === 'ok') this.#pace.succeeded()
    else this.#pace.failed(answer.kind, answer.kind === 'refused' ? answer.retryAfterMs : undefined)
    const isLost = ({ request: { path }, isShownIn }: Exchange) =>
      answer.kind === 'ok' && path !== request.path && !isShownIn(answer.object)
    if (exchanges.some(isLost)) this.#goApart()
    else if (answer.kind === 'ok' && !isAlone) {
      this.#apartForMs = APART_FIRST_MS
      this.#serverErrors = 0
    }
    for (const exchange of exchanges) if (!isLost(exchange)) exchange.settle(answer)
    for (const field of due) field.putOff(putOffMs)
  }

  async #writeApart(): Promise<void> {
    const field = this.#fields.find((each) => each.dueInMs() === 0)
    const exchange = field?.begin()
    if (field === undefined || exchange === undefined) return
    const { answer, putOffMs } = await this.#send(exchange.request)
    // A 5xx may be of this field alone, as that of a webhook; the rest is of the whole server.
    if (answer.kind === 'ok') this.#pace.succeeded()
    else if (answer.kind === 'unreachable') this.#pace.failed(answer.kind)
    else if (answer.status === 429 || answer.retryAfterMs !== undefined) this.#pace.failed(answer.kind, answer.retryAfterMs)
    exchange.settle(answer)
    if (putOffMs > 0) for (const each of this.#fields) each.putOff(putOffMs)
  }

  async #send(request: KubeRequest): Promise<{ readonly answer: KubeAnswer; readonly putOffMs: number }> {
    const sinceMs = this.#pace.nowMs()
    const answer = await this.#options.api.request(request)
    const retryAfterMs = (answer.kind === 'refused' ? answer.retryAfterMs : undefined) ?? 0
    const nowMs = this.#pace.nowMs()
    return { answer, putOffMs: retryAfterMs + this.#crowd.see(answer, nowMs, nowMs - sinceMs) }
  }

  #join(exchanges: readonly Exchange[]): KubeRequest {
    const requests = exchanges.map(({ request }) => request)
    const isMetadata = requests.every((request) => request.as === 'PartialObjectMetadata')
    return {
      method: 'PATCH',
      path: this.#path,
      contentType: 'application/strategic-merge-patch+json',
      body: requests.map((request) => request.body).reduce(composePatches, {}),
      ...(isMetadata && { as: 'PartialObjectMetadata' }),
    }
  }

  #isApart(): boolean {
    return this.#pace.nowMs() < this.#apartUntilMs
  }

  #goApart(): void {
    this.#apartUntilMs = this.#pace.nowMs() + this.#apartForMs
    this.#apartForMs = Math.min(APART_MS, this.#apartForMs * 2)
    this.#pace.hold(WRITE_SPACING_MS)
  }
}
