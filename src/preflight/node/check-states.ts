// SPDX-License-Identifier: Apache-2.0
/**
 * Whether the state files of kubelet's CPU and memory managers fit a config: kubelet does not start
 * with one that does not. Pure. Rules: `restoreState`,
 * pkg/kubelet/cm/cpumanager/state/state_checkpoint.go and memorymanager/state/state_checkpoint.go;
 * `validateState` of both static policies (1.20 to 1.38). If only a number of CPUs is reserved,
 * kubelet chooses them by cores and caches that are not known here; a file is unfit only where no
 * choice could fit.
 */

import { resolveGate } from '../../kubelet/gates.ts'
import { hasWrongChecksum, isOfPodLevel } from '../../kubelet/manager-checksum.ts'
import { listHolders, parseManagerState, readData, type StateFileName } from '../../kubelet/manager-state.ts'
import { NANOS, roundUp } from '../../kubelet/quantity.ts'
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
  /** In preflight: about the machine, which no config changes, or of an unknown kubelet. */
  readonly isWarning?: boolean
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
  /** Whether kubelet counts what pods have as a whole. undefined: unknown. */
  readonly isPodLevel: boolean | undefined
}

type Row = (judged: Judged) => Misfit | undefined

/** From here on kubelet reads what it wrote in `data`, and the files of 1.36 in every form. */
const READS_DATA_SINCE = 37
const POD_LEVEL_GATE = 'PodLevelResourceManagers'

