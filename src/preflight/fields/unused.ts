// SPDX-License-Identifier: Apache-2.0
/**
 * Fields that kubelet reads only beside others, and without these ignores. Pure. Sources, 1.20 to
 * 1.37: `ParseThresholdConfig` and `synchronize` (pkg/kubelet/eviction), `makePodSourceConfig`
 * (pkg/kubelet/kubelet.go), `NewManager` of pkg/kubelet/cm/topologymanager and memorymanager,
 * `UpdateCgroups` (pkg/kubelet/cm/qos_container_manager_linux.go),
 * `enforceNodeAllocatableCgroups` (node_container_manager_linux.go), `InitializeTLS` and `run`
 * (cmd/kubelet/app/server.go); for `splitStream`, `kubeletConfigFlagPrecedence` there, which parses
 * the flags anew, and their defaults in k8s.io/component-base/logs/api/v1/options.go.
 */
import { valueAt } from '../../kubelet/field-path.ts'
import { NANOS } from '../../kubelet/quantity.ts'
import { isObject } from '../../values/is-object.ts'
import { parseCpuSet } from '../cpu-set.ts'
import { reservedCpu } from '../node/check-reservations.ts'
import { OFF, textMap } from './at-start.ts'
import { type FieldProblem, otherwise, textOf, type WholeInput } from './complaint.ts'
import { FORMER_FACTOR } from './new-fields.ts'

interface Unused extends Pick<FieldProblem, 'from' | 'to'> {
  readonly path: readonly string[]
  /** Why kubelet ignores it. undefined: it does not, as far as is known. */
  why(subject: WholeInput): string | undefined
  readonly advice: string
  /** The other setting that it needs may be missing here alone. Default: yes. */
  readonly supplied?: false
  /** Nobody waits for what it would do. */
  readonly severity?: 'info'
}

const unless = (holds: boolean, why: string) => (holds ? undefined : why)

const UNUSED: readonly Unused[] = [
  {
    path: ['evictionMaxPodGracePeriod'],
    why: ({ view }) => unless(Object.keys(view.map('evictionSoft')).length > 0, 'it is for soft thresholds, and evictionSoft is not set'),
    advice: 'set evictionSoft, or remove it',
    severity: 'info',
  },
  {
    path: ['staticPodURLHeader'],
    why: ({ view }) => unless(view.text('staticPodURL') !== undefined, 'staticPodURL is not set'),
    advice: 'set staticPodURL, or remove it',
  },
  {
    path: ['topologyManagerPolicyOptions'],
    why: ({ view }) => unless((view.text('topologyManagerPolicy') ?? 'none') !== 'none', 'topologyManagerPolicy is none'),
    advice: 'set topologyManagerPolicy, or remove it',
    from: 28,
  },
  {
    path: ['reservedMemory'],
    why: ({ view }) => unless((view.text('memoryManagerPolicy') ?? 'None') !== 'None', 'memoryManagerPolicy is None'),
    advice: 'set memoryManagerPolicy: Static, or remove it',
    from: 21,
  },
  {
    path: ['qosReserved'],
    why: ({ gate }) => unless(gate('QOSReserved') !== false, 'the feature gate QOSReserved is off'),
    advice: 'enable the feature gate, or remove it',
  },
  {
    path: ['memorySwap', 'swapBehavior'],
    why: ({ view }) => unless(view.value('memorySwap.swapBehavior') !== 'LimitedSwap' || !view.is('failSwapOn'), 'failSwapOn is true'),
    advice: 'set failSwapOn: false',
    from: 22,
  },
  {
    path: ['topologyManagerScope'],
    why: ({ view }) => {
      const isWide = view.text('topologyManagerScope') === 'pod'
      return unless(!isWide || (view.text('topologyManagerPolicy') ?? 'none') !== 'none', 'topologyManagerPolicy is none')
    },
    advice: 'set topologyManagerPolicy, or remove it',
    severity: 'info',
  },
  {
    path: ['memoryThrottlingFactor'],
    // Files spell the default out; a later kubelet refuses another one.
    why: ({ config, gate }) =>
      unless(config.memoryThrottlingFactor === FORMER_FACTOR || gate('MemoryQoS') !== false, 'the feature gate MemoryQoS is off'),
    advice: 'enable the feature gate, or remove it',
    from: 22,
    to: 36,
  },
  {
    path: ['tlsCipherSuites'],
    why: ({ view }) =>
      unless(view.text('tlsMinVersion') !== 'VersionTLS13', 'TLS 1.3, which tlsMinVersion asks for, has suites of its own'),
    advice: 'remove it',
    severity: 'info',
  },
  ...(['kube', 'system'] as const).map((name): Unused => {
    const isEnforced = (option: string) => option.startsWith(`${name}-reserved`)
    const why = `enforceNodeAllocatable does not have ${name}-reserved`
    return {
      path: [`${name}ReservedCgroup`],
      why: ({ view }) => unless(view.texts('enforceNodeAllocatable').some(isEnforced), why),
      advice: `add ${name}-reserved to enforceNodeAllocatable if the cgroup is to be limited, or remove it`,
      severity: 'info',
    }
  }),
  ...(['json', 'text'] as const).map((format): Unused => {
    const flag = `log-${format}-split-stream`
    return {
      path: ['logging', 'options', format, 'splitStream'],
      why: ({ view }) => unless(view.flag(flag) !== undefined, `only the flag --${flag} counts`),
      advice: `start kubelet with --${flag}`,
      supplied: false,
      from: format === 'json' ? 25 : 30,
    }
  }),
]

