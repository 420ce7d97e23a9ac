/**
 * Sets of CPUs, or of NUMA nodes, as the kernel and kubelet write them: `0-3,8`. Pure. Rules: cpuset(7), "List format"; `Parse`, k8s.io/utils/cpuset. The kubelets
 * before 1.27 had one of their own, which took `3-1` for no CPU, and of `0-1-2` the first two.
 */

export type CpuSet = ReadonlySet<number>

/** In the order of the text; they may overlap. */
type Ranges = readonly (readonly [first: number, last: number])[]

export type CpuList =
  | { readonly ok: true; readonly ranges: Ranges }
  /** `tolerated`: the kubelets before 1.27 took it. */
  | { readonly ok: false; readonly detail: string; readonly tolerated: boolean }

/** No machine has so many; a range is not to fill the memory. */
const MOST = 1 << 16

/** What can be written, whether or not a machine has so many. An empty text is an empty list. */
export function parseCpuList(text: string): CpuList {
  const ranges: [first: number, last: number][] = []
  let odd: string | undefined
  for (const range of text === '' ? [] : text.split(',')) {
    const [first = '', last = first, ...others] = range.split('-')
    const from = readCpu(first)
    const to = readCpu(last)
    if (from === undefined || to === undefined)
      return { ok: false, detail: `${quote(range)} is no CPU and no range of them`, tolerated: false }
    if (others.length > 0 || from > to) odd ??= range
    ranges.push([from, to])
  }
  return odd === undefined ? { ok: true, ranges } : { ok: false, detail: `${quote(odd)} is no range of CPUs`, tolerated: true }
}

/** undefined: it is none, or none of a machine. White space around it is the kernel's. */
export function parseCpuSet(text: string): CpuSet | undefined {
  const list = parseCpuList(text.trim())
  if (!list.ok || list.ranges.some(([, last]) => last >= MOST)) return undefined
  const cpus = new Set<number>()
  // Of ranges that overlap, each CPU is counted through once.
  let next = 0
  for (const [first, last] of [...list.ranges].sort(([a], [b]) => a - b)) {
    for (let cpu = Math.max(first, next); cpu <= last; cpu++) cpus.add(cpu)
    next = Math.max(next, last + 1)
  }
  return cpus
}

export function formatCpuSet(cpus: CpuSet): string {
  const sorted = [...cpus].sort((a, b) => a - b)
  const ranges: [number, number][] = []
  for (const cpu of sorted) {
    const range = ranges.at(-1)
    if (range !== undefined && range[1] === cpu - 1) range[1] = cpu
    else ranges.push([cpu, cpu])
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join()
}

export function isWithin(part: CpuSet, whole: CpuSet): boolean {
  return [...part].every((cpu) => whole.has(cpu))
}

/** As strconv.Atoi has it, but for numbers beyond all machines. */
function readCpu(text: string): number | undefined {
  return /^\+?\d{1,9}$/.test(text) ? Number(text) : undefined
}

function quote(range: string): string {
  return JSON.stringify(range.slice(0, 40))
}
