// SPDX-License-Identifier: Apache-2.0
/**
 * The state files of kubelet's CPU and memory managers, in the root directory of kubelet. Pure.
 * Rules: `CPUManagerCheckpoint` of pkg/kubelet/cm/cpumanager/state/checkpoint.go (1.24 to 1.38) and
 * `MemoryManagerCheckpoint` of memorymanager/state/checkpoint.go. From 1.37 on, a file has `data`
 * too, and the fields of before beside it, by which older kubelets read it.
 */
import { isObject, type JsonObject } from '../values/is-object.ts'

export const STATE_FILES = ['cpu_manager_state', 'memory_manager_state'] as const
export type StateFileName = (typeof STATE_FILES)[number]

/** undefined: kubelet cannot decode it, and does not start with it, whatever its config is. */
export function parseManagerState(text: string): JsonObject | undefined {
  try {
    const state: unknown = JSON.parse(text)
    if (!isObject(state)) return undefined
    const { policyName = '', defaultCpuSet = '', checksum = 0 } = state
    return typeof policyName === 'string' && typeof defaultCpuSet === 'string' && typeof checksum === 'number' ? state : undefined
  } catch {
    return undefined
  }
}

/**
 * The UIDs of the pods that the file gives CPUs or memory of their own, to their containers or as a
 * whole.
 */
export function listHolders(state: JsonObject): readonly string[] {
  const data = typeof state.data === 'string' ? parseManagerState(state.data) : undefined
  const maps = [state.entries, state.podEntries, data?.entries, data?.podEntries]
  return [...new Set(maps.flatMap((map) => (isObject(map) ? Object.keys(map) : [])))]
}

/** Whether kubelets of before 1.36 would take the file, too, by its names of fields. */
const FIELDS_OF_CPUS = ['policyName', 'defaultCpuSet', 'entries', 'checksum']

/**
 * Whether the checksum of a state of the CPU manager is wrong. undefined: nobody knows, as where a
 * kubelet wrote it that keeps more than this.
 */
export function hasWrongChecksum(state: JsonObject): boolean | undefined {
  const { policyName = '', defaultCpuSet = '', entries = {}, checksum } = state
  if (checksum === undefined || checksum === 0 || Object.keys(state).some((name) => !FIELDS_OF_CPUS.includes(name))) return undefined
  const pods = isObject(entries) ? printMap(entries) : undefined
  if (pods === undefined) return undefined
  const object = `PolicyName:(string)${policyName} DefaultCPUSet:(string)${defaultCpuSet} Entries:(map[string]map[string]string)${pods} Checksum:(checksum.Checksum)0`
  return hashOf(`(*state.CPUManagerCheckpoint){${object}}`) !== checksum
}

/**
 * As `ForHash` of k8s.io/apimachinery/pkg/util/dump prints it. undefined: the file is of a kubelet
 * before 1.19, which knew containers by their IDs.
 */
function printMap(entries: JsonObject): string | undefined {
  const pods = sorted(entries).map(([pod, containers]) => {
    if (!isObject(containers)) return undefined
    return `${pod}:map[${sorted(containers)
      .map(([name, cpus]) => `${name}:${String(cpus)}`)
      .join(' ')}]`
  })
  return pods.includes(undefined) ? undefined : `map[${pods.join(' ')}]`
}

function sorted(map: JsonObject): [string, unknown][] {
  return Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** FNV-1a of 32 bits. */
function hashOf(text: string): number {
  return Buffer.from(text).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5)
}
