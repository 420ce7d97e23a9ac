// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { KubeAnswer, KubeApi, KubeWatchEnd, KubeWatchRequest } from '../../src/ports/kube-api.ts'
import { type ObjectView, watchObject } from '../../src/source/object-watch.ts'
import { openGate, WATCH_LIMITS } from '../../src/source/watch-loop.ts'

const LOG = { debug() {}, info() {}, warn() {}, error() {} }
const FORBIDDEN: KubeAnswer = { kind: 'refused', status: 403, reason: 'Forbidden', detail: '', retryAfterMs: undefined }
const ABSENT: KubeAnswer = { kind: 'refused', status: 404, reason: 'NotFound', detail: '', retryAfterMs: undefined }
const EXPIRED: KubeWatchEnd = { kind: 'refused', status: 410, reason: 'Expired', detail: '', retryAfterMs: undefined }
const BROKEN: KubeWatchEnd = { kind: 'unreachable', detail: 'the connection was closed' }
type Event = Parameters<KubeWatchRequest['onEvent']>[0]

const node = (resourceVersion: string, uid = 'u') => ({ kind: 'Node', metadata: { name: 'n1', uid, resourceVersion }, spec: {} })
const event = (type: Event['type'], ...of: Parameters<typeof node>): Event => ({ type, object: node(...of) })
const bookmark = (resourceVersion: string): Event => ({ type: 'BOOKMARK', object: { metadata: { resourceVersion } } })

interface Script {
  /**
   * The answers to a list: its own version, and that of the object. The last one is repeated.
   * Default: forbidden.
   */
  readonly lists?: readonly (readonly [string, string])[]
  /**
   * The answers to a get: the version of the object; undefined: absent. The last one is repeated.
   */
  readonly gets?: readonly (string | undefined)[]
  /**
   * The events of each watch, which lasts a minute and then ends regularly. `broken`: its
   * connection breaks after a minute. 'lost': none can be opened. 'expired': 410. After the last
   * one, everything stops.
   */
  readonly watches: readonly (readonly Event[] | { readonly broken: readonly Event[] } | 'lost' | 'expired')[]
}

interface Seen {
  /** The version of each view of the object, or its kind. */
  readonly views: string[]
  /** As `list`, `get`, `watch 7` and `watch` without a resourceVersion. */
  readonly requests: string[]
}

async function follow({ lists = [], gets = [], watches }: Script): Promise<Seen> {
  const seen: Seen = { views: [], requests: [] }
  const stop = new AbortController()
  const counts = { list: 0, get: 0, watch: 0 }
  let nowMs = 0
  const api: KubeApi = {
    async request({ path }) {
      const verb = path.endsWith('/n1') ? 'get' : 'list'
      const index = counts[verb]++
      seen.requests.push(verb)
      if (verb === 'list') {
        const [listVersion, version] = lists[Math.min(index, lists.length - 1)] ?? []
        if (listVersion === undefined || version === undefined) return FORBIDDEN
        return { kind: 'ok', object: { kind: 'NodeList', metadata: { resourceVersion: listVersion }, items: [node(version)] } }
      }
      const version = gets[Math.min(index, gets.length - 1)]
      return version === undefined ? ABSENT : { kind: 'ok', object: node(version) }
    },
    async watch({ query, onOpen, onEvent }) {
      const fate = watches[counts.watch++] ?? []
      seen.requests.push(`watch ${query.resourceVersion ?? ''}`.trim())
      if (counts.watch >= watches.length) setImmediate(() => stop.abort())
      if (fate === 'expired') return EXPIRED
      if (fate === 'lost') return BROKEN
      onOpen?.()
      for (const each of 'broken' in fate ? fate.broken : fate) onEvent(each)
      nowMs += 60_000
      await new Promise((resolve) => setImmediate(resolve))
      return 'broken' in fate ? BROKEN : { kind: 'ended', detail: '' }
    },
  }
  const sleep = async (ms: number): Promise<void> => {
    nowMs += ms
  }
  const pace = { nowMs: () => nowMs, random: () => 0.5, sleep }
  const onView = (view: ObjectView) => void seen.views.push(view.kind === 'found' ? view.identity.resourceVersion : view.kind)
  const observer = { onView, onSynced() {}, onReconnect() {} }
  await watchObject(
    { api, pace, log: LOG, limits: WATCH_LIMITS },
    { collection: '/api/v1/nodes', kind: 'Node', namespace: '', name: 'n1' },
    observer,
    openGate(),
    stop.signal,
  )
  return seen
}

/**
 * An object that may not be listed and whose version has expired: it is read as `got`, then watched
 * without a resourceVersion. The first read is from before the object was deleted: an absent object
 * has no version that could expire.
 */
async function seen(got: string | undefined, ...watches: readonly (readonly Event[])[]): Promise<string[]> {
  const { views } = await follow({ gets: ['1', got], watches: ['expired', ...watches] })
  return views.slice(1)
}

t.test('a watch without a resourceVersion: events that are older than the object that was read are not reported', async (t) => {
  t.same(await seen('100', [event('ADDED', '99'), event('MODIFIED', '100'), event('MODIFIED', '101')]), ['100'])
  t.same(await seen('100', [event('ADDED', '98', 'earlier'), event('DELETED', '99', 'earlier'), event('ADDED', '100')]), ['100'])
  t.same(await seen('9', [event('ADDED', '10')]), ['9', '10'], 'as numbers')
  t.same(await seen('9007199254740993', [event('ADDED', '9007199254740992')]), ['9007199254740993'], 'of any size')
})

