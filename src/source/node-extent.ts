// SPDX-License-Identifier: Apache-2.0
/**
 * Whether to read and watch the whole Node or its metadata alone. From a server that stores
 * `spec.configSource`, the whole Node. From one that drops the field, the whole Node once and then
 * at every resync, since a Node can have kept the field from an older server; in between, metadata,
 * which makes kubelet's heartbeats much cheaper.
 *
 * Servers from 1.26 on drop the field. Older ones have a feature gate, which also controls
 * `status.config` (`dropDisabledFields`, pkg/registry/core/node/strategy.go of 1.22), so a dry-run
 * patch of `status.config` shows which it is. In doubt, the server counts as one that stores it.
 *
 * While the assigned config computes values from the Node, the whole Node too: capacity and CIDRs
 * change without a word in the metadata, and a node that joins gets its CIDR only after it was
 * first read.
 */

import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import { readNodeConfig } from '../report/node-config.ts'
import { isObject } from '../values/is-object.ts'
import { type Form, readAnswer, wholeNode } from './kube-object.ts'
import type { Extent } from './object-watch.ts'
import type { WatchTiming } from './watch-loop.ts'

/** A resync comes after 15 minutes at the earliest; a timer may fire a little early. */
const WHOLE_EVERY_MS = 14 * 60_000
/** The first version that drops the field. */
const FIRST_WITHOUT_FIELD = { major: 1, minor: 26 }

interface NodeExtentDeps {
  readonly api: KubeApi
  readonly nodeName: string
  readonly pace: Pick<WatchTiming, 'nowMs'>
  readonly log: Log
  readonly requestTimeoutMs: number
}

export class NodeExtent implements Extent {
  readonly #deps: NodeExtentDeps
  /** The last whole Node. */
  #whole: { readonly atMs: number; readonly usesFields: boolean } | undefined
  #server: { readonly atMs: number; readonly drops: boolean } | undefined
  #loggedForm: Form | undefined
  #watched: Form | undefined
  #isWanted = false

  constructor(deps: NodeExtentDeps) {
    this.#deps = deps
  }

  /** To be called with each whole Node. */
  observe(node: unknown): void {
    this.#whole = { atMs: this.#deps.pace.nowMs(), usesFields: usesFields(node) }
  }

  /**
   * Whether values are computed from the whole Node.
   * @returns whether the watch that runs has to begin anew for that
   */
  want(isWanted: boolean): boolean {
    const isNew = isWanted && !this.#isWanted
    this.#isWanted = isWanted
    return isNew && this.#watched === 'metadata'
  }

  formOfRead(): Form {
    return this.#isMetadataEnough() && this.#whole !== undefined && !this.#isOld(this.#whole) ? 'metadata' : 'whole'
  }

  async formOfWatch(): Promise<Form> {
    if (this.#whole?.usesFields === false && (this.#server === undefined || this.#isOld(this.#server))) {
      const drops = await this.#dropsField()
      this.#server = { atMs: this.#deps.pace.nowMs(), drops }
    }
    const form = this.#isMetadataEnough() ? 'metadata' : 'whole'
    this.#watched = form
    this.#logForm(form)
    return form
  }

  #logForm(form: Form): void {
    if (form === this.#loggedForm) return
    const { log, nodeName } = this.#deps
    if (form === 'metadata') log.info('the API server drops spec.configSource: watching only the metadata of the Node', { node: nodeName })
    else if (this.#loggedForm !== undefined) log.info('watching the whole Node again', { node: nodeName })
    this.#loggedForm = form
  }

  #isMetadataEnough(): boolean {
    return !this.#isWanted && this.#whole?.usesFields === false && this.#server?.drops === true
  }

  #isOld({ atMs }: { readonly atMs: number }): boolean {
    return this.#deps.pace.nowMs() - atMs >= WHOLE_EVERY_MS
  }

  async #dropsField(): Promise<boolean> {
    const { api, nodeName, requestTimeoutMs: timeoutMs } = this.#deps
    const version = await api.request({ method: 'GET', path: '/version', timeoutMs })
    if (version.kind === 'unreachable') return false
    if (version.kind === 'ok' && isWithoutField(version.object)) return true
    const answer = await api.request({
      method: 'PATCH',
      path: `/api/v1/nodes/${nodeName}/status`,
      query: { dryRun: 'All' },
      contentType: 'application/merge-patch+json',
      body: { status: { config: { error: 'dry run: is status.config stored?' } } },
      timeoutMs,
    })
    if (answer.kind !== 'ok' || !readAnswer(answer.object, wholeNode(nodeName)).ok) return false
    return readNodeConfig(answer.object) === 'absent'
  }
}

/** A server that stores one of the two fields can store the other. */
function usesFields(node: unknown): boolean {
  const spec = isObject(node) ? node.spec : undefined
  const configSource = isObject(spec) ? spec.configSource : undefined
  return (configSource !== undefined && configSource !== null) || readNodeConfig(node) !== 'absent'
}

/** `minor` can end in a vendor's `+`. */
function isWithoutField(version: unknown): boolean {
  if (!isObject(version) || typeof version.major !== 'string' || typeof version.minor !== 'string') return false
  const major = Number.parseInt(version.major, 10)
  const minor = Number.parseInt(version.minor, 10)
  return major > FIRST_WITHOUT_FIELD.major || (major === FIRST_WITHOUT_FIELD.major && minor >= FIRST_WITHOUT_FIELD.minor)
}
