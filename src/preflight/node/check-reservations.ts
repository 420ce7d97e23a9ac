// SPDX-License-Identifier: Apache-2.0
/**
 * Checks reservations for system and kubelet against the machine. Pure. Rules:
 * `validateNodeAllocatable`, `GetNodeAllocatableReservation` and `hardEvictionReservation`,
 * pkg/kubelet/cm; `getReservedCPUs`, cmd/kubelet/app/server.go; `validateReservedMemory` of
 * pkg/kubelet/cm/memorymanager. Kubelet starts if everything is reserved, but then the node cannot
 * run any pod: that is refused too.
 */

import { NANOS, parseQuantity } from '../../kubelet/quantity.ts'
import { parseGoBool } from '../../values/go-syntax.ts'
import { isObject } from '../../values/is-object.ts'
import { type CpuSet, formatCpuSet, parseCpuSet } from '../cpu-set.ts'
import { type NodeProblem, type NodeView, usesMemoryManager } from './node-view.ts'
import type { Surroundings } from './surroundings.ts'

export function checkReservations(view: NodeView, found: Surroundings): NodeProblem[] {
  return [checkMemory, checkCpu, checkCpuSet, checkReservedMemory].flatMap((check) => check(view, found))
}

/** Warn if less than this share of the memory is left for pods. */
const SCARCE_PERCENT = 10n

function checkMemory(view: NodeView, { memoryBytes }: Surroundings): NodeProblem[] {
  const reserved = reservedMemory(view, memoryBytes)
  if (memoryBytes === undefined || reserved === undefined) return []
  const whole = BigInt(memoryBytes) * NANOS
  if (reserved.nanos * 100n < whole * (100n - SCARCE_PERCENT)) return []
  const sum = `systemReserved, kubeReserved and evictionHard reserve ${mebibytes(reserved.nanos)} of ${mebibytes(whole)} memory`
  const complaint = { rule: 'node/reserved-memory', at: largest(view, 'memory'), advice: 'reserve less, or add memory' } as const
  if (reserved.nanos > whole) return [{ ...complaint, severity: 'refuse', problem: `${sum}: kubelet does not start` }]
  if (reserved.nanos === whole) return [{ ...complaint, severity: 'refuse', problem: `${sum}: nothing is left for pods` }]
  return [{ ...complaint, severity: 'warn', problem: `${sum}: less than ${SCARCE_PERCENT}% is left for pods` }]
}

function checkCpu(view: NodeView, { onlineCpus, presentCpus }: Surroundings): NodeProblem[] {
  const reserved = reservedCpu(view)
  if (view.text('reservedSystemCPUs') !== undefined || reserved === undefined || onlineCpus === undefined || presentCpus === undefined)
    return []
  if (reserved < BigInt(onlineCpus.size) * NANOS) return []
  const sum = `systemReserved and kubeReserved reserve ${Number(reserved / (NANOS / 1000n)) / 1000} of ${onlineCpus.size} CPUs`
  const severity = reserved >= BigInt(presentCpus.size) * NANOS ? 'refuse' : 'warn'
  const isOver = reserved > BigInt(onlineCpus.size) * NANOS
  const problem = `${sum}: ${isOver ? 'kubelet does not start' : 'no CPU is left for pods'}`
  return [{ rule: 'node/reserved-cpu', severity, at: largest(view, 'cpu'), problem, advice: 'reserve less' }]
}

