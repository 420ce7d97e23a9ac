// SPDX-License-Identifier: Apache-2.0
/**
 * Follows the record of a rollout in the background, and writes what this node has to say. The loop
 * hands it the subject and takes what is known; it never waits for the API server.
 *
 * A watch only wakes. The state that it shows is decided on without a request, and most often the
 * decision is to wait. Only where that decision is a write or a start, the record and then the
 * config are read at their newest, and the same function decides again (R3). After a write, a
 * conflict, or an answer that was lost, everything is read anew.
 */
import { isDeepStrictEqual } from 'node:util'
import type { RolloutSubject } from '../../decision/rollout-subject.ts'
import { TURN_COUNTS_US } from '../../decision/rollout-turn.ts'
import { configOf } from '../../decision/staging.ts'
import type { RolloutKnowledge } from '../../decision/staging-state.ts'
import type { RolloutPort } from '../../ports/assignment-source.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Log } from '../../ports/log.ts'
import { firstLookSpanUs, lookAgainSpanUs } from '../../rollout/order.ts'
import { parsePlan } from '../../rollout/plan.ts'
import type { RolloutTurn } from '../../rollout/view.ts'
import { WATCH_LIMITS, type WatchLimits, type WatchTiming } from '../watch-loop.ts'
import { type Decided, Deciding, decidedWait, type ObservationStore } from './deciding.ts'
import { findRecordRef, type RecordRef, readBoth } from './read-record.ts'
import { RecordWatch } from './record-watch.ts'
import { RECORD_SPACING_MS, RecordWriter, type RolloutCounters } from './record-writer.ts'
import type { RolloutEvents } from './rollout-events.ts'
import { type AskTimeZone, RolloutClock } from './rollout-time.ts'

interface RolloutWorkerDeps {
  readonly nodeName: string
  readonly api: KubeApi
  readonly pace: WatchTiming
  readonly clock: Clock
  readonly log: Log
  readonly store: ObservationStore
  readonly askTimeZone: AskTimeZone
  readonly counters: RolloutCounters
  /** undefined: no events. */
  readonly events?: Pick<RolloutEvents, 'tell'> | undefined
  /** Called when the turn is another. */
  readonly onChange: () => void
  readonly limits?: WatchLimits
}

/** Between two looks at what is known: silence comes by time alone. */
const LOOK_MS = 30_000

export class RolloutWorker implements RolloutPort {
  readonly #deps: RolloutWorkerDeps
  readonly #deciding: Deciding
  readonly #writer: RecordWriter
  readonly #sleeper: Sleeper
  readonly #stopper = new AbortController()
  #running: Promise<void> | undefined
  #subject: RolloutSubject | undefined
  #watch: RecordWatch | undefined
  #last: Decided | undefined
  /** The subject of all fields below: another content begins with a pause of its own. */
  #about = ''
  #notBeforeMs = 0
  /** Everything has to be read anew, whatever the watch shows. */
  #isStale = true

