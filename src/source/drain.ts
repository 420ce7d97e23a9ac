/**
 * Whether this node is drained: cordoned, and nothing left on it but what drain(8) of kubectl leaves (pods of DaemonSets, static pods, pods that have ended).
 * Source: the pod filters of k8s.io/kubectl/pkg/drain. Asked only while a change waits for it, and then now and then.
 */

import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { DrainProbe } from '../ports/probes.ts'
import { isObject } from '../values/is-object.ts'

const AGAIN_US = 10e6
/** More than any node has. */
const MOST_PODS = '1000'

export class NodeDrain implements DrainProbe {
  readonly #api: Pick<KubeApi, 'request'>
  readonly #nodeName: string
  readonly #clock: Clock
  readonly #onChange: () => void
  #drained: boolean | undefined
  #nextUs = 0
  #isAsking = false

  /** `onChange`: there is another answer. */
  constructor(api: Pick<KubeApi, 'request'>, nodeName: string, clock: Clock, onChange: () => void) {
    this.#api = api
    this.#nodeName = nodeName
    this.#clock = clock
    this.#onChange = onChange
  }

  isDrained(): boolean | undefined {
    if (!this.#isAsking && this.#clock.now().monotonicUs >= this.#nextUs) void this.#refresh()
    return this.#drained
  }

  async #refresh(): Promise<void> {
    this.#isAsking = true
    const before = this.#drained
    this.#drained = await this.#ask()
    this.#isAsking = false
    this.#nextUs = this.#clock.now().monotonicUs + AGAIN_US
    if (this.#drained !== before) this.#onChange()
  }

  async #ask(): Promise<boolean | undefined> {
    const node = await this.#api.request({ method: 'GET', path: `/api/v1/nodes/${this.#nodeName}` })
    if (node.kind !== 'ok') return undefined
    if (!isCordoned(node.object)) return false
    const query = { fieldSelector: `spec.nodeName=${this.#nodeName}`, limit: MOST_PODS }
    const pods = await this.#api.request({ method: 'GET', path: '/api/v1/pods', query })
    if (pods.kind !== 'ok' || !isObject(pods.object) || !Array.isArray(pods.object.items)) return undefined
    return pods.object.items.every(stays)
  }
}

function isCordoned(node: unknown): boolean {
  return isObject(node) && isObject(node.spec) && node.spec.unschedulable === true
}

function stays(pod: unknown): boolean {
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
