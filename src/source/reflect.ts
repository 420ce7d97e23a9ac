// SPDX-License-Identifier: Apache-2.0
/**
 * Which request to make next about one object, and when: list, then watch from there; where list is
 * forbidden, get and watch; where watch is forbidden too, poll. Works like client-go's `Reflector`,
 * but for one object, and it never gives up. Pure: takes outcomes, returns the next request.
 * `watch-loop.ts` carries it out and keeps requests at least a second apart.
 */

import type { ReadFailure, WatchFailure } from '../decision/desired.ts'
import { backoffMs } from '../kube/backoff.ts'
import type { KubeRefusal, KubeSilence } from '../ports/kube-api.ts'

export interface ReflectState {
  readonly reads: 'list' | 'get'
  /**
   * A watch from the object's own resourceVersion was refused with 410: a server remembers a few
   * minutes at most, and nothing from before its start, while the object may be older. After a get,
   * the watch then starts without a resourceVersion, and the server sends the current object first.
   * A list is not affected: its resourceVersion is current.
   */
  readonly tooOld: boolean
  /** Watch is forbidden: read at intervals instead. */
  readonly polling: boolean
  /** Where the next watch starts. undefined: read first. Empty: without a resourceVersion. */
  readonly resourceVersion: string | undefined
  /**
   * In a row. Only a watch (or a poll) that works resets the count: otherwise a list that works
   * before a watch that fails would reset the backoff each time.
   */
  readonly failures: number
  /** 403 answers in a row. */
  readonly forbidden: number
  /** When to read again: a watch can miss an event without noticing. */
  readonly resyncAtMs: number
  /** When to try a forbidden watch again: the right may have been granted. */
  readonly watchAgainAtMs: number
}

export type NextRequest = { readonly kind: 'list' } | { readonly kind: 'get' } | WatchRequest
export interface WatchRequest {
  readonly kind: 'watch'
  readonly resourceVersion: string
  readonly timeoutSeconds: number
}

/** `behind`: the watch shows an older version than the one that was read. */
export type RequestFailure = KubeRefusal | KubeSilence | { readonly kind: 'malformed' | 'behind'; readonly detail: string }
export type ReadEnd = { readonly kind: 'read'; readonly resourceVersion: string } | RequestFailure
/**
 * `resourceVersion`: the last one seen on the watch. `livedMs`: since the server accepted it, and 0
 * where it never did. Credentials, the connection, and the queue of an overloaded server take their
 * time before that.
 */
export type WatchEnd = {
  readonly end: { readonly kind: 'ended' } | RequestFailure
  readonly resourceVersion: string
  readonly livedMs: number
}

/**
 * The request that follows where a working watch breaks, or a server that restarts takes none.
 */
export interface AfterBreak {
  readonly first: 'watch' | 'read'
  /** Over what time the agents of a fleet begin. */
  readonly withinMs: number
}

export interface Next {
  readonly state: ReflectState
  readonly waitMs: number
  /**
   * The next request belongs to this one (a list and its watch) and need not be a second after it.
   */
  readonly immediate: boolean
  /** Set when the owner of the watch should learn that the object cannot be read. */
  readonly report: WatchFailure | undefined
}

export interface ReflectTiming {
  readonly nowMs: number
  /** In [0, 1). */
  readonly random: () => number
}

const MINUTE_MS = 60_000
const POLL_MS = MINUTE_MS
const WORKING_WATCH_MS = 10_000
/** Right after an assignment, a 403 may come from an authorizer that has not seen it yet. */
const FORBIDDEN_TRIES = 3
const SHORTEST_WATCH_MS = 30_000
/**
 * Over what time the agents of a fleet open their watches again, when an API server goes away: each
 * has two or more, and all of them break at the same moment.
 */
const WATCH_AGAIN: AfterBreak = { first: 'watch', withinMs: 10_000 }
/** How often a watch is asked for again before the object is read: over a minute and a half. */
const MOST_REOPENS = 4

export const INITIAL: ReflectState = {
  reads: 'list',
  tooOld: false,
  polling: false,
  resourceVersion: undefined,
  failures: 0,
  forbidden: 0,
  resyncAtMs: 0,
  watchAgainAtMs: 0,
}

export function nextRequest(state: ReflectState, timing: ReflectTiming): NextRequest {
  const untilResyncMs = state.resyncAtMs - timing.nowMs
  if (state.resourceVersion === undefined || untilResyncMs < SHORTEST_WATCH_MS) return { kind: state.reads }
  const timeoutMs = Math.min(between(5 * MINUTE_MS, 10 * MINUTE_MS, timing), untilResyncMs)
  return { kind: 'watch', resourceVersion: state.resourceVersion, timeoutSeconds: Math.ceil(timeoutMs / 1000) }
}

/**
 * Transitions: after a read, watch, or wait for the next poll; after a 403, read the other way
 * (list or get); after another failure, retry later.
 */
export function afterRead(state: ReflectState, end: ReadEnd, timing: ReflectTiming): Next {
  if (end.kind !== 'read') {
    if (!isForbidden(end)) return retry({ ...state, resourceVersion: undefined, forbidden: 0 }, end, timing, nameFailure(end))
    const forbidden = state.forbidden + 1
    const reads = state.reads === 'list' ? 'get' : 'list'
    return retry(
      { ...state, resourceVersion: undefined, reads, forbidden },
      end,
      timing,
      forbidden > FORBIDDEN_TRIES ? 'forbidden' : undefined,
    )
  }
  const resyncAtMs = timing.nowMs + between(15 * MINUTE_MS, 30 * MINUTE_MS, timing)
  const resourceVersion = state.reads === 'get' && state.tooOld ? '' : end.resourceVersion
  const read: ReflectState = { ...state, resyncAtMs, resourceVersion, forbidden: 0 }
  if (!state.polling) return { state: read, waitMs: 0, immediate: state.failures === 0, report: undefined }
  if (timing.nowMs < state.watchAgainAtMs) {
    const waitMs = between(0.75 * POLL_MS, 1.25 * POLL_MS, timing)
    return { state: { ...read, resourceVersion: undefined, failures: 0 }, waitMs, immediate: false, report: undefined }
  }
  const probing = { ...read, polling: false, failures: 0, forbidden: FORBIDDEN_TRIES - 1 }
  return { state: probing, waitMs: 0, immediate: false, report: undefined }
}

