/**
 * Errors that pass kubelet's validation but end its start: reservations and eviction thresholds
 * that it cannot parse. Pure. Sources, 1.20 to 1.37: `parseResourceList`
 * (cmd/kubelet/app/server.go), `ParseQOSReserved` (pkg/kubelet/cm), `ParseThresholdConfig`
 * (pkg/kubelet/eviction/helpers.go).
 */

import { parseQuantity } from '../../kubelet/quantity.ts'
import { parseGoDuration } from '../../values/go-syntax.ts'
import { isObject } from '../../values/is-object.ts'
import { type FieldProblem, type FieldRuleInput, quote, shorten } from './complaint.ts'
import { textOf } from './values.ts'

export function checkAtStart({ config }: FieldRuleInput): FieldProblem[] {
  // Kubelet replaces what is reserved of cpu by their number, and never parses it.
  const replaced = textOf(config.reservedSystemCPUs) === '' ? undefined : 'cpu'
  const reserved = (field: string) => textMap(config[field]).filter(([resource]) => resource !== replaced)
  return [
    ...['systemReserved', 'kubeReserved'].flatMap((field) => checkReserved(field, reserved(field))),
    ...checkQosReserved(textMap(config.qosReserved)),
    ...['evictionHard', 'evictionSoft'].flatMap((field) => checkThresholds(field, textMap(config[field]))),
    ...checkGracePeriods(textMap(config.evictionSoft), textMap(config.evictionSoftGracePeriod)),
    ...checkReclaims(textMap(config.evictionMinimumReclaim)),
  ]
}

const RESERVABLE = ['cpu', 'memory', 'ephemeral-storage', 'pid']

function checkReserved(field: string, reserved: TextMap): FieldProblem[] {
  return reserved.flatMap(([resource, amount]): FieldProblem[] => {
    const path = [field, resource]
    if (!RESERVABLE.includes(resource))
      return [
        { rule: 'value', path, problem: `cannot reserve ${quote(resource)} resource`, mistyped: { name: resource, known: RESERVABLE } },
      ]
    const quantity = parseQuantity(amount)
    if (quantity === undefined)
      return [{ rule: 'value', path, problem: `failed to parse quantity ${quote(amount)} for ${quote(resource)} resource` }]
    return quantity < 0n
      ? [{ rule: 'value', path, problem: `resource quantity for ${quote(resource)} cannot be negative: ${shorten(amount)}` }]
      : []
  })
}

function checkQosReserved(reserved: TextMap): FieldProblem[] {
  return reserved.flatMap(([resource, percent]): FieldProblem[] => {
    const path = ['qosReserved', resource]
    if (resource !== 'memory') return [{ rule: 'value', path, problem: `cannot reserve ${quote(resource)} resource: only memory` }]
    const value = /^[-+]?\d+%+$/.test(percent) ? Number.parseInt(percent, 10) : Number.NaN
    return 0 <= value && value <= 100
      ? []
      : [{ rule: 'value', path, problem: 'qosReserved.memory must be a percentage between 0% and 100%' }]
  })
}

const SIGNALS = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'allocatableMemory.available',
  'pid.available',
]
/** By the minor that added them. */
const NEW_SIGNALS: Readonly<Record<string, number>> = { 'containerfs.available': 29, 'containerfs.inodesFree': 29 }

function checkThresholds(field: string, thresholds: TextMap): FieldProblem[] {
  return thresholds.flatMap(([signal, amount]): FieldProblem[] => {
    const path = [field, signal]
    const known = checkSignal(path, signal)
    return known.length > 0 && NEW_SIGNALS[signal] === undefined ? known : [...known, ...checkAmount(path, amount, 'threshold')]
  })
}

function checkSignal(path: FieldProblem['path'], signal: string): FieldProblem[] {
  if (SIGNALS.includes(signal)) return []
  const since = Object.hasOwn(NEW_SIGNALS, signal) ? NEW_SIGNALS[signal] : undefined
  const mistyped = { name: signal, known: [...SIGNALS, ...Object.keys(NEW_SIGNALS)] }
  return [
    {
      rule: 'value',
      path,
      problem: `unsupported eviction signal ${quote(signal)}`,
      mistyped,
      byList: true,
      ...(since === undefined ? {} : { to: since - 1 }),
    },
  ]
}

