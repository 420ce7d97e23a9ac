// SPDX-License-Identifier: Apache-2.0
/**
 * Evidence `pods`: no pod that ran before was refused at admission or evicted since for what the
 * config changes, and the restart brought no such pressure. Whether pods are ready is not judged:
 * until Kubernetes 1.34 every restart resets it (KEP-4781), and applications fail for reasons of
 * their own. Pure.
 */
import { identityOfKey, type TrialKey } from '../subject/trial-key.ts'
import { isFlag, isNumber, isText, listOf, optional, type Shaped, shape, type TypeOf } from '../values/json-shape.ts'
import { type Contract, type KindStanding, type Moment, type NoAnswer, no, perhapsNo, unknown, type View, yes } from './kind.ts'

/** The pods of the node that have failed. */
export interface PodsAnswer {
  readonly kind: 'found'
  readonly pods: readonly FailedPod[]
  /** When the API server answered, by its own clock. undefined: it did not say. */
  readonly serverMs: number | undefined
}

export interface FailedPod {
  readonly uid: string
  /** `namespace/name` */
  readonly name: string
  /** `status.reason`; empty: none. */
  readonly reason: string
  readonly message: string
  /** `metadata.creationTimestamp`, by the clock of the API server. */
  readonly createdAtMs: number | undefined
  /**
   * `status.startTime`: when kubelet admitted or refused it first, by the clock of the node. A
   * restart of kubelet keeps it (`updateStatusInternal`, pkg/kubelet/status). undefined: kubelet
   * has not reported it.
   */
  readonly startedAtMs: number | undefined
}

const isLostPod = shape({
  name: isText,
  reason: isText,
  /** The changed field that can be the cause. undefined: the node may be at fault. */
  field: optional(isText),
  /** One can be, but the pod may have failed before the restart. */
  mayBeOlder: optional(isFlag),
})
type LostPod = TypeOf<typeof isLostPod>
const isPodsSeen = shape({
  /** Pods that ran before and were refused or evicted since. */
  lost: listOf(isLostPod),
  /** The same, where no changed field can be the cause. */
  unexplained: optional(listOf(isLostPod)),
  sinceUs: isNumber,
  lastUs: isNumber,
  /** Why the last sample has no list; empty: it has. */
  problem: isText,
})
type PodsSeen = TypeOf<typeof isPodsSeen>
const SEEN = { pods: optional(isPodsSeen) }
const TAKEN = {
  /** When the pods were listed, by the clock of the API server. */
  podsAtMs: optional(isNumber),
  /** The same by the clock of the node. */
  podsAtWallMs: optional(isNumber),
  /** UIDs of the pods that had failed by then. */
  failedPods: optional(listOf(isText)),
  /** As in the last answer to `static-pods`. undefined: it had none. */
  livePods: optional(listOf(isText)),
}
type Taken = Shaped<typeof TAKEN>
type Process = Shaped<typeof SEEN> & { readonly node?: { readonly newPressure: readonly string[] } | undefined }
type Before = Taken & { readonly pressure?: readonly string[] | undefined }
type PodsMoment = Moment<Process, Before>
type Baseline = NonNullable<PodsMoment['baseline']>

const MOST_KNOWN = 1000
const MOST_LOST = 20

export const PODS = {
  kind: 'pods',
  loss: 'pods were lost',
  asksServer: true,
  /** As it is asked for: a node may read the pods of itself only. */
  rights: (nodeName) => [
    {
      verb: 'list',
      resource: 'pods',
      fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: [nodeName] }] },
    },
  ],
  /** The Node has the pressure, and the container runtime tells which pods ran. */
  needs: 'node',
  needsBefore: 'static-pods',
  seen: SEEN,
  taken: TAKEN,
  firstUs: (trialUs) => Math.min(60e6, trialUs / 4),
  gapUs: ({ policy }) => policy.trialUs / 2,
  take(answer, { wallMs }) {
    // In a shortened list, an old failed pod that is not on it would look like a new failure.
    if (answer.kind !== 'found' || answer.pods.length > MOST_KNOWN) return {}
    return { podsAtMs: answer.serverMs, podsAtWallMs: wallMs, failedPods: answer.pods.map(({ uid }) => uid) }
  },
  fold: (answer, moment) => ({ pods: foldPods(answer, moment) }),
  judge: judgePods,
  isOneWay: () => true,
  ofBoot: ['podsAtMs', 'podsAtWallMs', 'failedPods', 'livePods'],
  describeGap: ({ podsAtMs }) => (podsAtMs === undefined ? 'which pods have failed before is not known' : undefined),
} as const satisfies Contract<PodsAnswer | NoAnswer, Shaped<typeof SEEN>, Taken, Process, Before>

