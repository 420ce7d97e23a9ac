// SPDX-License-Identifier: Apache-2.0
/**
 * Watches one object, or a labelled collection, until it is stopped: carries out what `reflect.ts`
 * decides over the KubeApi port. Requests start at least a second apart, except for a list and the
 * watch that belongs to it. Never gives up, and throws only what a callback of its owner throws.
 */
import type { WatchFailure } from '../decision/desired.ts'
import { readErrorEvent } from '../kube/answer.ts'
import { unlessAborted } from '../kube/backoff.ts'
import type { KubeAnswer, KubeApi, KubeRequest, KubeWatchRequest } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'
import type { Form } from './kube-object.ts'
import {
  type AfterBreak,
  afterRead,
  afterWatch,
  INITIAL,
  isForbidden,
  isWorking,
  type Next,
  nextRequest,
  type ReadEnd,
  type ReflectTiming,
  type RequestFailure,
  type WatchEnd,
  type WatchRequest,
} from './reflect.ts'

/** The watched object, and the callbacks of its owner. */
export interface Followed {
  /** For the log: `/api/v1/nodes/n1`. */
  readonly what: string
  /** `/api/v1/nodes`. */
  readonly collection: string
  /** Selects within the collection. */
  readonly query: Readonly<Record<string, string>>
  /** Default: `watch`. */
  readonly afterBreak?: AfterBreak | undefined
  read(verb: 'list' | 'get', send: SendRead): Promise<Read>
  /** Called before each watch. */
  formOfWatch(): Promise<Form>
  /** Returns what hands the event over, or why it cannot be used, which ends the watch. */
  readEvent(type: ChangeType, object: JsonObject, watch: OpenWatch): (() => void) | RequestFailure
  onFailed(reason: WatchFailure, detail: string): void
  /** Something was read or received: what is known is current. */
  onSynced(): void
  onReconnect(): void
  /** The server accepted a watch: it sends what changes, and nothing while nothing does. */
  onOpen?(): void
  /** A read failed, or a watch ended otherwise than regularly. Not called after a stop. */
  onLost?(): void
}

type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED'

interface OpenWatch {
  readonly form: Form
  /**
   * The resourceVersion that the watch started at. Empty: without one, so at whatever the server
   * had in its cache.
   */
  readonly since: string
}

/** Sends one GET. */
export type SendRead = (request: Pick<KubeRequest, 'path' | 'query' | 'as'>) => Promise<KubeAnswer>

export interface Read {
  readonly end: ReadEnd
  /** Hands over what was read. Not called after a stop. */
  readonly deliver?: () => void
}

/**
 * Time and randomness, passed in. `nowMs` is monotonic. `sleep` ends early, without throwing, when
 * the signal aborts.
 */
