/**
 * Keeps one field of the Node what the agent says it is: newest wins, written only where the server shows something else, and the answer is read,
 * because a server may drop or alter a field without an error. Sends no more than one request a second, whatever happens, and far fewer in the long
 * run; a difference that somebody else made is mended at most once a minute. Where nothing may be written, it says so once and asks again slowly.
 * What the field is and how it travels is the `NodeField`'s; fields know nothing of each other.
 *
 * What holds a request back is kept apart by its cause: the server's word and the spacing (`Pace`), a park, the budget of the long run. So
 * that one ends without the others.
 */
import type { Clock } from '../ports/clock.ts'
import type { KubeAnswer, KubeApi, KubeRequest } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import { Budget } from './budget.ts'
import type { Work } from './lane.ts'
import { isFinal, RequestPace, SPACING_MS } from './request-pace.ts'

export interface WorkOptions {
  readonly api: KubeApi
  readonly nodeName: string
  readonly clock: Clock
  readonly log: Log
  /** In [0, 1). */
  readonly random: () => number
}

/** `Seen`: what a server shows of it, which may be more than is wanted. */
export interface NodeField<Wanted, Seen = Wanted> {
  /** For the log. */
  readonly name: string
  /** How loudly a write is told: the transitions behind it have lines of their own. */
  readonly announce: 'info' | 'debug'
  /** Said where the server drops it. */
  readonly dropped: string
  /** What the server has decides about what is written: read it before the first write. */
  readonly readsFirst: boolean
  /** How many requests in a row, and then one each so often. Absent: as often as there is something to write. */
  readonly longRun?: { readonly inARow: number; readonly everyMs: number }
  /** What is left there once the agent no longer keeps the field. Absent: what is there stays. */
  readonly farewell?: Wanted
  read(node: unknown): Seen | 'absent'
  shows(seen: Seen | 'absent', wanted: Wanted): boolean
  /** What must not wait for the budget: what the server shows would deceive somebody. */
  isUrgent?(seen: Seen | 'absent', wanted: Wanted): boolean
  same(a: Wanted, b: Wanted): boolean
  /** @param before what the server has, as far as it is known */
  write(nodeName: string, wanted: Wanted, before: Seen | 'absent' | undefined, wallMs: number): Omit<KubeRequest, 'method'>
}

/** For a state that may go back and forth for ever. A person who rolls out does not meet its end. */
export const LONG_RUN = { inARow: 60, everyMs: 10_000 } as const
const MEND_EVERY_MS = 60_000
/** A watch may still tell of the state before our own patch. */
const MEND_GRACE_MS = 2000
/** How often a server that drops or refuses the field is asked again: it may have been replaced by another version. */
const PARKED_MS = 3600_000
/** Right after it was granted a right may not have reached every server yet. */
const FORBIDDEN_TRIES = 3
/** Rights are granted by people. */
const FORBIDDEN_MS = 600_000

export class FieldWork<Wanted, Seen = Wanted> implements Work {
  readonly #options: WorkOptions
  readonly #field: NodeField<Wanted, Seen>
  readonly #isOn: () => boolean
  readonly #pace: RequestPace
  readonly #budget: Budget | undefined
  #wanted: Wanted | undefined
  /** As it was seen last. undefined: not known. */
  #server: Seen | 'absent' | undefined
  /** As it was before anybody could meddle: what our own last write, or the first look, left there. undefined: to be read. */
  #before: Seen | 'absent' | undefined
  /** Whether the Node had anything there when it was last seen. */
  #isThere = false
  #nodeUid: string | undefined
  /** Counts the Nodes of this name: an answer about one says nothing of the next. */
  #generation = 0
  /** What the server last answered that it has. */
  #kept: { readonly wanted: Wanted; readonly atMs: number } | undefined
  /** What was seen last since the request under way was sent: it may be newer than its answer. */
  #meanwhile: Seen | 'absent' | undefined
  /** When a difference that somebody else made is mended. undefined: there is none. */
  #mendAtMs: number | undefined
  #announced: Wanted | undefined
  #parked: 'dropped' | 'refused' | undefined
  #parkedUntilMs = Number.NEGATIVE_INFINITY
  /** Until when the budget is spent. */
  #spentUntilMs = Number.NEGATIVE_INFINITY
  #parkSaid = ''
  #forbidden = 0

