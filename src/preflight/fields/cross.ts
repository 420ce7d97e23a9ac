// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about fields that depend on other fields or on feature gates. Pure. Source:
 * `ValidateKubeletConfiguration`, pkg/kubelet/apis/config/validation/validation.go; messages in the
 * style of 1.20.
 */

import { valueAt } from '../../kubelet/field-path.ts'
import { shorten } from '../../values/cut.ts'
import { isObject } from '../../values/is-object.ts'
import { parseCpuList } from '../cpu-set.ts'
import {
  asList,
  durationOf,
  type FieldProblem,
  type FieldRuleInput,
  firstPlaces,
  isOn,
  numberOf,
  quoteText,
  SECOND_NS,
  textOf,
  textsOf,
} from './complaint.ts'
import { TLS_VERSIONS } from './single-fields.ts'

const ALGORITHMS = ['ECDSA-P256', 'ECDSA-P384', 'RSA-2048', 'RSA-3072', 'RSA-4096', 'ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87']

export function checkCross(subject: FieldRuleInput): FieldProblem[] {
  return CHECKS.flatMap((check) => check(subject))
}

/** As far as possible in kubelet's own order. */
const CHECKS = [
  ...[checkImageCollection, checkServerCertificate, checkKeyAlgorithms, checkTopology, checkShutdown, checkSwap, checkEnforcement],
  ...[checkReservedCpus, checkImagePulls, checkLogQuery, checkRunOnce, checkHiddenMetrics, checkSeccomp],
  ...[checkPacketMarks, checkManifests],
]

function checkImageCollection({ config, gate }: FieldRuleInput): FieldProblem[] {
  const high = numberOf(config.imageGCHighThresholdPercent, 85)
  const low = numberOf(config.imageGCLowThresholdPercent, 80)
  const complaints: FieldProblem[] = []
  if (low >= high) {
    const field = config.imageGCLowThresholdPercent === undefined ? 'imageGCHighThresholdPercent' : 'imageGCLowThresholdPercent'
    const problem = `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`
    complaints.push({ rule: 'cross', path: [field], problem })
  }
  const greatest = durationOf(config.imageMaximumGCAge, 0n)
  const complain = (problem: string) => complaints.push({ rule: 'cross', path: ['imageMaximumGCAge'], problem, from: 29 })
  if (greatest !== 0n && gate('ImageMaximumGCAge') === false) complain('ImageMaximumGCAge feature gate is required for imageMaximumGCAge')
  // 0 means the default in both.
  const least = durationOf(config.imageMinimumGCAge, 0n) || 120n * SECOND_NS
  if (greatest > 0n && greatest <= least) complain('imageMaximumGCAge must be greater than imageMinimumGCAge (default: 2m)')
  return complaints
}

function checkServerCertificate({ config, gate }: FieldRuleInput): FieldProblem[] {
  if (config.serverTLSBootstrap !== true || gate('RotateKubeletServerCertificate') !== false) return []
  const problem = 'serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate'
  return [{ rule: 'cross', path: ['serverTLSBootstrap'], problem }]
}

/** An empty name is none of them: it does not mean the default. */
function checkKeyAlgorithms({ config }: FieldRuleInput): FieldProblem[] {
  const complaints = ['clientCertificateKeyAlgorithm', 'serverCertificateKeyAlgorithm'].flatMap((field): FieldProblem[] => {
    const name = config[field]
    if (typeof name !== 'string' || ALGORITHMS.includes(name)) return []
    const problem = `${field} ${quoteText(name)} is not a supported algorithm`
    return [{ rule: 'value', path: [field], problem, mistyped: { name, known: ALGORITHMS }, from: 38 }]
  })
  const server = textOf(config.serverCertificateKeyAlgorithm)
  const least = textOf(config.tlsMinVersion)
  if (!server.startsWith('ML-DSA-') || !ALGORITHMS.includes(server) || !['', ...TLS_VERSIONS.slice(0, -1)].includes(least))
    return complaints
  const problem = `tlsMinVersion ${quoteText(least)} is incompatible with serverCertificateKeyAlgorithm ${quoteText(server)}, ML-DSA requires VersionTLS13`
  const advice = 'set tlsMinVersion to VersionTLS13'
  return [...complaints, { rule: 'cross', path: ['serverCertificateKeyAlgorithm'], problem, advice, from: 38 }]
}

