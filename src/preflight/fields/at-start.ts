// SPDX-License-Identifier: Apache-2.0
/**
 * Errors that pass kubelet's validation but end its start: reservations and eviction thresholds
 * that it cannot parse, the rotation of logs, sysctls. Pure. Sources, 1.20 to 1.37:
 * `parseResourceList` (cmd/kubelet/app/server.go), `ParseQOSReserved` (pkg/kubelet/cm),
 * `ParseThresholdConfig` (pkg/kubelet/eviction/helpers.go).
 */
import { parseQuantity } from '../../kubelet/quantity.ts'
import { shorten } from '../../values/cut.ts'
import { parseGoDuration } from '../../values/go-syntax.ts'
import { isObject } from '../../values/is-object.ts'
import { type FieldProblem, type FieldRuleInput, firstPlaces, quoteText, textOf, textsOf } from './complaint.ts'

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
  return reserved.flatMap(([name, amount]): FieldProblem[] => {
    const complain = (problem: string, more = {}): FieldProblem[] => [{ rule: 'value', path: [field, name], problem, ...more }]
    if (!RESERVABLE.includes(name)) return complain(`cannot reserve ${quoteText(name)} resource`, { mistyped: { name, known: RESERVABLE } })
    const quantity = parseQuantity(amount)
    if (quantity === undefined) return complain(`failed to parse quantity ${quoteText(amount)} for ${quoteText(name)} resource`)
    return quantity < 0n ? complain(`resource quantity for ${quoteText(name)} cannot be negative: ${shorten(amount)}`) : []
  })
}

function checkQosReserved(reserved: TextMap): FieldProblem[] {
  return reserved.flatMap(([resource, percent]): FieldProblem[] => {
    const complain = (problem: string): FieldProblem[] => [{ rule: 'value', path: ['qosReserved', resource], problem }]
    if (resource !== 'memory') return complain(`cannot reserve ${quoteText(resource)} resource: only memory`)
    const value = /^[-+]?\d+%+$/.test(percent) ? Number.parseInt(percent, 10) : Number.NaN
    return 0 <= value && value <= 100 ? [] : complain('qosReserved.memory must be a percentage between 0% and 100%')
  })
}

/** The signals of every kubelet. */
export const SIGNALS = [
  ...['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree'],
  ...['allocatableMemory.available', 'pid.available'],
]
/** By the minor that added them. */
const NEW_SIGNALS: Readonly<Record<string, number>> = { 'containerfs.available': 29, 'containerfs.inodesFree': 29 }

function checkThresholds(field: string, thresholds: TextMap): FieldProblem[] {
  return thresholds.flatMap(([signal, amount]): FieldProblem[] => {
    const path = [field, signal]
    const unknown = checkSignal(path, signal)
    const isNew = Object.hasOwn(NEW_SIGNALS, signal)
    return unknown.length > 0 && !isNew ? unknown : [...unknown, ...checkAmount(path, amount, 'threshold')]
  })
}

/** Amounts that turn a signal off. */
export const OFF: readonly unknown[] = ['0%', '100%']

function checkSignal(path: FieldProblem['path'], signal: string): FieldProblem[] {
  if (SIGNALS.includes(signal)) return []
  const since = Object.hasOwn(NEW_SIGNALS, signal) ? NEW_SIGNALS[signal] : undefined
  const problem = `unsupported eviction signal ${quoteText(signal)}`
  const complaint = { rule: 'value', path, problem, byList: true } as const
  if (since === undefined) return [{ ...complaint, mistyped: { name: signal, known: SIGNALS } }]
  // Later kubelets take it, and ignore it.
  return [{ ...complaint, advice: 'remove it, and set nodefs and imagefs', to: since - 1 }]
}

