/**
 * Whether this node is drained: it is cordoned, and the only pods left are those that `kubectl
 * drain` leaves (pods of DaemonSets, static pods, completed pods). Rules: the pod filters of
 * k8s.io/kubectl/pkg/drain. Requests are made only while a change waits for the drain, every 10 s.
 */

import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { DrainProbe } from '../ports/probes.ts'
import { isObject } from '../values/is-object.ts'
import { itemsOf } from './kube-object.ts'
import { readAnswer, wholeNode } from './requested-object.ts'

const RECHECK_US = 10e6
/** Of pods in one answer, so that it stays below the limit of one. */
const PAGE = '200'
/** More pods than any node has. */
const MOST_PAGES = 50

export class NodeDrain implements DrainProbe {
  readonly #api: Pick<KubeApi, 'request'>
  readonly #nodeName: string
  readonly #clock: Clock
  readonly #onChange: () => void
  #drained: boolean | undefined
  #nextUs = 0
  #isChecking = false

  /** @param onChange called when the result differs from the one before */
  constructor(api: Pick<KubeApi, 'request'>, nodeName: string, clock: Clock, onChange: () => void) {
    this.#api = api
    this.#nodeName = nodeName
    this.#clock = clock
    this.#onChange = onChange
  }

  isDrained(): boolean | undefined {
    if (!this.#isChecking && this.#clock.now().monotonicUs >= this.#nextUs) void this.#refresh()
    return this.#drained
  }

  async #refresh(): Promise<void> {
    this.#isChecking = true
    const before = this.#drained
    this.#drained = await this.#check()
    this.#isChecking = false
    this.#nextUs = this.#clock.now().monotonicUs + RECHECK_US
    if (this.#drained !== before) this.#onChange()
  }

  async #check(): Promise<boolean | undefined> {
    const node = await this.#api.request({ method: 'GET', path: `/api/v1/nodes/${this.#nodeName}` })
    if (node.kind !== 'ok') return undefined
    if (!readAnswer(node.object, wholeNode(this.#nodeName)).ok) return undefined
    if (!isCordoned(node.object)) return false
    return this.#mayAllStay()
  }

  /** undefined: not all of them could be read. */
  async #mayAllStay(): Promise<boolean | undefined> {
    // What has ended stays, and may be much.
    const fieldSelector = `spec.nodeName=${this.#nodeName},status.phase!=Succeeded,status.phase!=Failed`
    let next = ''
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const query = { fieldSelector, limit: PAGE, ...(next !== '' && { continue: next }) }
      const pods = await this.#api.request({ method: 'GET', path: '/api/v1/pods', query })
      if (pods.kind !== 'ok' || !isObject(pods.object) || pods.object.kind !== 'PodList') return undefined
      const areStaying = itemsOf(pods.object)?.every(mayStay)
      if (areStaying !== true) return areStaying
      next = continueOf(pods.object)
      if (next === '') return true
    }
    return undefined
  }
}

/** Empty: there is no other page. */
function continueOf({ metadata }: Readonly<Record<string, unknown>>): string {
  return isObject(metadata) && typeof metadata.continue === 'string' ? metadata.continue : ''
}

function isCordoned(node: unknown): boolean {
  return isObject(node) && isObject(node.spec) && node.spec.unschedulable === true
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
