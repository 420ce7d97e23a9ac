// SPDX-License-Identifier: Apache-2.0
/**
 * Whether the state files of kubelet's CPU and memory managers fit a config: kubelet does not start
 * with one that does not. Pure. Rules: `restoreState`,
 * pkg/kubelet/cm/cpumanager/state/state_checkpoint.go and memorymanager/state/state_checkpoint.go;
 * `validateState` of both static policies (1.20 to 1.38). If only a number of CPUs is reserved,
 * kubelet chooses them; a file is unfit only where no choice could fit.
 */

import { hasWrongChecksum, listHolders, parseManagerState, type StateFileName } from '../../kubelet/manager-state.ts'
import { NANOS } from '../../kubelet/quantity.ts'
import { parseGoBool } from '../../values/go-syntax.ts'
import { isObject, type JsonObject } from '../../values/is-object.ts'
import { type CpuSet, formatCpuSet, isWithin, parseCpuSet } from '../cpu-set.ts'
import { listReservations, reservedCpu } from './check-reservations.ts'
import { type NodeProblem, type NodeView, stateFile, usesCpuManager, usesMemoryManager } from './node-view.ts'
import type { Surroundings } from './surroundings.ts'

/** A state file with which kubelet does not start. */
export interface UnfitState {
  readonly name: StateFileName
  readonly file: string
  readonly why: string
}

interface Misfit {
  readonly at: 'cpuManagerPolicy' | 'reservedSystemCPUs' | 'systemReserved' | 'memoryManagerPolicy' | 'reservedMemory'
  readonly why: string
  /** About the machine, which no config changes: a warning in preflight. */
  readonly isOfMachine?: boolean
  /** The files of the machine do not tell it for certain. */
  readonly isDoubtful?: boolean
}

/** A state that the manager reads, and what it is held against. */
interface Judged {
  readonly view: NodeView
  readonly file: string
  readonly policy: string
  readonly state: JsonObject
  readonly found: Surroundings
  /** The shared CPUs, and those of containers. Empty: the manager has not begun. */
  readonly shared: CpuSet
  readonly assigned: readonly CpuSet[]
  readonly isStrict: boolean
}

type Row = (judged: Judged) => Misfit | undefined

/** In the order in which kubelet finds them. */
const CPU_ROWS: readonly Row[] = [
  ({ view, state, file }) => {
    // Kubelet 1.36 with this gate writes a checksum that it alone reads.
    const isWrong = view.gate('PodLevelResourceManagers') !== true && hasWrongChecksum(state) === true
    return isWrong ? { at: 'cpuManagerPolicy', why: `${file} is damaged: its checksum is wrong` } : undefined
  },
  otherPolicy('cpuManagerPolicy'),
  ofStatic('static', ({ shared, state, file }) => {
    const isBroken = shared.size === 0 && listHolders(state).length > 0
    return isBroken ? { at: 'cpuManagerPolicy', why: `${file} has CPUs of containers and no shared ones` } : undefined
  }),
  ofStatic('static', checkReserved),
  ofStatic('static', ({ shared, assigned, file }) => {
    const both = assigned.flatMap((cpus) => [...cpus]).filter((cpu) => shared.has(cpu))
    return both.length === 0
      ? undefined
      : { at: 'cpuManagerPolicy', why: `CPUs ${formatCpuSet(new Set(both))} of containers are shared ones, too, in ${file}` }
  }),
  ofStatic('static', checkMachine),
]

