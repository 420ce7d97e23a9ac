/**
 * Follows one object of the API server for as long as it is wanted: carries out what `reflect.ts` decides, over the KubeApi port. No two
 * requests start less than a second apart, save a list and the watch that belongs to it. It never gives up and never throws.
 */
import { isObject, type JsonObject } from '../agent/is-object.ts'
import type { KubeAnswer, KubeApi, Log } from '../agent/ports.ts'
import { readErrorEvent } from '../kube/answer.ts'
import { identityOf, type ObjectIdentity } from './kube-object.ts'
import {
  type Ask,
  afterRead,
  afterWatch,
  type Dice,
  type Failure,
  INITIAL,
  type Next,
  nextAsk,
  type ReadEnd,
  type WatchAsk,
  type WatchEnd,
} from './reflect.ts'
import { WatchTrouble } from './watch-trouble.ts'

export interface WatchedObject {
  /** `/api/v1/nodes`. */
  readonly collection: string
  readonly name: string
}

export type ObjectView =
  | { readonly kind: 'found'; readonly object: JsonObject; readonly identity: ObjectIdentity }
  | { readonly kind: 'absent' }
  /** It cannot be read; what was known of it may still stand. */
  | { readonly kind: 'failed'; readonly reason: 'forbidden' | 'unreachable'; readonly detail: string }

