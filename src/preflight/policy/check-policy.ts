// SPDX-License-Identifier: Apache-2.0
/**
 * Applies a change policy to changes. Pure. `deny` overrides `allow`, and `allow` overrides the
 * base policy. A denied change is refused with the name of its rule. The order of patterns and
 * changes does not matter. `requireDrain` forbids nothing: it only makes a change wait for a
 * drained node.
 */

import type { KubeletConfig } from '../../kubelet/decode.ts'
import { type FieldPath, formatPath } from '../../kubelet/field-path.ts'
import type { LeafName } from '../../kubelet/fields.ts'
import { type Change, RISKS } from '../change/change.ts'
import { compareConfigs } from '../change/compare.ts'
import { effectOf } from '../change/effects.ts'
import { rowAt } from '../change/field-rows.ts'
import type { ConfigDocument } from '../document.ts'
import { type Finding, locateNearest } from '../finding.ts'
import type { ConfigChange } from '../inspection.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import { matchesPattern, mayMatchPattern, patternFor } from './patterns.ts'

/** All patterns pass `checkPattern`. */
export interface ChangePolicy {
  readonly base: BasePolicy
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly requireDrain: readonly string[]
}
type BasePolicy = 'open' | 'guarded'

interface PolicyVerdict {
  readonly findings: readonly Finding[]
  /** Without denied changes, in their order. */
  readonly requiresDrain: readonly FieldPath[]
}

export function checkPolicy(changes: readonly Change[], policy: ChangePolicy, document?: Pick<ConfigDocument, 'locate'>): PolicyVerdict {
  const findings: Finding[] = []
  const requiresDrain: FieldPath[] = []
  for (const each of changes) {
    const change = underPolicy(each, policy)
    const decision = decideChange(change, policy)
    if (decision.outcome === 'denied') findings.push(toFinding(change, decision, policy, document))
    else if (decision.outcome === 'drain') requiresDrain.push(change.path)
  }
  return { findings, requiresDrain }
}

export function restricts({ base, deny, requireDrain }: ChangePolicy): boolean {
  return base !== 'open' || deny.length > 0 || requireDrain.length > 0
}

/**
 * Local belongs to the administrator: no policy forbids it. Draining is for the pods, and where
 * nothing says what changes, it is not waited for.
 */
export function toLocalPolicy({ requireDrain }: ChangePolicy, basePath: string | undefined): ChangePolicy {
  return { base: 'open', allow: [], deny: [], requireDrain: basePath === undefined ? [] : requireDrain }
}

/**
 * A change as a policy takes it. Where one restricts, a field that no table has is of unknown risk:
 * that kubelet ignores it is only what the tables and the parser of this agent say.
 */
function underPolicy(change: Change, policy: ChangePolicy): Change {
  return restricts(policy) && rowAt(change.path) === undefined ? { ...change, risk: 'unknown' } : change
}

/**
 * `rule` is such as `policy/deny[2]`, counted from 0; undefined: none matches. `pattern` is the
 * matching one; undefined: the field is not among those that the base policy allows.
 */
type ChangeDecision =
  | { readonly outcome: 'allowed'; readonly rule: undefined }
  | { readonly outcome: 'denied' | 'drain'; readonly rule: string; readonly pattern: string | undefined }

export function decideChange(change: Pick<Change, 'path' | 'risk'>, { base, allow, deny, requireDrain }: ChangePolicy): ChangeDecision {
  const isAllowed = allow.some((pattern) => matchesPattern(pattern, change))
  const denied = deny.findIndex((pattern) => mayMatchPattern(pattern, change, isAllowed))
  if (denied >= 0) return { outcome: 'denied', rule: `policy/deny[${denied}]`, pattern: deny[denied] }
  if (base === 'guarded' && !isAllowed && !isHarmless(rowAt(change.path)?.name))
    return { outcome: 'denied', rule: 'policy/guarded', pattern: undefined }
  const drained = requireDrain.findIndex((pattern) => mayMatchPattern(pattern, change, false))
  if (drained >= 0) return { outcome: 'drain', rule: `policy/requireDrain[${drained}]`, pattern: requireDrain[drained] }
  return { outcome: 'allowed', rule: undefined }
}

function toFinding(
  change: Change,
  { rule, pattern }: Exclude<ChangeDecision, { outcome: 'allowed' }>,
  policy: ChangePolicy,
  document: Pick<ConfigDocument, 'locate'> | undefined,
): Finding {
  const { path, risk } = change
  const name = formatPath(path)
  const why = pattern === undefined ? 'the policy guarded does not allow it' : `denyChanges contains ${pattern}`
  const allowing = patternFor(change)
  const helps = decideChange(change, { ...policy, allow: [...policy.allow, allowing] }).outcome !== 'denied'
  const remedy = helps ? `add ${allowing === name ? 'it' : allowing} to allowChanges` : `remove ${pattern} from denyChanges`
  const problem = `${name} must not change on this node: ${why}; ${RISKS[risk]}`
  const advice = `leave ${name} as it is, or ${remedy} in the agent's settings`
  return { rule, severity: 'refuse', reason: 'validate', path, position: locateNearest(document, path), problem, advice }
}

