/** Facts about this machine, and their text form. Pure; `node-facts.ts` reads them. */
export interface MachineFacts {
  readonly memoryBytes: number
  readonly memoryAvailableBytes: number
  readonly swapBytes: number
  readonly cpus: number
  /** Node.js' name: `x64`, `arm64`. */
  readonly architecture: string
  /** PRETTY_NAME of os-release, such as `Debian GNU/Linux 12 (bookworm)`. */
  readonly os: string
  readonly kernel: string
}

export type MachineFactsResult = { readonly ok: true; readonly facts: MachineFacts } | { readonly ok: false; readonly detail: string }

/**
 * One line, such as `Debian GNU/Linux 12, kernel 6.1.0, 4 CPUs (x64), 15.6 GiB memory, no swap`.
 */
export function describeFacts({ os, kernel, cpus, architecture, memoryBytes, swapBytes }: MachineFacts): string {
  const swap = swapBytes === 0 ? 'no swap' : `${gibibytes(swapBytes)} swap`
  return `${os}, kernel ${kernel}, ${cpus} ${cpus === 1 ? 'CPU' : 'CPUs'} (${architecture}), ${gibibytes(memoryBytes)} memory, ${swap}`
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`
}
