import t from 'tap'
import type { KubeApi, KubeWatchEnd } from '../../src/ports/kube-api.ts'
import { watchObject } from '../../src/source/object-watch.ts'
import { openGate, WATCH_LIMITS } from '../../src/source/watch-loop.ts'

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
  for (const fate of [
    { lastsMs: 15_000, end: OVERLOADED },
    { lastsMs: 60_000, end: { ...OVERLOADED, status: 504, retryAfterMs: undefined } },
    { lastsMs: 30_000, end: NO_ANSWER },
  ])
    t.same(await pauses(Array(7).fill(fate)), [2, 4, 8, 16, 32, 60, 60])
})

t.test('the life of a watch begins when the API server accepts it', async (t) => {
  const late = { openAfterMs: 20_000, lastsMs: 25_000, end: { ...OVERLOADED, status: 500, retryAfterMs: undefined } }
  t.same(await pauses(Array(3).fill(late)), [2, 4, 8])
  t.same(await pauses(Array(3).fill({ ...late, lastsMs: 60_000 })), [2, 2, 2], 'which has worked then, however it ends')
})
