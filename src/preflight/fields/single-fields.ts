// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about one field at a time: limits of numbers and durations, and words. Pure. Source:
 * `ValidateKubeletConfiguration`, pkg/kubelet/apis/config/validation/validation.go; messages in the
 * style of 1.20. 0 is within the limits wherever kubelet reads it as "not set"
 * (`SetDefaults_KubeletConfiguration`).
 */

import { valueAt } from '../../kubelet/field-path.ts'
import type { FieldName } from '../../kubelet/fields.ts'
import { parseGoDuration } from '../../values/go-syntax.ts'
import {
  asList,
  type FieldProblem,
  type FieldRuleInput,
  firstPlaces,
  MILLISECOND_NS,
  otherwise,
  quoteText,
  SECOND_NS,
  textOf,
  textsOf,
} from './complaint.ts'

interface Range {
  readonly flag?: string
  readonly min: number
  readonly max?: number
  readonly from?: number
}

const PORT = { min: 0, max: 65535 }
const COUNT = { min: 0 }
const BIT = { min: 0, max: 31 }
const PERCENT = { min: 0, max: 100 }

const RANGES: Partial<Readonly<Record<FieldName, Range>>> = {
  nodeLeaseDurationSeconds: COUNT,
  eventBurst: { flag: '--event-burst', ...COUNT },
  eventRecordQPS: { flag: '--event-qps', ...COUNT },
  healthzPort: { flag: '--healthz-port', ...PORT },
  imageGCHighThresholdPercent: { flag: '--image-gc-high-threshold', ...PERCENT },
  imageGCLowThresholdPercent: { flag: '--image-gc-low-threshold', ...PERCENT },
  iptablesDropBit: { flag: '--iptables-drop-bit', ...BIT },
  iptablesMasqueradeBit: { flag: '--iptables-masquerade-bit', ...BIT },
  kubeAPIBurst: { flag: '--kube-api-burst', ...COUNT },
  kubeAPIQPS: { flag: '--kube-api-qps', ...COUNT },
  nodeStatusMaxImages: { flag: '--node-status-max-images', min: -1 },
  maxOpenFiles: { flag: '--max-open-files', ...COUNT },
  maxPods: { flag: '--max-pods', ...COUNT },
  oomScoreAdj: { flag: '--oom-score-adj', min: -1000, max: 1000 },
  podsPerCore: { flag: '--pods-per-core', ...COUNT },
  port: { flag: '--port', ...PORT },
  readOnlyPort: { flag: '--read-only-port', ...PORT },
  registryBurst: { flag: '--registry-burst', ...COUNT },
  registryPullQPS: { flag: '--registry-qps', ...COUNT },
  maxParallelImagePulls: { min: 1, from: 27 },
  containerLogMaxWorkers: { min: 1, from: 30 },
}

interface Period {
  readonly minNs: bigint
  readonly called: string
  readonly from?: number
  readonly atStart?: true
}

const PERIODS: Partial<Readonly<Record<FieldName, Period>>> = {
  // `NewMainKubelet`, pkg/kubelet/kubelet.go.
  syncFrequency: { minNs: 0n, called: 'must not be negative', atStart: true },
  // `PreInitRuntimeService`: each call to the container runtime is past its deadline at once.
  runtimeRequestTimeout: {
    minNs: 0n,
    called: 'must not be negative: kubelet exits, as its container runtime never answers in time',
    atStart: true,
  },
  imageMinimumGCAge: { minNs: 0n, called: 'must not be negative', from: 36 },
  imageMaximumGCAge: { minNs: 0n, called: 'must not be negative', from: 29 },
  containerLogMonitorInterval: { minNs: 3n * SECOND_NS, called: 'must be 3s or longer', from: 30 },
}

export function checkRanges({ config }: FieldRuleInput): FieldProblem[] {
  return [
    ...Object.entries(RANGES).flatMap(([field, range]) => checkNumber(field, config[field], range)),
    ...Object.entries(PERIODS).flatMap(([field, period]) => checkPeriod(field, config[field], period)),
    ...checkFactor(config.memoryThrottlingFactor),
  ]
}

function checkNumber(field: string, value: unknown, { flag, min, max, from }: Range): FieldProblem[] {
  if (typeof value !== 'number' || (min <= value && value <= (max ?? value))) return []
  const label = flag === undefined ? field : `${field} (${flag})`
  const limits =
    max !== undefined
      ? `must be between ${min} and ${max}, inclusive`
      : min === 0
        ? 'must not be a negative number'
        : `must be ${min} or greater`
  return [{ rule: 'range', path: [field], problem: `${label} ${value} ${limits}`, from }]
}