  constructor(given: RolloutWorkerDeps) {
    const time = new RolloutClock({ ...given, onChange: () => this.#sleeper.wake() })
    const deps = { ...given, api: time.listenTo(given.api) }
    this.#deps = deps
    this.#deciding = new Deciding({ ...deps, time })
    this.#writer = new RecordWriter(deps)
    this.#sleeper = new Sleeper(deps.pace)
  }

  follow(subject: RolloutSubject | undefined): void {
    const isSame = isDeepStrictEqual(subject, this.#subject)
    this.#subject = subject
    if (!isSame || (subject !== undefined && this.#wantsFreshTurn(subject))) this.#sleeper.wake()
    if (subject !== undefined) this.#running ??= this.#run()
  }

  known(): RolloutKnowledge | undefined {
    return this.#last?.knowledge
  }

  async stop(): Promise<void> {
    this.#stopper.abort()
    this.#sleeper.wake()
    await Promise.all([this.#running, this.#watch?.stop()])
  }

  async #run(): Promise<void> {
    const { log } = this.#deps
    while (!this.#stopper.signal.aborted) {
      let pauseMs = LOOK_MS
      this.#sleeper.begin()
      try {
        pauseMs = await this.#look()
      } catch (error) {
        log.error('following a rollout failed because of a bug in the agent', { error })
      }
      if (!this.#stopper.signal.aborted) await this.#sleeper.sleep(pauseMs)
    }
  }

  /** @returns for how long to sleep, unless something wakes it */
  async #look(): Promise<number> {
    const subject = this.#subject
    if (subject === undefined) return this.#rest(undefined)
    const ref = findRecordRef(subject)
    if (typeof ref === 'string') return this.#rest(decidedWait(subject, ref))
    const waitMs = this.#begin(subject, ref)
    if (waitMs > 0) return waitMs
    const isFollowed = !subject.node.runs || subject.node.verdict !== undefined || this.#last?.decision.follow === true
    if (!isFollowed) {
      this.#stopWatch()
      return this.#isStale ? this.#readAnew(subject, ref) : LOOK_MS
    }
    const seen = this.#openWatch(ref).seen()
    if (seen === undefined) return LOOK_MS
    if (seen.kind === 'unavailable') return this.#publish(decidedWait(subject, seen.detail))
    // A pause counts for a decision on the watch too: once it is over, nodes are spread.
    const config = { ...subject.seen, hash: subject.node.hash, plan: parsePlan(subject.seen.plan, subject.seen.excluded) }
    const decided = this.#deciding.decide(subject, { found: seen, config, contactUs: this.#takeContactUs(), confirmedAtUs: undefined })
    if (this.#isStale || decided.decision.write !== undefined || this.#isTurnToConfirm(subject, decided.decision.turn))
      return this.#readAnew(subject, ref)
    return this.#publish(decided)
  }

  /** The record, then the config, both at their newest; then what follows from them. */
  async #readAnew(subject: RolloutSubject, ref: RecordRef): Promise<number> {
    const { api, pace, clock } = this.#deps
    const pauseMs = this.#notBeforeMs - pace.nowMs()
    if (pauseMs > 0) return pauseMs
    this.#notBeforeMs = pace.nowMs() + RECORD_SPACING_MS
    const sinceUs = clock.now().monotonicUs
    const seen = this.#watch?.seen()
    const read = await readBoth(api, ref, subject.config)
    if (read.kind === 'unavailable') {
      this.#notBeforeMs = pace.nowMs() + this.#writer.pauseMs(read.retryAfterMs)
      return this.#publish(decidedWait(subject, read.detail))
    }
    const { found, config } = read
    // An event that came meanwhile may be the last one, so it must not be lost.
    if (this.#watch?.read(found, seen) === false) return RECORD_SPACING_MS
    // The facts of the node may have changed meanwhile.
    const latest = this.#subject
    if (latest === undefined || this.#aboutOf(latest, ref) !== this.#about) return 0
    const decided = this.#deciding.decide(latest, { found, config, contactUs: this.#takeContactUs(), confirmedAtUs: sinceUs })
    this.#isStale = false
    const { write } = decided.decision
    if (write === undefined) {
      this.#writer.worked()
      return this.#publish(decided)
    }
    this.#publish({ ...decided, knowledge: { ...decided.knowledge, turn: this.#writer.describe(decided.decision.turn) } })
    const { ok, pauseMs: restMs } = await this.#writer.send(ref, write)
    const after = ok ? this.#deciding.progressAfter(write, found.record, config, latest) : undefined
    if (after !== undefined) await this.#deps.events?.tell({ ...latest.config, uid: config.uid }, decided.knowledge.progress, after)
    this.#notBeforeMs = pace.nowMs() + restMs
    this.#isStale = true
    return Math.max(0, this.#notBeforeMs - pace.nowMs())
  }

  /** @returns how long to wait before the first request about this content */
  #begin(subject: RolloutSubject, ref: RecordRef): number {
    const { pace } = this.#deps
    const about = this.#aboutOf(subject, ref)
    if (about !== this.#about) {
      this.#about = about
      // A node that waits is told by its watch. One that runs the content opens none unless it has
      // a claim.
      this.#isStale = subject.node.runs
      this.#last = undefined
      this.#notBeforeMs = Math.max(this.#notBeforeMs, pace.nowMs() + (pace.random() * firstLookSpanUs(subject.node)) / 1000)
    }
    return this.#last === undefined ? this.#notBeforeMs - pace.nowMs() : 0
  }

  #aboutOf({ config, node, seen }: RolloutSubject, { name }: RecordRef): string {
    return JSON.stringify([configOf(config), name, seen.uid, node.hash, node.uid])
  }

  #takeContactUs(): number {
    return this.#watch?.contact.take() ?? 0
  }

  #isTurnToConfirm(subject: RolloutSubject, turn: RolloutTurn): boolean {
    return turn.kind === 'go' && !subject.node.runs && subject.node.ready.ok && !this.#isTurnFresh()
  }

  /** The loop waits for a turn that was read too long ago. */
  #wantsFreshTurn({ node }: RolloutSubject): boolean {
    return this.#last?.decision.turn.kind === 'go' && !node.runs && node.ready.ok && !this.#isTurnFresh()
  }

  #isTurnFresh(): boolean {
    const confirmedAtUs = this.#last?.knowledge.confirmedAtUs
    return confirmedAtUs !== undefined && this.#deps.clock.now().monotonicUs - confirmedAtUs < TURN_COUNTS_US / 2
  }

  /** @returns for how long to sleep */
  #publish(decided: Decided): number {
    const { clock, store, onChange } = this.#deps
    const before = this.#last?.knowledge
    const isKept = decided.knowledge.confirmedAtUs === undefined && this.#isTurnFresh() && before?.turn.kind === decided.knowledge.turn.kind
    this.#last = isKept ? { ...decided, knowledge: { ...decided.knowledge, confirmedAtUs: before?.confirmedAtUs } } : decided
    if (!isDeepStrictEqual(before, this.#last.knowledge)) {
      store.put('rollout-turn', this.#last.knowledge)
      onChange()
    }
    const { turn } = decided.decision
    // In microseconds, as the turn was decided: a rest that rounds to 0 would never end.
    const untilMs = turn.kind === 'wait-until' ? Math.ceil((turn.atUs - clock.now().monotonicUs) / 1000) : LOOK_MS
    return Math.max(0, Math.min(LOOK_MS, untilMs))
  }

  /** Nothing is followed: no request is made until the subject changes. */
  #rest(decided: Decided | undefined): number {
    this.#stopWatch()
    this.#about = ''
    if (decided === undefined) this.#last = undefined
    else this.#publish(decided)
    return Number.POSITIVE_INFINITY
  }

  #openWatch(ref: RecordRef): RecordWatch {
    const watch = this.#watch
    if (watch !== undefined && watch.ref.namespace === ref.namespace && watch.ref.name === ref.name) return watch
    this.#stopWatch()
    const { api, pace, log, limits = WATCH_LIMITS } = this.#deps
    const opened = new RecordWatch(
      { api, pace, log, limits },
      ref,
      () => this.#sleeper.wake(),
      () => this.#readAgain(),
      () => (this.#subject === undefined ? 0 : lookAgainSpanUs(this.#subject.node) / 1000),
    )
    opened.start()
    this.#watch = opened
    return opened
  }

  #stopWatch(): void {
    void this.#watch?.stop()
    this.#watch = undefined
  }

  #readAgain(): void {
    this.#isStale = true
    this.#sleeper.wake()
  }
}

/** A timer of Node.js takes no more than 2^31 ms. */
const LONGEST_MS = 3_600_000

/**
 * A sleep that can be ended from outside. A call of `wake` while nothing sleeps ends the next
 * sleep.
 */
class Sleeper {
  readonly #pace: Pick<WatchTiming, 'sleep'>
  #current: AbortController | undefined
  #isWoken = false

