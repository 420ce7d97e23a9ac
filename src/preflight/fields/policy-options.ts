// SPDX-License-Identifier: Apache-2.0
/**
 * The options of the CPU and topology managers' policies. Pure. Kubelet loads a config with any
 * option, and exits when its managers refuse one. Rules, 1.22 to 1.37:
 * `CheckPolicyOptionAvailable`, `NewStaticPolicyOptions` and `ValidateStaticPolicyOptions` of
 * pkg/kubelet/cm/cpumanager, `NewPolicyOptions` of pkg/kubelet/cm/topologymanager, and `run` of
 * cmd/kubelet/app/server.go.
 */
import { parseGoBool } from '../../values/go-syntax.ts'
import { isObject } from '../../values/is-object.ts'
import { type FieldProblem, type FieldRuleInput, quoteText, textOf } from './complaint.ts'

type Stage = 'alpha' | 'beta' | 'stable'
/** By the minor of 1.x in which the stage began. */
type Stages = readonly (readonly [since: number, stage: Stage])[]

/** 1.22 has no gates for groups of options: there `stable` means that none is needed. */
const CPU_OPTIONS: Readonly<Record<string, Stages>> = {
  'full-pcpus-only': [
    [22, 'stable'],
    [23, 'beta'],
    [33, 'stable'],
  ],
  'distribute-cpus-across-numa': [
    [23, 'alpha'],
    [33, 'beta'],
  ],
  'align-by-socket': [[25, 'alpha']],
  'distribute-cpus-across-cores': [[31, 'alpha']],
  'strict-cpu-reservation': [
    [32, 'alpha'],
    [33, 'beta'],
    [35, 'stable'],
  ],
  'prefer-align-cpus-by-uncorecache': [
    [32, 'alpha'],
    [34, 'beta'],
    [36, 'stable'],
  ],
}

/** Of two options that are on, kubelet takes only one. By the minor that began to check. */
const CPU_RIVALS = [
  [31, 'full-pcpus-only', 'distribute-cpus-across-cores'],
  [31, 'distribute-cpus-across-numa', 'distribute-cpus-across-cores'],
  [32, 'prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores'],
  [32, 'prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'],
] as const

const FEWEST_NUMA_NODES = 8
const NUMA_NODES = 'max-allowable-numa-nodes'
const TOPOLOGY_OPTIONS: Readonly<Record<string, Stages>> = {
  'prefer-closest-numa-nodes': [
    [26, 'alpha'],
    [28, 'beta'],
    [32, 'stable'],
  ],
  [NUMA_NODES]: [
    [31, 'beta'],
    [35, 'stable'],
  ],
}

export function checkPolicyOptions(subject: FieldRuleInput): FieldProblem[] {
  return [...checkCpuOptions(subject), ...checkTopologyOptions(subject)]
}

function checkCpuOptions(subject: FieldRuleInput): FieldProblem[] {
  const { config, version, gate } = subject
  const field = 'cpuManagerPolicyOptions'
  const options = readOptions(config[field])
  // The CPU manager was optional up to 1.25.
  if (options.size === 0 || gate('CPUManager') === false) return []
  const policy = textOf(config.cpuManagerPolicy) || 'none'
  const ungated = requireGate(subject, field, 'CPUManagerPolicyOptions')
  if (ungated.length > 0) return ungated.map((complaint) => ({ ...complaint, from: 22 }))
  if (policy === 'none') {
    const problem = `${field} must be empty unless cpuManagerPolicy is static`
    return [{ rule: 'cross', path: [field], problem, advice: 'remove it, or set cpuManagerPolicy to static', from: 22 }]
  }
  if (policy !== 'static' || version === undefined || version.minor < 22) return []
  const { minor } = version
  const isOn = (name: string) => parseGoBool(options.get(name) ?? '') === true
  const rivals = CPU_RIVALS.filter(([since, one, other]) => since <= minor && isOn(one) && isOn(other))
  return [
    ...checkEach(subject, { field, options, known: CPU_OPTIONS, minor, group: 'CPUManagerPolicy' }),
    ...rivals.map(([, one, other]): FieldProblem => {
      const problem = `${field} ${quoteText(one)} and ${quoteText(other)} must not be used at the same time`
      return { rule: 'cross', path: [field, one], problem, advice: 'remove one of them' }
    }),
    ...(isOn('align-by-socket') ? checkSocket(subject) : []),
  ]
}

