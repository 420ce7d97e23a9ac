// SPDX-License-Identifier: Apache-2.0
/**
 * Checks the state files of kubelet's CPU and memory managers against the candidate: if one does
 * not match, kubelet does not start until the file is deleted. Pure. Rules: `restoreState`,
 * pkg/kubelet/cm/cpumanager/state/state_checkpoint.go and memorymanager/state/state_checkpoint.go;
 * `validateState` of both static policies. If only a number of CPUs is reserved, kubelet chooses
 * them; the check refuses only what no choice could satisfy.
 */

import { NANOS } from '../../kubelet/quantity.ts'
import { parseGoBool } from '../../values/go-syntax.ts'
import { isObject, type JsonObject } from '../../values/is-object.ts'
import { type CpuSet, formatCpuSet, isWithin, parseCpuSet } from '../cpu-set.ts'
import { listReservations, reservedCpu } from './check-reservations.ts'
import { type NodeProblem, type NodeView, stateFile, usesCpuManager, usesMemoryManager } from './node-view.ts'
import type { Surroundings } from './surroundings.ts'

export function checkStates(view: NodeView, found: Surroundings): NodeProblem[] {
  return [...checkCpuState(view, found), ...checkMemoryState(view, found)]
}

function checkCpuState(view: NodeView, { texts, presentCpus, onlineCpus }: Surroundings): NodeProblem[] {
  const file = stateFile(view, 'cpu_manager_state')
  const policy = view.text('cpuManagerPolicy')
  const state = usesCpuManager(view) && policy !== undefined ? readState(file, texts) : undefined
  if (file === undefined || policy === undefined || state === undefined) return []
  const complain = (
    at: 'cpuManagerPolicy' | 'reservedSystemCPUs' | 'systemReserved',
    why: string,
    severity: 'refuse' | 'warn' = 'refuse',
  ): NodeProblem[] => [
    { rule: 'node/cpu-manager-state', severity, at, problem: `${why}: kubelet does not start`, advice: drainAndDelete(file) },
  ]
  if (state === 'damaged') return complain('cpuManagerPolicy', `${file} is damaged`)
  if (state.policyName !== policy) return complain('cpuManagerPolicy', describeOther(view, 'cpuManagerPolicy', file, state))
  const shared = parseCpuSet(typeof state.defaultCpuSet === 'string' ? state.defaultCpuSet : '')
  if (policy !== 'static' || shared === undefined || shared.size === 0) return []
  const all = new Set([...shared, ...assignedCpus(state)])
  if (presentCpus !== undefined && !isWithin(all, presentCpus))
    return complain('cpuManagerPolicy', `${file} lists CPUs that this machine does not have`)
  const option = view.map('cpuManagerPolicyOptions')['strict-cpu-reservation']
  const strict = typeof option === 'string' && parseGoBool(option) === true
  const reserved = checkReserved(view, shared, strict)
  if (reserved !== undefined) return complain(reserved.at, `${reserved.why} in ${file}`)
  if (!strict && onlineCpus !== undefined && !isWithin(onlineCpus, all))
    return complain('cpuManagerPolicy', `CPUs ${formatCpuSet(onlineCpus)} are online, but ${file} lists ${formatCpuSet(all)}`, 'warn')
  return []
}

function checkReserved(
  view: NodeView,
  shared: CpuSet,
  strict: boolean,
): { readonly at: 'reservedSystemCPUs' | 'systemReserved'; readonly why: string } | undefined {
  const named = parseCpuSet(view.text('reservedSystemCPUs') ?? '')
  if (named === undefined || view.isUnknown('reservedSystemCPUs')) return undefined
  if (named.size > 0) {
    const fits = strict ? ![...named].some((cpu) => shared.has(cpu)) : isWithin(named, shared)
    const where = strict ? 'are among' : 'are not all among'
    return fits
      ? undefined
      : { at: 'reservedSystemCPUs', why: `reservedSystemCPUs ${formatCpuSet(named)} ${where} the shared CPUs ${formatCpuSet(shared)}` }
  }
  const count = reservedCpu(view)
  if (strict || count === undefined || (count + NANOS - 1n) / NANOS <= BigInt(shared.size)) return undefined
  return { at: 'systemReserved', why: `more CPUs are reserved than the ${shared.size} shared ones` }
}

