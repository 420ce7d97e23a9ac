// SPDX-License-Identifier: Apache-2.0
/**
 * Counts the requests of an agent over hours in which nothing happens, by running the loops of
 * src/source for its Node and its ConfigMap in simulated time. A watch ends after the requested
 * time; or, if no ConfigMap in the whole cluster changes, after the agent's inactivity limit,
 * because kube-apiserver then sends no bookmarks. Nothing is measured here.
 */
import type { KubeAnswer, KubeApi } from '../../src/ports/kube-api.ts'
import type { Log } from '../../src/ports/log.ts'
import { NodeExtent } from '../../src/source/node-extent.ts'
import { watchObject } from '../../src/source/object-watch.ts'
import { openGate, WATCH_LIMITS, type WatchTiming } from '../../src/source/watch-loop.ts'

export interface Renewals {
  readonly watches: number
  readonly reads: number
  /** How many of these return the whole object. */
  readonly wholeReads: number
  /** Requests that test whether the server stores a field: its version, and a dry run. */
  readonly questions: number
}

const NODE = { kind: 'Node', metadata: { name: 'n', uid: 'u', resourceVersion: '1' }, spec: {} }
const CONFIG_MAP = { kind: 'ConfigMap', metadata: { name: 'n', namespace: 'c', uid: 'u', resourceVersion: '1' } }
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** @param storesConfigSource whether the server stores the field */
export async function countNodeRenewals(hours: number, storesConfigSource: boolean, random: () => number): Promise<Renewals> {
  return count(hours, random, NODE, { stores: storesConfigSource, bookmarks: true })
}

/** @param bookmarks whether the server sends them */
export async function countConfigMapRenewals(hours: number, bookmarks: boolean, random: () => number): Promise<Renewals> {
  return count(hours, random, CONFIG_MAP, { stores: true, bookmarks })
}

async function count(
  hours: number,
  random: () => number,
  object: typeof NODE | typeof CONFIG_MAP,
  server: { readonly stores: boolean; readonly bookmarks: boolean },
): Promise<Renewals> {
  const stopper = new AbortController()
  const counted = { watches: 0, reads: 0, wholeReads: 0, questions: 0 }
  let nowMs = 0
  const pass = (ms: number): void => {
    nowMs += ms
    if (nowMs >= hours * 3600_000) stopper.abort()
  }
  const pace: WatchTiming = { nowMs: () => nowMs, random, sleep: async (ms) => pass(ms) }
  const api: KubeApi = {
    async request({ method, path, query, as }): Promise<KubeAnswer> {
      if (method === 'PATCH' || path === '/version') {
        counted.questions += 1
        if (path === '/version') return { kind: 'ok', object: { major: '1', minor: '20' } }
        return { kind: 'ok', object: server.stores ? { ...NODE, status: { config: { error: 'stored' } } } : NODE }
      }
      counted.reads += 1
      if (as === undefined) counted.wholeReads += 1
      const list = { kind: `${object.kind}List`, metadata: { resourceVersion: '1' }, items: [object] }
      return { kind: 'ok', object: query === undefined ? object : list }
    },
    async watch(request) {
      const { query, inactivityMs } = request
      counted.watches += 1
      request.onOpen?.()
      pass(Math.min(Number(query.timeoutSeconds) * 1000, server.bookmarks ? Number.POSITIVE_INFINITY : inactivityMs))
      return { kind: 'ended', detail: 'the requested time is over' }
    },
  }
  const extent = new NodeExtent({ api, nodeName: 'n', pace, log: SILENT, requestTimeoutMs: WATCH_LIMITS.requestTimeoutMs })
  const watched =
    object === NODE
      ? ({ collection: '/api/v1/nodes', kind: 'Node', namespace: '', name: 'n', extent } as const)
      : ({ collection: '/api/v1/namespaces/c/configmaps', kind: 'ConfigMap', namespace: 'c', name: 'n' } as const)
  const observer = {
    onView(view: { readonly kind: string; readonly form?: string }) {
      if (view.form === 'whole' && object === NODE) extent.observe(NODE)
    },
    onSynced() {},
    onReconnect() {},
  }
  await watchObject({ api, pace, log: SILENT, limits: WATCH_LIMITS }, watched, observer, openGate(), stopper.signal)
  return counted
}
