// SPDX-License-Identifier: Apache-2.0
/**
 * The watch of one record: what was seen last, and for how long there was contact. It only wakes.
 */

import { isOlder } from '../kube-object.ts'
import { keepRunning, type ObjectView, watchObject } from '../object-watch.ts'
import type { AfterBreak } from '../reflect.ts'
import { openGate, type WatchDeps } from '../watch-loop.ts'
import { describeMissingRecord, type FoundRecord, type RecordRef, readFoundRecord } from './read-record.ts'

export class RecordWatch {
  readonly ref: RecordRef
  readonly contact = new Contact()
  readonly #deps: WatchDeps
  readonly #stopper = new AbortController()
  readonly #onView: () => void
  readonly #onLate: () => void
  readonly #lookAgainMs: () => number
  #running: Promise<void> | undefined
  #seen: FoundRecord | undefined

  /**
   * @param onLate what came is older than what was read: only reading again shows which of them
   * stands
   * @param lookAgainMs over what time nodes like this one read it again after a break
   */
  constructor(deps: WatchDeps, ref: RecordRef, onView: () => void, onLate: () => void, lookAgainMs: () => number) {
    this.#deps = deps
    this.ref = ref
    this.#onView = onView
    this.#onLate = onLate
    this.#lookAgainMs = lookAgainMs
  }

  /** undefined: nothing has been read yet. */
  seen(): FoundRecord | undefined {
    return this.#seen
  }

  /**
   * Takes a record that another request has read.
   *
   * @param before what had been seen when the request was made
   * @returns whether it stands: another version may have come meanwhile
   */
  read(found: Extract<FoundRecord, { kind: 'found' }>, before: FoundRecord | undefined): boolean {
    const now = this.#seen
    const isSame = now?.kind === 'found' && now.uid === found.uid && now.resourceVersion === found.resourceVersion
    if (now !== before && !isSame) return false
    this.#seen = found
    return true
  }

  start(): void {
    const { namespace, name } = this.ref
    const collection = `/api/v1/namespaces/${namespace}/configmaps`
    // No watch tells that the record was restored, and other nodes wait only for `lookUs`.
    const lookAgainMs = this.#lookAgainMs
    const afterBreak: AfterBreak = {
      first: 'read',
      get withinMs() {
        return lookAgainMs()
      },
    }
    const watched = { collection, kind: 'ConfigMap', namespace, name, afterBreak } as const
    const observer = {
      onView: (view: ObjectView) => this.#see(view),
      onSynced: () => this.contact.synced(this.#nowUs()),
      // A server without bookmarks gives no other sign while nothing changes.
      onOpen: () => this.contact.synced(this.#nowUs()),
      onLost: () => this.contact.lost(),
    }
    const { signal } = this.#stopper
    const watch = () => watchObject(this.#deps, watched, observer, openGate(), signal)
    this.#running = keepRunning('the record of a rollout', watch, this.#deps, signal)
  }

  async stop(): Promise<void> {
    this.#stopper.abort()
    await this.#running
  }

  #see(view: ObjectView): void {
    if (this.#stopper.signal.aborted) return
    const now = this.#read(view)
    const before = this.#seen
    const isLate =
      now.kind === 'found' && before?.kind === 'found' && now.uid === before.uid && isOlder(now.resourceVersion, before.resourceVersion)
    // Late after a request that was faster, or a backup was restored and counts from a lower
    // version.
    if (isLate) {
      this.#onLate()
      return
    }
    this.#seen = now
    this.#onView()
  }

  #read(view: ObjectView): FoundRecord {
    const what = `the record ${this.ref.namespace}/${this.ref.name}`
    switch (view.kind) {
      case 'found':
        return readFoundRecord(what, view.object)
      case 'absent':
        return { kind: 'unavailable', detail: describeMissingRecord(this.ref) }
      case 'failed':
        return { kind: 'unavailable', detail: `${what} cannot be read (${view.reason}): ${view.detail}` }
    }
  }

  #nowUs(): number {
    return this.#deps.pace.nowMs() * 1000
  }
}

/**
 * Contact time: how long this node could read the record. Only time between two signs of life with
 * no failure between them counts, so an outage of the node or of the API server counts at most
 * until its last sign. No I/O: the caller passes the time (us, CLOCK_MONOTONIC).
 */
class Contact {
  #lastUs: number | undefined
  #creditUs = 0

  /** Something was read or received, or the server accepted a watch. */
  synced(nowUs: number): void {
    if (this.#lastUs !== undefined) this.#creditUs += nowUs - this.#lastUs
    this.#lastUs = nowUs
  }

  /** A request failed, or a watch broke. A regular end is no failure. */
  lost(): void {
    this.#lastUs = undefined
  }

  /** The contact time since the last call. */
  take(): number {
    const creditUs = this.#creditUs
    this.#creditUs = 0
    return creditUs
  }
}