/** In the order in which kubelet finds them. */
const CPU_ROWS: readonly Row[] = [
  ...readsFile('cpuManagerPolicy'),
  ofStatic('static', ({ shared, state, file }) => {
    const isBroken = shared.size === 0 && hasEntries(state)
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
  ...readsFile('memoryManagerPolicy'),
  ofStatic('Static', ({ state, file }) => {
    const isBroken = nodesOf(state).length === 0 && hasEntries(state)
    return isBroken ? { at: 'memoryManagerPolicy', why: `${file} has memory of containers and no NUMA nodes` } : undefined
  }),
  ofStatic('Static', ({ view, state, file }) => {
    if (view.isUnknown('reservedMemory')) return undefined
    const changed = nodesOf(state).find(([node, machine]) => differs(view, Number(node), machine))
    return changed && { at: 'reservedMemory', why: `reservedMemory for NUMA node ${changed[0]} differs from ${file}` }
  }),
  ofStatic('Static', ({ state, file, found: { numaNodes, nodeMemory } }) => {
    const nodes = new Set(nodesOf(state).map(([node]) => Number(node)))
    // A NUMA node that tells its memory is one that kubelet sees.
    if (nodes.size === 0 || numaNodes === undefined || numaNodes.size === 0 || ![...numaNodes].every((node) => nodeMemory?.has(node)))
      return undefined
    const why = `this machine has the NUMA nodes ${formatCpuSet(numaNodes)}, but ${file} lists ${formatCpuSet(nodes)}`
    return isSame(nodes, numaNodes) ? undefined : { at: 'memoryManagerPolicy', why, isWarning: true }
  }),
  ofStatic('Static', ({ state, file, found }) => {
    const other = nodesOf(state).find(([node, machine]) => {
      const [now, then] = [found.nodeMemory?.get(Number(node)), tablesOf(machine).memory?.total]
      return now !== undefined && typeof then === 'number' && now !== then
    })
    // Another kernel is enough.
    const why = `NUMA node ${other?.[0]} has another size of memory than in ${file}`
    return other && { at: 'memoryManagerPolicy', why, isWarning: true }
  }),
  ofStatic('Static', ({ state, file, found }) => {
    const other = nodesOf(state).find(([node, machine]) => {
      const now = found.nodeHugePages?.get(Number(node))
      const { memory: _, ...then } = tablesOf(machine)
      const isOther = ([resource, table]: [string, JsonObject | undefined]) => table?.total !== now?.get(resource)
      return now !== undefined && (now.size !== Object.keys(then).length || Object.entries(then).some(isOther))
    })
    const why = `NUMA node ${other?.[0]} has other huge pages than in ${file}`
    return other && { at: 'memoryManagerPolicy', why, isWarning: true }
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
    const isCertain = misfit.isWarning !== true && (name === 'cpu_manager_state' || usesMemoryManager(view) === 'yes')
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
  const isPodLevel = view.isUnknown('featureGates') ? undefined : resolveGate(POD_LEVEL_GATE, view.minor, view.map('featureGates'))
  const judged = { view, file, policy, found, isPodLevel, state: asRead(state, view), ...cpusOf(view, state) }
  for (const row of rows) {
    const misfit = row(judged)
    if (misfit !== undefined) return { ...misfit, file }
  }
  return undefined
}

/** An older kubelet reads the fields beside `data`. */
function asRead({ data, dataChecksum, ...before }: JsonObject, { minor }: NodeView): JsonObject {
  const isIgnored = minor !== undefined && minor < READS_DATA_SINCE
  return { ...before, ...(!isIgnored && data !== undefined && { data }), ...(!isIgnored && dataChecksum !== undefined && { dataChecksum }) }
}

/** Whether kubelet takes the file at all. */
function readsFile(at: 'cpuManagerPolicy' | 'memoryManagerPolicy'): readonly Row[] {
  return [
    ({ state, file }) => (hasWrongChecksum(state) === true ? { at, why: `${file} is damaged: its checksum is wrong` } : undefined),
    ({ view: { minor }, state, file, isPodLevel }) => {
      if (isPodLevel !== false || !isOfPodLevel(state)) return undefined
      // Of an unknown kubelet: a file that names no pod is no loss.
      const isRefused = minor === undefined ? listHolders(state).length === 0 : minor < READS_DATA_SINCE
      const why = `${file} was written with the feature gate ${POD_LEVEL_GATE}, which is off`
      return isRefused ? { at, why, isWarning: minor === undefined } : undefined
    },
    ({ view, file, policy, state: { policyName } }) => {
      const writer = typeof policyName === 'string' ? policyName.slice(0, 60) : 'unknown'
      return policyName === policy ? undefined : { at, why: `${view.called(at)} is ${policy}, but ${file} was written by policy ${writer}` }
    },
  ]
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
  if (isStrict || count === undefined || roundUp(count) <= BigInt(shared.size)) return undefined
  return { at: 'systemReserved', why: `more CPUs are reserved than the ${shared.size} shared ones in ${file}` }
}

/**
 * Kubelet counts the CPUs of the NUMA nodes, which a container that hides CPUs may see otherwise.
 */
function checkMachine({ view, shared, assigned, isStrict, isPodLevel, state, file, found }: Judged): Misfit | undefined {
  const { onlineCpus, presentCpus, nodeCpus } = found
  if (shared.size === 0) return undefined
  const all = new Set([shared, ...assigned].flatMap((cpus) => [...cpus]))
  if (presentCpus !== undefined && !isWithin(all, presentCpus))
    return { at: 'cpuManagerPolicy', why: `${file} lists CPUs that this machine does not have` }
  const reserved = isStrict ? strictlyReserved(view) : new Set<number>()
  if (onlineCpus === undefined || reserved === undefined) return undefined
  const isCounted = typeof reserved === 'number'
  const expected = isCounted ? onlineCpus : new Set([...onlineCpus].filter((cpu) => !reserved.has(cpu)))
  const fits = (cpus: CpuSet) =>
    isCounted ? isWithin(cpus, onlineCpus) && cpus.size === onlineCpus.size - reserved : isSame(cpus, expected)
  const withPods = new Set([all, ...podCpus(state)].flatMap((cpus) => [...cpus]))
  if ((isPodLevel !== true && fits(all)) || (isPodLevel !== false && fits(withPods))) return undefined
  const lists = `${file} lists ${formatCpuSet(isPodLevel === true ? withPods : all)}`
  const why = `CPUs ${formatCpuSet(expected)} are online${isCounted ? `, and ${reserved} of them reserved` : ''}, but ${lists}`
  return { at: 'cpuManagerPolicy', why, isWarning: true, isDoubtful: nodeCpus === undefined || !isSame(nodeCpus, onlineCpus) }
}

/** The CPUs that are reserved, or how many, where kubelet chooses them. undefined: unknown. */
function strictlyReserved(view: NodeView): CpuSet | number | undefined {
  if (view.isUnknown('reservedSystemCPUs')) return undefined
  const text = view.text('reservedSystemCPUs')
  if (text !== undefined) return parseCpuSet(text)
  const count = reservedCpu(view)
  // Kubelets do not round alike below thousandths of a CPU.
  const isExact = count !== undefined && count > 0n && (view.minor !== undefined || count % (NANOS / 1000n) === 0n)
  return isExact ? Number(roundUp(count)) : undefined
}

/** The CPUs of pods as a whole. */
function podCpus(state: JsonObject): readonly CpuSet[] {
  const pods = (readData(state) ?? state).podEntries
  return Object.values(isObject(pods) ? pods : {}).flatMap((pod) => (isObject(pod) ? assignedCpus(pod.cpuSet) : []))
}

function isSame(a: CpuSet, b: CpuSet): boolean {
  return isWithin(a, b) && isWithin(b, a)
}

function hasEntries({ entries }: JsonObject): boolean {
  return isObject(entries) && Object.keys(entries).length > 0
}

/** The CPUs of containers; entries are nested by pod and container, or by container only. */
function assignedCpus(entry: unknown): readonly CpuSet[] {
  if (typeof entry === 'string') return [parseCpuSet(entry) ?? new Set()]
  return isObject(entry) ? Object.values(entry).flatMap(assignedCpus) : []
}

function nodesOf({ machineState }: JsonObject): readonly [string, unknown][] {
  return Object.entries(isObject(machineState) ? machineState : {})
}

/** By resource, such as `memory` and `hugepages-2Mi`. */
function tablesOf(machine: unknown): Readonly<Record<string, JsonObject | undefined>> {
  const map = isObject(machine) && isObject(machine.memoryMap) ? machine.memoryMap : {}
  return Object.fromEntries(Object.entries(map).map(([resource, table]) => [resource, isObject(table) ? table : undefined]))
}

/** Kubelet looks for each resource of the file by its exact name. */
function differs(view: NodeView, node: number, machine: unknown): boolean {
  return Object.entries(tablesOf(machine)).some(([resource, table]) => {
    const saved = table?.systemReserved
    const limits = listReservations(view).findLast((row) => row.numaNode === node && Object.hasOwn(row.limits, resource))?.limits
    const configured = limits === undefined ? 0n : limits[resource]
    return configured !== undefined && Number.isSafeInteger(saved) && BigInt(Number(saved)) * NANOS !== configured
  })
}
