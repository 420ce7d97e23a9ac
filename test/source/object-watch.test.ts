import t from 'tap'
import type { KubeAnswer, KubeApi, KubeWatchEnd, KubeWatchRequest } from '../../src/ports/kube-api.ts'
import { type ObjectView, watchObject } from '../../src/source/object-watch.ts'
import { openGate, WATCH_LIMITS } from '../../src/source/watch-loop.ts'

const LOG = { debug() {}, info() {}, warn() {}, error() {} }
const FORBIDDEN: KubeAnswer = { kind: 'refused', status: 403, reason: 'Forbidden', detail: '', retryAfterMs: undefined }
const EXPIRED: KubeWatchEnd = { kind: 'refused', status: 410, reason: 'Expired', detail: '', retryAfterMs: undefined }
type Event = Parameters<KubeWatchRequest['onEvent']>[0]

const node = (resourceVersion: string, uid = 'u') => ({ kind: 'Node', metadata: { name: 'n1', uid, resourceVersion }, spec: {} })
const event = (type: Event['type'], ...of: Parameters<typeof node>): Event => ({ type, object: node(...of) })

/**
 * The views of an object that may not be listed and whose version has expired: it is read as `got`,
 * then watched without a resourceVersion.
 */
async function seen(got: string | undefined, events: readonly Event[]): Promise<string[]> {
  const views: string[] = []
  const stop = new AbortController()
  let nowMs = 0
  const absent: KubeAnswer = { kind: 'refused', status: 404, reason: 'NotFound', detail: '', retryAfterMs: undefined }
  // The first read is from before the object was deleted: an absent object has no version that
  // could expire.
  const gets: KubeAnswer[] = [{ kind: 'ok', object: node('1') }, got === undefined ? absent : { kind: 'ok', object: node(got) }]
  const api: KubeApi = {
    request: async ({ path }) => (path.endsWith('/n1') ? (gets.shift() ?? FORBIDDEN) : FORBIDDEN),
    async watch({ query, onEvent }) {
      if (query?.resourceVersion !== undefined) return EXPIRED
      for (const each of events) onEvent(each)
      stop.abort()
      return { kind: 'ended', detail: '' }
    },
  }
  const sleep = async (ms: number): Promise<void> => {
    nowMs += ms
  }
  const pace = { nowMs: () => nowMs, random: () => 0.5, sleep }
  const onView = (view: ObjectView) => void views.push(view.kind === 'found' ? view.identity.resourceVersion : view.kind)
  const observer = { onView, onSynced() {}, onReconnect() {} }
  await watchObject(
    { api, pace, log: LOG, limits: WATCH_LIMITS },
    { collection: '/api/v1/nodes', kind: 'Node', namespace: '', name: 'n1' },
    observer,
    openGate(),
    stop.signal,
  )
  return views.slice(1)
}

t.test('events that are older than the object that was read are ignored', async (t) => {
  t.same(await seen('100', [event('ADDED', '99'), event('MODIFIED', '100'), event('MODIFIED', '101')]), ['100', '100', '101'])
  t.same(await seen('100', [event('ADDED', '98', 'earlier'), event('DELETED', '99', 'earlier'), event('ADDED', '100')]), ['100', '100'])
  t.same(await seen('9', [event('ADDED', '10')]), ['9', '10'], 'as numbers')
  t.same(await seen('9007199254740993', [event('ADDED', '9007199254740992')]), ['9007199254740993'], 'of any size')
})

t.test('all other events are reported', async (t) => {
  t.same(await seen('100', [event('DELETED', '101')]), ['100', 'absent'])
  t.same(await seen('100', [event('DELETED', '101'), event('ADDED', '102', 'later')]), ['100', 'absent', '102'])
  t.same(await seen(undefined, [event('ADDED', '99')]), ['absent', '99'], 'the object did not exist')
  t.same(await seen('b', [event('ADDED', 'a')]), ['b', 'a'], 'versions that are not numbers have no order')
})