  constructor(options: WorkOptions, field: NodeField<Wanted, Seen>, isOn: () => boolean = () => true) {
    this.#options = options
    this.#field = field
    this.#isOn = isOn
    this.#pace = new RequestPace(options.clock, options.random)
    const { longRun } = field
    this.#budget = longRun && new Budget(longRun.inARow, longRun.everyMs)
  }

  want(wanted: Wanted): void {
    if (this.#wanted !== undefined && this.#field.same(this.#wanted, wanted)) return
    this.#wanted = wanted
    // It was this value that was refused; the next may pass.
    if (this.#parked === 'refused' && this.#isOn()) this.#unpark()
  }

  /** What a read or a watch shows of the Node. `seen` is undefined where the field was not in what was asked for. */
  observe(uid: string, seen: Seen | 'absent' | undefined): void {
    if (this.#nodeUid !== undefined && this.#nodeUid !== uid) {
      this.#options.log.info(`Node was created anew; its ${this.#field.name} is sent again`, { uid })
      this.#generation += 1
      this.#isThere = false
      this.#kept = undefined
      this.#server = undefined
      this.#before = undefined
      if (this.#parked !== 'dropped') this.#unpark()
    }
    const isFirst = this.#nodeUid !== uid
    this.#nodeUid = uid
    if (seen === undefined) return
    this.#isThere = seen !== 'absent'
    this.#meanwhile = seen
    // What contradicts our own write so soon may be older than that, or a meddler's: neither is worth relying on.
    this.#server = this.#contradicts(seen) ? undefined : seen
    // Later ones can be older than our own writes.
    if (isFirst) this.#before ??= seen
    // What a server shows, it stores.
    if (this.#parked === 'dropped' && seen !== 'absent') this.#unpark()
    if (this.#kept === undefined || this.#isShown()) this.#mendAtMs = undefined
    else this.#mendAtMs ??= Math.max(this.#pace.nowMs() + MEND_GRACE_MS, this.#kept.atMs + MEND_EVERY_MS)
  }

  dueInMs(): number | undefined {
    const target = this.#target()
    if (target === undefined || this.#isShown()) return undefined
    const nowMs = this.#pace.nowMs()
    const mends = this.#kept !== undefined && this.#field.same(this.#kept.wanted, target)
    const mendInMs = mends && this.#mendAtMs !== undefined ? this.#mendAtMs - nowMs : 0
    const spentForMs = this.#isUrgent(target) ? 0 : this.#spentUntilMs - nowMs
    return Math.max(this.#pace.dueInMs(), mendInMs, this.#parkedUntilMs - nowMs, spentForMs)
  }

  async attempt(): Promise<void> {
    const { api, nodeName, clock, log } = this.#options
    const field = this.#field
    const wanted = this.#target()
    if (wanted === undefined) return
    this.#spend()
    if (field.readsFirst && this.#before === undefined) return this.#readFirst()
    const generation = this.#generation
    this.#meanwhile = undefined
    if (this.#announced !== wanted) log[field.announce](`updating ${field.name}`)
    this.#announced = wanted
    const answer = await api.request({ method: 'PATCH', ...field.write(nodeName, wanted, this.#before, clock.now().wallMs) })
    if (generation !== this.#generation) this.#pace.hold(SPACING_MS)
    else if (answer.kind === 'ok') this.#learn(field.read(answer.object), wanted)
    else this.#fail(answer)
  }

  async #readFirst(): Promise<void> {
    const { api, nodeName } = this.#options
    const generation = this.#generation
    const answer = await api.request({ method: 'GET', path: `/api/v1/nodes/${nodeName}` })
    if (generation !== this.#generation) return this.#pace.hold(SPACING_MS)
    if (answer.kind !== 'ok') return this.#fail(answer)
    this.#before = this.#field.read(answer.object)
    this.#server = this.#before
    this.#isThere = this.#before !== 'absent'
    this.#pace.hold(SPACING_MS)
  }

  #learn(answered: Seen | 'absent', sent: Wanted): void {
    this.#server = answered
    this.#before = answered
    this.#isThere = answered !== 'absent'
    this.#forbidden = 0
    this.#pace.succeeded()
    if (this.#field.shows(answered, sent)) {
      this.#unpark()
      this.#mendAtMs = undefined
      this.#kept = { wanted: sent, atMs: this.#pace.nowMs() }
      if (this.#meanwhile === undefined || this.#field.shows(this.#meanwhile, sent)) return
      this.#server = undefined
      this.#mendAtMs = this.#kept.atMs + MEND_EVERY_MS
      return
    }
    this.#park(answered === 'absent' ? 'dropped' : 'refused')
    const { name, dropped } = this.#field
    const said = answered === 'absent' ? dropped : `the API server keeps another ${name} than was sent to it, as an admission webhook would`
    if (said !== this.#parkSaid) this.#options.log.warn(said, { node: this.#options.nodeName })
    this.#parkSaid = said
  }

  #fail(answer: Exclude<KubeAnswer, { kind: 'ok' }>): void {
    const { log, nodeName } = this.#options
    this.#server = undefined
    const failure = answer.kind === 'refused' ? `${answer.status} ${answer.reason}` : answer.kind
    // It may have been carried out all the same.
    if (answer.kind === 'unreachable' || answer.status >= 500) this.#before = undefined
    const isNew = this.#pace.failed(failure, answer.kind === 'refused' ? answer.retryAfterMs : undefined)
    // A server in trouble says nothing of rights.
    const isForbidden = answer.kind === 'refused' && answer.status === 403
    if (isForbidden) this.#forbidden += 1
    else if (answer.kind === 'refused' && answer.status < 500) this.#forbidden = 0
    if (isForbidden && this.#forbidden > FORBIDDEN_TRIES) this.#pace.hold(FORBIDDEN_MS * (1 + 0.2 * this.#options.random()))
    if (answer.kind === 'refused' && isFinal(answer.status)) this.#park('refused')
    if (isNew) log.warn(`${this.#field.name} could not be updated; it is tried again`, { node: nodeName, failure, detail: answer.detail })
  }

  /** What is to be there: what is wanted, or what is left behind where there is something of ours. */
  #target(): Wanted | undefined {
    if (this.#isOn()) return this.#wanted
    return this.#isThere ? this.#field.farewell : undefined
  }

  #isShown(): boolean {
    const target = this.#target()
    return this.#server !== undefined && target !== undefined && this.#field.shows(this.#server, target)
  }

  #isUrgent(target: Wanted): boolean {
    const shown = this.#server ?? this.#before
    return shown !== undefined && this.#field.isUrgent?.(shown, target) === true
  }

  #contradicts(seen: Seen | 'absent'): boolean {
    if (this.#kept === undefined || this.#pace.nowMs() >= this.#kept.atMs + MEND_GRACE_MS) return false
    return !this.#field.shows(seen, this.#kept.wanted)
  }

  /** Of each request, answered or not. */
  #spend(): void {
    const nowMs = this.#pace.nowMs()
    if (this.#budget !== undefined) this.#spentUntilMs = nowMs + this.#budget.spend(nowMs)
  }

  #park(why: 'dropped' | 'refused'): void {
    this.#parked = why
    this.#parkedUntilMs = this.#pace.nowMs() + PARKED_MS
  }

  #unpark(): void {
    this.#parked = undefined
    this.#parkedUntilMs = Number.NEGATIVE_INFINITY
  }
}
