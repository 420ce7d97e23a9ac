/**
 * The feature gates that field rules depend on: their stages by minor of 1.x with defaults, and
 * their state in a config. Pure. Sources: pkg/features/kube_features.go; `AllAlpha` and `AllBeta`
 * in k8s.io/component-base/featuregate.
 */

import type { KubeletConfig } from '../../kubelet/decode.ts'
import { OLDEST_MINOR } from '../../kubelet/fields.ts'
import { isObject } from '../../values/is-object.ts'

interface Stage {
  readonly from: number
  readonly stage: 'alpha' | 'beta' | 'ga'
  readonly on: boolean
}

const alpha = (from: number): Stage => ({ from, stage: 'alpha', on: false })
const betaOff = (from: number): Stage => ({ from, stage: 'beta', on: false })
const betaOn = (from: number): Stage => ({ from, stage: 'beta', on: true })
const stable = (from: number): Stage => ({ from, stage: 'ga', on: true })

const STAGES: Readonly<Record<string, readonly Stage[]>> = {
  CPUManager: [betaOn(20), stable(26)],
  CustomCPUCFSQuotaPeriod: [alpha(20), stable(36)],
  GracefulNodeShutdown: [alpha(20), betaOn(21)],
  GracefulNodeShutdownBasedOnPodPriority: [alpha(23), betaOn(24)],
  ImageMaximumGCAge: [alpha(29), betaOn(30), stable(35)],
  KubeletCrashLoopBackOffMax: [alpha(32), betaOn(35)],
  KubeletEnsureSecretPulledImages: [alpha(33), betaOn(35)],
  KubeletTracing: [alpha(25), betaOn(27), stable(34)],
  MemoryManager: [alpha(21), betaOn(22), stable(32)],
  NodeLogQuery: [alpha(27), betaOff(30), stable(36)],
  NodeSwap: [alpha(22), betaOff(28), betaOn(30), stable(34)],
  QOSReserved: [alpha(20)],
  RotateKubeletServerCertificate: [betaOn(20)],
  TopologyManager: [betaOn(20), stable(27)],
}
const NEWEST_MINOR = 37

/**
 * Whether a gate is on for kubelet 1.`minor` with this config; without a minor, for all versions
 * that have the gate. undefined: it depends on the version.
 */
export function findGateState(name: string, config: KubeletConfig, minor: number | undefined): boolean | undefined {
  const set = isObject(config.featureGates) ? config.featureGates : {}
  const own = Object.hasOwn(set, name) ? set[name] : undefined
  // null means false.
  if (own !== undefined) return own === true
  const first = STAGES[name]?.[0]?.from ?? OLDEST_MINOR
  const minors = minor === undefined ? Array.from({ length: NEWEST_MINOR + 1 - first }, (_, index) => first + index) : [minor]
  const states = new Set(minors.map((each) => stateAt(name, set, each)))
  const [state] = states
  return states.size === 1 ? state : undefined
}

function stateAt(name: string, set: Readonly<Record<string, unknown>>, minor: number): boolean | undefined {
  const here = STAGES[name]?.findLast(({ from }) => from <= minor)
  if (here === undefined) return undefined
  const group = here.stage === 'alpha' ? set.AllAlpha : here.stage === 'beta' ? set.AllBeta : undefined
  return group === undefined ? here.on : group === true
}