function checkPeriod(field: string, value: unknown, { minNs, called, from, atStart }: Period): FieldProblem[] {
  if (typeof value !== 'string' || (parseGoDuration(value) ?? minNs) >= minNs) return []
  return [{ rule: 'range', path: [field], problem: `${field} ${value} ${called}`, from, atStart }]
}

function checkFactor(factor: unknown): FieldProblem[] {
  if (typeof factor !== 'number' || (0 < factor && factor <= 1)) return []
  const problem = `memoryThrottlingFactor ${factor} must be greater than 0 and less than or equal to 1.0`
  return [{ rule: 'range', path: ['memoryThrottlingFactor'], problem, from: 22 }]
}

/** A period other than 100 ms needs a feature gate. Outside these limits no kubelet accepts it. */
export function checkQuotaPeriod({ config, version, gate }: FieldRuleInput): FieldProblem[] {
  const value = config.cpuCFSQuotaPeriod
  const periodNs = typeof value === 'string' ? parseGoDuration(value) : undefined
  if (periodNs === undefined || periodNs === 100n * MILLISECOND_NS) return []
  const path = ['cpuCFSQuotaPeriod']
  const label = `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) ${value}`
  const isOn = gate('CustomCPUCFSQuotaPeriod')
  if (isOn === false) {
    const advice = 'remove it, or enable the feature gate CustomCPUCFSQuotaPeriod'
    return [{ rule: 'cross', path, problem: `${label} requires feature gate CustomCPUCFSQuotaPeriod`, advice }]
  }
  const complain = (least: string, range: Pick<FieldProblem, 'from' | 'to'>): FieldProblem[] => [
    { rule: 'range', path, problem: `${label} must be between ${least} and 1sec, inclusive`, ...range },
  ]
  if (periodNs < 1000n || periodNs > SECOND_NS) return complain(version === undefined || version.minor < 26 ? '1usec' : '1ms', {})
  if (periodNs < MILLISECOND_NS) return complain('1ms', { from: 26 })
  return []
}

/**
 * Names of TLS versions and cipher suites that kubelet accepts. Source:
 * k8s.io/component-base/cli/flag/ciphersuites_flag.go, crypto/tls of Go.
 */
export const TLS_VERSIONS = ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13']

export const SUITES: readonly string[] = `
    AES_128_GCM_SHA256 AES_256_GCM_SHA384 CHACHA20_POLY1305_SHA256 ECDHE_ECDSA_WITH_AES_128_CBC_SHA ECDHE_ECDSA_WITH_AES_128_CBC_SHA256
    ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 ECDHE_ECDSA_WITH_AES_256_CBC_SHA ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
    ECDHE_ECDSA_WITH_CHACHA20_POLY1305 ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 ECDHE_ECDSA_WITH_RC4_128_SHA
    ECDHE_RSA_WITH_3DES_EDE_CBC_SHA ECDHE_RSA_WITH_AES_128_CBC_SHA ECDHE_RSA_WITH_AES_128_CBC_SHA256 ECDHE_RSA_WITH_AES_128_GCM_SHA256
    ECDHE_RSA_WITH_AES_256_CBC_SHA ECDHE_RSA_WITH_AES_256_GCM_SHA384 ECDHE_RSA_WITH_CHACHA20_POLY1305
    ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 ECDHE_RSA_WITH_RC4_128_SHA RSA_WITH_3DES_EDE_CBC_SHA RSA_WITH_AES_128_CBC_SHA
    RSA_WITH_AES_128_CBC_SHA256 RSA_WITH_AES_128_GCM_SHA256 RSA_WITH_AES_256_CBC_SHA RSA_WITH_AES_256_GCM_SHA384 RSA_WITH_RC4_128_SHA`
  .trim()
  .split(/\s+/)
  .map((name) => `TLS_${name}`)

/**
 * Fields that accept only certain words. Kubelet checks some of them in its validation, others when
 * it starts the component they configure. Sources: `ValidateKubeletConfiguration`,
 * pkg/kubelet/apis/config/validation/validation.go; at start, `NewMainKubelet`
 * (pkg/kubelet/kubelet.go), `BuildAuthz` (cmd/kubelet/app), the managers' `NewManager`
 * (pkg/kubelet/cm), `TLSVersion` and `TLSCipherSuites` (k8s.io/component-base/cli/flag).
 */
interface Choice {
  readonly path: readonly string[]
  readonly flag?: string
  readonly words: readonly string[]
  readonly from?: number
  /** Kubelet's validation takes any word. */
  readonly atStart?: true
  /** A gate that enables the field; if it is off, kubelet ignores the field. */
  readonly gate?: string
  /** The word that kubelet takes instead of any other, without a complaint. */
  readonly instead?: string
}

