/**
 * Which fields of kubelet's config can make a pod fail for a reason, or bring pressure on the node.
 * Pure. docs/evidence.md has the same table. Read from Kubernetes 1.20 to 1.37, pkg/kubelet:
 * `lifecycle/predicate.go`, `cm/admission`, `cm/*manager`, `eviction`, `preemption`, `sysctl`.
 */
import type { Baseline } from './evidence-state.ts'
import { identityOfKey, type TrialKey } from './trial-key.ts'

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
const PODS = ['maxPods', 'podsPerCore']
const MANAGERS = ['cpuManagerPolicy*', 'memoryManagerPolicy', 'reservedMemory', 'topologyManager*', ...CPU]
const HOLD = 'evictionPressureTransitionPeriod'
/** Each has a value for each signal. */
const THRESHOLDS = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim']
const thresholds = (...signals: readonly string[]) => THRESHOLDS.flatMap((map) => signals.map((signal) => `${map}.${signal}`))
const QUOTA = 'localStorageCapacityIsolation'

/**
 * `config`: one of the changed fields can cause it. `unclear`: what changed is not known, or a
 * feature gate changed, which can cause much. `node`: none of the changed fields can.
 */
export type Cause = { readonly kind: 'config'; readonly field: string } | { readonly kind: 'unclear' } | { readonly kind: 'node' }

/** Every row that fits counts. One without fields says that no field can cause it. */
export const CAUSES: readonly Row[] = [
  { reasons: ['OutOfcpu'], fields: CPU },
  { reasons: ['OutOfmemory'], fields: MEMORY },
  { reasons: ['OutOfephemeral-storage'], fields: [...STORAGE, QUOTA] },
  { reasons: ['OutOfpods'], fields: PODS },
  { reasons: ['OutOf*'], fields: [] },
  // A critical pod did not fit.
  { reasons: ['Preempting', 'UnexpectedAdmissionError'], says: /preempt/i, fields: [...CPU, ...MEMORY, ...STORAGE, ...PODS] },
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
export function isKubeletsReason(reason: string): boolean {
  return CAUSES.some(({ reasons }) => isOneOf(reasons, reason))
}

/**
 * @param message of the pod, or the type of a pressure condition
 * @param baseline of the config that runs
 * @param key that runs
 */
export function findCause(reason: string, message: string, baseline: Baseline, key: TrialKey): Cause {
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