/** Changes between two configs with their risk and the policy's decision, for the command line. */
export function describeChanges(
  before: KubeletConfig,
  after: KubeletConfig,
  version: KubeletVersion | undefined,
  policy: ChangePolicy,
): readonly ConfigChange[] {
  return compareConfigs(before, after, version).map((each) => {
    const change = underPolicy(each, policy)
    const { path, risk } = change
    const { outcome, rule } = decideChange(change, policy)
    const effect = effectOf(change, after)
    return {
      ...{ path, before: change.before?.value, after: change.after?.value, risk, meaning: RISKS[risk] },
      ...(effect && { effect: { problem: effect.problem, advice: effect.advice } }),
      policy: { outcome, rule },
    }
  })
}

/**
 * The fields that the policy `guarded` lets change, each with the reason. A field is here if none
 * of its values gives anybody code, files, credentials, access to an API or a place in the network.
 * Harm that a trial sees and a rollback undoes does not keep a field out. Fields that need a reboot
 * are out, and those that leave a state with which the former config does not start.
 * `memoryThrottlingFactor` is out: from 1.37 on it slows pods down, which no trial sees.
 */
export const HARMLESS_FIELDS = {
  syncFrequency: 'how often running pods are compared with what is wanted',
  fileCheckFrequency: 'how often a directory is read, and not which',
  httpCheckFrequency: 'how often an address is asked, and not which',
  registryPullQPS: 'the rate of pulls; which images and with which credentials stays',
  registryBurst: 'as registryPullQPS',
  eventRecordQPS: 'the rate of events',
  eventBurst: 'as eventRecordQPS',
  enableContentionProfiling: 'what a profile holds, and not who may read it',
  oomScoreAdj: 'which process the kernel kills first',
  nodeStatusUpdateFrequency: 'how often the node reports',
  nodeStatusReportFrequency: 'as nodeStatusUpdateFrequency',
  nodeLeaseDurationSeconds: 'how soon the node counts as gone',
  imageMinimumGCAge: 'when images that nothing uses are deleted',
  imageMaximumGCAge: 'as imageMinimumGCAge',
  imageGCHighThresholdPercent: 'as imageMinimumGCAge',
  imageGCLowThresholdPercent: 'as imageMinimumGCAge',
  volumeStatsAggPeriod: 'how often the use of disks is measured',
  singleProcessOOMKill: 'whether the kernel kills one process of a container or all',
  cpuManagerReconcilePeriod: 'how often CPUs are assigned again, and not by which rules',
  topologyManagerScope: 'whether a container or a pod is aligned with the hardware',
  topologyManagerPolicyOptions: 'how CPUs, memory and devices are aligned with the hardware',
  runtimeRequestTimeout: 'how long kubelet waits for the container runtime, and not which',
  maxPods: 'how many pods fit',
  podsPerCore: 'as maxPods',
  podPidsLimit: 'how many processes a pod may have',
  cpuCFSQuota: 'whether limits of CPU are kept',
  cpuCFSQuotaPeriod: 'as cpuCFSQuota',
  nodeStatusMaxImages: 'how many images the Node lists',
  maxOpenFiles: 'how many files kubelet may have open',
  kubeAPIQPS: 'the rate of requests, and not what is asked or who asks',
  kubeAPIBurst: 'as kubeAPIQPS',
  serializeImagePulls: 'how many pulls run at once',
  maxParallelImagePulls: 'as serializeImagePulls',
  evictionHard: 'when pods are evicted',
  evictionSoft: 'as evictionHard',
  evictionSoftGracePeriod: 'as evictionHard',
  evictionPressureTransitionPeriod: 'as evictionHard',
  evictionMaxPodGracePeriod: 'as evictionHard',
  evictionMinimumReclaim: 'as evictionHard',
  mergeDefaultEvictionSettings: 'as evictionHard',
  containerLogMaxSize: 'how much of the logs of a container is kept',
  containerLogMaxFiles: 'as containerLogMaxSize',
  containerLogMaxWorkers: 'as containerLogMaxSize',
  containerLogMonitorInterval: 'as containerLogMaxSize',
  configMapAndSecretChangeDetectionStrategy: 'how soon a change of what pods use is seen, and not what they may use',
  systemReserved: 'what is left for pods',
  kubeReserved: 'as systemReserved',
  showHiddenMetricsForVersion: 'which metrics there are, and not who may read them',
  kernelMemcgNotification: 'how soon a lack of memory is seen',
  'logging.format': 'how a line of the log is written; what is in it stays',
  'logging.flushFrequency': 'when a line of the log is written',
  'logging.options.json.splitStream': 'which of its two streams kubelet writes to; both go to the same log',
  'logging.options.json.infoBufferSize': 'as logging.flushFrequency',
  'logging.options.text.splitStream': 'as logging.options.json.splitStream',
  'logging.options.text.infoBufferSize': 'as logging.flushFrequency',
  shutdownGracePeriod:
    'how long a shutdown waits for pods; InhibitDelayMaxSec stays in /etc/systemd/logind.conf.d after a rollback, and only limits a wait',
  shutdownGracePeriodCriticalPods: 'as shutdownGracePeriod',
  shutdownGracePeriodByPodPriority: 'as shutdownGracePeriod',
  'crashLoopBackOff.maxContainerRestartPeriod': 'how long a container that crashes waits',
  memoryReservationPolicy: 'whose memory the kernel takes first',
  localStorageCapacityIsolation: 'whether limits of local storage are kept',
  failCgroupV1: 'whether kubelet starts on an old kernel interface',
} as const satisfies Partial<Readonly<Record<LeafName, string>>>

/** @param name of a row. undefined: no table has the field */
function isHarmless(name: string | undefined): boolean {
  return name !== undefined && Object.hasOwn(HARMLESS_FIELDS, name)
}