function checkSocket({ config, gate }: FieldRuleInput): FieldProblem[] {
  if (config.topologyManagerPolicy !== 'single-numa-node' || gate('TopologyManager') === false) return []
  const problem = 'cpuManagerPolicyOptions "align-by-socket" must not be used with topologyManagerPolicy single-numa-node'
  const path = ['cpuManagerPolicyOptions', 'align-by-socket']
  return [{ rule: 'cross', path, problem, advice: 'remove it, or choose another topologyManagerPolicy' }]
}

function checkTopologyOptions(subject: FieldRuleInput): FieldProblem[] {
  const { config, version, gate } = subject
  const field = 'topologyManagerPolicyOptions'
  const options = readOptions(config[field])
  // The topology manager was optional up to 1.26.
  if (options.size === 0 || gate('TopologyManager') === false) return []
  const ungated = requireGate(subject, field, 'TopologyManagerPolicyOptions')
  if (ungated.length > 0) return ungated.map((complaint) => ({ ...complaint, from: 26 }))
  if (version === undefined || version.minor < 26) return []
  const { minor } = version
  // From 1.28 on kubelet looks at them only if there is a policy.
  if (minor >= 28 && (textOf(config.topologyManagerPolicy) || 'none') === 'none') return []
  return checkEach(subject, { field, options, known: TOPOLOGY_OPTIONS, minor, group: 'TopologyManagerPolicy' })
}

function requireGate({ gate }: FieldRuleInput, field: string, name: string): FieldProblem[] {
  if (gate(name) !== false) return []
  const advice = `remove it, or enable the feature gate ${name}`
  return [{ rule: 'cross', path: [field], problem: `${field} requires feature gate ${name}`, advice }]
}

interface Options {
  readonly field: string
  readonly options: ReadonlyMap<string, string>
  readonly known: Readonly<Record<string, Stages>>
  readonly minor: number
  /** The beginning of the names of the gates for alpha and beta options. */
  readonly group: string
}

function checkEach({ gate }: FieldRuleInput, { field, options, known, minor, group }: Options): FieldProblem[] {
  return [...options].flatMap(([name, value]): FieldProblem[] => {
    const path = [field, name]
    const label = `${field} ${quoteText(name)}`
    const stages = Object.hasOwn(known, name) ? known[name] : undefined
    const stage = stages?.findLast(([since]) => since <= minor)?.[1]
    if (stage === undefined) {
      const here = Object.entries(known).flatMap(([option, [first]]) => (first !== undefined && first[0] <= minor ? [option] : []))
      const problem = `${label} is not an option that this kubelet knows`
      return [{ rule: 'value', path, problem, mistyped: { name, known: here }, byList: true }]
    }
    const needed = stage === 'stable' ? undefined : `${group}${stage === 'alpha' ? 'Alpha' : 'Beta'}Options`
    if (needed !== undefined && gate(needed) === false) {
      const advice = `remove it, or enable the feature gate ${needed}`
      return [{ rule: 'cross', path, problem: `${label} is ${stage} and requires feature gate ${needed}`, advice }]
    }
    if (name === NUMA_NODES) return checkNodes(path, label, value)
    if (parseGoBool(value) !== undefined) return []
    return [{ rule: 'value', path, problem: `${label} has the value ${quoteText(value)}, which is neither "true" nor "false"` }]
  })
}

function checkNodes(path: readonly string[], label: string, value: string): FieldProblem[] {
  if (!/^[-+]?\d+$/.test(value))
    return [{ rule: 'value', path, problem: `${label} has the value ${quoteText(value)}, which is not an integer` }]
  return Number(value) >= FEWEST_NUMA_NODES
    ? []
    : [{ rule: 'range', path, problem: `${label} ${quoteText(value)} must be ${FEWEST_NUMA_NODES} or greater` }]
}

/** null means an empty text. */
function readOptions(value: unknown): ReadonlyMap<string, string> {
  return new Map(isObject(value) ? Object.entries(value).map(([name, text]) => [name, textOf(text)]) : [])
}