const MEMORY_ROWS: readonly Row[] = [
  otherPolicy('memoryManagerPolicy'),
  ofStatic('Static', ({ view, state, file }) => {
    if (view.isUnknown('reservedMemory')) return undefined
    const changed = Object.entries(isObject(state.machineState) ? state.machineState : {}).find(([node, machine]) =>
      differs(view, Number(node), machine),
    )
    return changed && { at: 'reservedMemory', why: `reservedMemory for NUMA node ${changed[0]} differs from ${file}` }
  }),
  ofStatic('Static', ({ state, file, found }) => {
    const other = Object.entries(isObject(state.machineState) ? state.machineState : {}).find(([node, machine]) => {
      const [now, then] = [found.nodeMemory?.get(Number(node)), memoryOf(machine)?.total]
      return now !== undefined && typeof then === 'number' && now !== then
    })
    // Another kernel is enough.
    const why = `NUMA node ${other?.[0]} has another size of memory than in ${file}`
    return other && { at: 'memoryManagerPolicy', why, isOfMachine: true }
  }),
]

const MANAGERS = [
  { name: 'cpu_manager_state', rule: 'node/cpu-manager-state', at: 'cpuManagerPolicy', rows: CPU_ROWS },
  { name: 'memory_manager_state', rule: 'node/memory-manager-state', at: 'memoryManagerPolicy', rows: MEMORY_ROWS },
] as const

/** None, where each start of kubelet sets aside what does not fit. */
export function checkStates(view: NodeView, found: Surroundings): NodeProblem[] {
  if (view.options.setsStatesAside === true) return []
  return MANAGERS.flatMap((manager): NodeProblem[] => {
    const { rule, name } = manager
    const misfit = judge(view, found, manager)
    if (misfit === undefined) return []
    const isCertain = misfit.isOfMachine !== true && (name === 'cpu_manager_state' || usesMemoryManager(view) === 'yes')
    const advice = `drain the node, stop kubelet, delete ${misfit.file}, and assign this config again`
    return [{ rule, severity: isCertain ? 'refuse' : 'warn', at: misfit.at, problem: `${misfit.why}: kubelet does not start`, advice }]
  })
}

/** In one line, with what to do so that kubelet starts with a config that it falls back to. */
export function describeStates(view: NodeView, found: Surroundings): string[] {
  return checkStates(view, found).map(({ rule, problem }) => {
    const file = stateFile(view, rule === 'node/cpu-manager-state' ? 'cpu_manager_state' : 'memory_manager_state')
    return `${problem}; stop kubelet, delete ${file}, and start kubelet`
  })
}

/** The files with which kubelet certainly does not start with this config. */
export function listUnfitStates(view: NodeView, found: Surroundings): readonly UnfitState[] {
  return MANAGERS.flatMap((manager) => {
    const misfit = judge(view, found, manager)
    return misfit === undefined || misfit.isDoubtful === true ? [] : [{ name: manager.name, file: misfit.file, why: misfit.why }]
  })
}

function judge(
  view: NodeView,
  found: Surroundings,
  { name, at, rows }: (typeof MANAGERS)[number],
): (Misfit & Pick<Judged, 'file'>) | undefined {
  const file = stateFile(view, name)
  const policy = view.text(at)
  const isUsed = name === 'cpu_manager_state' ? usesCpuManager(view) : usesMemoryManager(view) !== 'no'
  const text = file === undefined || !isUsed ? undefined : found.texts.get(file)
  // A file that does not exist, or that could not be read, hinders nobody as far as is known.
  if (file === undefined || policy === undefined || text === undefined || text === null) return undefined
  const state = parseManagerState(text)
  if (state === undefined) return { at, why: `${file} is damaged`, file }
  const judged = { view, file, policy, state, found, ...cpusOf(view, state) }
  for (const row of rows) {
    const misfit = row(judged)
    if (misfit !== undefined) return { ...misfit, file }
  }
  return undefined
}

function otherPolicy(at: 'cpuManagerPolicy' | 'memoryManagerPolicy'): Row {
  return ({ view, file, policy, state: { policyName } }) => {
    const writer = typeof policyName === 'string' ? policyName.slice(0, 60) : 'unknown'
    return policyName === policy ? undefined : { at, why: `${view.called(at)} is ${policy}, but ${file} was written by policy ${writer}` }
  }
}

function ofStatic(name: 'static' | 'Static', row: Row): Row {
  return (judged) => (judged.policy === name ? row(judged) : undefined)
}

