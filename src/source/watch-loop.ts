/**
 * Follows a part of the API server for as long as it is wanted, be it one object or a labelled few: carries out what `reflect.ts` decides, over the
 * KubeApi port. No two requests start less than a second apart, save a list and the watch that belongs to it. It never gives up and never
 * throws.
 */

import { readErrorEvent } from '../kube/answer.ts'
import { unlessAborted } from '../kube/unless-aborted.ts'
import type { KubeAnswer, KubeApi, KubeRequest } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'
import {
  afterRead,
  afterWatch,
  type Dice,
  INITIAL,
  type Next,
  nextAsk,
  type ReadEnd,
  type RequestFailure,
  type WatchAsk,
  type WatchEnd,
} from './reflect.ts'
import { WatchTrouble } from './watch-trouble.ts'

/** How much of an object is asked for: of a Node, metadata is a fraction. */
export type Form = 'whole' | 'metadata'

/** What is followed, and who looks at it. */
export interface Followed {
  /** As in `/api/v1/nodes/n1`, for people. */
  readonly what: string
  /** `/api/v1/nodes`. */
  readonly collection: string
  /** What selects it there. */
  readonly query: Readonly<Record<string, string>>
  read(ask: 'list' | 'get', send: SendRead): Promise<Read>
  /** Asked before each watch. */
  formOfWatch(): Promise<Form>
  onEvent(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: JsonObject, form: Form): void
  onFailed(reason: 'forbidden' | 'unreachable', detail: string): void
  /** The server was heard: what is known is as it is. */
  onSynced(): void
  onReconnect(): void
}

/** Sends one GET. */
export type SendRead = (request: Pick<KubeRequest, 'path' | 'query' | 'as'>) => Promise<KubeAnswer>

export interface Read {
  readonly end: ReadEnd
  /** Called with what was read, unless it is no longer wanted by then. */
  readonly deliver?: () => void
}

/** Time and chance, passed in. `nowMs` is monotonic. `sleep` ends early, without throwing, when the signal aborts. */
export interface WatchTiming {
  readonly nowMs: () => number
  readonly random: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

/** When the last two requests about an object were started: outlives a watch that is stopped and started again. */
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
  /** Of a watch. An API server sends a bookmark about every minute. */
  readonly inactivityMs: number
  readonly requestTimeoutMs: number
}
export const WATCH_LIMITS: WatchLimits = { inactivityMs: 150_000, requestTimeoutMs: 30_000 }

const SPACING_MS = 1000
/** A list that comes after as much quiet is followed by its watch at once. */
const QUIET_MS = 10_000

export async function follow(deps: WatchDeps, followed: Followed, gate: RequestGate, signal: AbortSignal): Promise<void> {
  const { api, pace, log, limits } = deps
  const trouble = new WatchTrouble(log, followed.what)
  const roll = (): Dice => ({ nowMs: pace.nowMs(), random: pace.random })
  const send: SendRead = (request) => orStopped(api.request({ method: 'GET', timeoutMs: limits.requestTimeoutMs, ...request }), signal)
  let next: Next = { state: INITIAL, waitMs: 0, adjoining: false, report: undefined }
  let watches = 0
  while (!signal.aborted) {
    const paired = next.adjoining && gate.lastMs - gate.beforeMs >= QUIET_MS
    const waitMs = paired ? 0 : Math.max(next.waitMs, gate.lastMs + SPACING_MS - pace.nowMs())
    if (waitMs > 0) await pace.sleep(waitMs, signal)
    if (signal.aborted) return
    const { state } = next
    const ask = nextAsk(state, roll())
    const form = ask.kind === 'watch' ? await followed.formOfWatch() : 'whole'
    if (signal.aborted) return
    gate.beforeMs = gate.lastMs
    gate.lastMs = pace.nowMs()
    if (ask.kind === 'watch') {
      if (watches++ > 0) followed.onReconnect()
      const ended = await watchOnce(deps, followed, ask, form, trouble, signal)
      if (signal.aborted) return
      next = afterWatch(state, ended, roll())
      trouble.watchEnded(ended, next)
    } else {
      const { end, deliver } = await followed.read(ask.kind, send)
      if (signal.aborted) return
      next = afterRead(state, end, roll())
      trouble.readEnded(end, next)
      if (end.kind === 'read') {
        followed.onSynced()
        deliver?.()
      } else if (next.report !== undefined) {
        followed.onFailed(next.report, end.detail)
      }
    }
  }
}

async function watchOnce(
  { api, limits, pace }: WatchDeps,
  followed: Followed,
  ask: WatchAsk,
  form: Form,
  trouble: WatchTrouble,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const startedMs = pace.nowMs()
  const stopper = new AbortController()
  const stop = (): void => stopper.abort()
  signal.addEventListener('abort', stop, { once: true })
  let { resourceVersion } = ask
  let failure: RequestFailure | undefined
  const fail = (because: RequestFailure): void => {
    failure ??= because
    stop()
  }
  const end = await api.watch({
    path: followed.collection,
    query: {
      ...followed.query,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(ask.timeoutSeconds),
      ...(resourceVersion === '' ? {} : { resourceVersion }),
    },
    inactivityMs: limits.inactivityMs,
    signal: stopper.signal,
    ...(form === 'metadata' ? { as: 'PartialObjectMetadata' } : {}),
    onEvent({ type, object }) {
      if (failure !== undefined || signal.aborted) return
      if (type === 'ERROR') {
        fail(readErrorEvent(object))
        return
      }
      const version = versionOf(object)
      if (version === undefined || !isObject(object)) {
        fail(malformed(`a ${type} event without a resourceVersion`))
        return
      }
      resourceVersion = version
      followed.onSynced()
      trouble.received(pace.nowMs() - startedMs)
      if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') followed.onEvent(type, object, form)
    },
  })
  signal.removeEventListener('abort', stop)
  return { end: failure ?? end, resourceVersion, livedMs: pace.nowMs() - startedMs }
}

/** The version of a list and what is in it. undefined: it is no list. */
export function readList(list: unknown): { readonly resourceVersion: string; readonly items: readonly unknown[] } | undefined {
  const resourceVersion = versionOf(list)
  if (!isObject(list) || resourceVersion === undefined) return undefined
  // An empty list of a Go server is null.
  return { resourceVersion, items: Array.isArray(list.items) ? list.items : [] }
}

/** A bookmark has no name, only a version. */
function versionOf(object: unknown): string | undefined {
  const version = isObject(object) && isObject(object.metadata) ? object.metadata.resourceVersion : undefined
  return typeof version === 'string' && version !== '' ? version : undefined
}

/** An answer that makes no sense is none. */
export function malformed(detail: string): RequestFailure {
  return { kind: 'unreachable', detail }
}

/** A request cannot be taken back, but the caller need not wait for it. */
async function orStopped(answer: Promise<KubeAnswer>, signal: AbortSignal): Promise<KubeAnswer> {
  return (await unlessAborted(answer, signal)) ?? { kind: 'unreachable', detail: 'stopped' }
}