/** undefined: it was not asked. */
function foldPods(answer: PodsAnswer | NoAnswer, { process, baseline, atUs }: PodsMoment): PodsSeen | undefined {
  const before = process.pods
  if (answer.kind === 'not-asked') return before
  if (answer.kind !== 'found') return { ...(before ?? { lost: [], sinceUs: atUs }), lastUs: atUs, problem: answer.detail }
  const { lost: known = [], unexplained = [], sinceUs = atUs } = before ?? {}
  const isKnown = (pod: FailedPod) => [...known, ...unexplained].some(({ name }) => name === pod.name)
  const listAdded = (from: Baseline) =>
    answer.pods
      .filter((pod) => isLost(pod, from) && !isKnown(pod))
      .map((pod) => ({ name: pod.name, reason: pod.reason, cause: causeOf(pod, from, process.key) }))
  const added = baseline === undefined ? [] : listAdded(baseline)
  const explained = added.filter(({ cause }) => cause.kind !== 'node').map(describeLost)
  // Where the list is full, one that the config lost counts for more than one that it may have.
  const lost = [...known, ...explained].sort((a, b) => Number(a.field === undefined) - Number(b.field === undefined)).slice(0, MOST_LOST)
  const others = [...unexplained, ...added.filter(({ cause }) => cause.kind === 'node').map(describeLost)].slice(0, MOST_LOST)
  const firstUs = known.length > 0 ? sinceUs : atUs
  return { lost, ...(others.length > 0 && { unexplained: others }), sinceUs: firstUs, lastUs: atUs, problem: '' }
}

/**
 * Whether a pod had been admitted before the baseline, and may have failed since: the list of the
 * baseline may be older than the baseline. Each clock is compared with itself.
 */
function isLost({ uid, reason, createdAtMs, startedAtMs }: FailedPod, baseline: Baseline): boolean {
  if (baseline.podsAtMs === undefined || baseline.podsAtWallMs === undefined || startedAtMs === undefined) return false
  const isOlder = startedAtMs < baseline.podsAtWallMs && (createdAtMs === undefined || createdAtMs < baseline.podsAtMs)
  return isKubeletsReason(reason) && isOlder && baseline.failedPods?.includes(uid) !== true
}

/**
 * Pressure from before the restart evicts whatever the config is. `older`: the container runtime
 * did not run the pod then, so it may have failed before, and the API server's cache may lag.
 */
function causeOf({ name, reason, message }: FailedPod, baseline: Baseline, key: TrialKey): Cause {
  const isOlder = reason === 'Evicted' && (baseline.pressure ?? []).length > 0
  const cause: Cause = isOlder ? { kind: 'node' } : findCause(reason, message, baseline, key)
  return cause.kind === 'config' && baseline.livePods?.includes(name) !== true ? { kind: 'older' } : cause
}

function describeLost({ name, reason, cause }: { name: string; reason: string; cause: Cause }): LostPod {
  return { name, reason, ...(cause.kind === 'config' && { field: cause.field }), ...(cause.kind === 'older' && { mayBeOlder: true }) }
}

