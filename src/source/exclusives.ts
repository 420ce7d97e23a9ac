// SPDX-License-Identifier: Apache-2.0
/**
 * Whether a pod of this node has CPUs or memory of its own: by the state files of kubelet's CPU and
 * memory managers, and by the pods that are left after a drain (static pods and those of
 * DaemonSets). Kubelet gives a pod whole CPUs if its QoS class is Guaranteed and a container asks
 * for a whole number of them (`guaranteedCPUs`, pkg/kubelet/cm/cpumanager/policy_static.go). Asked
 * only while a change of the managers waits for it. Pure; who reads is passed in.
 */
import { posix } from 'node:path'
import type { Exclusives } from '../decision/snapshot.ts'
import { listHolders, parseManagerState, STATE_FILES, type StateFileName } from '../kubelet/manager-state.ts'
import { NANOS, parseQuantity } from '../kubelet/quantity.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { asArguments, flagValue } from '../systemd/command-line.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'
import { itemsOf } from './kube-object.ts'

interface ExclusivesDeps {
  readonly api: Pick<KubeApi, 'request'>
  readonly files: Pick<Files, 'read'>
  readonly nodeName: string
  readonly clock: Clock
  /** Called when the result differs from the one before. */
  readonly onChange: () => void
}

const RECHECK_US = 10e6
/** An answer of this age counts no more. */
const OLD_US = 30e6
/** Few pods are left on a drained node. Where there are more, nobody knows. */
const PAGE = '200'

interface PodName {
  /** For people. */
  readonly name: string
  /** In a state file. A static pod has its hash there. */
  readonly uids: readonly string[]
  readonly hasWholeCpus: boolean
}

export class NodeExclusives {
  readonly #deps: ExclusivesDeps
  #pods: readonly PodName[] | undefined
  #answeredUs = Number.NEGATIVE_INFINITY
  #isAsking = false

  constructor(deps: ExclusivesDeps) {
    this.#deps = deps
  }

  /** The last result; refreshes it in the background. undefined: not known. */
  find(unit: KnownUnit): Exclusives | undefined {
    const ageUs = this.#deps.clock.now().monotonicUs - this.#answeredUs
    if (!this.#isAsking && ageUs >= RECHECK_US) void this.#refresh()
    const pods = ageUs > OLD_US ? undefined : this.#pods
    if (pods === undefined) return undefined
    for (const file of STATE_FILES) {
      const found = this.#findInState(unit, file, pods)
      if (found === undefined || found.kind === 'held') return found
    }
    const pod = pods.find(({ hasWholeCpus }) => hasWholeCpus)
    return pod === undefined ? { kind: 'none' } : { kind: 'held', by: `pod ${pod.name} is guaranteed whole CPUs` }
  }

  #findInState(unit: KnownUnit, file: StateFileName, pods: readonly PodName[]): Exclusives | undefined {
    const root = flagValue(asArguments(unit.command?.words ?? []), 'root-dir') ?? '/var/lib/kubelet'
    const holders = this.#readHolders(posix.join(root, file))
    const named = holders?.map((uid) => ({ uid, pod: pods.find(({ uids }) => uids.includes(uid)) }))
    // The memory manager forgets a pod that has ended only when the next one comes.
    const held = named?.find(({ pod }) => pod !== undefined || file === 'cpu_manager_state')
    if (named === undefined) return undefined
    if (held === undefined) return { kind: 'none' }
    const what = file === 'cpu_manager_state' ? 'CPUs' : 'memory'
    return { kind: 'held', by: `pod ${held.pod?.name ?? `with UID ${held.uid}`} has ${what} of its own` }
  }

  /** undefined: not known. */
  #readHolders(path: string): readonly string[] | undefined {
    try {
      const text = this.#deps.files.read(path)?.toString()
      const state = text === undefined ? {} : parseManagerState(text)
      return state && listHolders(state)
    } catch {
      return undefined
    }
  }

  async #refresh(): Promise<void> {
    const { api, nodeName, clock, onChange } = this.#deps
    this.#isAsking = true
    const before = JSON.stringify(this.#pods)
    const fieldSelector = `spec.nodeName=${nodeName},status.phase!=Succeeded,status.phase!=Failed`
    const answer = await api.request({ method: 'GET', path: '/api/v1/pods', query: { fieldSelector, limit: PAGE } })
    this.#pods = answer.kind === 'ok' ? readPods(answer.object) : undefined
    this.#answeredUs = clock.now().monotonicUs
    this.#isAsking = false
    if (JSON.stringify(this.#pods) !== before) onChange()
  }
}

/** undefined: not all of them. */
function readPods(list: unknown): readonly PodName[] | undefined {
  if (!isObject(list) || list.kind !== 'PodList' || (isObject(list.metadata) && Boolean(list.metadata.continue))) return undefined
  return itemsOf(list)?.map((pod) => {
    const metadata = isObject(pod) && isObject(pod.metadata) ? pod.metadata : {}
    const annotations = isObject(metadata.annotations) ? metadata.annotations : {}
    const uids = [metadata.uid, annotations['kubernetes.io/config.mirror'], annotations['kubernetes.io/config.hash']]
    return {
      name: `${metadata.namespace}/${metadata.name}`,
      uids: uids.filter((uid) => typeof uid === 'string'),
      hasWholeCpus: hasWholeCpus(pod),
    }
  })
}

function hasWholeCpus(pod: unknown): boolean {
  const { spec, status } = isObject(pod) ? pod : {}
  if (!isObject(spec) || !isObject(status) || status.qosClass !== 'Guaranteed') return false
  const containers = [spec.containers, spec.initContainers].flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []))
  return [spec, ...containers].some(({ resources }) => isWhole(resources))
}

function isWhole(resources: unknown): boolean {
  const { requests, limits }: JsonObject = isObject(resources) ? resources : {}
  const cpu = [requests, limits].flatMap((list) => (isObject(list) && list.cpu !== undefined ? [parseQuantity(String(list.cpu))] : []))[0]
  return cpu !== undefined && cpu > 0n && cpu % NANOS === 0n
}
