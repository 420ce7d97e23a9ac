// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps one field of the Node up to date. Writes the latest value, and only if the server shows
 * another one; reads the answer, since a server may drop or alter a field without an error. Sends
 * at most one request a second, and far fewer in the long run; corrects a change by another client
 * at most once a minute. If the server drops or refuses the field, logs that once and retries
 * slowly. `NodeField` describes the field and how it is written; fields are independent of each
 * other.
 *
 * Each reason to hold back a request is tracked separately: backoff and spacing (`RequestPace`),
 * parking, the budget for the long run, a server that has only just come back, and the slot of this
 * node. One can end before the others.
 */
import type { KubeAnswer, KubeRequest } from '../ports/kube-api.ts'
import type { NodeField, WantedWhen, WorkOptions } from './node-field.ts'
import { adviseOnRefusal, Budget, FORBIDDEN_MS, FORBIDDEN_TRIES, isFinal, RequestPace, WRITE_SPACING_MS } from './request-pace.ts'

const REPAIR_EVERY_MS = 60_000
/** For this long after a patch, a watch may still show the state before it. */
const REPAIR_GRACE_MS = 2000
/**
 * How long a server has to have answered before it is told that it did not: the watches read again
 * within a minute (`backoffMs`), and what they find may be that all is well.
 */
const SETTLED_MS = 75_000
/** For no longer does a busy server keep a value that misleads. */
const MISLEADING_MS = 60_000
/** When to try again after the server dropped or refused the field: a server may be upgraded. */
const PARKED_MS = 3600_000

/** One request about a field, until its answer is taken. */
export interface Exchange {
  readonly request: KubeRequest
  /** Whether this Node has what the request was to write. */
  isShownIn(node: unknown): boolean
  settle(answer: KubeAnswer): void
}

const NOT_PUT_OFF = { sinceMs: Number.NEGATIVE_INFINITY, ms: 0 }

export class FieldWork<Wanted, Seen = Wanted> {
  readonly #options: WorkOptions
  readonly #field: NodeField<Wanted, Seen>
  /** CLOCK_MONOTONIC of the last write that the server confirmed. */
  #writtenAtUs: number | undefined
  readonly #isOn: () => boolean
  readonly #pace: RequestPace
  readonly #budget: Budget | undefined
  #wanted: Wanted | undefined
  /** To be written at once, whatever the server shows and however busy it is. */
  #isAgain = false
  #isCutOff = false
  #slotMs = Number.NEGATIVE_INFINITY
  /** The slot has come, and the server had too much to do. */
  #putOff = NOT_PUT_OFF
  /** Without a failure in between. undefined: not known. */
  #answersSinceMs: number | undefined
  /** The value seen last. undefined: not known. */
  #server: Seen | 'absent' | undefined
  /** The value after the agent's own last write, or at the first look. undefined: to be read. */
  #before: Seen | 'absent' | undefined
  /** Whether the Node had the field when it was last seen. */
  #isThere = false
  #nodeUid: string | undefined
  /** Counts the Nodes with this name: an answer about a deleted one says nothing about the next. */
  #generation = 0
  /** The last value that the server confirmed. */
  #confirmed: { readonly wanted: Wanted; readonly atMs: number } | undefined
  /** Seen since the current request was sent: it may be newer than the answer. */
  #meanwhile: Seen | 'absent' | undefined
  /** When to correct a change by another client. undefined: there is none. */
  #repairAtMs: number | undefined
  #announced: Wanted | undefined
  #parked: 'dropped' | 'refused' | undefined
  #parkedUntilMs = Number.NEGATIVE_INFINITY
  /** Until when the budget is spent. */
  #spentUntilMs = Number.NEGATIVE_INFINITY
  #loggedParkReason = ''
  #forbidden = 0

  constructor(options: WorkOptions, field: NodeField<Wanted, Seen>, isOn: () => boolean = () => true) {
    this.#options = options
    this.#field = field
    this.#isOn = isOn
    this.#pace = new RequestPace(options.clock, options.random)
    const { longRun } = field
    this.#budget = longRun && new Budget(longRun.inARow, longRun.everyMs)
  }

