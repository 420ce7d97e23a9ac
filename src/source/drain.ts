// SPDX-License-Identifier: Apache-2.0
/**
 * Whether this node is drained: a condition of its Node says so, or it is cordoned, and the only
 * pods left are those that `kubectl drain` leaves (pods of DaemonSets, static pods, completed
 * pods). Rules: the pod filters of k8s.io/kubectl/pkg/drain. Requests are made only while a change
 * waits for the drain.
 */

import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { DrainProbe } from '../ports/probes.ts'
import { isObject } from '../values/is-object.ts'
import { readAnswer, wholeNode } from './kube-object.ts'
import {
  CONFIRMED_US,
  type Failure,
  FROM_CACHE,
  hasDrainedCondition,
  isCordoned,
  listPods,
  OLD_US,
  Pauses,
  type Query,
} from './pods-of-node.ts'

interface DrainDeps {
  readonly api: Pick<KubeApi, 'request'>
  readonly nodeName: string
  readonly clock: Clock
  /** In [0, 1). */
  readonly random: () => number
  /** Called when the result differs from the one before. */
  readonly onChange: () => void
}

type Finding =
  | { readonly kind: 'not-cordoned' | 'pods-left' | 'drained' }
  /** `failure`: the request that failed. undefined: an answer was not what was requested. */
  | { readonly kind: 'unknown'; readonly failure?: Failure | undefined }

export class NodeDrain implements Pick<DrainProbe, 'isDrained'> {
  readonly #deps: DrainDeps
  #drained: boolean | undefined
  #confirmedUs = Number.NEGATIVE_INFINITY
  #answeredUs = Number.NEGATIVE_INFINITY
  readonly #pauses: Pauses
  #nextUs = 0
  #isChecking = false

  constructor(deps: DrainDeps) {
    this.#deps = deps
    this.#pauses = new Pauses(deps.random)
  }

  isDrained(): boolean | undefined {
    const nowUs = this.#nowUs()
    if (this.#drained === true && nowUs - this.#answeredUs > OLD_US) this.#drained = undefined
    if (!this.#isChecking && nowUs >= this.#nextUs) void this.#refresh()
    return this.#drained
  }

  async #refresh(): Promise<void> {
    this.#isChecking = true
    const before = this.#drained
    const finding = await this.#check()
    this.#drained = finding.kind === 'unknown' ? undefined : finding.kind === 'drained'
    this.#isChecking = false
    this.#answeredUs = this.#nowUs()
    const isUnknown = finding.kind === 'unknown'
    const pauseMs = isUnknown ? this.#pauses.afterUnknown(finding.failure) : this.#pauses.afterAnswer(finding.kind !== 'not-cordoned')
    this.#nextUs = this.#answeredUs + pauseMs * 1000
    if (this.#drained !== before) this.#deps.onChange()
  }

  async #check(): Promise<Finding> {
    const cached = await this.#look(FROM_CACHE)
    const isConfirmed = this.#drained === true && this.#nowUs() < this.#confirmedUs + CONFIRMED_US
    if (cached.kind !== 'drained' || isConfirmed) return cached
    const confirmed = await this.#look({})
    if (confirmed.kind === 'drained') this.#confirmedUs = this.#nowUs()
    return confirmed
  }

  async #look(query: Query): Promise<Finding> {
    const { api, nodeName } = this.#deps
    const node = await api.request({ method: 'GET', path: `/api/v1/nodes/${nodeName}`, query })
    if (node.kind !== 'ok') return { kind: 'unknown', failure: node }
    if (!readAnswer(node.object, wholeNode(nodeName)).ok) return { kind: 'unknown' }
    if (hasDrainedCondition(node.object)) return { kind: 'drained' }
    return isCordoned(node.object) ? this.#list(query) : { kind: 'not-cordoned' }
  }

  /** Only metadata, which is a fraction of a pod and says who owns it. */
  async #list(query: Query): Promise<Finding> {
    const { api, nodeName } = this.#deps
    for await (const page of listPods(api, nodeName, query, 'PartialObjectMetadataList')) {
      if (page.kind === 'unknown') return page
      if (!page.pods.every(mayStay)) return { kind: 'pods-left' }
    }
    return { kind: 'drained' }
  }

  #nowUs(): number {
    return this.#deps.clock.now().monotonicUs
  }
}

function mayStay(pod: unknown): boolean {
  if (!isObject(pod) || !isObject(pod.metadata)) return false
  const { annotations, ownerReferences } = pod.metadata
  const phase = isObject(pod.status) ? pod.status.phase : undefined
  if (phase === 'Succeeded' || phase === 'Failed') return true
  if (isObject(annotations) && Object.hasOwn(annotations, 'kubernetes.io/config.mirror')) return true
  return (
    Array.isArray(ownerReferences) &&
    ownerReferences.some((owner) => isObject(owner) && owner.kind === 'DaemonSet' && owner.controller === true)
  )
}
