// SPDX-License-Identifier: Apache-2.0
/**
 * Whether this node is drained: a condition of its Node says so, or it is cordoned, and the only
 * pods left are those that `kubectl drain` leaves (pods of DaemonSets, static pods, completed
 * pods). Rules: the pod filters of k8s.io/kubectl/pkg/drain. Requests are made only while a change
 * waits for the drain.
 *
 * They ask for resourceVersion 0, which an API server answers from its watch cache, where it has an
 * index of pods by node. A consistent list reads all pods of the cluster from etcd. The cache may
 * lag, so consistent reads confirm what it says before the node counts as drained.
 */

import { backoffMs } from '../kube/backoff.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeAnswer, KubeApi } from '../ports/kube-api.ts'
import type { DrainProbe } from '../ports/probes.ts'
import { isObject } from '../values/is-object.ts'
import { itemsOf, readAnswer, wholeNode } from './kube-object.ts'

/** While pods leave the node, and while it is drained. */
const RECHECK_MS = 10_000
/** Until a person, or a program that drains nodes, turns to this node. */
const NOT_CORDONED_MS = 60_000
/** How long consistent reads hold, as long as the watch cache says the same. */
const CONFIRMED_US = 60e6
/** While a change waits, it is asked more often. Later the node may have pods again. */
const OLD_US = 60e6
/** The number of pods in one consistent answer, so that it stays below the limit of one. */
const PAGE = '200'
/** More pods than any node has. */
const MOST_PAGES = 50
/**
 * The administrator sets them (KEP-5683): what counts as drained, and that pods may be disturbed,
 * is then their decision, whatever pods are left.
 */
const DRAINED_CONDITIONS: readonly unknown[] = ['Drained', 'MaintenanceInProgress']

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
  | { readonly kind: 'unknown'; readonly failure?: Exclude<KubeAnswer, { readonly kind: 'ok' }> }

type Query = Readonly<Record<string, string>>
const FROM_CACHE: Query = { resourceVersion: '0' }

export class NodeDrain implements Pick<DrainProbe, 'isDrained'> {
  readonly #deps: DrainDeps
  #drained: boolean | undefined
  #confirmedUs = Number.NEGATIVE_INFINITY
  #answeredUs = Number.NEGATIVE_INFINITY
  #failures = 0
  #nextUs = 0
  #isChecking = false

  constructor(deps: DrainDeps) {
    this.#deps = deps
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
    this.#nextUs = this.#answeredUs + this.#pauseMs(finding) * 1000
    if (this.#drained !== before) this.#deps.onChange()
  }

  #pauseMs(finding: Finding): number {
    const { random } = this.#deps
    const spread = (ms: number): number => ms * (0.75 + 0.5 * random())
    if (finding.kind !== 'unknown') {
      this.#failures = 0
      return spread(finding.kind === 'not-cordoned' ? NOT_CORDONED_MS : RECHECK_MS)
    }
    this.#failures += 1
    const retryAfterMs = finding.failure?.kind === 'refused' ? finding.failure.retryAfterMs : undefined
    return Math.max(spread(RECHECK_MS), backoffMs(this.#failures, random, retryAfterMs))
  }

  async #check(): Promise<Finding> {
    const cached = await this.#look(FROM_CACHE, () => this.#listCached())
    const isConfirmed = this.#drained === true && this.#nowUs() < this.#confirmedUs + CONFIRMED_US
    if (cached.kind !== 'drained' || isConfirmed) return cached
    const confirmed = await this.#look({}, () => this.#listConsistent())
    if (confirmed.kind === 'drained') this.#confirmedUs = this.#nowUs()
    return confirmed
  }

  async #look(query: Query, listPods: () => Promise<Finding>): Promise<Finding> {
    const { api, nodeName } = this.#deps
    const node = await api.request({ method: 'GET', path: `/api/v1/nodes/${nodeName}`, query })
    if (node.kind !== 'ok') return { kind: 'unknown', failure: node }
    if (!readAnswer(node.object, wholeNode(nodeName)).ok) return { kind: 'unknown' }
    if (hasDrainedCondition(node.object)) return { kind: 'drained' }
    return isCordoned(node.object) ? listPods() : { kind: 'not-cordoned' }
  }

  /** In one answer: the watch cache ignores a limit. */
  async #listCached(): Promise<Finding> {
    const { finding } = await this.#list(FROM_CACHE)
    return finding
  }

  async #listConsistent(): Promise<Finding> {
    let next = ''
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const list = await this.#list({ limit: PAGE, ...(next !== '' && { continue: next }) })
      if (list.finding.kind !== 'drained' || list.next === '') return list.finding
      next = list.next
    }
    return { kind: 'unknown' }
  }

  /** Only metadata, which is a fraction of a pod and says who owns it. `next`: of the next page. */
  async #list(query: Query): Promise<{ readonly finding: Finding; readonly next: string }> {
    const { api, nodeName } = this.#deps
    // Pods that have ended may stay for long, and there may be many.
    const fieldSelector = `spec.nodeName=${nodeName},status.phase!=Succeeded,status.phase!=Failed`
    const as = 'PartialObjectMetadataList'
    const pods = await api.request({ method: 'GET', path: '/api/v1/pods', query: { fieldSelector, ...query }, as })
    if (pods.kind !== 'ok') return { finding: { kind: 'unknown', failure: pods }, next: '' }
    const { object } = pods
    const items = isObject(object) && isPodList(object.kind) ? itemsOf(object) : undefined
    if (!isObject(object) || items === undefined) return { finding: { kind: 'unknown' }, next: '' }
    return { finding: { kind: items.every(mayStay) ? 'drained' : 'pods-left' }, next: continueOf(object) }
  }

  #nowUs(): number {
    return this.#deps.clock.now().monotonicUs
  }
}

/** A server that cannot answer with metadata alone answers with whole objects. */
function isPodList(kind: unknown): boolean {
  return kind === 'PodList' || kind === 'PartialObjectMetadataList'
}

/** Empty: there is no other page. */
function continueOf({ metadata }: Readonly<Record<string, unknown>>): string {
  return isObject(metadata) && typeof metadata.continue === 'string' ? metadata.continue : ''
}

function isCordoned(node: unknown): boolean {
  return isObject(node) && isObject(node.spec) && node.spec.unschedulable === true
}

function hasDrainedCondition(node: unknown): boolean {
  const conditions = isObject(node) && isObject(node.status) ? node.status.conditions : undefined
  const isSet = (condition: unknown) => isObject(condition) && condition.status === 'True' && DRAINED_CONDITIONS.includes(condition.type)
  return Array.isArray(conditions) && conditions.some(isSet)
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
