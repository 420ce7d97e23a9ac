// SPDX-License-Identifier: Apache-2.0
/**
 * Quantities that no node has for what they measure: `memory: 500m` is one byte, `cpu: 200Mi` is
 * 209715200 CPUs. Pure. Kubelet takes each quantity that can be parsed, and rounds it up to whole
 * bytes, inodes or processes: `parseResourceList` (cmd/kubelet/app/server.go),
 * `parseThresholdStatement` (pkg/kubelet/eviction/helpers.go), `parseMaxSize` (pkg/kubelet/logs).
 */
import { NANOS, parseQuantity, roundUp } from '../../kubelet/quantity.ts'
import { describeFault, textMap } from './at-start.ts'
import { type FieldProblem, otherwise, quoteText, textOf, type WholeInput } from './complaint.ts'

interface Measure {
  readonly unit: string
  /** Less than this is too little, unless it is nothing. */
  readonly least: bigint
  readonly most?: bigint
  /** Says which value was meant, as far as the digits tell. */
  advise(digits: string): string
}

const inMebibytes = (digits: string) => `write ${digits}Mi for mebibytes`
/** Of a threshold: what is reserved has no shares. */
const orShare = (digits: string, other: string) => (Number(digits) <= 100 ? `write ${digits}% for a share, or ${other}` : `write ${other}`)

const MEMORY: Measure = { unit: 'byte', least: 1n << 20n, advise: inMebibytes }
const STORAGE: Measure = { ...MEMORY, advise: (digits) => `write ${digits}Mi for mebibytes, or ${digits}Gi for gibibytes` }
const DISK: Measure = { ...MEMORY, advise: (digits) => orShare(digits, `${digits}Gi for gibibytes`) }
const LOG: Measure = { unit: 'byte', least: 1n << 10n, advise: inMebibytes }
const INODES: Measure = { unit: 'inode', least: 1000n, advise: (digits) => orShare(digits, 'a larger number') }
/** PID_MAX_LIMIT of Linux: more processes do not exist. */
const MOST_PROCESSES = 2 ** 22
const PROCESSES: Measure = {
  ...{ unit: 'process', least: 2n, most: BigInt(MOST_PROCESSES) },
  advise: (digits) =>
    /^\d{2,7}$/.test(digits) && Number(digits) <= MOST_PROCESSES
      ? `write ${digits}: processes have no unit`
      : `write a number of processes, at most ${MOST_PROCESSES}`,
}

/** By the resource that is reserved, and by the signal of a threshold. */
const RESOURCES: Readonly<Record<string, Measure>> = { memory: MEMORY, 'ephemeral-storage': STORAGE, pid: PROCESSES }
const SIGNALS: readonly (readonly [signals: RegExp, measure: Measure])[] = [
  [/^(?:allocatableM|m)emory\.available$/, MEMORY],
  [/^(?:nodefs|imagefs|containerfs)\.available$/, DISK],
  [/^(?:nodefs|imagefs|containerfs)\.inodesFree$/, INODES],
  [/^pid\.available$/, PROCESSES],
]

export function checkSizes({ config, unseen }: WholeInput): FieldProblem[] {
  const size = textOf(config.containerLogMaxSize)
  // Kubelet replaces what is reserved of cpu by their number.
  const countsCpus = unseen !== undefined && textOf(config.reservedSystemCPUs) === ''
  return [
    ...['systemReserved', 'kubeReserved'].flatMap((field) =>
      textMap(config[field]).flatMap(([resource, amount]) => {
        const measure = Object.hasOwn(RESOURCES, resource) ? RESOURCES[resource] : undefined
        const cpus = resource === 'cpu' && countsCpus ? checkCpus([field, resource], amount) : []
        return measure === undefined ? cpus : checkSize([field, resource], amount, measure)
      }),
    ),
    ...['evictionHard', 'evictionSoft', 'evictionMinimumReclaim'].flatMap((field) =>
      textMap(config[field]).flatMap(([signal, amount]) => {
        const measure = SIGNALS.find(([signals]) => signals.test(signal))?.[1]
        return measure === undefined ? [] : checkSize([field, signal], amount, measure)
      }),
    ),
    ...(describeFault(size) === undefined ? checkSize(['containerLogMaxSize'], size, LOG) : []),
  ]
}

function checkSize(path: readonly string[], amount: string, { unit, least, most, advise }: Measure): FieldProblem[] {
  const quantity = parseQuantity(amount)
  if (quantity === undefined || quantity <= 0n) return []
  const whole = roundUp(quantity)
  const isBroken = quantity % NANOS !== 0n && unit === 'process'
  if (whole >= least && whole <= (most ?? whole) && !isBroken) return []
  const [digits = ''] = /\d+(?:\.\d+)?/.exec(amount) ?? []
  const count = `${whole} ${unit === 'process' && whole !== 1n ? 'processes' : `${unit}${whole === 1n ? '' : 's'}`}`
  const why = amount.endsWith('m') ? ': m stands for thousandths' : ''
  return [otherwise('otherwise/size', path, `takes ${quoteText(amount)} for ${count}${why}`, advise(digits))]
}

/** No machine has as many. */
const MOST_CPUS = 8192n
/** No machine has as many to spare. */
const MANY_CPUS = 500n

/** On a node, the rule that knows its CPUs judges it (`node/reserved-cpu`). */
function checkCpus(path: readonly string[], amount: string): FieldProblem[] {
  const cpus = (parseQuantity(amount) ?? 0n) / NANOS
  if (cpus < MANY_CPUS) return []
  const problem = `${path.join('.')} ${quoteText(amount)} means ${cpus} CPUs: kubelet does not start on a machine with fewer`
  const [digits = ''] = /\d+/.exec(amount) ?? []
  const advice = `write ${digits}m for thousandths of a CPU`
  return [{ rule: 'range', path, problem, advice, severity: cpus > MOST_CPUS ? 'refuse' : 'warn' }]
}