export interface WatchTiming {
  readonly nowMs: () => number
  readonly random: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

/**
 * When the last two requests about an object started. Kept when a watch is stopped and started
 * again.
 */
export interface RequestGate {
  lastMs: number
  beforeMs: number
}

export function openGate(): RequestGate {
  return { lastMs: Number.NEGATIVE_INFINITY, beforeMs: Number.NEGATIVE_INFINITY }
}

export interface WatchDeps {
  readonly api: KubeApi
  readonly pace: WatchTiming
  readonly log: Log
  readonly limits: WatchLimits
}

export interface WatchLimits {
  /**
   * A watch without data for this long is ended. An API server sends a bookmark about every minute.
   */
  readonly inactivityMs: number
  readonly requestTimeoutMs: number
}
export const WATCH_LIMITS: WatchLimits = { inactivityMs: 150_000, requestTimeoutMs: 30_000 }

const SPACING_MS = 1000
/** After this long without requests, a watch starts right after its list. */
const QUIET_MS = 10_000

export async function follow(deps: WatchDeps, followed: Followed, gate: RequestGate, signal: AbortSignal): Promise<void> {
  const { api, pace, log, limits } = deps
  const watchLog = new WatchLog(log, followed.what)
  const timing = (): ReflectTiming => ({ nowMs: pace.nowMs(), random: pace.random })
  const send: SendRead = (request) => orStopped(api.request({ method: 'GET', timeoutMs: limits.requestTimeoutMs, ...request }), signal)
  let next: Next = { state: INITIAL, waitMs: 0, immediate: false, report: undefined }
  let watches = 0
  while (!signal.aborted) {
    const isPair = next.immediate && gate.lastMs - gate.beforeMs >= QUIET_MS
    const waitMs = isPair ? 0 : Math.max(next.waitMs, gate.lastMs + SPACING_MS - pace.nowMs())
    if (waitMs > 0) await pace.sleep(waitMs, signal)
    if (signal.aborted) return
    const { state } = next
    const request = nextRequest(state, timing())
    const form = request.kind === 'watch' ? await followed.formOfWatch() : 'whole'
    if (signal.aborted) return
    gate.beforeMs = gate.lastMs
    gate.lastMs = pace.nowMs()
    if (request.kind === 'watch') {
      if (watches++ > 0) followed.onReconnect()
      const ended = await watchOnce(deps, followed, request, form, watchLog, signal)
      if (signal.aborted) return
      if (ended.end.kind !== 'ended') followed.onLost?.()
      next = afterWatch(state, ended, timing(), followed.afterBreak)
      watchLog.watchEnded(ended, next)
    } else {
      const { end, deliver } = await followed.read(request.kind, send)
      if (signal.aborted) return
      next = afterRead(state, end, timing())
      watchLog.readEnded(end, next)
      if (end.kind === 'read') {
        followed.onSynced()
        deliver?.()
      } else {
        followed.onLost?.()
        if (next.report !== undefined) followed.onFailed(next.report, end.detail)
      }
    }
  }
}

async function watchOnce(
  { api, limits, pace }: WatchDeps,
  followed: Followed,
  request: WatchRequest,
  form: Form,
  watchLog: WatchLog,
  signal: AbortSignal,
): Promise<WatchEnd> {
  let openedMs: number | undefined
  const livedMs = (): number => (openedMs === undefined ? 0 : pace.nowMs() - openedMs)
  const stopper = new AbortController()
  const stop = (): void => stopper.abort()
  signal.addEventListener('abort', stop, { once: true })
  let { resourceVersion } = request
  let failure: RequestFailure | undefined
  const fail = (reason: RequestFailure): void => {
    failure ??= reason
    stop()
  }
  const take: KubeWatchRequest['onEvent'] = ({ type, object }) => {
    if (type === 'ERROR') return fail(readErrorEvent(object))
    const version = versionOf(object)
    if (version === undefined || !isObject(object)) return fail(malformed(`a ${type} event without a resourceVersion`))
    const reading = isChange(type) ? followed.readEvent(type, object, { form, since: request.resourceVersion }) : undefined
    if (typeof reading === 'object') return fail(reading)
    resourceVersion = version
    followed.onSynced()
    watchLog.received(livedMs())
    reading?.()
  }
  let thrown: { readonly error: unknown } | undefined
  const end = await api.watch({
    path: followed.collection,
    query: {
      ...followed.query,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(request.timeoutSeconds),
      ...(resourceVersion === '' ? {} : { resourceVersion }),
    },
    inactivityMs: limits.inactivityMs,
    signal: stopper.signal,
    ...(form === 'metadata' ? { as: 'PartialObjectMetadata' } : {}),
    onOpen() {
      openedMs = pace.nowMs()
      if (!signal.aborted) followed.onOpen?.()
    },
    // Thrown out of here, an error would end the agent: nobody waits for it.
    onEvent(event) {
      if (failure !== undefined || thrown !== undefined || signal.aborted) return
      try {
        take(event)
      } catch (error) {
        thrown = { error }
        stop()
      }
    },
  })
  signal.removeEventListener('abort', stop)
  if (thrown !== undefined) throw thrown.error
  return { end: failure ?? end, resourceVersion, livedMs: livedMs() }
}

function isChange(type: string): type is ChangeType {
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED'
}

/** A bookmark has no name, only a resourceVersion. */
function versionOf(object: unknown): string | undefined {
  const version = isObject(object) && isObject(object.metadata) ? object.metadata.resourceVersion : undefined
  return typeof version === 'string' && version !== '' ? version : undefined
}

/** A malformed answer counts as no answer. */
export function malformed(detail: string): RequestFailure {
  return { kind: 'malformed', detail }
}

/** A request cannot be taken back, but the caller need not wait for it. */
async function orStopped(answer: Promise<KubeAnswer>, signal: AbortSignal): Promise<KubeAnswer> {
  return (await unlessAborted(answer, signal)) ?? { kind: 'unreachable', detail: 'stopped' }
}

/** A single broken connection is common; a malformed answer is not. */
const FAILURES_TO_WARN = 2

/**
 * Logs the state of one watched object: one line per change, and none for a repeated failure. Read
 * and watch count separately: a list may work while the watch after it fails.
 */
export class WatchLog {
  readonly #log: Log
  readonly #what: string
  /** Causes logged since the last success. */
  readonly #readFailures = new Set<string>()
  readonly #watchFailures = new Set<string>()
  /** Polling was logged. */
  #loggedPolling = false

  constructor(log: Log, what: string) {
    this.#log = log
    this.#what = what
  }

  readEnded(end: ReadEnd, { state }: Next): void {
    if (end.kind !== 'read') {
      this.#logFailure(this.#readFailures, end, state.failures)
      return
    }
    if (this.#readFailures.size > 0) this.#log.info(`${this.#what} can be read again`)
    this.#readFailures.clear()
  }

  /** To be called when something arrives on a watch that has lasted this long. */
  received(livedMs: number): void {
    if (!isWorking(livedMs)) return
    if (this.#watchFailures.size > 0 || this.#loggedPolling) this.#log.info(`${this.#what} is watched again`)
    this.#watchFailures.clear()
    this.#loggedPolling = false
  }

  watchEnded({ end, livedMs }: WatchEnd, { state }: Next): void {
    this.#log.debug(`watch of ${this.#what} ended`, { end, livedMs })
    this.received(livedMs)
    if (end.kind === 'ended') return
    // A 403 is logged only once polling starts.
    if (!isForbidden(end)) this.#logFailure(this.#watchFailures, end, state.failures)
    if (!state.polling || this.#loggedPolling) return
    this.#log.warn(`watching ${this.#what} is forbidden: reading it every minute instead`)
    this.#loggedPolling = true
  }

  #logFailure(logged: Set<string>, { kind, detail }: RequestFailure, failures: number): void {
    const isCommon = kind !== 'malformed' && failures < FAILURES_TO_WARN
    if (isCommon || logged.has(detail)) {
      this.#log.debug(`${this.#what}: ${detail}`, { failures })
      return
    }
    logged.add(detail)
    this.#log.warn(`${this.#what} cannot be followed: ${detail}; retrying at least once a minute`)
  }
}
