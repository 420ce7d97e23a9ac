// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about rarely used fields that are newer than 1.20. Pure. Source:
 * `ValidateKubeletConfiguration`, pkg/kubelet/apis/config/validation.
 */
import { valueAt } from '../../kubelet/field-path.ts'
import { parseQuantity } from '../../kubelet/quantity.ts'
import { isObject } from '../../values/is-object.ts'
import {
  asList,
  durationOf,
  type FieldProblem,
  type FieldRuleInput,
  numberOf,
  otherwise,
  quoteText,
  SECOND_NS,
  textOf,
  textsOf,
} from './complaint.ts'

export function checkNewFields(subject: FieldRuleInput): FieldProblem[] {
  const { config } = subject
  return [
    ...checkReservedMemory(config.reservedMemory),
    ...checkTaints(config.registerWithTaints),
    ...checkCrashLoop(subject),
    ...checkUserNamespaces(subject),
    ...checkImageCredentials(subject),
    ...checkMemoryQos(subject),
    ...checkLogsDirectory(config.podLogsDir),
  ]
}

function checkReservedMemory(value: unknown): FieldProblem[] {
  const seen = new Set<string>()
  return asList(value).flatMap((item, index) => {
    const limits = isObject(item) && isObject(item.limits) ? Object.entries(item.limits) : []
    const node = isObject(item) && typeof item.numaNode === 'number' ? item.numaNode : 0
    return limits.flatMap(([resource, amount]): FieldProblem[] => {
      const path = ['reservedMemory', index, 'limits', resource]
      const complaints: FieldProblem[] = []
      const complain = (problem: string) => complaints.push({ rule: 'value', path, problem, from: 21 })
      if (resource !== 'memory' && !resource.startsWith('hugepages-'))
        complain(`the limit type ${quoteText(resource)} for NUMA node ${node} is not allowed, only memory or hugepages-*`)
      if (isZero(amount)) complain(`reserved memory may not be zero for NUMA node ${node} and resource ${quoteText(resource)}`)
      const key = `${node} ${resource}`
      if (seen.has(key)) complain(`the reserved memory has a duplicate value for NUMA node ${node} and resource ${quoteText(resource)}`)
      seen.add(key)
      return complaints
    })
  })
}