function checkTopology({ config, gate }: FieldRuleInput): FieldProblem[] {
  if (gate('TopologyManager') !== false) return []
  const initial = { topologyManagerPolicy: 'none', topologyManagerScope: 'container' }
  return Object.entries(initial).flatMap(([field, word]): FieldProblem[] => {
    const given = textOf(config[field])
    if (given === '' || given === word) return []
    return [{ rule: 'cross', path: [field], problem: `${field} ${JSON.stringify(given)} requires feature gate TopologyManager`, to: 26 }]
  })
}

function checkShutdown({ config, gate }: FieldRuleInput): FieldProblem[] {
  const [whole, critical] = ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'] as const
  const periods = [whole, critical].map((field) => ({ field, lengthNs: durationOf(config[field], 0n) }))
  const [wholeNs, criticalNs] = [durationOf(config[whole], 0n), durationOf(config[critical], 0n)]
  const isOnHere = gate('GracefulNodeShutdown')
  const unsure = isOnHere === undefined
  const complaints: FieldProblem[] = []
  if (isOnHere === false) {
    const set = periods.find(({ lengthNs }) => lengthNs > 0n)
    const problem = `specifying ${whole} or ${critical} requires feature gate GracefulNodeShutdown`
    if (set !== undefined) complaints.push({ rule: 'cross', path: [set.field], problem })
  } else {
    if (criticalNs > wholeNs) {
      const path = [config[critical] === undefined ? whole : critical]
      complaints.push({ rule: 'cross', path, problem: `${critical} must be <= ${whole}`, unsure: unsure && criticalNs <= 0n })
    }
    for (const { field, lengthNs } of periods) {
      if (lengthNs === 0n || lengthNs >= SECOND_NS) continue
      const problem = `${field} must be either zero or otherwise >= 1 sec`
      complaints.push({ rule: 'range', path: [field], problem, unsure: unsure && lengthNs < 0n })
    }
  }
  return [...complaints, ...checkPriorities(config.shutdownGracePeriodByPodPriority, wholeNs > 0n || criticalNs > 0n, gate)]
}

function checkPriorities(value: unknown, isShutdownSet: boolean, gate: FieldRuleInput['gate']): FieldProblem[] {
  if (asList(value).length === 0) return []
  const field = 'shutdownGracePeriodByPodPriority'
  const needed = 'GracefulNodeShutdownBasedOnPodPriority'
  const complain = (problem: string): FieldProblem[] => [{ rule: 'cross', path: [field], problem, from: 23 }]
  if (gate(needed) === false) return complain(`specifying ${field} requires feature gate ${needed}`)
  return isShutdownSet ? complain(`cannot specify both ${field} and shutdownGracePeriod at the same time`) : []
}

function checkSwap({ config, gate }: FieldRuleInput): FieldProblem[] {
  const path = ['memorySwap', 'swapBehavior']
  const behavior = textOf(valueAt(config, path))
  if (behavior === '') return []
  const isOnHere = gate('NodeSwap')
  const off = 'memorySwap.swapBehavior cannot be set when NodeSwap feature flag is disabled'
  if (isOnHere === false) return [{ rule: 'cross', path, problem: off, from: 22, to: 37 }]
  const complain = (words: readonly string[], from: number, to?: number): FieldProblem[] => {
    const problem = `memorySwap.swapBehavior ${quoteText(behavior)} must be one of: "", ${words.join(', ')}`
    return words.includes(behavior) ? [] : [{ rule: 'value', path, problem, unsure: isOnHere === undefined, from, to }]
  }
  return [...complain(['LimitedSwap', 'UnlimitedSwap'], 22, 29), ...complain(['NoSwap', 'LimitedSwap'], 30)]
}

const FIELD = 'enforceNodeAllocatable (--enforce-node-allocatable)'
/** Without a map kubelet has no limits to set: `enforceExistingCgroup`, pkg/kubelet/cm. */
const ENFORCED = {
  'system-reserved': { cgroup: 'systemReservedCgroup', map: 'systemReserved' },
  'kube-reserved': { cgroup: 'kubeReservedCgroup', map: 'kubeReserved' },
} as const