function checkCpuSet(view: NodeView, { onlineCpus, presentCpus }: Surroundings): NodeProblem[] {
  const reserved = parseCpuSet(view.text('reservedSystemCPUs') ?? '')
  if (reserved === undefined || reserved.size === 0 || onlineCpus === undefined || presentCpus === undefined) return []
  const advice = `name some, but not all, of the CPUs ${formatCpuSet(onlineCpus)}`
  const complaint = { rule: 'node/cpuset', at: 'reservedSystemCPUs', advice } as const
  const name = view.called('reservedSystemCPUs')
  const refused = describeRefusedCpus(view, reserved, onlineCpus, presentCpus)
  if (refused !== undefined) return [{ ...complaint, severity: 'refuse', problem: `${name} ${refused}: kubelet does not start` }]
  if (reserved.size >= (wantsOnlineCpus(view) ? onlineCpus : presentCpus).size)
    return [{ ...complaint, severity: 'refuse', problem: `${name} lists every CPU: no CPU is left for pods` }]
  const offline = without(reserved, onlineCpus)
  return offline.size === 0
    ? []
    : [{ ...complaint, severity: 'warn', problem: `${name} lists CPUs that are offline: ${formatCpuSet(offline)}` }]
}

/** undefined: kubelet starts with these CPUs, or its version is unknown and some would. */
function describeRefusedCpus(view: NodeView, reserved: CpuSet, onlineCpus: CpuSet, presentCpus: CpuSet): string | undefined {
  if (comparesCount(view)) {
    const isAbove = Math.max(...reserved) >= presentCpus.size
    return isAbove ? `lists CPUs above ${presentCpus.size - 1}, the last that this kubelet counts` : undefined
  }
  const missing = without(reserved, presentCpus)
  if (missing.size > 0) return `lists CPUs that this machine does not have: ${formatCpuSet(missing)}`
  const offline = without(reserved, onlineCpus)
  return wantsOnlineCpus(view) && offline.size > 0 ? `lists CPUs that are offline: ${formatCpuSet(offline)}` : undefined
}

/** Before 1.22 kubelet only compares the largest number with the number of CPUs. */
function comparesCount({ minor }: NodeView): boolean {
  return minor !== undefined && minor < 22
}

function wantsOnlineCpus({ minor }: NodeView): boolean {
  return minor !== undefined && minor >= 22
}

function without(cpus: CpuSet, others: CpuSet): CpuSet {
  return new Set([...cpus].filter((cpu) => !others.has(cpu)))
}

/** The rules that depend on the machine; the others are judged anywhere (`fields/supplied.ts`). */
function checkReservedMemory(view: NodeView, { memoryBytes, numaNodes }: Surroundings): NodeProblem[] {
  const usage = usesMemoryManager(view)
  if (view.value('memoryManagerPolicy') !== 'Static' || usage === 'no' || view.isUnknown('reservedMemory')) return []
  const complaint = { rule: 'node/static-policy', at: 'reservedMemory' } as const
  const unknown = listReservations(view).find(({ numaNode }) => numaNodes !== undefined && !numaNodes.has(numaNode))
  if (unknown !== undefined && numaNodes !== undefined) {
    const problem = `reservedMemory names NUMA node ${unknown.numaNode}, which this machine does not have: kubelet does not start`
    const advice = `this machine has the NUMA nodes ${formatCpuSet(numaNodes)}`
    return [{ ...complaint, severity: usage === 'yes' ? 'refuse' : 'warn', problem, advice }]
  }
  const sums = compareSums(view, memoryBytes)
  return sums === undefined || sums.exact ? [] : [{ ...complaint, severity: 'warn', ...sums }]
}

/**
 * Whether the reservations of the NUMA nodes add up to the total reservation, to the byte.
 *
 * @param memoryBytes undefined: unknown
 * @returns undefined: they do, or one of them is unknown
 */
export function compareSums(
  view: NodeView,
  memoryBytes: number | undefined,
): { readonly exact: boolean; readonly problem: string; readonly advice: string } | undefined {
  const reserved = reservedMemory(view, memoryBytes)
  const total = sumOf(listReservations(view).map(({ limits }) => limits.memory ?? 0n))
  if (reserved === undefined || total === reserved.nanos) return undefined
  const { exact, nanos } = reserved
  const isNear = mebibytes(total) === mebibytes(nanos)
  const [sum, whole] = [total, nanos].map((each) => (isNear ? `${each / NANOS} bytes` : mebibytes(each)))
  const problem = `reservedMemory adds up to ${sum}, but systemReserved, kubeReserved and evictionHard to ${whole}: kubelet does not start unless the sums are equal`
  return { exact, problem, advice: `make the limits of memory in reservedMemory add up to ${whole}` }
}

