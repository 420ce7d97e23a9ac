// SPDX-License-Identifier: Apache-2.0
/**
 * Watches one object by name: the results of list, get and watch as one view. `watch-loop.ts` makes
 * the requests.
 */
import type { WatchFailure } from '../decision/desired.ts'
import { backoffMs } from '../kube/backoff.ts'
import type { Log } from '../ports/log.ts'
import type { JsonObject } from '../values/is-object.ts'
import { type Form, isOlder, type ObjectIdentity, type Requested, readAnswer, readListAnswer } from './kube-object.ts'
import type { AfterBreak, RequestFailure } from './reflect.ts'
import {
  type Followed,
  follow,
  malformed,
  type Read,
  type RequestGate,
  type SendRead,
  type WatchDeps,
  type WatchTiming,
} from './watch-loop.ts'

interface WatchedObject {
  /** `/api/v1/nodes`. */
  readonly collection: string
  readonly kind: 'Node' | 'ConfigMap'
  /** Empty for a Node. */
  readonly namespace: string
  readonly name: string
  /** Default: always the whole object. */
  readonly extent?: Extent
  /**
   * `read` for an object that must be current within a minute, even where etcd was restored. It
   * costs a read of each agent whenever an API server goes away. Default: `watch`.
   */
  readonly afterBreak?: AfterBreak
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
  /** The object cannot be read. An earlier version may stay in effect. */
  | { readonly kind: 'failed'; readonly reason: WatchFailure; readonly detail: string }

interface WatchObserver {
  onView(view: ObjectView): void
  onSynced(): void
  onReconnect?(): void
  onOpen?(): void
  onLost?(): void
}

export async function watchObject(
  deps: WatchDeps,
  { collection, kind, namespace, name, extent = ALWAYS_WHOLE, afterBreak }: WatchedObject,
  observer: WatchObserver,
  gate: RequestGate,
  signal: AbortSignal,
): Promise<void> {
  const query = { fieldSelector: `metadata.name=${name}` }
  const requestedAs = (form: Form): Requested => ({ kind, namespace, name, form })
  const deliver = (view: ObjectView) => () => observer.onView(view)
  // The version of the object in the last read. Empty: it did not exist.
  let readVersion = ''
  const followed: Followed = {
    what: `${collection}/${name}`,
    collection,
    query,
    afterBreak,
    async read(verb, send) {
      const requested = requestedAs(extent.formOfRead())
      const { end, view } = await (verb === 'get'
        ? getOne(send, `${collection}/${name}`, requested)
        : listOne(send, collection, query, requested))
      if (view !== undefined) readVersion = view.kind === 'found' ? view.identity.resourceVersion : ''
      return view === undefined ? { end } : { end, deliver: deliver(view) }
    },
    formOfWatch: () => extent.formOfWatch(),
    readEvent(type, object, { form, since }) {
      const answer = readAnswer(object, requestedAs(form))
      if (!answer.ok) return malformed(`${type} event: ${answer.detail}`)
      const { resourceVersion } = answer.found.identity
      if (since === '' && isOlder(resourceVersion, readVersion)) return behind(resourceVersion, readVersion)
      return deliver(type === 'DELETED' ? { kind: 'absent' } : { kind: 'found', ...answer.found, form })
    },
    onFailed: (reason, detail) => observer.onView({ kind: 'failed', reason, detail }),
    onSynced: () => observer.onSynced(),
    onReconnect: () => observer.onReconnect?.(),
    onOpen: () => observer.onOpen?.(),
    onLost: () => observer.onLost?.(),
  }
  await follow(deps, followed, gate, signal)
}

/**
 * A watch without a resourceVersion starts at the cache of an API server, which may lag behind the
 * one that was read: an older version may be out of date. Or etcd was restored from a backup, and
 * counts from a lower version: then it is the current one. Reading again shows which.
 *
 * On a watch that starts at a version, every event is newer than that, whatever its number.
 */
function behind(resourceVersion: string, readVersion: string): RequestFailure {
  return { kind: 'behind', detail: `its watch is at version ${resourceVersion}, before version ${readVersion}, which was read` }
}

interface ReadView {
  readonly end: Read['end']
  readonly view?: ObjectView
}

async function getOne(send: SendRead, path: string, requested: Requested): Promise<ReadView> {
  const { form } = requested
  const answer = await send({ path, ...(form === 'metadata' ? { as: 'PartialObjectMetadata' } : {}) })
  if (answer.kind === 'refused' && answer.status === 404) return { end: { kind: 'read', resourceVersion: '' }, view: { kind: 'absent' } }
  if (answer.kind !== 'ok') return { end: answer }
  const reading = readAnswer(answer.object, requested)
  if (!reading.ok) return { end: malformed(reading.detail) }
  const { found } = reading
  return { end: { kind: 'read', resourceVersion: found.identity.resourceVersion }, view: { kind: 'found', ...found, form } }
}

async function listOne(send: SendRead, collection: string, query: Followed['query'], requested: Requested): Promise<ReadView> {
  const { form } = requested
  const answer = await send({ path: collection, query, ...(form === 'metadata' ? { as: 'PartialObjectMetadataList' } : {}) })
  if (answer.kind !== 'ok') return { end: answer }
  const list = readListAnswer(answer.object, requested)
  if (!list.ok) return { end: malformed(list.detail) }
  const [found] = list.found
  const view: ObjectView = found === undefined ? { kind: 'absent' } : { kind: 'found', ...found, form }
  return { end: { kind: 'read', resourceVersion: list.resourceVersion }, view }
}

interface KeepRunningDeps {
  readonly pace: WatchTiming
  readonly log: Log
}

/**
 * Keeps a watch running, whatever fails in it: without it, the node would follow nothing more.
 * Resolves when the task does, or when the signal aborts.
 */
export async function keepRunning(
  what: string,
  task: () => Promise<void>,
  { pace, log }: KeepRunningDeps,
  signal: AbortSignal,
): Promise<void> {
  for (let failure = 1; !signal.aborted; failure += 1) {
    try {
      return await task()
    } catch (error) {
      log.error(`watching ${what} failed, trying again in a while`, { error })
      await pace.sleep(backoffMs(failure, pace.random), signal)
    }
  }
}