t.test('after an older event, the object is read and watched again: the cache of the API server has caught up by then', async (t) => {
  const behind = [event('ADDED', '99'), event('MODIFIED', '100')]
  const { views, requests } = await follow({
    gets: ['1', '100'],
    watches: ['expired', behind, [event('ADDED', '100'), event('MODIFIED', '101')], [event('MODIFIED', '102')]],
  })
  t.same(views, ['1', '100', '100', '100', '101', '102'])
  t.same(requests, ['list', 'get', 'watch 1', 'get', 'watch', 'get', 'watch', 'watch 101'])
})

t.test('an older event because etcd was restored: the version that is read next counts', async (t) => {
  const { views } = await follow({ gets: ['1', '100', '50'], watches: ['expired', [event('ADDED', '50')], [event('ADDED', '50')], []] })
  t.same(views, ['1', '100', '50', '50'])
})

t.test('all other events are reported', async (t) => {
  t.same(await seen('100', [event('DELETED', '101')]), ['100', 'absent'])
  t.same(await seen('100', [event('DELETED', '101'), event('ADDED', '102', 'later')]), ['100', 'absent', '102'])
  t.same(await seen(undefined, [event('ADDED', '99')]), ['absent', '99'], 'the object did not exist')
  t.same(await seen('b', [event('ADDED', 'a')]), ['b', 'a'], 'versions that are not numbers have no order')
})

t.test('after etcd was restored: lower versions count on a watch that resumes, and on one that goes on', async (t) => {
  t.same(
    await follow({ lists: [['200', '100']], watches: [[], [event('MODIFIED', '41'), event('MODIFIED', '42')], [event('DELETED', '43')]] }),
    { views: ['100', '41', '42', 'absent'], requests: ['list', 'watch 200', 'watch 200', 'watch 42'] },
  )
  t.same(await follow({ lists: [['200', '100']], watches: [[event('MODIFIED', '201'), event('MODIFIED', '41')], []] }), {
    views: ['100', '201', '41'],
    requests: ['list', 'watch 200', 'watch 41'],
  })
  t.same(await follow({ lists: [['200', '100']], watches: [[bookmark('40')], [event('MODIFIED', '41')]] }), {
    views: ['100', '41'],
    requests: ['list', 'watch 200', 'watch 40'],
  })
})

t.test('after etcd was restored: lower versions count in lists and gets', async (t) => {
  const lists = [
    ['200', '100'],
    ['50', '40'],
  ] as const
  t.same((await follow({ lists, watches: ['expired', [event('MODIFIED', '41')]] })).views, ['100', '40', '41'])
  t.same((await follow({ gets: ['100', '40'], watches: ['expired', [event('ADDED', '41')]] })).views, ['100', '40', '41'])
  t.same((await follow({ gets: ['100'], watches: [[], [event('MODIFIED', '41')]] })).views, ['100', '41'])
})

t.test(
  'a watch whose connection breaks goes on from its last version, so the loss of an API server causes no burst of reads',
  async (t) => {
    t.same(
      await follow({
        lists: [['200', '100']],
        watches: [{ broken: [event('MODIFIED', '201')] }, [event('MODIFIED', '202')], [event('DELETED', '203')]],
      }),
      { views: ['100', '201', '202', 'absent'], requests: ['list', 'watch 200', 'watch 201', 'watch 202'] },
    )
    t.same((await follow({ lists: [['200', '100']], watches: [{ broken: [] }, 'expired', []] })).requests, [
      'list',
      'watch 200',
      'watch 200',
      'list',
      'watch 200',
    ])
  },
)

t.test('it is read again where the next watch cannot be opened, and where there is no version', async (t) => {
  const { requests } = await follow({ lists: [['200', '100']], watches: [{ broken: [] }, 'lost', 'lost', 'lost', 'lost', []] })
  t.same(requests, ['list', ...Array(5).fill('watch 200'), 'list', 'watch 200'])
  const unlisted = await follow({ gets: ['1', '100', undefined], watches: ['expired', { broken: [] }, []] })
  t.same(unlisted.requests.slice(3), ['get', 'watch', 'get', 'watch'])
  t.equal(unlisted.views.at(-1), 'absent', 'a deletion that no event tells is noticed')
})

t.test(
  'after a break, the object is read within five minutes: a restored etcd may have lower versions, of which no event tells',
  async (t) => {
    const lists = [
      ['200', '100'],
      ['50', '40'],
    ] as const
    const { views, requests } = await follow({ lists, watches: [{ broken: [] }, [], [], [], [event('MODIFIED', '51')]] })
    t.same(requests, ['list', 'watch 200', 'watch 200', 'watch 200', 'watch 200', 'list', 'watch 50'])
    t.same(views, ['100', '40', '51'])
  },
)

t.test('a watch that is behind what was read is not resumed, however long it lived', async (t) => {
  const { requests } = await follow({
    gets: ['1', '100'],
    watches: ['expired', [event('ADDED', '100')], { broken: [] }, [event('MODIFIED', '101')]],
  })
  t.same(requests.slice(3), ['get', 'watch', 'watch 100', 'watch 100'])
})
