/**
 * Limits of single numbers and durations. Pure. Source: `ValidateKubeletConfiguration`,
 * pkg/kubelet/apis/config/validation/validation.go; messages in the style of 1.20. 0 is within the
 * limits wherever kubelet reads it as "not set" (`SetDefaults_KubeletConfiguration`).
 */

import type { FieldName } from '../../kubelet/fields.ts'
import { parseGoDuration } from '../../values/go-syntax.ts'
import type { FieldProblem, FieldRuleInput } from './complaint.ts'
import { MILLISECOND_NS, SECOND_NS } from './values.ts'

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
}

const PERIODS: Partial<Readonly<Record<FieldName, Period>>> = {
  // `NewMainKubelet`, pkg/kubelet/kubelet.go.
  syncFrequency: { minNs: 0n, called: 'must not be negative' },
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
  return [{ rule: 'range', path: [field], problem: `${label} ${value} ${limits}`, ...(from === undefined ? {} : { from }) }]
}

function checkPeriod(field: string, value: unknown, { minNs, called, from }: Period): FieldProblem[] {
  if (typeof value !== 'string' || (parseGoDuration(value) ?? minNs) >= minNs) return []
  return [{ rule: 'range', path: [field], problem: `${field} ${value} ${called}`, ...(from === undefined ? {} : { from }) }]
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
