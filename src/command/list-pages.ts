// SPDX-License-Identifier: Apache-2.0
/**
 * Reads a list in pages, so that no answer holds a whole fleet: `limit` and `continue` of the
 * Kubernetes API. The facts that are made of each object are kept, the object itself is not. Pure
 * but for the API that is passed in.
 */
import type { KubeApi, PartialForm } from '../ports/kube-api.ts'
import { itemsOf } from '../source/kube-object.ts'
import { isObject } from '../values/is-object.ts'
import { Failure } from './command.ts'
import { type Asked, objectOf } from './failure.ts'

/**
 * A Node has some 10 to 20 KB, most of it images. So a page usually stays below the longest answer
 * that the adapter takes, 8 MiB. A ConfigMap may have more than 1 MB.
 */
export const PAGE = 150
/** A list that takes longer than etcd keeps its version begins again. */
const MOST_STARTS = 3

interface Listing {
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly as?: PartialForm
  readonly asked: Asked
}

export interface Listed<T> {
  readonly items: readonly T[]
  /** For a watch from here on. */
  readonly resourceVersion: string
}

/**
 * @param read undefined: the object is left out
 * @throws Failure
 */
export async function listPages<T>(
  api: Pick<KubeApi, 'request'>,
  listing: Listing,
  read: (object: unknown) => T | undefined,
): Promise<Listed<T>> {
  for (let start = 1; ; start++) {
    const listed = await listOnce(api, listing, read)
    if (listed !== 'expired') return listed
    if (start === MOST_STARTS)
      throw new Failure(`cannot list ${listing.asked.resource}: the list took longer than the API server keeps its version`)
  }
}

async function listOnce<T>(
  api: Pick<KubeApi, 'request'>,
  { path, query = {}, as, asked }: Listing,
  read: (object: unknown) => T | undefined,
): Promise<Listed<T> | 'expired'> {
  const items: T[] = []
  let next = ''
  let limit = PAGE
  for (;;) {
    const page = { ...query, limit: String(limit), ...(next !== '' && { continue: next }) }
    const answer = await api.request({ method: 'GET', path, query: page, ...(as && { as }) })
    if (answer.kind === 'refused' && answer.status === 410 && next !== '') return 'expired'
    if (answer.kind === 'unreachable' && answer.reason === 'too-long' && limit > 1) {
      limit = Math.floor(limit / 2)
      continue
    }
    const list = objectOf(asked, answer)
    const objects = itemsOf(list)
    const metadata = isObject(list) && isObject(list.metadata) ? list.metadata : {}
    if (objects === undefined) throw new Failure(`cannot list ${asked.resource}: the answer is not a list`)
    for (const object of objects) {
      const item = read(object)
      if (item !== undefined) items.push(item)
    }
    next = typeof metadata.continue === 'string' ? metadata.continue : ''
    if (next === '') return { items, resourceVersion: typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : '' }
  }
}
