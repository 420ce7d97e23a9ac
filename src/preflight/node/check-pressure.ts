// SPDX-License-Identifier: Apache-2.0
/**
 * Compares a candidate's thresholds with what the node has left at this moment: kubelet acts on
 * them as soon as it runs. Pure. Rules, 1.20 to 1.37: `makeSignalObservations`, `thresholdsMet` and
 * `GetThresholdQuantity`, pkg/kubelet/eviction; `GarbageCollect`,
 * pkg/kubelet/images/image_gc_manager.go. Thresholds of `containerfs` are left out: kubelet
 * replaces them with those of nodefs or imagefs (`UpdateContainerFsThresholds`). So are huge pages,
 * which kubelet 1.37 does not count as available: fewer thresholds count as crossed here.
 */
import { OTHERWISE } from '../../decision/verdict.ts'
import { NANOS, parseQuantity } from '../../kubelet/quantity.ts'
import { rootDirectory } from '../../kubelet/root-directory.ts'
import { formatDuration, parseDuration } from '../../values/durations.ts'
import { isObject } from '../../values/is-object.ts'
import type { NodeProblem, NodeView } from './node-view.ts'
import { type Amount, ROOT_CGROUP, type SurroundingNeeds, type Surroundings } from './surroundings.ts'

/**
 * A gap of more than this share of the whole is far: single evictions do not close it, and kubelet
 * goes on until few pods are left.
 */
const FAR = 0.1

type EvictionField = 'evictionHard' | 'evictionSoft'

const PID_LIMITS = ['kernel.pid_max', 'kernel.threads-max']
/** Before, pid_max alone counts (`Stats`, pkg/kubelet/stats/pidlimit). */
const COUNTS_THREADS_SINCE = 24
const LOAD = '/proc/loadavg'

export function pressureNeeds(view: NodeView): Pick<SurroundingNeeds, 'fileSystems' | 'cgroupUse' | 'sysctls' | 'texts'> {
  const signals = new Set([...Object.keys(view.map('evictionHard')), ...Object.keys(view.map('evictionSoft'))])
  const root = [...signals].some((signal) => signal.startsWith('nodefs.')) ? rootDirectory(view.flag('root-dir')) : undefined
  const counts = signals.has('pid.available')
  return {
    fileSystems: root === undefined ? [] : [root],
    cgroupUse: signals.has('memory.available') ? [ROOT_CGROUP] : [],
    sysctls: counts ? PID_LIMITS : [],
    texts: counts ? [LOAD] : [],
  }
}

export function checkPressure(view: NodeView, found: Surroundings): NodeProblem[] {
  const observed = observe(view, found)
  const crossed = (['evictionHard', 'evictionSoft'] as const).flatMap((field) => checkThresholds(view, field, observed))
  return [...crossed, ...checkSoft(view, observed), ...checkImageGc(view, found)]
}

type Observed = ReadonlyMap<string, Amount>

function observe(view: NodeView, found: Surroundings): Observed {
  const root = rootDirectory(view.flag('root-dir'))
  const nodefs = root === undefined ? undefined : found.fileSystems.get(root)
  const imagefs = imagesOf(found)
  const amounts: readonly (readonly [string, Amount | undefined])[] = [
    ['memory.available', memoryOf(found)],
    ['nodefs.available', nodefs?.bytes],
    ['nodefs.inodesFree', nodefs?.inodes],
    ['imagefs.available', imagefs?.bytes],
    ['imagefs.inodesFree', imagefs?.inodes],
    ['pid.available', pidsOf(view, found)],
  ]
  return new Map(amounts.flatMap(([signal, amount]) => (amount === undefined ? [] : [[signal, amount]])))
}

function imagesOf({ runtime, imageService, fileSystems }: Surroundings) {
  const directory = (imageService ?? runtime)?.imageDirectory
  return directory === undefined ? undefined : fileSystems.get(directory)
}

/** The memory of the machine without the working set of all processes. */
function memoryOf({ memoryBytes: capacity, cgroupUse }: Surroundings): Amount | undefined {
  const used = cgroupUse.get(ROOT_CGROUP)?.memoryBytes
  return capacity === undefined || used === undefined ? undefined : { capacity, available: Math.max(0, capacity - used) }
}

function pidsOf({ minor }: NodeView, { sysctls, texts }: Surroundings): Amount | undefined {
  const names = minor !== undefined && minor < COUNTS_THREADS_SINCE ? PID_LIMITS.slice(0, 1) : PID_LIMITS
  const limits = names.map((name) => sysctls.get(name) ?? Number.NaN)
  // proc_loadavg(5): such as `0.20 0.18 0.12 1/80 11206`.
  const running = Number(/^(?:\S+ ){3}\d+\/(\d+) /.exec(texts.get(LOAD) ?? '')?.[1])
  const capacity = Math.min(...limits)
  return Number.isFinite(capacity - running) ? { capacity, available: capacity - running } : undefined
}

