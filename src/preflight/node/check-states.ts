/**
 * The state files that kubelet's managers leave, against the candidate: with one that does not fit, kubelet does not start until somebody deletes it. Pure.
 * Rules: `restoreState`, pkg/kubelet/cm/cpumanager/state/state_checkpoint.go and memorymanager/state/state_checkpoint.go; `validateState` of both static
 * policies. Which CPUs a mere number reserves is for kubelet to find out; only what no choice of them could satisfy is refused here.
 */

import { NANOS } from '../../kubelet/quantity.ts'
import { isObject, type JsonObject } from '../../values/is-object.ts'
import { type CpuSet, formatCpuSet, isWithin, parseCpuSet } from '../cpu-set.ts'
import { listReservations, reservedCpu } from './check-reservations.ts'
import { stateFile, usesCpuManager, usesMemoryManager } from './managers.ts'
import type { NodeProblem, NodeView } from './node-view.ts'
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
    severity: 'refuse' | 'warn',
    why: string,
  ): NodeProblem[] => [
    { rule: 'node/cpu-manager-state', severity, at, problem: `${why}: kubelet does not start`, advice: drainAndDelete(file) },
  ]
  if (state === 'damaged') return complain('cpuManagerPolicy', 'refuse', `${file} is damaged`)
  if (state.policyName !== policy)
    return complain(
      'cpuManagerPolicy',
      'refuse',
      `${view.called('cpuManagerPolicy')} is ${policy}, ${file} is of policy ${describe(state.policyName)}`,
    )
  const shared = parseCpuSet(typeof state.defaultCpuSet === 'string' ? state.defaultCpuSet : '')
  if (policy !== 'static' || shared === undefined || shared.size === 0) return []
  const all = new Set([...shared, ...handedOut(state)])
  if (presentCpus !== undefined && !isWithin(all, presentCpus))
    return complain('cpuManagerPolicy', 'refuse', `${file} has CPUs that this machine does not`)
  const strict = view.map('cpuManagerPolicyOptions')['strict-cpu-reservation'] === 'true'
  const reserved = checkReserved(view, shared, strict)
  if (reserved !== undefined) return complain(reserved.at, 'refuse', `${reserved.why} in ${file}`)
  if (!strict && onlineCpus !== undefined && !isWithin(onlineCpus, all))
    return complain('cpuManagerPolicy', 'warn', `CPUs ${formatCpuSet(onlineCpus)} are online, ${file} knows ${formatCpuSet(all)}`)
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
  return { at: 'systemReserved', why: `more CPUs are reserved than the ${shared.size} that are shared` }
}

/** Container by container, or pod by pod and then container by container. */
function handedOut(state: JsonObject): number[] {
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
  if (state.policyName !== policy)
    return complain(
      'memoryManagerPolicy',
      `${view.called('memoryManagerPolicy')} is ${policy}, ${file} is of policy ${describe(state.policyName)}`,
    )
  if (policy !== 'Static' || view.isUnknown('reservedMemory')) return []
  const changed = Object.entries(isObject(state.machineState) ? state.machineState : {}).find(([node, machine]) =>
    differs(view, Number(node), machine),
  )
  return changed === undefined
    ? []
    : complain('reservedMemory', `reservedMemory for NUMA node ${changed[0]} is another one than in ${file}`)
}

function differs(view: NodeView, node: number, machine: unknown): boolean {
  const memory = isObject(machine) && isObject(machine.memoryMap) ? machine.memoryMap.memory : undefined
  const kept = isObject(memory) ? memory.systemReserved : undefined
  const wanted =
    listReservations(view).findLast(({ numaNode, limits }) => numaNode === node && Object.hasOwn(limits, 'memory'))?.limits.memory ?? 0n
  return typeof kept === 'number' && Number.isSafeInteger(kept) && BigInt(kept) * NANOS !== wanted
}

/** undefined: there is none, or nobody knows. */
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

function describe(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 60) : 'nobody knows which'
}

function drainAndDelete(file: string): string {
  return `drain the node, stop kubelet, delete ${file}, and assign this config again`
}