/** A fallback does not bring back what the config before it lost. */
function judgePods({ process, baseline, isCandidate }: View<Process, Before>): KindStanding {
  const { pods, node } = process
  const { lost = [], sinceUs } = pods ?? {}
  if (!isCandidate || baseline === undefined) return unknown('judged for the assigned config only')
  const pressure = (node?.newPressure ?? []).map((type) => ({ type, cause: findCause(type, type, baseline, process.key) }))
  const brought = pressure.filter(({ cause }) => cause.kind === 'config')
  const ofConfig = lost.filter(({ field }) => field !== undefined)
  if (brought.length > 0) return no(describePressure(brought))
  if (ofConfig.length > 0) return no(`a pod that ran before was lost: ${describePods(ofConfig)}`, sinceUs)
  const unclear = pressure.filter(({ cause }) => cause.kind === 'unclear')
  const untold = `; whether a change of the config did that is not known`
  if (unclear.length > 0) return perhapsNo(`${describePressure(unclear)}${untold}`)
  if (pods === undefined) return unknown('not read yet')
  const doubt = lost.every(({ mayBeOlder }) => mayBeOlder === true) ? '; whether that was before the restart is not known' : untold
  if (lost.length > 0) return perhapsNo(`a pod failed: ${describePods(lost)}${doubt}`, sinceUs)
  if (pods.problem !== '') return unknown(pods.problem)
  if (baseline.podsAtMs === undefined) return unknown('which pods ran before is not known')
  const others = [...(pods.unexplained ?? []).map(({ name, reason }) => `${name} (${reason})`), ...pressure.map(({ type }) => type)]
  const seen = 'no pod that ran before was refused or evicted'
  return yes(others.length === 0 ? seen : `${seen} for what the config changes; none of it explains ${listSome(others)}`)
}

function describePressure(pressure: readonly { readonly type: string; readonly cause: Cause }[]): string {
  const [field] = pressure.map(({ cause }) => (cause.kind === 'config' ? cause.field : undefined))
  return `the restart brought ${pressure.map(({ type }) => type).join(', ')}${describeChange(field)}`
}

function describePods(pods: readonly LostPod[]): string {
  return `${listSome(pods.map(({ name, reason }) => `${name} (${reason})`))}${describeChange(pods[0]?.field)}`
}

function describeChange(field: string | undefined): string {
  return field === undefined ? '' : `: ${field} has changed`
}