function checkAmount(path: FieldProblem['path'], amount: string, kind: 'threshold' | 'reclaim'): FieldProblem[] {
  const complain = (problem: string): FieldProblem[] => [{ rule: 'value', path, problem }]
  if (amount.endsWith('%')) {
    const percent = readPercent(amount)
    if (percent === undefined) return complain(`eviction ${kind} ${quoteText(amount)} is not a percentage`)
    if (kind === 'reclaim' && percent <= 0) return complain(`eviction percentage minimum reclaim must be positive: ${shorten(amount)}`)
    if (percent < 0) return complain(`eviction percentage ${kind} must be >= 0%: ${shorten(amount)}`)
    return kind === 'threshold' && percent > 100 ? complainOfExcess(path, amount, percent) : []
  }
  const quantity = parseQuantity(amount)
  if (quantity === undefined) return complain(`eviction ${kind} ${quoteText(amount)} is neither a quantity nor a percentage`)
  if (kind === 'threshold') return quantity > 0n ? [] : complain(`eviction threshold must be positive: ${shorten(amount)}`)
  return quantity < 0n ? complain(`negative eviction minimum reclaim specified: ${shorten(amount)}`) : []
}

/**
 * The limit is 100 %, but 1.20 compares with 10000 % by mistake: there, values between get only a
 * warning.
 */
function complainOfExcess(path: FieldProblem['path'], amount: string, percent: number): FieldProblem[] {
  const complaint: FieldProblem = { rule: 'value', path, problem: `eviction percentage threshold must be <= 100%: ${shorten(amount)}` }
  if (percent > 10_000) return [complaint]
  return [
    { ...complaint, to: 20, severity: 'warn' },
    { ...complaint, from: 21 },
  ]
}

function checkGracePeriods(soft: TextMap, periods: TextMap): FieldProblem[] {
  const complaints = periods.flatMap(([signal, period]): FieldProblem[] => {
    const path = ['evictionSoftGracePeriod', signal]
    const unknown = checkSignal(path, signal)
    if (unknown.length > 0) return unknown
    const lengthNs = parseGoDuration(period)
    const complain = (problem: string): FieldProblem[] => [{ rule: 'value', path, problem }]
    if (lengthNs === undefined) return complain(`eviction grace period ${quoteText(period)} is not a duration such as "1m30s"`)
    return lengthNs < 0n ? complain(`invalid eviction grace period specified: ${shorten(period)}, must be a positive value`) : []
  })
  const missing = soft.flatMap(([signal, amount]): FieldProblem[] => {
    const from = Object.hasOwn(NEW_SIGNALS, signal) ? NEW_SIGNALS[signal] : undefined
    const isSignal = SIGNALS.includes(signal) || from !== undefined
    if (!isSignal || periods.some(([other]) => other === signal) || OFF.includes(amount)) return []
    const problem = `grace period must be specified for the soft eviction threshold ${signal}`
    return [{ rule: 'cross', path: ['evictionSoft', signal], problem, advice: `add evictionSoftGracePeriod["${signal}"]`, from }]
  })
  return [...complaints, ...missing]
}

function checkReclaims(reclaims: TextMap): FieldProblem[] {
  return reclaims.flatMap(([signal, amount]) => {
    const path = ['evictionMinimumReclaim', signal]
    return [...checkSignal(path, signal), ...checkAmount(path, amount, 'reclaim')]
  })
}