/** An empty word always means the default. */
const CHOICES: readonly Choice[] = [
  { path: ['hairpinMode'], flag: '--hairpin-mode', words: ['promiscuous-bridge', 'hairpin-veth', 'none'] },
  { path: ['topologyManagerPolicy'], flag: '--topology-manager-policy', words: ['none', 'best-effort', 'restricted', 'single-numa-node'] },
  { path: ['topologyManagerScope'], flag: '--topology-manager-scope', words: ['container', 'pod'] },
  { path: ['tlsMinVersion'], flag: '--tls-min-version', words: TLS_VERSIONS },
  { path: ['authorization', 'mode'], flag: '--authorization-mode', words: ['AlwaysAllow', 'Webhook'], atStart: true },
  { path: ['configMapAndSecretChangeDetectionStrategy'], words: ['Watch', 'Cache', 'Get'], atStart: true },
  { path: ['cpuManagerPolicy'], flag: '--cpu-manager-policy', words: ['none', 'static'], gate: 'CPUManager', atStart: true },
  {
    path: ['memoryManagerPolicy'],
    flag: '--memory-manager-policy',
    words: ['None', 'Static'],
    gate: 'MemoryManager',
    from: 21,
    atStart: true,
  },
  { path: ['cgroupDriver'], flag: '--cgroup-driver', words: ['cgroupfs', 'systemd'], instead: 'cgroupfs' },
  { path: ['logging', 'format'], flag: '--logging-format', words: ['text', 'json'] },
  { path: ['memoryReservationPolicy'], words: ['None', 'TieredReservation'], from: 36 },
]

export function checkChoices({ config, gate, version }: FieldRuleInput): FieldProblem[] {
  const complaints = CHOICES.flatMap(({ path, flag, words, from, atStart, gate: needed, instead }): FieldProblem[] => {
    const name = textOf(valueAt(config, path))
    const isOn = needed === undefined ? true : gate(needed)
    if (name === '' || words.includes(name) || isOn === false) return []
    const label = flag === undefined ? path.join('.') : `${path.join('.')} (${flag})`
    const wrong = `${label} ${quoteText(name)} must be one of: ${words.map(quoteText).join(', ')}`
    const mistyped = { name, known: words }
    if (instead !== undefined)
      return [{ ...otherwise('otherwise/value', path, `takes ${instead}: ${wrong}`, `write one of ${words.join(', ')}`), mistyped }]
    return [{ rule: 'value', path, problem: wrong, mistyped, unsure: isOn === undefined, from, atStart }]
  })
  return [...complaints, ...checkCipherSuites(textsOf(config.tlsCipherSuites) ?? [], version)]
}

function checkCipherSuites(suites: readonly string[], version: FieldRuleInput['version']): FieldProblem[] {
  return suites.flatMap((name, index): FieldProblem[] => {
    if (SUITES.includes(name)) return []
    // A newer Go may support more suites.
    const byList = /^TLS_[A-Z0-9_]{3,80}$/.test(name)
    const problem = `Cipher suite ${quoteText(name)} not supported or doesn't exist`
    const unsure = byList && version === undefined
    return [{ rule: 'value', path: ['tlsCipherSuites', index], problem, mistyped: { name, known: SUITES }, unsure, byList }]
  })
}

/**
 * P-256, P-384, P-521, X25519, and three with ML-KEM: those of Go 1.26. Kubelet takes what
 * crypto/tls of Go has a name for (`TLSCurvePreferences`,
 * k8s.io/component-base/cli/flag/curves_flag.go, from 1.36 on).
 */
const CURVES = [23, 24, 25, 29, 4587, 4588, 4589]
const GREATEST = 65535

export function checkCurves({ config }: FieldRuleInput): FieldProblem[] {
  const ids = asList(config.tlsCurvePreferences)
  const firsts = firstPlaces(ids)
  return ids.flatMap((id, index): FieldProblem[] => {
    if (typeof id !== 'number') return []
    const path = ['tlsCurvePreferences', index]
    const complain = (problem: string, byList = false): FieldProblem[] => [{ rule: 'value', path, problem, from: 36, byList }]
    if (id <= 0 || id > GREATEST) return complain(`curve preference ${id} is out of range (must be 1-${GREATEST})`)
    if (firsts.get(id) !== index) return complain(`duplicate curve preference ${id}`)
    if (CURVES.includes(id)) return []
    // A newer Go may know more curves.
    return complain(`curve preference ${id} is none of ${CURVES.join(', ')}`, true)
  })
}
