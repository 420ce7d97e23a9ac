// SPDX-License-Identifier: Apache-2.0
/**
 * How the API server is asked about the pods of this node, and what pods and Node say of a drain.
 * Requests for resourceVersion 0 are answered by an API server from its watch cache, where it has
 * an index of pods by node. A consistent list reads all pods of the cluster from etcd. The cache
 * may lag, so consistent reads confirm what it says before it counts.
 */
import { backoffMs } from '../kube/backoff.ts'
import type { KubeAnswer, KubeApi } from '../ports/kube-api.ts'
import { isObject } from '../values/is-object.ts'
import { itemsOf } from './kube-object.ts'

export type Query = Readonly<Record<string, string>>
export const FROM_CACHE: Query = { resourceVersion: '0' }
/** The number of pods in one consistent answer, so that it stays below the limit of one. */
const PAGE = '200'
/** More pods than any node has. */
const MOST_PAGES = 50
/** How long consistent reads hold, as long as the watch cache says the same. */
export const CONFIRMED_US = 60e6
/** While a change waits, it is asked more often. Later the node may have pods again. */
export const OLD_US = 60e6

/** While pods leave the node, and while it is drained. */
const RECHECK_MS = 10_000
/** Until a person, or a program that drains nodes, turns to this node. */
const NOT_CORDONED_MS = 60_000
/**
 * The administrator sets them (KEP-5683): what counts as drained, and that pods may be disturbed,
 * is then their decision, whatever pods are left.
 */
const DRAINED_CONDITIONS: readonly unknown[] = ['Drained', 'MaintenanceInProgress']

export type Failure = Exclude<KubeAnswer, { readonly kind: 'ok' }>

/** The pauses between two looks at the node. */
export class Pauses {
  readonly #random: () => number
  #failures = 0

  /** @param random in [0, 1) */
  constructor(random: () => number) {
    this.#random = random
  }

  /** @param failure undefined: an answer was not what was requested */
  afterUnknown(failure: Failure | undefined): number {
    this.#failures += 1
    const retryAfterMs = failure?.kind === 'refused' ? failure.retryAfterMs : undefined
    return Math.max(this.#spread(RECHECK_MS), backoffMs(this.#failures, this.#random, retryAfterMs))
  }

  /** @param isNear whether the node may change soon */
  afterAnswer(isNear: boolean): number {
    this.#failures = 0
    return this.#spread(isNear ? RECHECK_MS : NOT_CORDONED_MS)
  }

  #spread(ms: number): number {
    return ms * (0.75 + 0.5 * this.#random())
  }
}

type PodPage =
  | { readonly kind: 'pods'; readonly pods: readonly unknown[] }
  /** `failure`: the request that failed. undefined: an answer was not what was requested. */
  | { readonly kind: 'unknown'; readonly failure: Failure | undefined }

/**
 * The pods of the node, page by page; an unknown one is the last. Pods that have ended are left
 * out: they may stay for long, and there may be many.
 *
 * @param as metadata alone, from a server that can answer with it
 */
export async function* listPods(
  api: Pick<KubeApi, 'request'>,
  nodeName: string,
  query: Query,
  as?: 'PartialObjectMetadataList',
): AsyncGenerator<PodPage> {
  const fieldSelector = `spec.nodeName=${nodeName},status.phase!=Succeeded,status.phase!=Failed`
  // The watch cache ignores a limit.
  const limit: Query = query === FROM_CACHE ? {} : { limit: PAGE }
  let next: Query = {}
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const asked = { fieldSelector, ...query, ...limit, ...next }
    const answer = await api.request({ method: 'GET', path: '/api/v1/pods', query: asked, ...(as && { as }) })
    if (answer.kind !== 'ok') {
      yield { kind: 'unknown', failure: answer }
      return
    }
    const { object } = answer
    const isList = isObject(object) && (object.kind === 'PodList' || (as !== undefined && object.kind === as))
    const pods = isList ? itemsOf(object) : undefined
    if (!isList || pods === undefined) break
    yield { kind: 'pods', pods }
    const { metadata } = object
    if (!isObject(metadata) || typeof metadata.continue !== 'string' || metadata.continue === '') return
    next = { continue: metadata.continue }
  }
  yield { kind: 'unknown', failure: undefined }
}

export function isCordoned(node: unknown): boolean {
  return isObject(node) && isObject(node.spec) && node.spec.unschedulable === true
}

export function hasDrainedCondition(node: unknown): boolean {
  const conditions = isObject(node) && isObject(node.status) ? node.status.conditions : undefined
  const isSet = (condition: unknown) => isObject(condition) && condition.status === 'True' && DRAINED_CONDITIONS.includes(condition.type)
  return Array.isArray(conditions) && conditions.some(isSet)
}
