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
 * The UIDs of the pods that the file gives CPUs or memory of their own, to their containers or as
 * a whole.
 */
export function listHolders(state: JsonObject): readonly string[] {
  const data = readData(state)
  const maps = [state.entries, state.podEntries, data?.entries, data?.podEntries]
  return [...new Set(maps.flatMap((map) => (isObject(map) ? Object.keys(map) : [])))]
}

/** The part that kubelet 1.37 and later reads. undefined: there is none that it can decode. */
export function readData(state: JsonObject): JsonObject | undefined {
  return typeof state.data === 'string' ? parseManagerState(state.data) : undefined
}
