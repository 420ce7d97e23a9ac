// SPDX-License-Identifier: Apache-2.0
/**
 * A list in pages, as `limit` and `continue` ask for. A token holds the version of the list and how
 * many objects were sent, and expires when that version is compacted, as with etcd.
 */
import { ApiError, type KubeObject } from './objects.ts'
import type { Store } from './store.ts'

interface Page {
  readonly items: readonly KubeObject[]
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number }
}

/** Objects that change between two pages are sent as they are then. */
export function pageOf(matching: readonly KubeObject[], query: URLSearchParams, store: Store): Page {
  const [version = String(store.revision), sent = '0'] = (query.get('continue') ?? '').split(' ').filter((word) => word !== '')
  if (store.since(Number(version)) === undefined)
    throw new ApiError(410, 'Expired', 'The provided continue parameter is too old to display a consistent list result.')
  const limit = Number(query.get('limit') ?? '0')
  const end = limit > 0 ? Number(sent) + limit : matching.length
  const items = matching.slice(Number(sent), end)
  const remaining = matching.length - end
  if (remaining <= 0) return { items, metadata: { resourceVersion: version } }
  return { items, metadata: { resourceVersion: version, continue: `${version} ${end}`, remainingItemCount: remaining } }
}