/**
 * The exclusive CPUs of containers; entries are nested by pod and container, or by container only.
 */
function assignedCpus(state: JsonObject): number[] {
  const visit = (entry: unknown): number[] => {
    if (typeof entry === 'string') return [...(parseCpuSet(entry) ?? [])]
    return isObject(entry) ? Object.values(entry).flatMap(visit) : []
  }
  return visit(state.entries)
}

function checkMemoryState(view: NodeView, { texts }: Surroundings): NodeProblem[] {
  const usage = usesMemoryManager(view)
  const file = stateFile(view, 'memory_manager_state')
  const policy = view.text('memoryManagerPolicy')
  const state = usage !== 'no' && policy !== undefined ? readState(file, texts) : undefined
  if (file === undefined || policy === undefined || state === undefined) return []
  const severity = usage === 'yes' ? 'refuse' : 'warn'
  const complain = (at: 'memoryManagerPolicy' | 'reservedMemory', why: string): NodeProblem[] => [
    { rule: 'node/memory-manager-state', severity, at, problem: `${why}: kubelet does not start`, advice: drainAndDelete(file) },
  ]
  if (state === 'damaged') return complain('memoryManagerPolicy', `${file} is damaged`)
  if (state.policyName !== policy) return complain('memoryManagerPolicy', describeOther(view, 'memoryManagerPolicy', file, state))
  if (policy !== 'Static' || view.isUnknown('reservedMemory')) return []
  const changed = Object.entries(isObject(state.machineState) ? state.machineState : {}).find(([node, machine]) =>
    differs(view, Number(node), machine),
  )
  return changed === undefined ? [] : complain('reservedMemory', `reservedMemory for NUMA node ${changed[0]} differs from ${file}`)
}

function differs(view: NodeView, node: number, machine: unknown): boolean {
  const memory = isObject(machine) && isObject(machine.memoryMap) ? machine.memoryMap.memory : undefined
  const saved = isObject(memory) ? memory.systemReserved : undefined
  const configured =
    listReservations(view).findLast(({ numaNode, limits }) => numaNode === node && Object.hasOwn(limits, 'memory'))?.limits.memory ?? 0n
  return typeof saved === 'number' && Number.isSafeInteger(saved) && BigInt(saved) * NANOS !== configured
}

/** In one line, with what to do so that kubelet starts with a config that it falls back to. */
export function describeStates(view: NodeView, found: Surroundings): string[] {
  return checkStates(view, found).map(({ rule, problem }) => {
    const file = stateFile(view, rule === 'node/cpu-manager-state' ? 'cpu_manager_state' : 'memory_manager_state')
    return `${problem}; stop kubelet, delete ${file}, and start kubelet`
  })
}

/** undefined: the file does not exist, or could not be read. */
function readState(file: string | undefined, texts: Surroundings['texts']): JsonObject | 'damaged' | undefined {
  const text = file === undefined ? undefined : texts.get(file)
  if (text === undefined || text === null) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : 'damaged'
  } catch {
    return 'damaged'
  }
}

function describeOther(view: NodeView, at: 'cpuManagerPolicy' | 'memoryManagerPolicy', file: string, { policyName }: JsonObject): string {
  const writer = typeof policyName === 'string' ? policyName.slice(0, 60) : 'unknown'
  return `${view.called(at)} is ${view.text(at)}, but ${file} was written by policy ${writer}`
}

function drainAndDelete(file: string): string {
  return `drain the node, stop kubelet, delete ${file}, and assign this config again`
}
