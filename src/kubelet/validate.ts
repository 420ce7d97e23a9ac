/**
 * The rules of kubelet's own validation that hold in every version from 1.20 to 1.36, whatever its feature gates, so that nothing is refused here that a
 * kubelet would take. Pure. Source: pkg/kubelet/apis/config/validation/validation.go; messages in the manner of 1.20. Fields that are not set get their
 * default first, and so does 0 where kubelet takes it for "not set" (`SetDefaults_KubeletConfiguration`).
 */
import type { KubeletConfig } from './decode.ts'
import type { FieldName } from './fields.ts'

/** What kubelet would not start with, in its own order of fields as far as possible. */
export function validateConfig(config: KubeletConfig): string[] {
  return [
    ...checkRanges(config),
    ...checkChoices(config),
    ...checkImageCollection(config),
    ...checkCgroups(config),
    ...checkShutdown(config),
  ]
}

const MAX = Number.MAX_SAFE_INTEGER
const RANGES: readonly (readonly [field: FieldName, flag: string, min: number, max: number])[] = [
  ['nodeLeaseDurationSeconds', '', 0, MAX],
  ['eventBurst', '--event-burst', 0, MAX],
  ['eventRecordQPS', '--event-qps', 0, MAX],
  ['healthzPort', '--healthz-port', 0, 65535],
  ['iptablesDropBit', '--iptables-drop-bit', 0, 31],
  ['iptablesMasqueradeBit', '--iptables-masquerade-bit', 0, 31],
  ['kubeAPIBurst', '--kube-api-burst', 0, MAX],
  ['kubeAPIQPS', '--kube-api-qps', 0, MAX],
  ['maxOpenFiles', '--max-open-files', 0, MAX],
  ['maxPods', '--max-pods', 0, MAX],
  ['oomScoreAdj', '--oom-score-adj', -1000, 1000],
  ['podsPerCore', '--pods-per-core', 0, MAX],
  ['port', '--port', 0, 65535],
  ['readOnlyPort', '--read-only-port', 0, 65535],
  ['registryBurst', '--registry-burst', 0, MAX],
  ['registryPullQPS', '--registry-qps', 0, MAX],
  ['nodeStatusMaxImages', '--node-status-max-images', -1, MAX],
]

function checkRanges(config: KubeletConfig): string[] {
  return RANGES.flatMap(([field, flag, min, max]) => {
    const value = config[field]
    if (typeof value !== 'number' || (min <= value && value <= max)) return []
    const range =
      max !== MAX
        ? `must be between ${min} and ${max}, inclusive`
        : min === 0
          ? 'must not be a negative number'
          : `must be ${min} or greater`
    return [`${name(field, flag)} ${value} ${range}`]
  })
}

const CHOICES: readonly (readonly [field: FieldName, flag: string, values: readonly string[]])[] = [
  ['hairpinMode', '--hairpin-mode', ['promiscuous-bridge', 'hairpin-veth', 'none']],
  ['topologyManagerPolicy', '--topology-manager-policy', ['none', 'best-effort', 'restricted', 'single-numa-node']],
  ['topologyManagerScope', '--topology-manager-scope', ['container', 'pod']],
]

function checkChoices(config: KubeletConfig): string[] {
  return CHOICES.flatMap(([field, flag, values]) => {
    const value = config[field]
    if (typeof value !== 'string' || value === '' || values.includes(value)) return []
    return [`${name(field, flag)} ${JSON.stringify(value)} must be one of ${values.join(', ')}`]
  })
}

function checkImageCollection(config: KubeletConfig): string[] {
  const high = numberOr(config.imageGCHighThresholdPercent, 85)
  const low = numberOr(config.imageGCLowThresholdPercent, 80)
  const highName = name('imageGCHighThresholdPercent', '--image-gc-high-threshold')
  const lowName = name('imageGCLowThresholdPercent', '--image-gc-low-threshold')
  const problems: string[] = []
  if (high < 0 || high > 100) problems.push(`${highName} ${high} must be between 0 and 100, inclusive`)
  if (low < 0 || low > 100) problems.push(`${lowName} ${low} must be between 0 and 100, inclusive`)
  if (low >= high) problems.push(`${lowName} ${low} must be less than ${highName} ${high}`)
  return problems
}

