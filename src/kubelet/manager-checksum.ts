// SPDX-License-Identifier: Apache-2.0
/**
 * The checksums in the state files of kubelet's CPU and memory managers, and by which kubelet a
 * file was written. Pure. Kubelet hashes the text that `ForHash` of
 * k8s.io/apimachinery/pkg/util/dump prints of the state.
 */
import { isObject, type JsonObject } from '../values/is-object.ts'

/** How kubelet prints a state of one manager. */
interface Form {
  readonly type: string
  /** All that kubelet knows of before 1.37. */
  readonly fields: readonly string[]
  /** Kubelet has hashed over the name with and without its version. */
  readonly versions: { readonly plain: string; readonly podLevel: string }
  readonly pods: string
  print(state: JsonObject): string | undefined
}

const CPUS: Form = {
  type: 'CPUManagerCheckpoint',
  fields: ['policyName', 'defaultCpuSet', 'entries', 'checksum'],
  versions: { plain: 'V2', podLevel: 'V3' },
  pods: 'PodCPUAssignments',
  print({ policyName = '', defaultCpuSet = '', entries = {} }) {
    const pods = printNested(entries, String)
    return pods && `PolicyName:(string)${policyName} DefaultCPUSet:(string)${defaultCpuSet} Entries:(map[string]map[string]string)${pods}`
  },
}

const MEMORY: Form = {
  type: 'MemoryManagerCheckpoint',
  fields: ['policyName', 'machineState', 'entries', 'checksum'],
  versions: { plain: 'V1', podLevel: 'V2' },
  pods: 'PodMemoryAssignments',
  print({ policyName = '', machineState, entries = {} }) {
    const pods = printNested(entries, (blocks) => printList(blocks, printBlock))
    const nodes =
      isObject(machineState) && areExact(machineState) ? printMap(machineState, printNode, (a, b) => Number(a) < Number(b)) : undefined
    return (
      pods &&
      nodes &&
      `PolicyName:(string)${policyName} MachineState:(state.NUMANodeMap)${nodes} Entries:(state.ContainerMemoryAssignments)${pods}`
    )
  },
}

/**
 * Whether the checksum of a state is wrong for every kubelet. From 1.37 on, that of `data` alone
 * counts. undefined: nobody knows, as where a kubelet wrote it that keeps more than this.
 */
export function hasWrongChecksum(state: JsonObject): boolean | undefined {
  const { data = '', dataChecksum = 0, checksum } = state
  if (data !== '' || dataChecksum !== 0) return hashOf(`(string)${data}`) !== dataChecksum
  const hashes = listHashes(state)
  return hashes && checksum !== undefined && checksum !== 0
    ? !hashes.plain.includes(checksum) && !hashes.podLevel.includes(checksum)
    : undefined
}

/**
 * Whether kubelet 1.36 with the gate PodLevelResourceManagers wrote the file: neither an older one
 * reads it, nor the same one without that gate. Kubelets from 1.37 on do.
 */
export function isOfPodLevel(state: JsonObject): boolean {
  if (state.data !== undefined) return false
  return state.podEntries !== undefined || listHashes(state)?.podLevel.includes(state.checksum) === true
}

function listHashes(state: JsonObject): { readonly plain: readonly unknown[]; readonly podLevel: readonly unknown[] } | undefined {
  const { type, fields, versions, pods, print } = state.machineState === undefined ? CPUS : MEMORY
  const printed = Object.keys(state).every((name) => fields.includes(name)) ? print(state) : undefined
  if (printed === undefined) return undefined
  const list = (version: string, more: string) =>
    [type, type + version].map((name) => hashOf(`(*state.${name}){${printed}${more} Checksum:(checksum.Checksum)0}`))
  return { plain: list(versions.plain, ''), podLevel: list(versions.podLevel, ` PodEntries:(state.${pods})map[]`) }
}

/** undefined: the file is of a kubelet before 1.19, which knew containers by their IDs. */
function printNested(entries: unknown, print: (value: unknown) => string): string | undefined {
  if (!isObject(entries) || !Object.values(entries).every(isObject) || !areExact(entries)) return undefined
  return printMap(entries, (containers) => printMap(containers, print))
}

function printMap(map: unknown, print: (value: unknown) => string, isBefore = (a: string, b: string) => a < b): string {
  const sorted = Object.entries(isObject(map) ? map : {}).sort(([a], [b]) => (isBefore(a, b) ? -1 : 1))
  return `map[${sorted.map(([key, value]) => `${key}:${print(value)}`).join(' ')}]`
}

function printList(list: unknown, print: (value: unknown) => string): string {
  return Array.isArray(list) ? `[${list.map(print).join(' ')}]` : '<nil>'
}

function printNode(node: unknown): string {
  const { numberOfAssignments = 0, memoryMap, cells } = isObject(node) ? node : {}
  const memory = printMap(memoryMap, printTable)
  return `<*>{NumberOfAssignments:(int)${numberOfAssignments} MemoryMap:(map[v1.ResourceName]*state.MemoryTable)${memory} Cells:([]int)${printList(cells, String)}}`
}

function printTable(table: unknown): string {
  const { total = 0, systemReserved = 0, allocatable = 0, reserved = 0, free = 0 } = isObject(table) ? table : {}
  return `<*>{TotalMemSize:(uint64)${total} SystemReserved:(uint64)${systemReserved} Allocatable:(uint64)${allocatable} Reserved:(uint64)${reserved} Free:(uint64)${free}}`
}

function printBlock(block: unknown): string {
  const { numaAffinity, type = '', size = 0 } = isObject(block) ? block : {}
  return `{NUMAAffinity:([]int)${printList(numaAffinity, String)} Type:(v1.ResourceName)${type} Size:(uint64)${size}}`
}

/** Whether JavaScript has rounded none of the numbers. */
function areExact(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(areExact)
}

/** FNV-1a of 32 bits. */
function hashOf(text: string): number {
  return Buffer.from(text).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5)
}
