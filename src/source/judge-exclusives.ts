// SPDX-License-Identifier: Apache-2.0
/**
 * Whether a pod has something to lose by a change of kubelet's managers, by what is known of the
 * pods and of the state files. Pure. Kubelet gives a pod whole CPUs if its QoS class is Guaranteed
 * and a container asks for a whole number of them (`guaranteedCPUs`,
 * pkg/kubelet/cm/cpumanager/policy_static.go), memory of NUMA nodes if its QoS class is Guaranteed
 * (memorymanager/policy_static.go), and aligns devices. All other pods lose nothing.
 */
import type { Exclusives } from '../decision/snapshot.ts'
import type { StateFileName } from '../kubelet/manager-state.ts'
import { NANOS, parseQuantity } from '../kubelet/quantity.ts'
import { isObject } from '../values/is-object.ts'
import type { Failure } from './pods-of-node.ts'

/** `memory`: of NUMA nodes. */
type Kind = 'CPUs' | 'memory' | 'devices'
/** undefined: not known. */
type Has = boolean | undefined

export interface Pod {
  /** For people. */
  readonly name: string
  /** In a state file. A static pod has its hash there. */
  readonly uids: readonly string[]
  readonly has: Readonly<Record<Kind, Has>>
}

/** `forbidden`: the agent may not list pods. `declared`: a condition of the Node settles it. */
export type Look =
  | { readonly kind: 'declared' | 'no-api' }
  | { readonly kind: 'forbidden'; readonly detail: string }
  | { readonly kind: 'pods'; readonly pods: readonly Pod[]; readonly isCordoned: boolean }
  | { readonly kind: 'unknown'; readonly detail: string; readonly failure?: Failure }

export interface State {
  readonly file: StateFileName
  /** undefined: not known. */
  readonly path: string | undefined
  /** UIDs of pods. undefined: not known. */
  readonly holders: readonly string[] | 'no file' | undefined
}

const NONE: Exclusives = { kind: 'none' }
const WORDS: Readonly<Record<Kind, string>> = { CPUs: 'is guaranteed whole CPUs', memory: 'is guaranteed memory', devices: 'has devices' }

/**
 * Where pods cannot be listed, state files alone tell: of all that kubelet gave away, but devices.
 */
export function judgeExclusives(look: Look, states: readonly State[], fields: readonly string[]): Exclusives {
  if (look.kind === 'declared') return NONE
  if (look.kind === 'unknown') return { kind: 'unknown', why: `pods cannot be listed: ${look.detail}` }
  const pods = look.kind === 'pods' ? look.pods : undefined
  for (const state of states) {
    const found = judgeState(state, pods)
    if (found.kind === 'held' && look.kind === 'forbidden')
      return { kind: 'held', by: `${found.by}; its name is not known: the agent may not list pods (${look.detail})` }
    if (found.kind !== 'none') return found
  }
  const kinds = kindsIn(fields)
  if (pods === undefined && kinds.includes('devices')) {
    const why = look.kind === 'forbidden' ? `the agent may not list pods (${look.detail})` : 'there is none'
    return { kind: 'unknown', why: `only the API server knows which pods have devices, and ${why}` }
  }
  for (const kind of kinds) {
    const pod = pods?.find(({ has }) => has[kind] !== false)
    if (pod === undefined) continue
    if (pod.has[kind] === undefined) return { kind: 'unknown', why: `pod ${pod.name} has no QoS class` }
    return { kind: 'held', by: `pod ${pod.name} ${WORDS[kind]}` }
  }
  return NONE
}

/** @param pods undefined: they cannot be listed */
function judgeState({ file, path, holders }: State, pods: readonly Pod[] | undefined): Exclusives {
  if (path === undefined) return { kind: 'unknown', why: "kubelet's root directory is not known" }
  if (holders === undefined) return { kind: 'unknown', why: `${path} cannot be read` }
  const named = (holders === 'no file' ? [] : holders).map((uid) => ({ uid, pod: pods?.find(({ uids }) => uids.includes(uid)) }))
  // The memory manager forgets a pod that has ended only when the next one comes.
  const held = named.find(({ pod }) => pod !== undefined || pods === undefined || file === 'cpu_manager_state')
  if (held === undefined) return NONE
  const what = file === 'cpu_manager_state' ? 'CPUs' : 'memory'
  return { kind: 'held', by: `pod ${held.pod?.name ?? `with UID ${held.uid}`} has ${what} of its own` }
}

export function kindsIn(fields: readonly string[]): readonly Kind[] {
  return [...new Set(fields.flatMap(kindsOf))].sort()
}

/** The kinds of things that pods have to lose by a change of the field. */
function kindsOf(field: string): readonly Kind[] {
  if (field.startsWith('topologyManager')) return ['CPUs', 'devices']
  return /^cpuManager|^reservedSystemCPUs|\.cpu$/.test(field) ? ['CPUs'] : ['CPUs', 'memory']
}

export function readPod(pod: unknown): Pod {
  const { metadata, spec, status } = isObject(pod) ? pod : {}
  const { namespace, name, uid, annotations } = isObject(metadata) ? metadata : {}
  const notes = isObject(annotations) ? annotations : {}
  const uids = [uid, notes['kubernetes.io/config.mirror'], notes['kubernetes.io/config.hash']]
  const qosClass = isObject(status) ? status.qosClass : undefined
  const isGuaranteed = typeof qosClass === 'string' ? qosClass === 'Guaranteed' : undefined
  const resources = listResources(spec, status)
  return {
    name: `${namespace}/${name}`,
    uids: uids.filter((each) => typeof each === 'string'),
    has: {
      CPUs: resources.some(isWhole) && isGuaranteed,
      memory: isGuaranteed,
      devices: resources.some((list) => Object.keys(list).some((resource) => resource.includes('/'))),
    },
  }
}

/** Of the pod and its containers, and what kubelet allocated to them before a resize. */
function listResources(spec: unknown, status: unknown): readonly Readonly<Record<string, unknown>>[] {
  const listsOf = (object: unknown, ...names: readonly string[]) =>
    names.flatMap((name) => (isObject(object) && Array.isArray(object[name]) ? object[name].filter(isObject) : []))
  const wanting = [spec, ...listsOf(spec, 'containers', 'initContainers')].map((each) => (isObject(each) ? each.resources : undefined))
  const allocated = [status, ...listsOf(status, 'containerStatuses', 'initContainerStatuses')]
  return [
    ...wanting.flatMap((resources) => (isObject(resources) ? [resources.requests, resources.limits] : [])),
    ...allocated.map((each) => (isObject(each) ? each.allocatedResources : undefined)),
  ].filter(isObject)
}

function isWhole({ cpu }: Readonly<Record<string, unknown>>): boolean {
  const quantity = cpu === undefined ? undefined : parseQuantity(String(cpu))
  return quantity !== undefined && quantity > 0n && quantity % NANOS === 0n
}