/** `parsePercentage`: a number in Go's syntax before a percent sign. */
export function readPercent(text: string): number | undefined {
  const [, number] = /^([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)%$/.exec(text) ?? []
  return number === undefined ? undefined : Number(number)
}

type TextMap = readonly (readonly [key: string, value: string])[]

/** null means an empty string. */
export function textMap(value: unknown): TextMap {
  return isObject(value) ? Object.entries(value).map(([key, text]) => [key, textOf(text)] as const) : []
}

/**
 * The rotation of container logs. Rule: `NewContainerLogManager`, pkg/kubelet/logs, 1.20 to 1.37:
 * kubelet exits if it cannot use these values. Kubelets before 1.24 rotate only the logs of a
 * remote container runtime: with dockershim they start.
 */
const FIRST_WITHOUT_DOCKERSHIM = 24

export function checkLogRotation({ config, version }: FieldRuleInput): FieldProblem[] {
  const complain = (rule: string, field: string, problem: string, advice: string): FieldProblem =>
    version !== undefined && version.minor >= FIRST_WITHOUT_DOCKERSHIM
      ? { rule, path: [field], problem, advice }
      : { rule, path: [field], problem: `${problem} (kubelet up to 1.23 starts with it only if it uses Docker)`, advice, severity: 'warn' }
  const complaints: FieldProblem[] = []
  const { containerLogMaxFiles: files } = config
  if (typeof files === 'number' && files < 2)
    complaints.push(complain('range', 'containerLogMaxFiles', `containerLogMaxFiles ${files} must be 2 or greater`, 'set it to 2 or more'))
  const size = textOf(config.containerLogMaxSize)
  const fault = size === '' ? undefined : describeFault(size)
  if (fault !== undefined)
    complaints.push(complain('value', 'containerLogMaxSize', `containerLogMaxSize ${quoteText(size)} ${fault}`, 'write it like 10Mi'))
  return complaints
}

/** A size below zero turns rotation off. undefined: kubelet takes it. */
export function describeFault(size: string): string | undefined {
  if (parseQuantity(size) === undefined) return 'is not a quantity'
  return isWhole(size) ? undefined : 'is not a whole number of bytes, as kubelet reads it'
}

const EXPONENTS: ReadonlyMap<string, number> = new Map([
  ...['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].map((suffix, index) => [suffix, 3 * index - 9] as const),
])

const BINARY: readonly string[] = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/**
 * `Quantity.AsInt64`, k8s.io/apimachinery/pkg/api/resource: digits behind the point count even if
 * they are zeros, and a binary suffix takes none at all. It has no answer for a quantity that
 * `ParseQuantity` keeps as a big number, by its digits and its suffix.
 */
function isWhole(size: string): boolean {
  const [, whole = '', fraction = '', suffix = ''] = /^[+-]?0*(\d*)(?:\.(\d*))?(.*)$/.exec(size) ?? []
  const binary = BINARY.indexOf(suffix)
  if (binary >= 0) return fraction === '' && whole.length + 3 * (binary + 1) <= 14
  const exponent = EXPONENTS.get(suffix) ?? Number(suffix.slice(1))
  return fraction.length <= exponent && whole.length + fraction.length <= 18 && (whole === '' || whole.length + exponent <= 19)
}

/**
 * The sysctls that pods may set, and those that kubelet sets for them: kubelet starts only if the
 * kernel is known to keep each of them in a namespace. Sources: `NewAllowlist`,
 * pkg/kubelet/sysctl/allowlist.go (`NewWhitelist` in 1.20), `IsValidSysctlPattern`,
 * pkg/apis/policy/validation, and pkg/kubelet/apis/config/validation for `defaultPodSysctls`; the
 * namespaces are those of pkg/kubelet/sysctl/namespace.go up to 1.28, and since then of
 * k8s.io/component-helpers/node/util/sysctl, which has fewer, and more again from 1.37 on.
 */
const LONGEST = 253
const AS_IN = 'write it as in net.core.somaxconn'
const SEGMENT = '[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?'
const LAST_SEGMENT = '(?:[a-z0-9][-_a-z0-9]*)?[a-z0-9*]'
const WITH_DOTS = new RegExp(`^(?:${SEGMENT}\\.)*${LAST_SEGMENT}$`)
const WITH_SLASHES = new RegExp(`^(?:${SEGMENT}[./])*${LAST_SEGMENT}$`)

/** The first minor that accepts slashes, with the shorter list of names, and with more again. */
const SLASHES_SINCE = 23
const NAMED_SINCE = 29
const MORE_SINCE = 37
const NAMESPACED = ['net.', 'fs.mqueue.']
const NAMESPACED_EARLIER = ['kernel.shm', 'kernel.msg']
const NAMESPACED_LATER = /^(user\.|kernel\.domainname$)/
const NAMES = [
  ...['kernel.sem', 'kernel.shm', 'kernel.shmall', 'kernel.shmmax', 'kernel.shmmni', 'kernel.shm_rmid_forced'],
  ...['kernel.msg', 'kernel.msgmax', 'kernel.msgmnb', 'kernel.msgmni'],
]

export function checkSysctls(subject: FieldRuleInput): FieldProblem[] {
  return [...checkAllowed(subject), ...checkDefaults(subject)]
}

function checkAllowed({ config, gate }: FieldRuleInput): FieldProblem[] {
  // The gate is on since 1.11, and went with 1.23.
  if (gate('Sysctls') === false) return []
  return (textsOf(config.allowedUnsafeSysctls) ?? []).flatMap((sysctl, index) => checkSysctl(sysctl, ['allowedUnsafeSysctls', index]))
}

function checkSysctl(sysctl: string, path: FieldProblem['path']): FieldProblem[] {
  const complain = (problem: string, advice: string, range: Pick<FieldProblem, 'from' | 'to' | 'byList'> = {}): FieldProblem[] => [
    { rule: 'value', path, problem, advice, ...range },
  ]
  if (sysctl.length > LONGEST || !WITH_SLASHES.test(sysctl))
    return complain(`sysctl ${quoteText(sysctl)} is neither the name of a sysctl nor a pattern that ends in *`, AS_IN)
  const slashes = WITH_DOTS.test(sysctl) ? [] : complain(`sysctl ${quoteText(sysctl)} has slashes`, 'write dots', { to: SLASHES_SINCE - 1 })
  const isPattern = sysctl.endsWith('*')
  const name = withDots(isPattern ? sysctl.slice(0, -1) : sysctl)
  if (isNamespaced(name)) return slashes
  const range = NAMESPACED_LATER.test(name)
    ? { to: MORE_SINCE - 1 }
    : NAMESPACED_EARLIER.some((prefix) => name.startsWith(prefix))
      ? { from: NAMED_SINCE }
      : {}
  const problem = `the ${isPattern ? 'sysctls' : 'sysctl'} ${quoteText(sysctl)} ${isPattern ? 'are' : 'is'} not known to be namespaced`
  return [
    ...slashes,
    ...complain(problem, 'set it on the node, in sysctl.d(5): pods can set only what is namespaced', { ...range, byList: true }),
  ]
}

function checkDefaults({ config: { defaultPodSysctls }, gate }: FieldRuleInput): FieldProblem[] {
  const names = isObject(defaultPodSysctls) ? Object.keys(defaultPodSysctls) : []
  const complain = (problem: string, advice: string, ...rest: string[]): FieldProblem => ({
    rule: rest.length === 0 ? 'cross' : 'value',
    path: ['defaultPodSysctls', ...rest],
    problem,
    advice,
    from: MORE_SINCE,
  })
  if (names.length === 0) return []
  if (gate('DefaultPodSysctls') === false)
    return [complain('defaultPodSysctls requires feature gate DefaultPodSysctls', 'remove it, or enable the feature gate')]
  const firsts = firstPlaces(names.map(withDots))
  return names.flatMap((name, index): FieldProblem[] => {
    const plain = withDots(name)
    if (name.length > LONGEST || name.endsWith('*') || !WITH_SLASHES.test(name))
      return [complain(`${quoteText(name)} is not the name of a sysctl`, AS_IN, name)]
    const foreign = complain(`the sysctl ${quoteText(name)} is not known to be namespaced`, 'set it on the node, in sysctl.d(5)', name)
    const twice = complain(`the sysctl ${quoteText(name)} is set twice`, 'remove one of them', name)
    const isKnown = isNamespaced(plain) || NAMESPACED_LATER.test(plain)
    return [...(isKnown ? [] : [{ ...foreign, byList: true }]), ...(firsts.get(plain) === index ? [] : [twice])]
  })
}

/** For every kubelet. */
function isNamespaced(name: string): boolean {
  return NAMES.includes(name) || NAMESPACED.some((prefix) => name.startsWith(prefix))
}

/** sysctl.d(5): if the first separator is a slash, slashes and dots are swapped. */
function withDots(name: string): string {
  return /^[^./]*\//.test(name) ? name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/')) : name
}
