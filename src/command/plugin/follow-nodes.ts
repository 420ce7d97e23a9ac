// SPDX-License-Identifier: Apache-2.0
/**
 * Follows all Nodes: lists them in pages, watches them from there on, and goes on after each end of
 * the watch, as a reflector does. The facts that are made of a Node are kept, the object is not.
 * Pure but for the API.
 */
import type { KubeWatchEnd } from '../../ports/kube-api.ts'
import { identityOf } from '../../source/kube-object.ts'
import { isObject } from '../../values/is-object.ts'
import { Failure } from '../command.ts'
import { describeRefused, isPassing, Outage } from '../failure.ts'
import { listPages } from '../list-pages.ts'
import type { PluginContext } from './command.ts'
import { LIST_NODES, NODES_PATH } from './node-state.ts'

interface NodeFollower<T> {
  /** Empty: all Nodes. */
  readonly selector: string
  /** Empty: the Nodes are listed first. */
  readonly resourceVersion: string
  /** undefined: the object is left out. */
  read(node: unknown): T | undefined
  /** @param isGap changes since the last fact may be missing */
  onList(facts: readonly T[], isGap: boolean): Promise<void> | undefined
  onChange(fact: T, isDeleted: boolean): Promise<void> | undefined
}

/** Each kubelet writes to its Node at least every five minutes. */
const INACTIVITY_MS = 6 * 60_000
const AGAIN_MS = 2000
const LONGEST_PAUSE_MS = 60_000
/** A list is many requests. */
const LIST_AGAIN_MS = 10_000

export class NodeFollowing<T> {
  readonly #context: PluginContext
  readonly #follower: NodeFollower<T>
  readonly #signal: AbortSignal
  #version: string
  /** The Nodes are listed again, without a gap. */
  #isAsked = false
  /** When they may be: the API server has refused it before. */
  #listAtUs = 0
  #watch: AbortController | undefined
  /** Since when the watch is open. undefined: it is not. */
  #openUs: number | undefined
  #contactUs = 0

  constructor(context: PluginContext, follower: NodeFollower<T>, signal: AbortSignal) {
    this.#context = context
    this.#follower = follower
    this.#signal = signal
    this.#version = follower.resourceVersion
  }

  /**
   * Ends when the signal aborts.
   * @throws Failure where it is refused
   */
  async run(): Promise<void> {
    let failures = 0
    while (!this.#signal.aborted) {
      const waitMs = await this.#turn()
      failures = waitMs === undefined ? 0 : failures + 1
      const backoffMs = Math.min(LONGEST_PAUSE_MS, AGAIN_MS * 2 ** Math.max(0, failures - 1))
      // Nothing broke: the Nodes are asked for.
      if (this.#isAsked && failures === 0) continue
      this.#isAsked = false
      await this.#context.sleep(Math.max(backoffMs, waitMs ?? 0), this.#signal)
    }
  }

  /**
   * Lists the Nodes again, where a watch is open and the API server takes a list. To be called
   * until they are listed. A watch that is broken goes on first: it tells what happened meanwhile.
   */
  refresh(): void {
    if (this.#openUs === undefined || this.#context.monotonicUs() < this.#listAtUs) return
    this.#isAsked = true
    this.#watch?.abort()
  }

  /** For how long the watch has been open since this was asked last, in microseconds. */
  takeContactUs(): number {
    this.#count()
    const us = this.#contactUs
    this.#contactUs = 0
    return us
  }

  #count(): void {
    if (this.#openUs === undefined) return
    const nowUs = this.#context.monotonicUs()
    this.#contactUs += nowUs - this.#openUs
    this.#openUs = nowUs
  }

  /** @returns undefined: nothing failed; otherwise Retry-After */
  async #turn(): Promise<number | undefined> {
    if (this.#version === '' || this.#isAsked) {
      try {
        await this.#list()
      } catch (error) {
        if (!(error instanceof Outage)) throw error
        if (this.#version === '') return error.retryAfterMs
        // The watch goes on where it was, so nothing is missed.
        this.#listAtUs = this.#context.monotonicUs() + Math.max(error.retryAfterMs, LIST_AGAIN_MS) * 1000
      }
      this.#isAsked = false
    }
    const changes: Promise<void>[] = []
    const end = await this.#watchOnce(changes)
    await Promise.all(changes)
    if (end.kind !== 'refused') return end.kind === 'ended' ? undefined : 0
    if (end.status === 410) this.#version = ''
    else if (!isPassing(end.status)) throw new Failure(describeRefused({ verb: 'watch', resource: 'nodes' }, end))
    return end.retryAfterMs ?? 0
  }

  async #list(): Promise<void> {
    const { api } = this.#context
    const { selector } = this.#follower
    const query = selector === '' ? {} : { labelSelector: selector }
    const listed = await listPages(api, { path: NODES_PATH, query, asked: LIST_NODES }, (node) => this.#follower.read(node))
    const isGap = this.#version === ''
    this.#version = listed.resourceVersion
    await this.#follower.onList(listed.items, isGap)
  }

  async #watchOnce(changes: Promise<void>[]): Promise<KubeWatchEnd> {
    const { api, monotonicUs } = this.#context
    const { selector } = this.#follower
    this.#watch = new AbortController()
    const end = await api.watch({
      path: NODES_PATH,
      query: {
        resourceVersion: this.#version,
        allowWatchBookmarks: 'true',
        timeoutSeconds: '600',
        ...(selector !== '' && { labelSelector: selector }),
      },
      inactivityMs: INACTIVITY_MS,
      signal: AbortSignal.any([this.#signal, this.#watch.signal]),
      onOpen: () => {
        this.#openUs = monotonicUs()
      },
      onEvent: (event) => {
        const done = this.#take(event)
        if (done !== undefined) changes.push(done)
      },
    })
    this.#count()
    this.#openUs = undefined
    this.#watch = undefined
    return end
  }

  #take({ type, object }: { readonly type: string; readonly object: unknown }): Promise<void> | undefined {
    // The API server says why it ends the watch: mostly that it no longer has the version.
    if (type === 'ERROR') this.#version = ''
    // The Nodes are listed next, and what they were before does not matter.
    if (this.#version === '') return undefined
    this.#version = identityOf(object)?.resourceVersion || versionOfBookmark(object) || this.#version
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return undefined
    const fact = this.#follower.read(object)
    return fact === undefined ? undefined : this.#follower.onChange(fact, type === 'DELETED')
  }
}

/** A bookmark has a version and no name. */
function versionOfBookmark(object: unknown): string {
  const metadata = isObject(object) && isObject(object.metadata) ? object.metadata : {}
  return typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : ''
}
