/**
 * Watches one object by name: the results of list, get and watch as one view. `watch-loop.ts` makes
 * the requests.
 */
import { isObject, type JsonObject } from '../values/is-object.ts'
import { identityOf, isOlder, type ObjectIdentity } from './kube-object.ts'
import {
  type Followed,
  type Form,
  follow,
  malformed,
  type Read,
  type RequestGate,
  readList,
  type SendRead,
  type WatchDeps,
} from './watch-loop.ts'

export interface WatchedObject {
  /** `/api/v1/nodes`. */
  readonly collection: string
  readonly name: string
  /** Default: always the whole object. */
  readonly extent?: Extent
}

/** Whether the next request is for the whole object or for its metadata. */
export interface Extent {
  formOfRead(): Form
  formOfWatch(): Promise<Form>
}
const ALWAYS_WHOLE: Extent = { formOfRead: () => 'whole', formOfWatch: async () => 'whole' }

export type ObjectView =
  | { readonly kind: 'found'; readonly object: JsonObject; readonly identity: ObjectIdentity; readonly form: Form }
  | { readonly kind: 'absent' }
  /** It cannot be read. What was read before may stay in effect. */
  | { readonly kind: 'failed'; readonly reason: 'forbidden' | 'unreachable'; readonly detail: string }

export interface WatchObserver {
  onView(view: ObjectView): void
  onSynced(): void
  onReconnect(): void
}

export async function watchObject(
  deps: WatchDeps,
  { collection, name, extent = ALWAYS_WHOLE }: WatchedObject,
  observer: WatchObserver,
  gate: RequestGate,
  signal: AbortSignal,
): Promise<void> {
  const query = { fieldSelector: `metadata.name=${name}` }
  const deliver = (view: ObjectView) => () => observer.onView(view)
  // A watch without a resourceVersion may be served from the cache of another API server, which
  // lags behind the one that was read and catches up event by event: its older versions are
  // ignored.
  let readVersion = ''
  const followed: Followed = {
    what: `${collection}/${name}`,
    collection,
    query,
    async read(verb, send) {
      const form = extent.formOfRead()
      const { end, view } = await (verb === 'get' ? getOne(send, collection, name, form) : listOne(send, collection, query, name, form))
      if (view !== undefined) readVersion = view.kind === 'found' ? view.identity.resourceVersion : ''
      return view === undefined ? { end } : { end, deliver: deliver(view) }
    },
    formOfWatch: () => extent.formOfWatch(),
    onEvent(type, object, form) {
      const identity = identityOf(object)
      if (identity?.name !== name || isOlder(identity.resourceVersion, readVersion)) return
      observer.onView(type === 'DELETED' ? { kind: 'absent' } : { kind: 'found', object, identity, form })
    },
    onFailed: (reason, detail) => observer.onView({ kind: 'failed', reason, detail }),
    onSynced: () => observer.onSynced(),
    onReconnect: () => observer.onReconnect(),
  }
  await follow(deps, followed, gate, signal)
}

interface ReadView {
  readonly end: Read['end']
  readonly view?: ObjectView
}

async function getOne(send: SendRead, collection: string, name: string, form: Form): Promise<ReadView> {
  const answer = await send({ path: `${collection}/${name}`, ...(form === 'metadata' ? { as: 'PartialObjectMetadata' } : {}) })
  if (answer.kind === 'refused' && answer.status === 404) return { end: { kind: 'read', resourceVersion: '' }, view: { kind: 'absent' } }
  if (answer.kind !== 'ok') return { end: answer }
  const identity = identityOf(answer.object)
  if (identity?.name !== name || !isObject(answer.object)) return { end: malformed(`the answer to a get of ${name} is not that object`) }
  return {
    end: { kind: 'read', resourceVersion: identity.resourceVersion },
    view: { kind: 'found', object: answer.object, identity, form },
  }
}

async function listOne(send: SendRead, collection: string, query: Followed['query'], name: string, form: Form): Promise<ReadView> {
  const answer = await send({ path: collection, query, ...(form === 'metadata' ? { as: 'PartialObjectMetadataList' } : {}) })
  if (answer.kind !== 'ok') return { end: answer }
  const list = readList(answer.object)
  if (list === undefined) return { end: malformed('the answer is not a list') }
  const end = { kind: 'read', resourceVersion: list.resourceVersion } as const
  for (const object of list.items) {
    const identity = identityOf(object)
    if (identity?.name === name && isObject(object)) return { end, view: { kind: 'found', object, identity, form } }
  }
  return { end, view: { kind: 'absent' } }
}