export function checkUnused(subject: WholeInput): FieldProblem[] {
  const fields = UNUSED.flatMap(({ path, why, advice, supplied = true, severity, from, to }): FieldProblem[] => {
    const cause = isSet(valueAt(subject.config, path)) ? why(subject) : undefined
    if (cause === undefined) return []
    const found = otherwise('otherwise/unused', path, `ignores ${path.join('.')}: ${cause}`, advice, severity)
    return [{ ...found, supplied, from, to }]
  })
  return [...fields, ...checkSignals(subject), ...checkContainerThresholds(subject), ...checkCounts(subject)]
}

/** Zero, false and empty say no more than nothing. */
function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isObject(value)) return Object.keys(value).length > 0
  return ![undefined, null, '', 0, false].some((empty) => value === empty)
}

/** Kubelet derives these thresholds from others. */
const DERIVED = /^(?:allocatableMemory|containerfs)\./

function checkSignals({ config, view, unseen }: WholeInput): FieldProblem[] {
  const [hard, soft] = [view.map('evictionHard'), view.map('evictionSoft')]
  const complain = (field: string, signal: string, where: string): FieldProblem => {
    const effect = `ignores ${field} for ${signal}: ${where} has no such threshold`
    return { ...otherwise('otherwise/unused', [field, signal], effect, `add the threshold to ${where}, or remove it here`), supplied: true }
  }
  const periods = textMap(config.evictionSoftGracePeriod).filter(([signal]) => !Object.hasOwn(soft, signal))
  // A part leaves the thresholds to the local config.
  const isOpen = unseen === 'local' && !isObject(config.evictionHard)
  const isIdle = (signal: string) => !Object.hasOwn(hard, signal) && !Object.hasOwn(soft, signal) && !DERIVED.test(signal)
  const reclaims = isOpen ? [] : textMap(config.evictionMinimumReclaim).filter(([signal, amount]) => isIdle(signal) && !/^0/.test(amount))
  return [
    ...periods.map(([signal]) => complain('evictionSoftGracePeriod', signal, 'evictionSoft')),
    ...reclaims.map(([signal]) => complain('evictionMinimumReclaim', signal, 'evictionHard')),
  ]
}

/** The first minor that has the signals, and replaces their thresholds. */
const CONTAINERFS_SINCE = 29

/** `UpdateContainerFsThresholds`, pkg/kubelet/eviction/helpers.go. */
function checkContainerThresholds({ config }: WholeInput): FieldProblem[] {
  return ['evictionHard', 'evictionSoft', 'evictionMinimumReclaim'].flatMap((field) =>
    textMap(config[field])
      .filter(([signal, amount]) => signal.startsWith('containerfs.') && !OFF.includes(amount))
      .map(([signal]): FieldProblem => {
        const effect = `ignores ${field} for ${signal}: what nodefs has counts, or what imagefs has where images and containers share a file system of their own`
        return {
          ...otherwise('otherwise/unused', [field, signal], effect, 'remove it, and set nodefs and imagefs'),
          from: CONTAINERFS_SINCE,
        }
      }),
  )
}

/** `run`, cmd/kubelet/app/server.go: the number of CPUs in the set replaces what is reserved. */
function checkCounts({ config, view }: WholeInput): FieldProblem[] {
  const cpus = view.isUnknown('reservedSystemCPUs') ? undefined : parseCpuSet(view.text('reservedSystemCPUs') ?? '')
  const reserved = reservedCpu(view)
  if (cpus === undefined || cpus.size === 0 || reserved === undefined || reserved === 0n) return []
  if (reserved === BigInt(cpus.size) * NANOS) return []
  const field = isObject(config.systemReserved) && textOf(config.systemReserved.cpu) !== '' ? 'systemReserved' : 'kubeReserved'
  const effect = `reserves the ${cpus.size} CPUs of reservedSystemCPUs, and ignores cpu in systemReserved and kubeReserved`
  return [otherwise('otherwise/unused', [field, 'cpu'], effect, 'remove cpu there, or let both say the same')]
}