/** The type check reports what is not a quantity. */
function isZero(amount: unknown): boolean {
  return amount === 0 || amount === null || (typeof amount === 'string' && parseQuantity(amount) === 0n)
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** `CheckTaintValidation`, pkg/util/taints: the rules of labels apply to key and value. */
function checkTaints(value: unknown): FieldProblem[] {
  return asList(value).flatMap((item, index): FieldProblem[] => {
    if (!isObject(item)) return []
    const path = ['registerWithTaints', index]
    const [key, text, effect] = [item.key, item.value, item.effect].map(textOf)
    const complaints: FieldProblem[] = []
    const complain = (problem: string) => complaints.push({ rule: 'value', path, problem: `invalid taint: ${problem}`, from: 23 })
    if (!isQualifiedName(key ?? '')) complain('its key is not a qualified name')
    if (text !== undefined && text !== '' && !NAME.test(text)) complain('its value is not a valid label value')
    if (effect !== undefined && effect !== '' && !EFFECTS.includes(effect)) complain(`its effect must be one of ${EFFECTS.join(', ')}`)
    if (typeof item.timeAdded === 'string') complain('timeAdded must not be set')
    return complaints
  })
}

function isQualifiedName(key: string): boolean {
  const parts = key.split('/')
  const name = parts.pop() ?? ''
  const [prefix, ...others] = parts
  return NAME.test(name) && others.length === 0 && (prefix === undefined || (prefix.length <= 253 && PREFIX.test(prefix)))
}

function checkCrashLoop({ config: { crashLoopBackOff }, gate }: FieldRuleInput): FieldProblem[] {
  const period = isObject(crashLoopBackOff) ? crashLoopBackOff.maxContainerRestartPeriod : undefined
  if (typeof period !== 'string') return []
  const path = ['crashLoopBackOff', 'maxContainerRestartPeriod']
  const off = 'FeatureGate KubeletCrashLoopBackOffMax not enabled, crashLoopBackOff.maxContainerRestartPeriod must not be set'
  if (gate('KubeletCrashLoopBackOffMax') === false) return [{ rule: 'cross', path, problem: off, from: 32 }]
  const lengthNs = durationOf(period, SECOND_NS)
  if (SECOND_NS <= lengthNs && lengthNs <= 300n * SECOND_NS) return []
  return [{ rule: 'range', path, problem: 'crashLoopBackOff.maxContainerRestartPeriod must be between 1s and 300s', from: 32 }]
}

/** The ids of a pod by default, all of a machine, and the first minor that reads `idsPerPod`. */
const POD_IDS = 65536
const ALL_IDS = 2 ** 32
const READS_IDS_SINCE = 35

/**
 * Where the node gives kubelet no ids of its own, it takes all but the first `idsPerPod`, and exits
 * if they are no multiple of it, or too few: `MakeUserNsManager`, pkg/kubelet/userns.
 */
function checkUserNamespaces({ config, gate }: FieldRuleInput): FieldProblem[] {
  const ids = valueAt(config, ['userNamespaces', 'idsPerPod']) ?? POD_IDS
  const path = ['userNamespaces', 'idsPerPod']
  if (typeof ids !== 'number') return []
  if (ids < POD_IDS || ids % POD_IDS !== 0 || ids >= ALL_IDS)
    return [{ rule: 'range', path, problem: 'userNamespaces.idsPerPod must be a multiple of 65536, and at most 4294967295', from: 33 }]
  const early: FieldProblem[] = checkPodCount(config, POD_IDS, { from: 30, to: READS_IDS_SINCE - 1 })
  if (ids !== POD_IDS) {
    const effect = `gives each pod ${POD_IDS} ids: it reads userNamespaces.idsPerPod only from 1.${READS_IDS_SINCE} on`
    const found = otherwise('otherwise/value', path, effect, 'remove it, or upgrade kubelet first')
    early.push({ ...found, from: 33, to: READS_IDS_SINCE - 1 })
  }
  if (gate('UserNamespacesSupport') === false) return early
  const isPower = ALL_IDS % ids === 0
  const problem = `userNamespaces.idsPerPod ${ids} is no power of two: kubelet exits, unless the node has a range of ids for its user kubelet that is a multiple of it`
  const advice = `write a power of two, such as ${2 ** Math.ceil(Math.log2(ids))}`
  return [
    ...early,
    ...checkPodCount(config, ids, { from: READS_IDS_SINCE }),
    ...(isPower ? [] : [{ rule: 'range', path, problem, advice, from: READS_IDS_SINCE, severity: 'warn', atStart: true } as const]),
  ]
}

function checkPodCount({ maxPods }: FieldRuleInput['config'], ids: number, range: Pick<FieldProblem, 'from' | 'to'>): FieldProblem[] {
  const pods = numberOf(maxPods, 0) || 110
  const most = Math.floor(ALL_IDS / ids) - 1
  if (pods <= most) return []
  const path = typeof maxPods === 'number' ? ['maxPods'] : ['userNamespaces', 'idsPerPod']
  const problem = `maxPods ${pods} is too many: user namespaces have ids for ${most} pods, with ${ids} for each, and kubelet exits`
  return [{ rule: 'cross', path, problem, advice: `set maxPods to at most ${most}, or idsPerPod to less`, ...range, atStart: true }]
}

const POLICIES = ['NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify']

function checkImageCredentials({ config, gate }: FieldRuleInput): FieldProblem[] {
  const policy = textOf(config.imagePullCredentialsVerificationPolicy)
  const hasList = asList(config.preloadedImagesVerificationAllowlist).length > 0
  const [policyPath, listPath] = [['imagePullCredentialsVerificationPolicy'], ['preloadedImagesVerificationAllowlist']]
  const complain = (rule: string, path: string[], problem: string): FieldProblem => ({
    rule,
    path,
    problem: `${path} ${problem}`,
    from: 33,
  })
  if (gate('KubeletEnsureSecretPulledImages') === false) {
    const paths = [...(policy === '' ? [] : [policyPath]), ...(hasList ? [listPath] : [])]
    return paths.map((path) => complain('cross', path, 'must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled'))
  }
  const isPolicy = policy === '' || POLICIES.includes(policy)
  const complaints = isPolicy ? [] : [complain('value', policyPath, `must be one of: ${POLICIES.join(', ')}`)]
  if (hasList && policy !== 'NeverVerifyAllowlistedImages')
    return [...complaints, complain('cross', listPath, 'requires imagePullCredentialsVerificationPolicy NeverVerifyAllowlistedImages')]
  return [...complaints, ...checkImagePatterns(textsOf(config.preloadedImagesVerificationAllowlist) ?? [])]
}

/** The default up to 1.36, which later kubelets still take from files that spell it out. */
export const FORMER_FACTOR = 0.9

function checkMemoryQos({ config: { memoryReservationPolicy, memoryThrottlingFactor: factor }, gate }: FieldRuleInput): FieldProblem[] {
  if (gate('MemoryQoS') !== false) return []
  const complaints: FieldProblem[] = []
  if (memoryReservationPolicy === 'TieredReservation') {
    const problem = 'memoryReservationPolicy "TieredReservation" requires feature gate MemoryQoS'
    complaints.push({ rule: 'cross', path: ['memoryReservationPolicy'], problem, from: 36 })
  }
  if (typeof factor === 'number' && factor !== FORMER_FACTOR) {
    const problem = `memoryThrottlingFactor must not be set when feature gate MemoryQoS is off, except to ${FORMER_FACTOR}`
    complaints.push({ rule: 'cross', path: ['memoryThrottlingFactor'], problem, from: 37 })
  }
  return complaints
}

/** A relative path counts from the directory of the config, which makes it absolute and normal. */
function checkLogsDirectory(value: unknown): FieldProblem[] {
  const path = textOf(value)
  const isNormal = !path.startsWith('/') || path === '/' || /^(\/(?!\.{1,2}(\/|$))[^/]+)+$/.test(path)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII includes them
  if (isNormal && /^[\x00-\x7f]*$/.test(path)) return []
  return [{ rule: 'value', path: ['podLogsDir'], problem: 'podLogsDir must be a normalised path of ASCII characters', from: 30 }]
}

/**
 * The images that need no credentials, in `preloadedImagesVerificationAllowlist`: names without tag
 * and digest, or everything below a prefix. Sources, 1.33 to 1.37: `getAllowlistImagePattern`,
 * pkg/kubelet/images/pullmanager; the grammar and `splitDockerDomain` of
 * github.com/distribution/reference.
 */
const HOST_PART = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const REGISTRY = `(?:${HOST_PART}(?:\\.${HOST_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
const PATH_PART = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const IMAGE_NAME = new RegExp(`^(?:${REGISTRY}/)?(?<path>${PATH_PART}(?:/${PATH_PART})*)$`)
const LONGEST_PATH = 255

/** The last minor that wants the name of the registry, too. */
const WITH_REGISTRY_UNTIL = 35

function checkImagePatterns(patterns: readonly string[]): FieldProblem[] {
  return patterns.flatMap((pattern, index): FieldProblem[] => {
    const path = ['preloadedImagesVerificationAllowlist', index]
    const complain = (problem: string, range: Pick<FieldProblem, 'from' | 'to'>): FieldProblem[] => [
      { rule: 'value', path, problem: `${quoteText(pattern)} ${problem}`, ...range },
    ]
    if (!isPrefix(pattern) && !isName(pattern))
      return complain('is neither the name of an image without tag and digest nor a pattern that ends in /*', { from: 33 })
    if (isPrefix(pattern) || namesRegistry(pattern)) return []
    return complain('must begin with the name of a registry, as in docker.io/library/busybox', { from: 33, to: WITH_REGISTRY_UNTIL })
  })
}

function isPrefix(pattern: string): boolean {
  const prefix = pattern.slice(0, -1)
  return pattern.endsWith('/*') && prefix !== '/' && !prefix.includes('*') && pattern === pattern.trim()
}

function isName(pattern: string): boolean {
  const path = IMAGE_NAME.exec(pattern)?.groups?.path
  return path !== undefined && path.length <= LONGEST_PATH
}

/** Whether Docker's way to read a name would leave it as it is. */
function namesRegistry(name: string): boolean {
  const [registry = '', ...path] = name.split('/')
  if (path.length === 0 || registry === 'index.docker.io') return false
  if (registry === 'docker.io') return path.length > 1
  return registry === 'localhost' || /[.:A-Z]/.test(registry)
}