function checkAmount(path: FieldProblem['path'], amount: string, kind: 'threshold' | 'reclaim'): FieldProblem[] {
  const complain = (problem: string): FieldProblem[] => [{ rule: 'value', path, problem }]
  if (amount.endsWith('%')) {
    const percent = readPercent(amount)
    if (percent === undefined) return complain(`eviction ${kind} ${quote(amount)} is not a percentage`)
    if (kind === 'reclaim' && percent <= 0) return complain(`eviction percentage minimum reclaim must be positive: ${shorten(amount)}`)
    if (percent < 0) return complain(`eviction percentage ${kind} must be >= 0%: ${shorten(amount)}`)
    return kind === 'threshold' && percent > 100 ? complainOfExcess(path, amount, percent) : []
  }
  const quantity = parseQuantity(amount)
  if (quantity === undefined) return complain(`eviction ${kind} ${quote(amount)} is neither a quantity nor a percentage`)
  if (kind === 'threshold') return quantity > 0n ? [] : complain(`eviction threshold must be positive: ${shorten(amount)}`)
  return quantity < 0n ? complain(`negative eviction minimum reclaim specified: ${shorten(amount)}`) : []
}

/**
 * The limit is 100 %, but 1.20 compares with 10000 % by mistake: there, values between get only a
 * warning.
 */
function complainOfExcess(path: FieldProblem['path'], amount: string, percent: number): FieldProblem[] {
  const complaint: FieldProblem = { rule: 'value', path, problem: `eviction percentage threshold must be <= 100%: ${shorten(amount)}` }
  return percent > 10_000
    ? [complaint]
    : [
        { ...complaint, to: 20, severity: 'warn' },
        { ...complaint, from: 21 },
      ]
}

function checkGracePeriods(soft: TextMap, periods: TextMap): FieldProblem[] {
  const complaints: FieldProblem[] = periods.flatMap(([signal, period]): FieldProblem[] => {
    const path = ['evictionSoftGracePeriod', signal]
    const unknown = checkSignal(path, signal)
    if (unknown.length > 0) return unknown
    const lengthNs = parseGoDuration(period)
    if (lengthNs === undefined)
      return [{ rule: 'value', path, problem: `eviction grace period ${quote(period)} is not a duration such as "1m30s"` }]
    return lengthNs < 0n
      ? [{ rule: 'value', path, problem: `invalid eviction grace period specified: ${shorten(period)}, must be a positive value` }]
      : []
  })
  for (const [signal, amount] of soft) {
    const from = Object.hasOwn(NEW_SIGNALS, signal) ? NEW_SIGNALS[signal] : undefined
    if ((!SIGNALS.includes(signal) && from === undefined) || periods.some(([other]) => other === signal) || ['0%', '100%'].includes(amount))
      continue
    const problem = `grace period must be specified for the soft eviction threshold ${signal}`
    const advice = `add evictionSoftGracePeriod["${signal}"]`
    complaints.push({ rule: 'cross', path: ['evictionSoft', signal], problem, advice, ...(from === undefined ? {} : { from }) })
  }
  return complaints
}

function checkReclaims(reclaims: TextMap): FieldProblem[] {
  return reclaims.flatMap(([signal, amount]) => {
    const path = ['evictionMinimumReclaim', signal]
    return [...checkSignal(path, signal), ...checkAmount(path, amount, 'reclaim')]
  })
}

/** `parsePercentage`: a number in Go's syntax before a percent sign. */
function readPercent(text: string): number | undefined {
  const [, number] = /^([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)%$/.exec(text) ?? []
  return number === undefined ? undefined : Number(number)
}

type TextMap = readonly (readonly [key: string, value: string])[]

/** null means an empty string. */
function textMap(value: unknown): TextMap {
  return isObject(value) ? Object.entries(value).map(([key, text]) => [key, textOf(text)] as const) : []
}
