// SPDX-License-Identifier: Apache-2.0
/**
 * Sets of CPUs or NUMA nodes, as the kernel and kubelet write them: `0-3,8`. Pure. Rules:
 * cpuset(7), "List format"; `Parse`, k8s.io/utils/cpuset. Kubelets before 1.22 had a parser
 * that read `3-1` as an empty set and ignored the third number of `0-1-2`.
 */

export type CpuSet = ReadonlySet<number>

/** In the order of the text. Ranges may overlap. */
type Ranges = readonly (readonly [first: number, last: number])[]

type CpuList =
  | { readonly ok: true; readonly ranges: Ranges }
  /** `tolerated`: kubelets before 1.22 accept it. */
  | { readonly ok: false; readonly detail: string; readonly tolerated: boolean }

/** More CPUs than any machine has: keeps a huge range from filling the memory. */
const MOST = 1 << 16

/** Parses the syntax only, without a limit on CPU numbers. An empty text is an empty list. */
export function parseCpuList(text: string): CpuList {
  const ranges: [first: number, last: number][] = []
  let odd: string | undefined
  for (const range of text === '' ? [] : text.split(',')) {
    const [first = '', last = first, ...others] = range.split('-')
    const from = readCpu(first)
    const to = readCpu(last)
    if (from === undefined || to === undefined)
      return { ok: false, detail: `${quote(range)} is neither a CPU nor a range of CPUs`, tolerated: false }
    if (others.length > 0 || from > to) odd ??= range
    ranges.push([from, to])
  }
  return odd === undefined ? { ok: true, ranges } : { ok: false, detail: `${quote(odd)} is not a range of CPUs`, tolerated: true }
}

/** undefined: not a CPU set, or with numbers that no machine has. Trims what the kernel adds. */
export function parseCpuSet(text: string): CpuSet | undefined {
  const list = parseCpuList(text.trim())
  if (!list.ok || list.ranges.some(([, last]) => last >= MOST)) return undefined
  const cpus = new Set<number>()
  // Visits each CPU of overlapping ranges only once.
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

/** Like strconv.Atoi, but without numbers of more than nine digits. */
function readCpu(text: string): number | undefined {
  return /^\+?\d{1,9}$/.test(text) ? Number(text) : undefined
}

function quote(range: string): string {
  return JSON.stringify(range.slice(0, 40))
}