  /**
   * @param wanted undefined: what the Node shows stays, and what it does not show yet is outdated
   */
  want(wanted: Wanted | undefined, { cutOff = false, slotUs }: WantedWhen = {}): void {
    if (wanted === undefined && !this.#isShown()) this.#wanted = this.#confirmed?.wanted
    if (wanted === undefined) return
    if (cutOff && !this.#isCutOff) this.#answersSinceMs = undefined
    this.#isCutOff = cutOff
    this.#slotMs = slotUs === undefined ? Number.NEGATIVE_INFINITY : slotUs / 1000
    if (slotUs === undefined) this.#putOff = NOT_PUT_OFF
    if (this.#wanted !== undefined && this.#field.same(this.#wanted, wanted)) return
    this.#wanted = wanted
    // The server refused the previous value; it may accept this one.
    if (this.#parked === 'refused' && this.#isOn()) this.#unpark()
  }

  /** Writes the value again, although the server shows it. */
  again(): void {
    this.#isAgain = true
  }

  get writtenAtUs(): number | undefined {
    return this.#writtenAtUs
  }

  /**
   * To be called with each Node read or watched. `seen` is undefined if the request did not include
   * the field.
   */
  observe(uid: string, seen: Seen | 'absent' | undefined): void {
    if (this.#nodeUid !== undefined && this.#nodeUid !== uid) {
      this.#options.log.info(`Node was created again; sending its ${this.#field.name} again`, { uid })
      this.#generation += 1
      this.#isThere = false
      this.#confirmed = undefined
      this.#server = undefined
      this.#before = undefined
      if (this.#parked !== 'dropped') this.#unpark()
    }
    const isFirst = this.#nodeUid !== uid
    this.#nodeUid = uid
    if (seen === undefined) return
    this.#isThere = seen !== 'absent'
    this.#meanwhile = seen
    // A value that contradicts a very recent write is unreliable: it may be older, or from another
    // client.
    this.#server = this.#contradicts(seen) ? undefined : seen
    // Only the first: later ones can be older than the agent's own writes.
    if (isFirst) this.#before ??= seen
    // The server does store the field.
    if (this.#parked === 'dropped' && seen !== 'absent') this.#unpark()
    if (this.#confirmed === undefined || this.#isShown()) this.#repairAtMs = undefined
    else this.#repairAtMs ??= Math.max(this.#pace.nowMs() + REPAIR_GRACE_MS, this.#confirmed.atMs + REPAIR_EVERY_MS)
  }

  dueInMs(): number | undefined {
    const dueInMs = this.dueTogetherInMs()
    return dueInMs === undefined ? undefined : Math.max(dueInMs, this.#pace.dueInMs())
  }

  /** The same where fields are written together: their owner has one pace for all of them. */
  dueTogetherInMs(): number | undefined {
    const target = this.#target()
    if (target === undefined || this.#isDone()) return undefined
    const nowMs = this.#pace.nowMs()
    const isRepair = this.#confirmed !== undefined && this.#field.same(this.#confirmed.wanted, target)
    const repairInMs = isRepair && this.#repairAtMs !== undefined ? this.#repairAtMs - nowMs : 0
    const spentForMs = this.#isUrgent(target) ? 0 : this.#spentUntilMs - nowMs
    const settledInMs = this.#isCutOff && this.#answersSinceMs !== undefined ? this.#answersSinceMs + SETTLED_MS - nowMs : 0
    return Math.max(0, repairInMs, this.#parkedUntilMs - nowMs, spentForMs, settledInMs, this.#slotInMs())
  }

  /** For how long not to write what nodes share. 0: it is time, or there is nothing of that. */
  slotInMs(): number {
    return this.#target() === undefined || this.#isDone() ? 0 : this.#slotInMs()
  }

  /** The server has too much to do: what nodes share can wait. */
  putOff(ms: number): void {
    if (Number.isFinite(this.#slotMs)) this.#putOff = { sinceMs: this.#pace.nowMs(), ms }
  }

  #slotInMs(): number {
    if (this.#isAgain) return 0
    const { sinceMs, ms } = this.#putOff
    // The remainder is even over the shorter time, too.
    const putOffMs = this.#mayMislead() ? ms % MISLEADING_MS : ms
    return Math.max(0, Math.max(this.#slotMs, sinceMs + putOffMs) - this.#pace.nowMs())
  }

  /** Whether the Node has to be read before the value can be written. */
  looksFirst(): boolean {
    return (this.#isCutOff && this.#answersSinceMs === undefined) || (this.#field.readsFirst && this.#before === undefined)
  }

  /** The next request: a look at the Node, or a write. undefined: there is nothing to do. */
  begin(): Exchange | undefined {
    const { nodeName, clock, log } = this.#options
    const field = this.#field
    const wanted = this.#target()
    if (wanted === undefined) return undefined
    this.#spend()
    const generation = this.#generation
    const settle = (take: (answer: KubeAnswer) => void) => (answer: KubeAnswer) =>
      generation === this.#generation ? take(answer) : this.#pace.hold(WRITE_SPACING_MS)
    if (this.looksFirst()) {
      const request = { method: 'GET', path: `/api/v1/nodes/${nodeName}` } as const
      return { request, isShownIn: () => true, settle: settle((answer) => this.#look(answer)) }
    }
    this.#meanwhile = undefined
    if (this.#announced !== wanted) log[field.announce](`updating ${field.name}`)
    this.#announced = wanted
    return {
      request: { method: 'PATCH', ...field.write(nodeName, wanted, this.#before, clock.now().wallMs) },
      isShownIn: (node) => field.shows(field.read(node), wanted),
      settle: settle((answer) => (answer.kind === 'ok' ? this.#learn(field.read(answer.object), wanted) : this.#failToWrite(answer))),
    }
  }

  #look(answer: KubeAnswer): void {
    if (answer.kind !== 'ok') {
      this.#fail(answer)
      return
    }
    this.#before = this.#field.read(answer.object)
    this.#server = this.#before
    this.#isThere = this.#before !== 'absent'
    this.#answersSinceMs ??= this.#pace.nowMs()
    this.#pace.hold(WRITE_SPACING_MS)
  }

  #learn(answered: Seen | 'absent', sent: Wanted): void {
    this.#server = answered
    this.#before = answered
    this.#isThere = answered !== 'absent'
    this.#forbidden = 0
    this.#answersSinceMs ??= this.#pace.nowMs()
    this.#pace.succeeded()
    this.#isAgain = false
    if (this.#field.shows(answered, sent)) {
      this.#unpark()
      this.#repairAtMs = undefined
      this.#confirmed = { wanted: sent, atMs: this.#pace.nowMs() }
      this.#writtenAtUs = this.#options.clock.now().monotonicUs
      if (this.#meanwhile === undefined || this.#field.shows(this.#meanwhile, sent)) return
      this.#server = undefined
      this.#repairAtMs = this.#confirmed.atMs + REPAIR_EVERY_MS
      return
    }
    this.#park(answered === 'absent' ? 'dropped' : 'refused')
    const { name, dropped } = this.#field
    const altered = `the API server stored another ${name} than the agent sent; an admission webhook may have changed it`
    const text = answered === 'absent' ? dropped : altered
    const level = answered === 'absent' && this.#field.mayBeDropped ? 'info' : 'warn'
    if (text !== this.#loggedParkReason) this.#options.log[level](text, { node: this.#options.nodeName })
    this.#loggedParkReason = text
  }

  #failToWrite(answer: Exclude<KubeAnswer, { kind: 'ok' }>): void {
    this.#server = undefined
    // The server may have applied the patch all the same.
    if (answer.kind === 'unreachable' || answer.status >= 500) this.#before = undefined
    this.#fail(answer)
  }

  #fail(answer: Exclude<KubeAnswer, { kind: 'ok' }>): void {
    const { log, nodeName } = this.#options
    this.#answersSinceMs = undefined
    const failure = answer.kind === 'refused' ? `${answer.status} ${answer.reason}` : answer.kind
    const isNew = this.#pace.failed(failure, answer.kind === 'refused' ? answer.retryAfterMs : undefined)
    // A 5xx answer says nothing about rights.
    const isForbidden = answer.kind === 'refused' && answer.status === 403
    if (isForbidden) this.#forbidden += 1
    else if (answer.kind === 'refused' && answer.status < 500) this.#forbidden = 0
    if (isForbidden && this.#forbidden > FORBIDDEN_TRIES) this.#pace.hold(FORBIDDEN_MS * (1 + 0.2 * this.#options.random()))
    if (answer.kind === 'refused' && isFinal(answer.status)) this.#park('refused')
    const { name, grantedBy } = this.#field
    const detail = `${answer.detail}${adviseOnRefusal(answer, grantedBy)}`
    if (isNew) log.warn(`${name} could not be updated; retrying`, { node: nodeName, failure, detail })
  }

  /**
   * The value to write: the wanted one, or the final one if publishing is off and the Node has the
   * field.
   */
  #target(): Wanted | undefined {
    if (this.#isOn()) return this.#wanted
    return this.#isThere ? this.#field.finalValue : undefined
  }

  #isShown(): boolean {
    const target = this.#target()
    return this.#server !== undefined && target !== undefined && this.#field.shows(this.#server, target)
  }

  #isDone(): boolean {
    return this.#isShown() && !this.#isAgain
  }

  #isUrgent(target: Wanted): boolean {
    const shown = this.#server ?? this.#before
    return shown !== undefined && this.#field.isUrgent?.(shown, target) === true
  }

  /** After a lost answer, the value on the server is not known. */
  #mayMislead(): boolean {
    const target = this.#target()
    const isUnknown = (this.#server ?? this.#before) === undefined && this.#field.isUrgent !== undefined
    return target !== undefined && (isUnknown || this.#isUrgent(target))
  }

  #contradicts(seen: Seen | 'absent'): boolean {
    if (this.#confirmed === undefined || this.#pace.nowMs() >= this.#confirmed.atMs + REPAIR_GRACE_MS) return false
    return !this.#field.shows(seen, this.#confirmed.wanted)
  }

  /** Counts each request, answered or not. */
  #spend(): void {
    const nowMs = this.#pace.nowMs()
    if (this.#budget !== undefined) this.#spentUntilMs = nowMs + this.#budget.spend(nowMs)
  }

  #park(reason: 'dropped' | 'refused'): void {
    this.#parked = reason
    this.#parkedUntilMs = this.#pace.nowMs() + PARKED_MS
  }

  #unpark(): void {
    this.#parked = undefined
    this.#parkedUntilMs = Number.NEGATIVE_INFINITY
  }
}
