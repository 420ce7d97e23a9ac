/**
 * Quantities that no node has for what they measure: `memory: 500m` is one byte, `cpu: 200Mi` is
 * 209715200 CPUs. Pure. Kubelet takes each quantity that can be parsed, and rounds it up to whole
 * bytes, inodes or processes: `parseResourceList` (cmd/kubelet/app/server.go),
 * `parseThresholdStatement` (pkg/kubelet/eviction/helpers.go), `parseMaxSize` (pkg/kubelet/logs).
 */
import { NANOS, parseQuantity } from '../../kubelet/quantity.ts'
import { textMap } from './at-start.ts'
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

const MEMORY: Measure = { unit: 'byte', least: 1n << 20n, advise: inMebibytes }
const DISK: Measure = { unit: 'byte', least: 1n << 20n, advise: (digits) => `write ${digits}% for a share, or ${digits}Gi for gibibytes` }
const LOG: Measure = { unit: 'byte', least: 1n << 10n, advise: inMebibytes }
const INODES: Measure = { unit: 'inode', least: 1000n, advise: (digits) => `write ${digits}% for a share, or a larger number` }
/** PID_MAX_LIMIT of Linux: more processes do not exist. */
const PROCESSES: Measure = { unit: 'process', least: 2n, most: 1n << 22n, advise: (digits) => `write ${digits}: processes have no unit` }

/** By the resource that is reserved, and by the signal of a threshold. */
const RESOURCES: Readonly<Record<string, Measure>> = { memory: MEMORY, 'ephemeral-storage': DISK, pid: PROCESSES }
const SIGNALS: readonly (readonly [signals: RegExp, measure: Measure])[] = [
  [/^(?:allocatableM|m)emory\.available$/, MEMORY],
  [/^(?:nodefs|imagefs|containerfs)\.available$/, DISK],
  [/^(?:nodefs|imagefs|containerfs)\.inodesFree$/, INODES],
  [/^pid\.available$/, PROCESSES],
]

export function checkSizes({ config, unseen }: WholeInput): FieldProblem[] {
  const size = textOf(config.containerLogMaxSize)
  return [
    ...['systemReserved', 'kubeReserved'].flatMap((field) =>
      textMap(config[field]).flatMap(([resource, amount]) => {
        const measure = Object.hasOwn(RESOURCES, resource) ? RESOURCES[resource] : undefined
        const cpus = resource === 'cpu' && unseen !== undefined ? checkCpus([field, resource], amount) : []
        return measure === undefined ? cpus : checkSize([field, resource], amount, measure)
      }),
    ),
    ...['evictionHard', 'evictionSoft', 'evictionMinimumReclaim'].flatMap((field) =>
      textMap(config[field]).flatMap(([signal, amount]) => {
        const measure = SIGNALS.find(([signals]) => signals.test(signal))?.[1]
        return measure === undefined ? [] : checkSize([field, signal], amount, measure)
      }),
    ),
    ...checkSize(['containerLogMaxSize'], size, LOG),
  ]
}

function checkSize(path: readonly string[], amount: string, { unit, least, most, advise }: Measure): FieldProblem[] {
  const quantity = parseQuantity(amount)
  if (quantity === undefined || quantity <= 0n) return []
  const whole = (quantity + NANOS - 1n) / NANOS
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
