/**
 * Whether this node is drained: cordoned, and nothing left on it but what drain(8) of kubectl leaves (pods of DaemonSets, static pods, pods that have ended).
 * Source: the pod filters of k8s.io/kubectl/pkg/drain. Asked only while a change waits for it, and then now and then.
 */
import { isObject } from '../agent/is-object.ts'
import type { Clock, DrainProbe, KubeApi } from '../agent/ports.ts'

const AGAIN_US = 10e6
/** More than any node has. */
const MOST_PODS = '1000'

export class NodeDrain implements DrainProbe {
  readonly #api: Pick<KubeApi, 'request'>
  readonly #nodeName: string
  readonly #clock: Clock
  #last: { readonly atUs: number; readonly drained: boolean | undefined } | undefined

  constructor(api: Pick<KubeApi, 'request'>, nodeName: string, clock: Clock) {
    this.#api = api
    this.#nodeName = nodeName
    this.#clock = clock
  }

  async isDrained(): Promise<boolean | undefined> {
    const nowUs = this.#clock.now().monotonicUs
    if (this.#last === undefined || nowUs - this.#last.atUs >= AGAIN_US) this.#last = { atUs: nowUs, drained: await this.#ask() }
    return this.#last.drained
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