function listSome([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} and ${others.length} more`
}

interface Row {
  /**
   * The pod's `status.reason`, or the type of a pressure condition. A star stands for any letters.
   */
  readonly reasons: readonly string[]
  /** In the pod's `status.message`. undefined: any. */
  readonly says?: RegExp
  /** Names such as `maxPods`, `kubeReserved.cpu`, with stars as well. */
  readonly fields: readonly string[]
}

const CPU = ['kubeReserved.cpu', 'systemReserved.cpu', 'reservedSystemCPUs']
const MEMORY = ['kubeReserved.memory', 'systemReserved.memory', 'evictionHard.memory.available']
const STORAGE = ['kubeReserved.ephemeral-storage', 'systemReserved.ephemeral-storage', 'evictionHard.nodefs.available']
const COUNT = ['maxPods', 'podsPerCore']
const MANAGERS = ['cpuManagerPolicy*', 'memoryManagerPolicy', 'reservedMemory', 'topologyManager*', ...CPU]
const HOLD = 'evictionPressureTransitionPeriod'
/** Each has a value for each signal. */
const THRESHOLDS = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim']
const thresholds = (...signals: readonly string[]) => THRESHOLDS.flatMap((map) => signals.map((signal) => `${map}.${signal}`))
const QUOTA = 'localStorageCapacityIsolation'

/**
 * `config`: one of the changed fields can cause it. `unclear`: what changed is not known, or a
 * feature gate, which can cause much. `node`: no changed field can. `older`: see `causeOf`.
 */
type Cause = { readonly kind: 'config'; readonly field: string } | { readonly kind: 'unclear' | 'older' | 'node' }

/**
 * Which fields of kubelet's config can make a pod fail for a reason, or bring pressure on the node.
 * Every row that fits counts. One without fields says that no field can cause it. docs/evidence.md
 * has the same table. Read from Kubernetes 1.20 to 1.37, pkg/kubelet: `lifecycle/predicate.go`,
 * `cm/admission`, `cm/*manager`, `eviction`, `preemption`, `sysctl`.
 */
export const CAUSES: readonly Row[] = [
  { reasons: ['OutOfcpu'], fields: CPU },
  { reasons: ['OutOfmemory'], fields: MEMORY },
  { reasons: ['OutOfephemeral-storage'], fields: [...STORAGE, QUOTA] },
  { reasons: ['OutOfpods'], fields: COUNT },
  { reasons: ['OutOf*'], fields: [] },
  // A critical pod did not fit.
  { reasons: ['Preempting', 'UnexpectedAdmissionError'], says: /preempt/i, fields: [...CPU, ...MEMORY, ...STORAGE, ...COUNT] },
  // Of the CPU manager or the memory manager.
  { reasons: ['UnexpectedAdmissionError'], says: /\bcpus\b|\[(cpu|memory)manager\]|not enough memory/i, fields: MANAGERS },
  // Of a device or a plugin, also one that has not registered again since kubelet's start.
  { reasons: ['UnexpectedAdmissionError'], fields: [] },
  { reasons: ['TopologyAffinityError', 'SMTAlignmentError', 'EmptyPodSharedPoolError'], fields: MANAGERS },
  { reasons: ['SysctlForbidden'], fields: ['allowedUnsafeSysctls'] },
  { reasons: ['PodFeatureUnsupported', 'PodLevelResourcesNotSupported'], fields: ['featureGates'] },
  // Kubelet compares with the labels of the Node, which its config does not set.
  { reasons: ['NodeAffinity'], fields: [] },
  {
    reasons: ['Evicted', 'MemoryPressure'],
    says: /low on resource: memory\b|MemoryPressure/,
    fields: [
      ...thresholds('memory.available'),
      HOLD,
      'kubeReserved.memory',
      'systemReserved.memory',
      'enforceNodeAllocatable',
      'cgroupsPerQOS',
      'qosReserved',
      'memorySwap.swapBehavior',
      'failSwapOn',
      'kernelMemcgNotification',
    ],
  },
  {
    reasons: ['Evicted', 'DiskPressure'],
    says: /low on resource: (ephemeral-storage|inodes)\b|DiskPressure/,
    fields: [
      ...thresholds('nodefs.*', 'imagefs.*', 'containerfs.*'),
      HOLD,
      'image*GC*',
      'containerLog*',
      'podLogsDir',
      'containerRuntimeEndpoint',
      'imageServiceEndpoint',
    ],
  },
  {
    reasons: ['Evicted', 'PIDPressure'],
    says: /low on resource: pids\b|PIDPressure/,
    fields: [...thresholds('pid.available'), HOLD, 'podPidsLimit'],
  },
  // Over the pod's own limit: `podEphemeralStorageMessageFmt` and others, eviction/helpers.go.
  {
    reasons: ['Evicted'],
    says: /^(Pod ephemeral local storage usage exceeds|Container \S+ exceeded its local ephemeral storage|Usage of EmptyDir volume)/,
    fields: [QUOTA],
  },
]

/** Whether kubelet kills a pod of its own accord for this reason. */
function isKubeletsReason(reason: string): boolean {
  return CAUSES.some(({ reasons }) => isOneOf(reasons, reason))
}

/**
 * @param message of the pod, or the type of a pressure condition
 * @param baseline of the config that runs
 * @param key that runs
 */
function findCause(reason: string, message: string, baseline: Baseline, key: TrialKey): Cause {
  const { changed, kubelet } = baseline
  const rows = CAUSES.filter(({ reasons, says }) => isOneOf(reasons, reason) && says?.test(message) !== false)
  // Another kubelet may do so by itself.
  const isOtherKubelet = kubelet !== identityOfKey(key)
  if (changed === undefined || isOtherKubelet || rows.length === 0) return { kind: 'unclear' }
  const field = changed.find((name) => rows.some(({ fields }) => fields.some((pattern) => fits(name, pattern))))
  if (field !== undefined) return { kind: 'config', field }
  return changed.some((name) => fits(name, 'featureGates')) ? { kind: 'unclear' } : { kind: 'node' }
}

function isOneOf(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matches(name, pattern))
}

/** Also where a map changes as a whole, or one of its keys. */
function fits(name: string, pattern: string): boolean {
  const steps = name.split('.')
  return pattern.split('.').every((step, index) => {
    const own = steps[index]
    return own === undefined || matches(own, step)
  })
}

function matches(name: string, pattern: string): boolean {
  return new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name)
}
