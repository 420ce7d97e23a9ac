// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { KubeApi, KubeWatchEnd } from '../../src/ports/kube-api.ts'
import type { Log } from '../../src/ports/log.ts'
import { watchObject } from '../../src/source/object-watch.ts'
import { afterRead, afterWatch, INITIAL, type RequestFailure } from '../../src/source/reflect.ts'
import { openGate, WATCH_LIMITS, WatchLog } from '../../src/source/watch-loop.ts'

const LOG = { debug() {}, info() {}, warn() {}, error() {} }
const OVERLOADED: KubeWatchEnd = { kind: 'refused', status: 429, reason: 'TooManyRequests', detail: '', retryAfterMs: 1000 }
const NO_ANSWER: KubeWatchEnd = { kind: 'unreachable', detail: 'no connection in 30000 ms' }
const ENDED: KubeWatchEnd = { kind: 'ended', detail: '' }
const NODE = { kind: 'Node', metadata: { name: 'n1', uid: 'u', resourceVersion: '5' }, spec: {} }

interface Fate {
  /** Until the API server accepts the watch. undefined: it never does. */
  readonly openAfterMs?: number
  /** In all. */
  readonly lastsMs: number
  readonly end: KubeWatchEnd
}

/** Reads work. Returns the pause after each watch. */
async function pauses(fates: readonly Fate[]): Promise<number[]> {
  const stop = new AbortController()
  const found: number[] = []
  let [watches, nowMs] = [0, 0]
  let endedMs: number | undefined
  const asked = (): void => {
    if (endedMs !== undefined) found.push(nowMs - endedMs)
    endedMs = undefined
    if (found.length === fates.length) stop.abort()
  }
  const api: KubeApi = {
    async request() {
      asked()
      return { kind: 'ok', object: { kind: 'NodeList', metadata: { resourceVersion: '7' }, items: [NODE] } }
    },
    async watch({ onOpen }) {
      asked()
      const fate = fates[watches++]
      if (fate === undefined) return ENDED
      if (fate.openAfterMs !== undefined) {
        nowMs += fate.openAfterMs
        onOpen?.()
      }
      nowMs += fate.lastsMs - (fate.openAfterMs ?? 0)
      endedMs = nowMs
      return fate.end
    },
  }
  const sleep = async (ms: number): Promise<void> => {
    nowMs += ms
  }
  await watchObject(
    { api, pace: { nowMs: () => nowMs, random: () => 0.999, sleep }, log: LOG, limits: WATCH_LIMITS },
    { collection: '/api/v1/nodes', kind: 'Node', namespace: '', name: 'n1' },
    { onView() {}, onSynced() {}, onReconnect() {} },
    openGate(),
    stop.signal,
  )
  return found.map((ms) => Math.round(ms / 1000))
}

t.test('a watch that is queued and then refused, or never answered, has not worked: the backoff grows', async (t) => {
  t.same(await pauses(Array(7).fill({ lastsMs: 15_000, end: OVERLOADED })), [2, 4, 8, 16, 32, 60, 60])
  for (const fate of [
    { lastsMs: 60_000, end: { ...OVERLOADED, status: 504, retryAfterMs: undefined } },
    { lastsMs: 30_000, end: NO_ANSWER },
  ])
    t.same(await pauses(Array(7).fill(fate)), [10, 20, 40, 60, 32, 60, 60])
})

t.test('the life of a watch begins when the API server accepts it', async (t) => {
  const late = { openAfterMs: 20_000, lastsMs: 25_000, end: { ...OVERLOADED, status: 500, retryAfterMs: undefined } }
  t.same(await pauses(Array(3).fill(late)), [10, 20, 40])
  t.same(await pauses(Array(3).fill({ ...late, lastsMs: 60_000 })), [10, 10, 10], 'which has worked then, however it ends')
})

const RESET: RequestFailure = { kind: 'unreachable', detail: 'reset' }
const REFUSED: RequestFailure = { kind: 'unreachable', detail: 'refused' }
const FORBIDDEN: RequestFailure = { kind: 'refused', status: 403, reason: '', detail: '403', retryAfterMs: undefined }

/** Steps of one object's watch, and what is logged. */
function follow() {
  const lines: string[] = []
  const record = (message: string) => void lines.push(message)
  const log: Log = { debug: () => {}, info: record, warn: record, error: record }
  const trouble = new WatchLog(log, 'X')
  const dice = { nowMs: 0, random: () => 0.5 }
  let state = INITIAL
  return {
    lines,
    trouble,
    read(end: RequestFailure | 'read', nowMs = 0) {
      const ended = end === 'read' ? ({ kind: 'read', resourceVersion: '1' } as const) : end
      const next = afterRead(state, ended, { ...dice, nowMs })
      trouble.readEnded(ended, next)
      state = next.state
    },
    watch(end: RequestFailure | 'ended', livedMs = 0) {
      const ended = { end: end === 'ended' ? ({ kind: 'ended' } as const) : end, resourceVersion: '1', livedMs }
      const next = afterWatch(state, ended, dice)
      trouble.watchEnded(ended, next)
      state = next.state
    },
  }
}

t.test('one failure is not logged, the second in a row is, and each cause once', async (t) => {
  const { lines, read } = follow()
  read(RESET)
  t.same(lines, [])
  for (let i = 0; i < 5; i++) read(RESET)
  t.same(lines, ['X cannot be followed: reset; retrying at least once a minute'])
  for (let i = 0; i < 3; i++) {
    read(REFUSED)
    read(RESET)
  }
  t.same(lines.slice(1), ['X cannot be followed: refused; retrying at least once a minute'])
  read('read')
  read('read')
  t.same(lines.slice(2), ['X can be read again'])
  for (let i = 0; i < 2; i++) read(RESET)
  t.same(lines.slice(3), ['X cannot be followed: reset; retrying at least once a minute'], 'and again after a success')
})

t.test('a malformed answer is logged at once, and only once', async (t) => {
  const { lines, read, watch } = follow()
  const malformed: RequestFailure = { kind: 'malformed', detail: 'expected Node n1, got Pod "n1"' }
  for (let i = 0; i < 3; i++) read(malformed)
  const line = 'X cannot be followed: expected Node n1, got Pod "n1"; retrying at least once a minute'
  t.same(lines, [line])
  read('read')
  for (let i = 0; i < 3; i++) watch(malformed)
  t.same(lines.slice(1), ['X can be read again', line])
})

t.test('lists that work before watches that fail are not logged', async (t) => {
  const { lines, read, watch, trouble } = follow()
  for (let i = 0; i < 5; i++) {
    read('read')
    watch(RESET)
  }
  t.same(lines, ['X cannot be followed: reset; retrying at least once a minute'])
  read('read')
  trouble.received(500)
  t.equal(lines.length, 1, 'a watch that has just started could still fail')
  trouble.received(20_000)
  trouble.received(60_000)
  watch('ended', 300_000)
  t.same(lines.slice(1), ['X is watched again'])
})

t.test('a forbidden watch is logged once, although it is retried', async (t) => {
  const { lines, read, watch } = follow()
  read('read')
  for (let i = 0; i < 3; i++) watch(FORBIDDEN)
  for (let minute = 1; minute < 120; minute++) {
    read('read', minute * 60_000)
    watch(FORBIDDEN)
  }
  t.same(lines, ['watching X is forbidden: reading it every minute instead'])
  read('read')
  watch('ended', 300_000)
  t.same(lines.slice(1), ['X is watched again'])
})