/** Time and chance, passed in. `nowMs` is monotonic. `sleep` ends early, without throwing, when the signal aborts. */
export interface Pace {
  readonly nowMs: () => number
  readonly random: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

export interface WatchObserver {
  onView(view: ObjectView): void
  /** The server was heard: what is known is as it is. */
  onSynced(): void
  onReconnect(): void
}

/** When the last two requests about an object were started: outlives a watch that is stopped and started again. */
export interface RequestGate {
  lastMs: number
  beforeMs: number
}

export function openGate(): RequestGate {
  return { lastMs: Number.NEGATIVE_INFINITY, beforeMs: Number.NEGATIVE_INFINITY }
}

export interface ObjectWatchDeps {
  readonly api: KubeApi
  readonly pace: Pace
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

export async function watchObject(
  { api, pace, log, limits }: ObjectWatchDeps,
  watched: WatchedObject,
  observer: WatchObserver,
  gate: RequestGate,
  signal: AbortSignal,
): Promise<void> {
  const trouble = new WatchTrouble(log, `${watched.collection}/${watched.name}`)
  const roll = (): Dice => ({ nowMs: pace.nowMs(), random: pace.random })
  let next: Next = { state: INITIAL, waitMs: 0, adjoining: false, report: undefined }
  let watches = 0
  while (!signal.aborted) {
    const paired = next.adjoining && gate.lastMs - gate.beforeMs >= QUIET_MS
    const waitMs = paired ? 0 : Math.max(next.waitMs, gate.lastMs + SPACING_MS - pace.nowMs())
    if (waitMs > 0) await pace.sleep(waitMs, signal)
    if (signal.aborted) return
    const { state } = next
    const ask = nextAsk(state, roll())
    gate.beforeMs = gate.lastMs
    gate.lastMs = pace.nowMs()
    if (ask.kind === 'watch') {
      if (watches++ > 0) observer.onReconnect()
      const ended = await watchOnce(api, watched, ask, observer, trouble, limits, pace, signal)
      if (signal.aborted) return
      next = afterWatch(state, ended, roll())
      trouble.watchEnded(ended, next)
    } else {
      const read = await readOnce(api, watched, ask, limits, signal)
      if (signal.aborted) return
      next = afterRead(state, read.end, roll())
      trouble.readEnded(read.end, next)
      if (read.end.kind === 'read') {
        observer.onSynced()
        if (read.view !== undefined) observer.onView(read.view)
      } else if (next.report !== undefined) {
        observer.onView({ kind: 'failed', reason: next.report, detail: read.end.detail })
      }
    }
  }
}

interface Read {
  readonly end: ReadEnd
  readonly view?: ObjectView
}

async function readOnce(api: KubeApi, watched: WatchedObject, ask: Ask, limits: WatchLimits, signal: AbortSignal): Promise<Read> {
  const { collection, name } = watched
  const timeoutMs = limits.requestTimeoutMs
  if (ask.kind === 'get') {
    const answer = await orStopped(api.request({ method: 'GET', path: `${collection}/${name}`, timeoutMs }), signal)
    if (answer.kind === 'refused' && answer.status === 404) return { end: { kind: 'read', resourceVersion: '' }, view: { kind: 'absent' } }
    if (answer.kind !== 'ok') return { end: answer }
    const identity = identityOf(answer.object)
    if (identity?.name !== name || !isObject(answer.object)) return { end: malformed(`the answer to a get of ${name} is not that object`) }
    return { end: { kind: 'read', resourceVersion: identity.resourceVersion }, view: { kind: 'found', object: answer.object, identity } }
  }
  const query = { fieldSelector: `metadata.name=${name}` }
  const answer = await orStopped(api.request({ method: 'GET', path: collection, query, timeoutMs }), signal)
  return answer.kind === 'ok' ? readList(answer.object, name) : { end: answer }
}

function readList(list: unknown, name: string): Read {
  if (!isObject(list) || !isObject(list.metadata) || typeof list.metadata.resourceVersion !== 'string')
    return { end: malformed('the answer is no list') }
  // An empty list of a Go server is null.
  const items: readonly unknown[] = Array.isArray(list.items) ? list.items : []
  const end = { kind: 'read', resourceVersion: list.metadata.resourceVersion } as const
  for (const object of items) {
    const identity = identityOf(object)
    if (identity?.name === name && isObject(object)) return { end, view: { kind: 'found', object, identity } }
  }
  return { end, view: { kind: 'absent' } }
}

async function watchOnce(
  api: KubeApi,
  { collection, name }: WatchedObject,
  ask: WatchAsk,
  observer: WatchObserver,
  trouble: WatchTrouble,
  limits: WatchLimits,
  pace: Pace,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const startedMs = pace.nowMs()
  const stopper = new AbortController()
  const stop = (): void => stopper.abort()
  signal.addEventListener('abort', stop, { once: true })
  let { resourceVersion } = ask
  let failure: Failure | undefined
  const fail = (because: Failure): void => {
    failure ??= because
    stop()
  }
  const end = await api.watch({
    path: collection,
    query: {
      fieldSelector: `metadata.name=${name}`,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(ask.timeoutSeconds),
      ...(resourceVersion === '' ? {} : { resourceVersion }),
    },
    inactivityMs: limits.inactivityMs,
    signal: stopper.signal,
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
      observer.onSynced()
      trouble.heard(pace.nowMs() - startedMs)
      const identity = identityOf(object)
      if (identity?.name !== name) return
      if (type === 'DELETED') observer.onView({ kind: 'absent' })
      else if (type === 'ADDED' || type === 'MODIFIED') observer.onView({ kind: 'found', object, identity })
    },
  })
  signal.removeEventListener('abort', stop)
  return { end: failure ?? end, resourceVersion, livedMs: pace.nowMs() - startedMs }
}

/** A bookmark has no name, only a version. */
function versionOf(object: unknown): string | undefined {
  const version = isObject(object) && isObject(object.metadata) ? object.metadata.resourceVersion : undefined
  return typeof version === 'string' && version !== '' ? version : undefined
}

function malformed(detail: string): Failure {
  return { kind: 'unreachable', detail }
}

/** A request cannot be taken back, but need not be waited for. */
function orStopped(answer: Promise<KubeAnswer>, signal: AbortSignal): Promise<KubeAnswer> {
  return new Promise((resolve) => {
    const stop = (): void => resolve({ kind: 'unreachable', detail: 'stopped' })
    signal.addEventListener('abort', stop, { once: true })
    void answer.then((value) => {
      signal.removeEventListener('abort', stop)
      resolve(value)
    })
  })
}
