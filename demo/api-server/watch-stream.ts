// SPDX-License-Identifier: Apache-2.0
/**
 * One watch: first the events since the requested resource version, then new events, with
 * bookmarks, and a normal end after `timeoutSeconds`. As in `pkg/storage/cacher`, a compacted
 * version leads to an ERROR event, not to an error status.
 */
import { apiVersionOf, type KubeObject, statusObject } from './objects.ts'
import type { Reply } from './reply.ts'
import type { Target } from './request.ts'
import type { Selector } from './selectors.ts'
import type { Store, StoreEvent } from './store.ts'

export interface WatchTimes {
  /** The duration of a second of `timeoutSeconds`; tests shorten it. */
  readonly secondMs: number
  readonly bookmarkSeconds: number
}

export function streamWatch(
  reply: Reply,
  store: Store,
  target: Target,
  query: URLSearchParams,
  selects: Selector,
  times: WatchTimes,
  show: (object: KubeObject) => unknown = (object) => object,
): void {
  const { resource, namespace, name } = target
  const send = (type: string, object: unknown): void => reply.write(`${JSON.stringify({ type, object })}\n`)
  const concerns = ({ metadata }: KubeObject): boolean =>
    (namespace === '' || metadata.namespace === namespace) && (name === '' || metadata.name === name)
  const deliver = ({ type, plural, object }: StoreEvent): void => {
    if (plural === resource.plural && concerns(object) && selects(object)) send(type, show(object))
  }
  reply.head(200)

  const from = query.get('resourceVersion') ?? ''
  if (from === '' || from === '0') {
    for (const object of store.list(resource, namespace)) if (concerns(object) && selects(object)) send('ADDED', show(object))
  } else {
    const missed = store.since(Number(from))
    if (missed === undefined) {
      send('ERROR', statusObject(410, 'Expired', `too old resource version: ${from} (${store.revision})`))
      reply.end()
      return
    }
    for (const event of missed) deliver(event)
  }

  const bookmark = (): void =>
    send('BOOKMARK', {
      kind: resource.kind,
      apiVersion: apiVersionOf(resource),
      metadata: { resourceVersion: String(store.revision), creationTimestamp: null },
    })
  const wantsBookmarks = query.get('allowWatchBookmarks') === 'true'
  const bookmarks = wantsBookmarks ? setInterval(bookmark, times.bookmarkSeconds * times.secondMs) : undefined
  const timeoutSeconds = Number(query.get('timeoutSeconds') ?? '') || 1800
  const timeout = setTimeout(() => {
    if (wantsBookmarks) bookmark()
    reply.end()
  }, timeoutSeconds * times.secondMs)
  const unsubscribe = store.onEvent(deliver)
  reply.onClose(() => {
    unsubscribe()
    clearInterval(bookmarks)
    clearTimeout(timeout)
  })
}