function checkEnforcement({ config }: FieldRuleInput): FieldProblem[] {
  const enforced = textsOf(config.enforceNodeAllocatable) ?? ['pods']
  const complaints: FieldProblem[] = []
  const complain = (problem: string, more: Partial<FieldProblem> = {}) =>
    complaints.push({ rule: 'cross', path: ['enforceNodeAllocatable'], problem, ...more })
  if (textOf(config.systemCgroups) !== '' && textOf(config.cgroupRoot) === '') {
    complain('systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified', { path: ['systemCgroups'] })
  } else if (config.systemCgroups === '/') {
    // `setupNode`, pkg/kubelet/cm/container_manager_linux.go.
    const more = { path: ['systemCgroups'], advice: 'name another cgroup, such as /system, or remove it', atStart: true }
    complain('systemCgroups (--system-cgroups) must not be the root cgroup: kubelet exits', more)
  }
  if (!isOn(config.cgroupsPerQOS, true) && enforced.length > 0) {
    const onlyNone = enforced.every((option) => option === 'none')
    complain(`${FIELD} is not supported unless cgroupsPerQOS (--cgroups-per-qos) is set to true`, {
      path: ['cgroupsPerQOS'],
      advice: 'set enforceNodeAllocatable to [none], or before kubelet 1.31 to []',
      ...(onlyNone ? { to: 30 } : {}),
    })
  }
  if (enforced.includes('none') && enforced.length > 1)
    complain(`${FIELD} may not contain additional enforcements when "none" is specified`)
  const firsts = firstPlaces(enforced)
  const isReserved = { systemReserved: hasKeys(config.systemReserved), kubeReserved: hasKeys(config.kubeReserved) }
  for (const [index, option] of enforced.entries()) {
    const path = config.enforceNodeAllocatable === undefined ? ['enforceNodeAllocatable'] : ['enforceNodeAllocatable', index]
    if (firsts.get(option) !== index) complain(`${FIELD} contains ${quoteText(option)} twice`, { path, from: 31 })
    const plain = option.replace(/-compressible$/, '')
    const { cgroup, map } = plain === 'system-reserved' || plain === 'kube-reserved' ? ENFORCED[plain] : NOT_ENFORCED
    if (cgroup === undefined && !['pods', 'none'].includes(option))
      complain(`option ${quoteText(option)} specified for ${FIELD} is not valid`, { path, rule: 'value' })
    if (cgroup !== undefined && plain !== option) {
      complain(`option ${JSON.stringify(option)} specified for ${FIELD} is not valid before 1.32`, { path, rule: 'value', to: 31 })
      if (firsts.has(plain)) complain(`${FIELD} may not contain both ${plain} and ${option}`, { path, from: 32 })
    }
    if (cgroup !== undefined && textOf(config[cgroup]) === '')
      complain(`${cgroup} must be specified when ${JSON.stringify(option)} is in ${FIELD}`, {
        path,
        advice: `set ${cgroup}, or remove ${option}`,
      })
    else if (map !== undefined && !isReserved[map]) {
      const more = {
        path,
        advice: `set ${map}, or remove ${option}`,
        supplied: true,
        atStart: true,
        ...(plain !== option && { from: 32 }),
      }
      complain(`${JSON.stringify(option)} in ${FIELD} needs ${map}, which is empty: kubelet exits`, more)
    }
  }
  return complaints
}

const NOT_ENFORCED = { cgroup: undefined, map: undefined }

function hasKeys(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0
}

function checkReservedCpus({ config }: FieldRuleInput): FieldProblem[] {
  const text = textOf(config.reservedSystemCPUs)
  if (text === '') return []
  const path = ['reservedSystemCPUs']
  const complaints: FieldProblem[] = []
  if (textOf(config.systemReservedCgroup) !== '' || textOf(config.kubeReservedCgroup) !== '') {
    const problem = "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup or kubeReservedCgroup"
    complaints.push({ rule: 'cross', path, problem })
  }
  const cpus = parseCpuList(text)
  if (cpus.ok) return complaints
  const problem = `unable to parse reservedSystemCPUs (--reserved-cpus): ${cpus.detail}`
  if (!cpus.tolerated) return [...complaints, { rule: 'value', path, problem }]
  return [...complaints, { rule: 'value', path, problem, to: 21, severity: 'warn' }, { rule: 'value', path, problem, from: 22 }]
}

