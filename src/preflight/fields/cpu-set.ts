/**
 * A list of CPUs as cpuset(7) writes it: `0-3,7`. Pure. Rule: `Parse`, k8s.io/utils/cpuset. The kubelets before 1.27 had one of their own, which took `3-1` for
 * no CPU, and of `0-1-2` the first two.
 */

export type CpuSet =
  | { readonly ok: true; readonly count: number }
  | { readonly ok: false; readonly detail: string; readonly tolerated: boolean }

/** An empty text is an empty list. `tolerated`: the kubelets before 1.27 took it. */
export function parseCpuSet(text: string): CpuSet {
  if (text === '') return { ok: true, count: 0 }
  const ranges: [first: number, last: number][] = []
  let odd: string | undefined
  for (const range of text.split(',')) {
    const [first = '', last = first, ...others] = range.split('-')
    const from = readCpu(first)
    const to = readCpu(last)
    if (from === undefined || to === undefined)
      return { ok: false, detail: `${JSON.stringify(range.slice(0, 40))} is no CPU and no range of them`, tolerated: false }
    if (others.length > 0 || from > to) odd ??= range
    ranges.push([from, to])
  }
  if (odd !== undefined) return { ok: false, detail: `${JSON.stringify(odd.slice(0, 40))} is no range of CPUs`, tolerated: true }
  return { ok: true, count: countCpus(ranges) }
}

function countCpus(ranges: [first: number, last: number][]): number {
  let count = 0
  let next = 0
  for (const [first, last] of ranges.sort(([a], [b]) => a - b)) {
    count += Math.max(0, last + 1 - Math.max(first, next))
    next = Math.max(next, last + 1)
  }
  return count
}

function readCpu(text: string): number | undefined {
  return /^\+?\d{1,9}$/.test(text) ? Number(text) : undefined
}