function cpusOf(view: NodeView, state: JsonObject): Pick<Judged, 'shared' | 'assigned' | 'isStrict'> {
  const option = view.map('cpuManagerPolicyOptions')['strict-cpu-reservation']
  return {
    shared: parseCpuSet(typeof state.defaultCpuSet === 'string' ? state.defaultCpuSet : '') ?? new Set(),
    assigned: assignedCpus(state.entries),
    isStrict: typeof option === 'string' && parseGoBool(option) === true,
  }
}

function checkReserved({ view, shared, isStrict, file }: Judged): Misfit | undefined {
  const named = parseCpuSet(view.text('reservedSystemCPUs') ?? '')
  if (shared.size === 0 || named === undefined || view.isUnknown('reservedSystemCPUs')) return undefined
  if (named.size > 0) {
    const fits = isStrict ? ![...named].some((cpu) => shared.has(cpu)) : isWithin(named, shared)
    const where = isStrict ? 'are among' : 'are not all among'
    const why = `reservedSystemCPUs ${formatCpuSet(named)} ${where} the shared CPUs ${formatCpuSet(shared)} in ${file}`
    return fits ? undefined : { at: 'reservedSystemCPUs', why }
  }
  const count = reservedCpu(view)
  if (isStrict || count === undefined || (count + NANOS - 1n) / NANOS <= BigInt(shared.size)) return undefined
  return { at: 'systemReserved', why: `more CPUs are reserved than the ${shared.size} shared ones in ${file}` }
}

/**
 * Kubelet counts the CPUs of the NUMA nodes, which a container that hides CPUs may see otherwise.
 */
function checkMachine({ view, shared, assigned, isStrict, state, file, found }: Judged): Misfit | undefined {
  const { onlineCpus, presentCpus, nodeCpus } = found
  if (shared.size === 0 || state.podEntries !== undefined || String(state.data).includes('podEntries')) return undefined
  const all = new Set([shared, ...assigned].flatMap((cpus) => [...cpus]))
  if (presentCpus !== undefined && !isWithin(all, presentCpus))
    return { at: 'cpuManagerPolicy', why: `${file} lists CPUs that this machine does not have` }
  const reserved = isStrict ? parseCpuSet(view.text('reservedSystemCPUs') ?? '') : new Set<number>()
  if (onlineCpus === undefined || reserved === undefined || (isStrict && reserved.size === 0)) return undefined
  const expected = new Set([...onlineCpus].filter((cpu) => !reserved.has(cpu)))
  if (isSame(expected, all)) return undefined
  const why = `CPUs ${formatCpuSet(expected)} are online, but ${file} lists ${formatCpuSet(all)}`
  return { at: 'cpuManagerPolicy', why, isOfMachine: true, isDoubtful: nodeCpus === undefined || !isSame(nodeCpus, onlineCpus) }
}

function isSame(a: CpuSet, b: CpuSet): boolean {
  return isWithin(a, b) && isWithin(b, a)
}

/** The CPUs of containers; entries are nested by pod and container, or by container only. */
function assignedCpus(entry: unknown): readonly CpuSet[] {
  if (typeof entry === 'string') return [parseCpuSet(entry) ?? new Set()]
  return isObject(entry) ? Object.values(entry).flatMap(assignedCpus) : []
}

function memoryOf(machine: unknown): JsonObject | undefined {
  const memory = isObject(machine) && isObject(machine.memoryMap) ? machine.memoryMap.memory : undefined
  return isObject(memory) ? memory : undefined
}

function differs(view: NodeView, node: number, machine: unknown): boolean {
  const saved = memoryOf(machine)?.systemReserved
  const configured =
    listReservations(view).findLast(({ numaNode, limits }) => numaNode === node && Object.hasOwn(limits, 'memory'))?.limits.memory ?? 0n
  return typeof saved === 'number' && Number.isSafeInteger(saved) && BigInt(saved) * NANOS !== configured
}
