/**
 * What to ask the API server next about one object, and when: list, then watch from there; when that is not allowed, get and watch; when
 * watching is not allowed either, poll. As client-go's `Reflector` does it, but for one object, and it never gives up. Pure: outcomes in,
 * the next request out. `object-watch.ts` carries it out and sees to it that requests are at least a second apart.
 */

import { backoffMs } from '../kube/backoff.ts'
import type { KubeRefusal } from '../ports/kube-api.ts'

export interface ReflectState {
  readonly reads: 'list' | 'get'
  /**
   * A watch from an object's own version was refused with 410: the server remembers nothing from before its start, or a few minutes, and such an object may be
   * older. A list has a version of now; after a get the watch then starts from whatever is there, which the server sends first.
   */
  readonly tooOld: boolean
  /** Watching is forbidden: read again and again. */
  readonly polling: boolean
  /** Where a watch goes on. undefined: read first. Empty: from whatever is there. */
  readonly resourceVersion: string | undefined
  /** In a row; only a watch (or a poll) that works ends the row, so that a list that works before a watch that fails is no way out. */
  readonly failures: number
  /** Answers of 403 in a row. */
  readonly forbidden: number
  /** A watch can lose an event and never know: read again then. */
  readonly resyncAtMs: number
  /** When a forbidden watch is tried again: someone may have granted it. */
  readonly watchAgainAtMs: number
}

export type Ask = { readonly kind: 'list' } | { readonly kind: 'get' } | WatchAsk
export interface WatchAsk {
  readonly kind: 'watch'
  readonly resourceVersion: string
  readonly timeoutSeconds: number
}

export type RequestFailure = KubeRefusal | { readonly kind: 'unreachable'; readonly detail: string }
export type ReadEnd = { readonly kind: 'read'; readonly resourceVersion: string } | RequestFailure
/** `resourceVersion`: the last one seen on the watch. */
export type WatchEnd = {
  readonly end: { readonly kind: 'ended' } | RequestFailure
  readonly resourceVersion: string
  readonly livedMs: number
}

export interface Next {
  readonly state: ReflectState
  readonly waitMs: number
  /** The next request completes this one (a list and its watch): it need not keep the distance. */
  readonly adjoining: boolean
  /** Set when whoever wants the object should know that it cannot be had. */
  readonly report: 'forbidden' | 'unreachable' | undefined
}

export interface Dice {
  readonly nowMs: number
  /** In [0, 1). */
  readonly random: () => number
}

const MINUTE_MS = 60_000
export const POLL_MS = MINUTE_MS
const WORKING_WATCH_MS = 10_000
/** Right after an assignment a 403 may be an authorizer that has not heard of it yet. */
const FORBIDDEN_TRIES = 3
const SHORTEST_WATCH_MS = 30_000

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

export function nextAsk(state: ReflectState, dice: Dice): Ask {
  const untilResyncMs = state.resyncAtMs - dice.nowMs
  if (state.resourceVersion === undefined || untilResyncMs < SHORTEST_WATCH_MS) return { kind: state.reads }
  const timeoutMs = Math.min(between(5 * MINUTE_MS, 10 * MINUTE_MS, dice), untilResyncMs)
  return { kind: 'watch', resourceVersion: state.resourceVersion, timeoutSeconds: Math.ceil(timeoutMs / 1000) }
}

/** Transitions: read, then watch, or a pause and the next poll; refused with 403, the other way to read; failed, again later. */
export function afterRead(state: ReflectState, end: ReadEnd, dice: Dice): Next {
  if (end.kind !== 'read') {
    if (!isForbidden(end)) return retry({ ...state, resourceVersion: undefined, forbidden: 0 }, end, dice, 'unreachable')
    const forbidden = state.forbidden + 1
    const reads = state.reads === 'list' ? 'get' : 'list'
    return retry(
      { ...state, resourceVersion: undefined, reads, forbidden },
      end,
      dice,
      forbidden > FORBIDDEN_TRIES ? 'forbidden' : undefined,
    )
  }
  const resyncAtMs = dice.nowMs + between(15 * MINUTE_MS, 30 * MINUTE_MS, dice)
  const resourceVersion = state.reads === 'get' && state.tooOld ? '' : end.resourceVersion
  const read: ReflectState = { ...state, resyncAtMs, resourceVersion, forbidden: 0 }
  if (!state.polling) return { state: read, waitMs: 0, adjoining: state.failures === 0, report: undefined }
  if (dice.nowMs < state.watchAgainAtMs) {
    const waitMs = between(0.75 * POLL_MS, 1.25 * POLL_MS, dice)
    return { state: { ...read, resourceVersion: undefined, failures: 0 }, waitMs, adjoining: false, report: undefined }
  }
  const probing = { ...read, polling: false, failures: 0, forbidden: FORBIDDEN_TRIES - 1 }
  return { state: probing, waitMs: 0, adjoining: false, report: undefined }
}

/** Transitions: ended in good order, watch on from there; refused with 403 for good, poll; anything else, read again. */
export function afterWatch(state: ReflectState, { end, resourceVersion, livedMs }: WatchEnd, dice: Dice): Next {
  const worked = isWorking(livedMs)
  const failures = worked ? 0 : state.failures
  if (end.kind === 'ended') {
    const state_ = { ...state, resourceVersion, failures, forbidden: 0 }
    return worked ? { state: state_, waitMs: 0, adjoining: false, report: undefined } : retry(state_, undefined, dice, undefined)
  }
  const tooOld = state.reads === 'get' && end.kind === 'refused' && end.status === 410
  if (tooOld && !state.tooOld) {
    // Not one more failure of the outage before it, which may be a minute of waiting by now: the server is there, and next time is asked otherwise.
    const waitMs = backoffMs(1, dice.random, end.retryAfterMs)
    return { state: { ...state, tooOld, resourceVersion: undefined, failures, forbidden: 0 }, waitMs, adjoining: false, report: undefined }
  }
  if (!isForbidden(end)) return retry({ ...state, resourceVersion: undefined, failures, forbidden: 0 }, end, dice, undefined)
  const forbidden = state.forbidden + 1
  if (forbidden < FORBIDDEN_TRIES) return retry({ ...state, resourceVersion, failures, forbidden }, end, dice, undefined)
  const watchAgainAtMs = dice.nowMs + between(10 * MINUTE_MS, 20 * MINUTE_MS, dice)
  const polling = { ...state, polling: true, resourceVersion: undefined, failures: 0, forbidden: 0, watchAgainAtMs }
  return { state: polling, waitMs: 0, adjoining: false, report: undefined }
}

/** A watch that lived this long did work, however it ended. */
export function isWorking(livedMs: number): boolean {
  return livedMs >= WORKING_WATCH_MS
}

function retry(state: ReflectState, failure: RequestFailure | undefined, dice: Dice, report: Next['report']): Next {
  const failures = state.failures + 1
  const waitMs = backoffMs(failures, dice.random, failure?.kind === 'refused' ? failure.retryAfterMs : undefined)
  return { state: { ...state, failures }, waitMs, adjoining: false, report }
}

export function isForbidden(end: RequestFailure): boolean {
  return end.kind === 'refused' && end.status === 403
}

function between(low: number, high: number, { random }: Dice): number {
  return low + random() * (high - low)
}
