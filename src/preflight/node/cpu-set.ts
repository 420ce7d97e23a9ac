/** Sets of CPUs, or of NUMA nodes, as the kernel and kubelet write them: `0-3,8`. Pure. Rules: `cpuset.Parse`, k8s.io/utils/cpuset; cpuset(7), "List format". */

export type CpuSet = ReadonlySet<number>

/** No machine has so many; a range is not to fill the memory. */
const MOST = 1 << 16

/** undefined: it is none. Empty text is the empty set. */
export function parseCpuSet(text: string): CpuSet | undefined {
  const cpus = new Set<number>()
  const trimmed = text.trim()
  if (trimmed === '') return cpus
  for (const part of trimmed.split(',')) {
    const [, first = '', last = first] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part) ?? []
    if (first === '' || Number(last) < Number(first) || Number(last) >= MOST) return undefined
    for (let cpu = Number(first); cpu <= Number(last); cpu++) cpus.add(cpu)
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
