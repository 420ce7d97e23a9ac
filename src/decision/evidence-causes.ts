/**
 * Which fields of kubelet's config can make a pod fail for a reason, or bring pressure on the node.
 * Pure. docs/evidence.md has the same table. Read from Kubernetes 1.20 to 1.37, pkg/kubelet:
 * `lifecycle/predicate.go`, `cm/admission`, `cm/*manager`, `eviction`, `preemption`, `sysctl`.
 */
import type { Baseline } from './evidence-state.ts'
import { identityOfKey, type TrialKey } from './trial-key.ts'

interface Row {
  /** The pod's `status.reason`, or the type of a pressure condition. */
  readonly reason: RegExp
  /** In the pod's `status.message`. undefined: any. */
  readonly says?: RegExp
  /** In the docs. */
  readonly name: string
  /** Names such as `maxPods`, `kubeReserved.cpu`. A star stands for any letters. */
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
  { name: 'OutOfcpu', reason: /^OutOfcpu$/, fields: CPU },
  { name: 'OutOfmemory', reason: /^OutOfmemory$/, fields: MEMORY },
  { name: 'OutOfephemeral-storage', reason: /^OutOfephemeral-storage$/, fields: [...STORAGE, QUOTA] },
  { name: 'OutOfpods', reason: /^OutOfpods$/, fields: PODS },
  { name: 'OutOf of another resource', reason: /^OutOf/, fields: [] },
  {
    name: 'Preempting: a critical pod did not fit',
    reason: /^(Preempting|UnexpectedAdmissionError)$/,
    says: /preempt/i,
    fields: [...CPU, ...MEMORY, ...STORAGE, ...PODS],
  },
  {
    name: 'UnexpectedAdmissionError, of the CPU manager or the memory manager',
    reason: /^UnexpectedAdmissionError$/,
    says: /\bcpus?\b|\[(cpu|memory)manager\]|not enough memory/i,
    fields: MANAGERS,
  },
  // Also of a plugin that has not registered again since kubelet's start.
  { name: 'UnexpectedAdmissionError, of a device or a plugin', reason: /^UnexpectedAdmissionError$/, fields: [] },
  {
    name: 'TopologyAffinityError, SMTAlignmentError, EmptyPodSharedPoolError',
    reason: /^(TopologyAffinity|SMTAlignment|EmptyPodSharedPool)Error$/,
    fields: MANAGERS,
  },
  { name: 'SysctlForbidden', reason: /^SysctlForbidden$/, fields: ['allowedUnsafeSysctls'] },
  {
    name: 'PodFeatureUnsupported, PodLevelResourcesNotSupported',
    reason: /^(PodFeatureUnsupported|PodLevelResourcesNotSupported)$/,
    fields: ['featureGates'],
  },
  // Kubelet compares with the labels of the Node, which its config does not set.
  { name: 'NodeAffinity', reason: /^NodeAffinity$/, fields: [] },
  {
    name: 'Evicted or pressure, for memory',
    reason: /^(Evicted|MemoryPressure)$/,
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
    name: 'Evicted or pressure, for disk space or inodes',
    reason: /^(Evicted|DiskPressure)$/,
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
    name: 'Evicted or pressure, for process IDs',
    reason: /^(Evicted|PIDPressure)$/,
    says: /low on resource: pids\b|PIDPressure/,
    fields: [...thresholds('pid.available'), HOLD, 'podPidsLimit'],
  },
  // `podEphemeralStorageMessageFmt` and its siblings, eviction/helpers.go.
  {
    name: "Evicted, over the pod's own storage limit",
    reason: /^Evicted$/,
    says: /^(Pod ephemeral local storage usage exceeds|Container \S+ exceeded its local ephemeral storage|Usage of EmptyDir volume)/,
    fields: [QUOTA],
  },
]

/** Whether kubelet kills a pod of its own accord for this reason. */
export function isKubeletsReason(reason: string): boolean {
  return CAUSES.some((row) => row.reason.test(reason))
}

/**
 * @param message of the pod, or the type of a pressure condition
 * @param baseline of the config that runs
 * @param key that runs
 */
export function findCause(reason: string, message: string, baseline: Baseline, key: TrialKey): Cause {
  const { changed, kubelet } = baseline
  const rows = CAUSES.filter((row) => row.reason.test(reason) && row.says?.test(message) !== false)
  // Another kubelet may do so by itself.
  const isOtherKubelet = kubelet !== undefined && kubelet !== identityOfKey(key)
  if (changed === undefined || isOtherKubelet || rows.length === 0) return { kind: 'unclear' }
  const field = changed.find((name) => rows.some(({ fields }) => fields.some((pattern) => fits(name, pattern))))
  if (field !== undefined) return { kind: 'config', field }
  return changed.some((name) => fits(name, 'featureGates')) ? { kind: 'unclear' } : { kind: 'node' }
}

/** Also where a map changes as a whole, or one of its keys. */
function fits(name: string, pattern: string): boolean {
  const steps = name.split('.')
  return pattern.split('.').every((step, index) => {
    const own = steps[index]
    return own === undefined || new RegExp(`^${step.replaceAll('*', '.*')}$`).test(own)
  })
}