function checkThresholds(view: NodeView, at: EvictionField, observed: Observed): NodeProblem[] {
  return Object.entries(view.map(at)).flatMap(([key, value]): NodeProblem[] => {
    const amount = observed.get(key)
    const threshold = amount && readThreshold(key, value, amount)
    if (amount === undefined || threshold === undefined || amount.available >= threshold.amount) return []
    const before = view.running(at)
    const runs = readThreshold(key, isObject(before) ? before[key] : undefined, amount)
    const isNew = view.knowsRunning && (runs === undefined || amount.available >= runs.amount)
    const isFar = threshold.amount - amount.available > FAR * amount.capacity
    const state = `${key} is ${percentOf(amount.available, amount)} (${format(key, amount.available)} of ${format(key, amount.capacity)})`
    const problem = `kubelet would evict pods ${whenOf(view, at, key)}: ${state}, below ${view.called(at)} ${threshold.text}`
    const advice = 'set a threshold below what is available, or free some of it first'
    return isNew && isFar
      ? [{ rule: 'guard/eviction', severity: 'refuse', at, key, problem, advice }]
      : [{ rule: 'node/eviction', severity: 'warn', at, key, problem, advice }]
  })
}

function whenOf(view: NodeView, at: EvictionField, key: string): string {
  if (at === 'evictionHard') return 'at once'
  const grace = parseDuration(String(view.map('evictionSoftGracePeriod')[key] ?? ''))
  return grace.ok ? `after ${formatDuration(grace.us)}` : 'after its grace period'
}

/**
 * Kubelet evicts by the hard threshold as soon as both are crossed. Where both have the same unit,
 * no look at the node is needed.
 */
function checkSoft(view: NodeView, observed: Observed): NodeProblem[] {
  const hard = view.map('evictionHard')
  return Object.entries(view.map('evictionSoft')).flatMap(([key, value]): NodeProblem[] => {
    const amount = observed.get(key)
    const [soft, other] = amount === undefined ? [] : [readThreshold(key, value, amount), readThreshold(key, hard[key], amount)]
    if (soft === undefined || other === undefined || soft.isShare === other.isShare || soft.amount > other.amount) return []
    const problem = `${OTHERWISE} never waits for the grace period of this threshold, ${soft.text}: the one in evictionHard is ${other.text}, and comes first`
    const advice = 'set it above evictionHard, in the same unit'
    return [{ rule: 'otherwise/eviction-soft', severity: 'warn', at: 'evictionSoft', key, problem, advice }]
  })
}

/** Kubelet collects images as it starts. With 100 it never does. */
function checkImageGc(view: NodeView, found: Surroundings): NodeProblem[] {
  const at = 'imageGCHighThresholdPercent'
  const [high, low, before] = [view.number(at), view.number('imageGCLowThresholdPercent'), view.running(at)]
  const images = imagesOf(found)?.bytes
  if (high === undefined || high === 100 || images === undefined) return []
  const used = 100 - Math.floor((Math.min(images.available, images.capacity) * 100) / images.capacity)
  if (used < high || (typeof before === 'number' && used >= before)) return []
  const problem = `kubelet would remove unused images at once: ${used}% of their file system are in use, and ${view.called(at)} is ${high}`
  const advice = `it removes them until ${low ?? 'imageGCLowThresholdPercent'}% are in use; a pod that needs one of them pulls it again`
  return [{ rule: 'node/image-gc', severity: 'info', at, problem, advice }]
}

interface Threshold {
  readonly amount: number
  /** The threshold is a share of the whole. */
  readonly isShare: boolean
  readonly text: string
}

/** undefined: there is none, it is off, or it is not valid. */
function readThreshold(key: string, value: unknown, { capacity }: Amount): Threshold | undefined {
  if (typeof value !== 'string' || value === '0%' || value === '100%') return undefined
  const [, percent] = /^\+?([\d.]{1,20})%$/.exec(value) ?? []
  const nanos = percent === undefined ? parseQuantity(value) : undefined
  const amount = nanos === undefined ? Math.floor((capacity * Number(percent)) / 100) : Number(nanos / NANOS)
  if (!Number.isFinite(amount) || amount <= 0) return undefined
  const size = format(key, amount)
  return { amount, isShare: percent !== undefined, text: percent === undefined ? size : `${Number(percent)}% (${size})` }
}

function percentOf(part: number, { capacity }: Amount): string {
  return `${Math.floor((part * 1000) / capacity) / 10}%`
}

const BYTES = /^(?:memory|nodefs|imagefs)\.available$/
const GIBIBYTE = 2 ** 30

function format(key: string, amount: number): string {
  if (!BYTES.test(key)) return `${amount}`
  return amount < GIBIBYTE ? `${Math.floor(amount / 2 ** 20)} MiB` : `${(amount / GIBIBYTE).toFixed(1)} GiB`
}