/**
 * Transitions: after a regular end, watch on from there; where the server went away, and after a
 * watch that an overloaded server refused, too, but read within minutes; after repeated 403
 * answers, poll; after anything else, and without a resourceVersion to go on from, read again.
 *
 * @param afterBreak default: watch again
 */
export function afterWatch(
  state: ReflectState,
  { end, resourceVersion, livedMs }: WatchEnd,
  timing: ReflectTiming,
  { first, withinMs }: AfterBreak = WATCH_AGAIN,
): Next {
  const worked = isWorking(livedMs)
  const failures = worked ? 0 : state.failures
  if (end.kind === 'ended') {
    const ended = { ...state, resourceVersion, failures, forbidden: 0 }
    return worked ? { state: ended, waitMs: 0, immediate: false, report: undefined } : retry(ended, undefined, timing, undefined)
  }
  const tooOld = state.reads === 'get' && end.kind === 'refused' && end.status === 410
  if (tooOld && !state.tooOld) {
    // Does not count as another failure of an outage before it, whose backoff may have grown to a
    // minute: the server answers, and the next watch starts without a resourceVersion.
    const waitMs = backoffMs(1, timing.random, end.retryAfterMs)
    return { state: { ...state, tooOld, resourceVersion: undefined, failures, forbidden: 0 }, waitMs, immediate: false, report: undefined }
  }
  const isAway = end.kind === 'unreachable' || (end.kind === 'refused' && end.status >= 500)
  // A list comes from etcd, which is the last thing that an overloaded server needs.
  const isOverloaded = end.kind === 'refused' && end.status === 429
  // Without a resourceVersion, no watch tells that the object was deleted before it.
  if (first === 'watch' && resourceVersion !== '' && (isOverloaded || (isAway && failures < MOST_REOPENS))) {
    const next = { ...state, resourceVersion, failures, forbidden: 0, resyncAtMs: soonerResync(state, timing) }
    return retry(next, end, timing, undefined, isAway ? reopenMs(failures, withinMs, timing) : 0)
  }
  if (!isForbidden(end)) {
    const readMs = isAway && worked ? reopenMs(0, withinMs, timing) : 0
    return retry({ ...state, resourceVersion: undefined, failures, forbidden: 0 }, end, timing, undefined, readMs)
  }
  const forbidden = state.forbidden + 1
  if (forbidden < FORBIDDEN_TRIES) return retry({ ...state, resourceVersion, failures, forbidden }, end, timing, undefined)
  const watchAgainAtMs = timing.nowMs + between(10 * MINUTE_MS, 20 * MINUTE_MS, timing)
  const polling = { ...state, polling: true, resourceVersion: undefined, failures: 0, forbidden: 0, watchAgainAtMs }
  return { state: polling, waitMs: 0, immediate: false, report: undefined }
}

/**
 * The agents of a fleet begin at any time within `withinMs`. Who found no server then comes ever
 * later, and never at once with the others.
 *
 * @param failures since the watch worked
 */
function reopenMs(failures: number, withinMs: number, timing: ReflectTiming): number {
  if (failures === 0) return timing.random() * withinMs
  return Math.min(MINUTE_MS, withinMs * 2 ** failures) * between(0.5, 1, timing)
}

/**
 * When an API server goes away, each of its watches breaks at the same moment. The reads are spread
 * over minutes, since the next watch tells what changes. One thing it does not tell: that etcd was
 * restored, and counts from a lower version.
 */
function soonerResync({ resyncAtMs }: ReflectState, timing: ReflectTiming): number {
  return Math.min(resyncAtMs, timing.nowMs + between(MINUTE_MS, 5 * MINUTE_MS, timing))
}

/** A watch that lasted this long has worked, however it ended. */
export function isWorking(livedMs: number): boolean {
  return livedMs >= WORKING_WATCH_MS
}

function retry(
  state: ReflectState,
  failure: RequestFailure | undefined,
  timing: ReflectTiming,
  report: Next['report'],
  notBeforeMs = 0,
): Next {
  const failures = state.failures + 1
  const backoff = backoffMs(failures, timing.random, failure?.kind === 'refused' ? failure.retryAfterMs : undefined)
  const waitMs = Math.max(backoff, notBeforeMs)
  return { state: { ...state, failures }, waitMs, immediate: false, report }
}

function nameFailure(end: RequestFailure): WatchFailure {
  if (end.kind === 'unreachable') return end.reason ?? 'unreachable'
  return end.kind === 'refused' && end.status === 401 ? 'unauthenticated' : 'unreachable'
}

/** For what has never been read: there was no answer that can be used. */
export function toReadFailure(reason: WatchFailure): ReadFailure {
  return reason === 'kubeconfig' || reason === 'too-long' ? 'unreachable' : reason
}

export function isForbidden(end: RequestFailure): boolean {
  return end.kind === 'refused' && end.status === 403
}

function between(low: number, high: number, { random }: ReflectTiming): number {
  return low + random() * (high - low)
}
