// SPDX-License-Identifier: Apache-2.0
/**
 * The questions to the API server about kubelet: its Lease, its Node, and the pods that failed on
 * it. The node's own identity may read all of it. Pure but for the requests, which never reject.
 */

import type { Askers } from '../ports/evidence.ts'
import type { KubeAnswer, KubeApi } from '../ports/kube-api.ts'
import { isObject } from '../values/is-object.ts'
import type { NoAnswer } from './kind.ts'
import type { LeaseAnswer } from './lease.ts'
import type { FailedPod, PodsAnswer } from './pods.ts'
import type { NodeAnswer } from './ready.ts'

const TIMEOUT_MS = 10_000
/** More have not failed on a node, and none of them need be known. */
const MOST_PODS = 2000
/** The pressure conditions of kubelet. Other programs may add their own. */
const PRESSURE = ['DiskPressure', 'MemoryPressure', 'PIDPressure']

/** @param api undefined: assignments come from a directory, and there is no API server to ask */
export function askCluster(api: Pick<KubeApi, 'request'> | undefined, nodeName: string) {
  const get = async <T>(
    path: string,
    read: (object: unknown, serverMs: number | undefined) => T | undefined,
    query = {},
  ): Promise<T | NoAnswer> => {
    if (api === undefined) return { kind: 'not-asked', detail: 'the agent has no API server to ask' }
    const answer = await api.request({ method: 'GET', path, query, timeoutMs: TIMEOUT_MS })
    if (answer.kind !== 'ok') return describeFailure(answer)
    return read(answer.object, answer.serverMs) ?? { kind: 'refused', detail: `GET ${path}: the answer is not what was asked for` }
  }
  const node = `/api/v1/nodes/${nodeName}`
  const lease = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodeName}`
  // From the server's watch cache, which has an index of the pods by node. Without a
  // resourceVersion, servers up to 1.30 read all pods of the cluster from etcd.
  const failed = { fieldSelector: `spec.nodeName=${nodeName},status.phase=Failed`, resourceVersion: '0' }
  return {
    node: () => get(node, (object, serverMs) => readNode(object, nodeName, serverMs)),
    lease: () => get(lease, (object) => readLease(object, nodeName)),
    pods: () => get('/api/v1/pods', readPods, failed),
  } satisfies Partial<Askers>
}

function describeFailure(answer: Exclude<KubeAnswer, { kind: 'ok' }>): NoAnswer {
  if (answer.kind === 'unreachable') return { kind: answer.reason === 'too-long' ? 'refused' : 'unreachable', detail: cut(answer.detail) }
  // A server that fails has said nothing.
  const busy = answer.status === 429 || answer.status === 503
  const isSilent = answer.status >= 500 || busy
  const kind = isSilent ? 'unreachable' : answer.status === 403 ? 'forbidden' : 'refused'
  const detail = cut(`the API server answers ${answer.status} ${answer.reason}: ${answer.detail}`)
  return { kind, detail, ...(answer.status === 401 && { isUnauthorized: true }), ...(busy && { busy }) }
}

function cut(text: string): string {
  return text.slice(0, 300)
}

/** The same in each list of pods that is compared with another. */
export function nameOfPod(namespace: string, name: string): string {
  return cut(`${namespace}/${name}`)
}

function readNode(object: unknown, nodeName: string, serverMs: number | undefined): NodeAnswer | undefined {
  if (!isObject(object) || object.kind !== 'Node' || !isObject(object.metadata) || object.metadata.name !== nodeName) return undefined
  const list: unknown = isObject(object.status) ? object.status.conditions : undefined
  const conditions = (Array.isArray(list) ? list : []).filter(isObject)
  const ready = conditions.find(({ type }) => type === 'Ready')
  const pressure = PRESSURE.filter((type) => conditions.some((each) => each.type === type && each.status === 'True'))
  return {
    kind: 'found',
    ready: readStatus(ready?.status),
    message: cut(textOf(ready?.message)),
    reportedAtMs: findReport(object.metadata.managedFields),
    ...(typeof ready?.lastHeartbeatTime === 'string' && { heartbeat: cut(ready.lastHeartbeatTime) }),
    transitionMs: timeOf(ready?.lastTransitionTime),
    serverMs,
    pressure,
  }
}

function readStatus(status: unknown): NodeAnswer['ready'] {
  return status === 'True' || status === 'False' || status === 'Unknown' ? status : 'absent'
}

/** Servers up to 1.21 do not name the subresource. */
function findReport(managedFields: unknown): number | undefined {
  const entries = Array.isArray(managedFields) ? managedFields.filter(isObject) : []
  const ofStatus = entries.filter(({ manager, subresource, fieldsV1 }) => {
    if (manager !== 'kubelet') return false
    return subresource === 'status' || (subresource === undefined && isObject(fieldsV1) && Object.hasOwn(fieldsV1, 'f:status'))
  })
  const times = ofStatus.map(({ time }) => Date.parse(textOf(time))).filter(Number.isFinite)
  return times.length === 0 ? undefined : Math.max(...times)
}

/** Kubelet holds its Lease by the name of its node. */
function readLease(object: unknown, nodeName: string): LeaseAnswer | NoAnswer | undefined {
  if (!isObject(object) || object.kind !== 'Lease' || !isObject(object.metadata) || object.metadata.name !== nodeName) return undefined
  const resourceVersion = cut(textOf(object.metadata.resourceVersion))
  const { leaseDurationSeconds: seconds, renewTime, holderIdentity }: Record<string, unknown> = isObject(object.spec) ? object.spec : {}
  if (resourceVersion === '') return undefined
  const holder = cut(textOf(holderIdentity))
  if (holder !== '' && holder !== nodeName) return { kind: 'refused', detail: `${holder} holds the Lease, and not this kubelet` }
  return {
    kind: 'found',
    resourceVersion,
    durationSeconds: typeof seconds === 'number' && seconds > 0 ? seconds : 40,
    renewedAtMs: timeOf(renewTime),
  }
}

function readPods(object: unknown, serverMs: number | undefined): PodsAnswer | undefined {
  if (!isObject(object) || object.kind !== 'PodList' || !Array.isArray(object.items)) return undefined
  return { kind: 'found', pods: object.items.slice(0, MOST_PODS).flatMap(readPod), serverMs }
}

function readPod(pod: unknown): FailedPod[] {
  if (!isObject(pod) || !isObject(pod.metadata) || !isObject(pod.status)) return []
  const { uid, namespace, name, creationTimestamp } = pod.metadata
  const { phase, reason, message, startTime } = pod.status
  if (phase !== 'Failed' || typeof uid !== 'string') return []
  return [
    {
      uid: cut(uid),
      name: nameOfPod(textOf(namespace), textOf(name)),
      reason: cut(textOf(reason)),
      message: cut(textOf(message)),
      createdAtMs: timeOf(creationTimestamp),
      startedAtMs: timeOf(startTime),
    },
  ]
}

function timeOf(value: unknown): number | undefined {
  const ms = Date.parse(textOf(value))
  return Number.isFinite(ms) ? ms : undefined
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