function checkImagePulls({ config }: FieldRuleInput): FieldProblem[] {
  if (numberOf(config.maxParallelImagePulls, 1) <= 1 || config.serializeImagePulls !== true) return []
  const problem = 'maxParallelImagePulls cannot be larger than 1 unless serializeImagePulls (--serialize-image-pulls) is set to false'
  return [{ rule: 'cross', path: ['maxParallelImagePulls'], problem, from: 27 }]
}

function checkLogQuery({ config, gate }: FieldRuleInput): FieldProblem[] {
  if (config.enableSystemLogQuery !== true) return []
  const problems = [
    ...(gate('NodeLogQuery') === false ? ['NodeLogQuery feature gate is required for enableSystemLogQuery'] : []),
    ...(isOn(config.enableSystemLogHandler, true) ? [] : ['enableSystemLogHandler is required for enableSystemLogQuery']),
  ]
  return problems.map((problem) => ({ rule: 'cross', path: ['enableSystemLogQuery'], problem, from: 27 }))
}

function checkRunOnce({ config }: FieldRuleInput): FieldProblem[] {
  const problem = 'runOnce is no longer supported by kubelet 1.32'
  return config.runOnce === true ? [{ rule: 'gone', path: ['runOnce'], problem, from: 32 }] : []
}

function checkHiddenMetrics({ config, version }: FieldRuleInput): FieldProblem[] {
  const wanted = textOf(config.showHiddenMetricsForVersion)
  if (wanted === '') return []
  const previous = version === undefined ? undefined : `${version.major}.${version.minor - 1}`
  if (wanted === previous || (previous === undefined && /^\d+\.\d+$/.test(wanted))) return []
  const problem = `showHiddenMetricsForVersion must be omitted or have the value '${previous ?? 'MAJOR.MINOR'}': only the previous minor version is allowed`
  return [{ rule: 'value', path: ['showHiddenMetricsForVersion'], problem }]
}

/** `RunKubelet`, cmd/kubelet/app/server.go, up to 1.26. */
function checkSeccomp({ config, gate }: FieldRuleInput): FieldProblem[] {
  const isOnHere = gate('SeccompDefault')
  if (config.seccompDefault !== true || isOnHere === true) return []
  const problem = 'seccompDefault requires feature gate SeccompDefault: kubelet exits'
  const advice = 'remove it, or enable the feature gate'
  return [{ rule: 'cross', path: ['seccompDefault'], problem, advice, from: 22, to: 26, unsure: isOnHere === undefined, atStart: true }]
}

/** `NewMainKubelet`, pkg/kubelet/kubelet.go, up to 1.27. Later kubelets use neither. */
function checkPacketMarks({ config }: FieldRuleInput): FieldProblem[] {
  const [drop, masquerade] = [numberOf(config.iptablesDropBit, 15), numberOf(config.iptablesMasqueradeBit, 14)]
  if (drop !== masquerade || !isOn(config.makeIPTablesUtilChains, true)) return []
  const field = config.iptablesMasqueradeBit === undefined ? 'iptablesDropBit' : 'iptablesMasqueradeBit'
  const problem = `iptablesMasqueradeBit (--iptables-masquerade-bit) and iptablesDropBit (--iptables-drop-bit) must be different, and both are ${drop}: kubelet exits`
  return [{ rule: 'cross', path: [field], problem, to: 27, atStart: true }]
}

/** `newSourceFile`, pkg/kubelet/config/file.go: Go panics over a ticker without a period. */
function checkManifests({ config }: FieldRuleInput): FieldProblem[] {
  if (textOf(config.staticPodPath) === '' || durationOf(config.fileCheckFrequency, 0n) >= 0n) return []
  const problem = `fileCheckFrequency ${shorten(textOf(config.fileCheckFrequency))} must not be negative where there is a staticPodPath: kubelet exits`
  return [{ rule: 'range', path: ['fileCheckFrequency'], problem, advice: 'remove it: the default is 20s', atStart: true }]
}