const ENFORCED_FOR = { 'system-reserved': 'systemReservedCgroup', 'kube-reserved': 'kubeReservedCgroup' } as const
/** With those that 1.32 added. */
const ENFORCEABLE = ['pods', 'none', ...Object.keys(ENFORCED_FOR).flatMap((one) => [one, `${one}-compressible`])]

function checkCgroups(config: KubeletConfig): string[] {
  const enforced = stringsOr(config.enforceNodeAllocatable, ['pods'])
  const label = name('enforceNodeAllocatable', '--enforce-node-allocatable')
  const problems: string[] = []
  if (isSet(config.systemCgroups) && !isSet(config.cgroupRoot)) {
    problems.push(`${name('systemCgroups', '--system-cgroups')} was specified and ${name('cgroupRoot', '--cgroup-root')} was not specified`)
  }
  // Up to 1.30 `none` needs cgroupsPerQOS, too.
  if (config.cgroupsPerQOS === false && enforced.some((one) => one !== 'none')) {
    problems.push(`${label} is not supported unless ${name('cgroupsPerQOS', '--cgroups-per-qos')} feature is turned on`)
  }
  if (enforced.includes('none') && enforced.length > 1)
    problems.push(`${label} may not contain additional enforcements when "none" is specified`)
  for (const one of enforced) {
    const field = Object.entries(ENFORCED_FOR).find(([kind]) => one === kind || one === `${kind}-compressible`)?.[1]
    if (!ENFORCEABLE.includes(one)) problems.push(`option ${JSON.stringify(one)} specified for ${label} is not supported`)
    else if (field !== undefined && !isSet(config[field]))
      problems.push(`${field} must be specified when ${JSON.stringify(one)} is in ${label}`)
  }
  if (isSet(config.reservedSystemCPUs) && (isSet(config.systemReservedCgroup) || isSet(config.kubeReservedCgroup))) {
    problems.push('reservedSystemCPUs (--reserved-cpus) cannot be used together with systemReservedCgroup or kubeReservedCgroup')
  }
  return problems
}

/** In 1.20 any period needs a feature gate as well; without it the ones below fail all the same. */
function checkShutdown(config: KubeletConfig): string[] {
  const whole = seconds(config.shutdownGracePeriod)
  const critical = seconds(config.shutdownGracePeriodCriticalPods)
  const tooShort = (period: number) => period < 0 || (period > 0 && period < 1)
  const problems: string[] = []
  if (critical > whole)
    problems.push(`shutdownGracePeriodCriticalPods ${critical}s must be less than or equal to shutdownGracePeriod ${whole}s`)
  if (tooShort(whole)) problems.push(`shutdownGracePeriod ${whole}s must be either zero or otherwise >= 1s`)
  if (tooShort(critical)) problems.push(`shutdownGracePeriodCriticalPods ${critical}s must be either zero or otherwise >= 1s`)
  return problems
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, µs: 1e-6, μs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 }

/** Of a duration that `misfit` has let pass. */
function seconds(value: unknown): number {
  if (typeof value !== 'string') return 0
  const parts = [...value.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g)]
  const sum = parts.reduce((total, [, amount, unit = '']) => total + Number(amount) * (UNIT_SECONDS[unit] ?? 0), 0)
  return value.startsWith('-') ? -sum : sum
}

function name(field: FieldName, flag: string): string {
  return flag === '' ? field : `${field} (${flag})`
}

function isSet(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function numberOr(value: unknown, initial: number): number {
  return typeof value === 'number' ? value : initial
}

function stringsOr(value: unknown, initial: readonly string[]): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : initial
}
