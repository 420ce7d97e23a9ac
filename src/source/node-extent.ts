/**
 * How much of its Node the agent has to see. A server that stores `spec.configSource` is asked for all of it. One that drops the field is
 * asked for all of it once, and then again at every slow resync: a Node can have kept it from an older server. Between these, metadata is
 * enough, and a heartbeat of kubelet's costs a fraction.
 *
 * Whether a server drops it: all from 1.26 on do. An older one has a feature gate for it, which decides over `status.config` too
 * (`dropDisabledFields`, pkg/registry/core/node/strategy.go of 1.22), so a dry run of that tells. What cannot be told counts as stored.
 */

import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import { readNodeConfig } from '../report/node-config.ts'
import { isObject } from '../values/is-object.ts'
import type { Extent } from './object-watch.ts'
import type { Form, WatchTiming } from './watch-loop.ts'

/** A resync comes after 15 minutes at the earliest; a timer may be a little early. */
const WHOLE_EVERY_MS = 14 * 60_000
const FIRST_WITHOUT = { major: 1, minor: 26 }

export interface NodeExtentDeps {
  readonly api: KubeApi
  readonly nodeName: string
  readonly pace: Pick<WatchTiming, 'nowMs'>
  readonly log: Log
  readonly requestTimeoutMs: number
}

export class NodeExtent implements Extent {
  readonly #deps: NodeExtentDeps
  /** The Node as it was last seen whole. */
  #seen: { readonly atMs: number; readonly usesFields: boolean } | undefined
  #server: { readonly atMs: number; readonly drops: boolean } | undefined
  #said: Form | undefined

  constructor(deps: NodeExtentDeps) {
    this.#deps = deps
  }

  /** Each Node that is seen whole. */
  saw(node: unknown): void {
    this.#seen = { atMs: this.#deps.pace.nowMs(), usesFields: usesFields(node) }
  }

  ofRead(): Form {
    return this.#isBare() && this.#seen !== undefined && !this.#isOld(this.#seen) ? 'metadata' : 'whole'
  }

  async ofWatch(): Promise<Form> {
    if (this.#seen?.usesFields === false && (this.#server === undefined || this.#isOld(this.#server))) {
      const drops = await this.#askWhetherDropped()
      this.#server = { atMs: this.#deps.pace.nowMs(), drops }
    }
    const form = this.#isBare() ? 'metadata' : 'whole'
    this.#say(form)
    return form
  }

  #say(form: Form): void {
    if (form === this.#said) return
    const { log, nodeName } = this.#deps
    if (form === 'metadata') log.info('the API server drops spec.configSource: of the Node, metadata is watched', { node: nodeName })
    else if (this.#said !== undefined) log.info('the Node is watched whole again', { node: nodeName })
    this.#said = form
  }

  #isBare(): boolean {
    return this.#seen?.usesFields === false && this.#server?.drops === true
  }

  #isOld({ atMs }: { readonly atMs: number }): boolean {
    return this.#deps.pace.nowMs() - atMs >= WHOLE_EVERY_MS
  }

  async #askWhetherDropped(): Promise<boolean> {
    const { api, nodeName, requestTimeoutMs: timeoutMs } = this.#deps
    const version = await api.request({ method: 'GET', path: '/version', timeoutMs })
    if (version.kind === 'unreachable') return false
    if (version.kind === 'ok' && isWithout(version.object)) return true
    const answer = await api.request({
      method: 'PATCH',
      path: `/api/v1/nodes/${nodeName}/status`,
      query: { dryRun: 'All' },
      contentType: 'application/merge-patch+json',
      body: { status: { config: { error: 'asking whether status.config is stored' } } },
      timeoutMs,
    })
    return answer.kind === 'ok' && readNodeConfig(answer.object) === 'absent'
  }
}

/** Who has one of the fields can have the other. */
function usesFields(node: unknown): boolean {
  const spec = isObject(node) ? node.spec : undefined
  const configSource = isObject(spec) ? spec.configSource : undefined
  return (configSource !== undefined && configSource !== null) || readNodeConfig(node) !== 'absent'
}

/** `minor` can end in a vendor's `+`. */
function isWithout(version: unknown): boolean {
  if (!isObject(version) || typeof version.major !== 'string' || typeof version.minor !== 'string') return false
  const major = Number.parseInt(version.major, 10)
  const minor = Number.parseInt(version.minor, 10)
  return major > FIRST_WITHOUT.major || (major === FIRST_WITHOUT.major && minor >= FIRST_WITHOUT.minor)
}