interface MemoryReservation {
  readonly numaNode: number
  /** In billionths. */
  readonly limits: Readonly<Record<string, bigint | undefined>>
}

export function listReservations(view: NodeView): MemoryReservation[] {
  const value = view.value('reservedMemory')
  return (Array.isArray(value) ? value : []).filter(isObject).map(({ numaNode, limits }) => ({
    numaNode: typeof numaNode === 'number' ? numaNode : 0,
    limits: Object.fromEntries(Object.entries(isObject(limits) ? limits : {}).map(([name, text]) => [name, parseQuantity(String(text))])),
  }))
}

/**
 * Not `exact`: kubelet computes percentages with 32-bit floats and may be some bytes off.
 * undefined: unknown.
 */
function reservedMemory(view: NodeView, memoryBytes: number | undefined): { readonly nanos: bigint; readonly exact: boolean } | undefined {
  const ignoresEviction = parseGoBool(view.flag('experimental-allocatable-ignore-eviction') ?? '') === true
  const eviction = ignoresEviction ? { nanos: 0n, exact: true } : evictionMemory(view, memoryBytes)
  const [system, kube] = [view.quantity('systemReserved', 'memory'), view.quantity('kubeReserved', 'memory')]
  if (eviction === undefined || system === undefined || kube === undefined) return undefined
  return { nanos: system + kube + eviction.nanos, exact: eviction.exact }
}

function evictionMemory(view: NodeView, memoryBytes: number | undefined): { readonly nanos: bigint; readonly exact: boolean } | undefined {
  const threshold = view.map('evictionHard')['memory.available']
  const share = typeof threshold === 'string' ? /^([\d.]+)%$/.exec(threshold)?.[1] : undefined
  if (share === undefined) {
    const nanos = view.quantity('evictionHard', 'memory.available')
    return nanos === undefined ? undefined : { nanos, exact: true }
  }
  // These two values turn the signal off.
  if (threshold === '0%' || threshold === '100%') return { nanos: 0n, exact: true }
  const bytes = ((memoryBytes ?? Number.NaN) * Number(share)) / 100
  return Number.isFinite(bytes) ? { nanos: BigInt(Math.floor(bytes)) * NANOS, exact: false } : undefined
}

/** From here on kubelet rounds each of them to thousandths of a CPU (`parseResourceList`). */
const ROUNDS_CPU_SINCE = 37

export function reservedCpu(view: NodeView): bigint | undefined {
  const [system, kube] = [cpuIn('systemReserved', view), cpuIn('kubeReserved', view)]
  return system === undefined || kube === undefined ? undefined : system + kube
}

function cpuIn(field: 'systemReserved' | 'kubeReserved', view: NodeView): bigint | undefined {
  const nanos = view.quantity(field, 'cpu')
  if (nanos === undefined || view.minor === undefined || view.minor < ROUNDS_CPU_SINCE) return nanos
  const micros = (nanos + 999n) / 1000n
  return ((micros + 500n) / 1000n) * 1_000_000n
}

function largest(view: NodeView, resource: string): 'systemReserved' | 'kubeReserved' | 'evictionHard' {
  const [system, kube] = [view.quantity('systemReserved', resource) ?? 0n, view.quantity('kubeReserved', resource) ?? 0n]
  if (system === 0n && kube === 0n) return 'evictionHard'
  return system >= kube ? 'systemReserved' : 'kubeReserved'
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}

function mebibytes(nanos: bigint): string {
  return `${(Number(nanos / NANOS) / 2 ** 20).toFixed(0)} MiB`
}