  constructor(pace: Pick<WatchTiming, 'sleep'>) {
    this.#pace = pace
  }

  wake(): void {
    this.#isWoken = true
    this.#current?.abort()
  }

  /** A call of `wake` from now on ends the next sleep. */
  begin(): void {
    this.#isWoken = false
  }

  async sleep(ms: number): Promise<void> {
    if (this.#isWoken) return
    this.#current = new AbortController()
    await this.#pace.sleep(Math.min(ms, LONGEST_MS), this.#current.signal)
  }
}

const DETAIL =
  'a rollout needs an API server, and the agent takes its assignment from a directory; set the annotation kubelet-cfg-agent.io/rollout to `off`'

/**
 * In place of the worker where assignments come from a directory. Nodes coordinate a rollout
 * through a record in the cluster, and there is none: what has a rollout waits, and says why.
 */
export class NoRolloutRecord implements RolloutPort {
  #known: RolloutKnowledge | undefined

  follow(subject: RolloutSubject | undefined): void {
    if (subject === undefined) {
      this.#known = undefined
      return
    }
    const { config, node } = subject
    const turn = { kind: 'wait', detail: DETAIL } as const
    this.#known = { config: `${config.namespace}/${config.name}`, hash: node.hash, turn, confirmedAtUs: undefined, progress: undefined }
  }

  known(): RolloutKnowledge | undefined {
    return this.#known
  }

  async stop(): Promise<void> {}
}
