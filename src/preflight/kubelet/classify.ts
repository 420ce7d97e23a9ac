/**
 * What the end of a probe means. Pure. Its rule: refused is only what kubelet says of configs alone, by the texts of its own sources (cmd/kubelet/app/server.go and
 * what it calls, Kubernetes 1.20 to 1.34); whatever the sandbox, the flags or the node may have caused, and whatever is not known, is unjudged.
 */
import { formatVersion, type KubeletVersion } from '../kubelet-version.ts'
import type { JudgeStage, KubeletJudgement, ProbePlaces } from './judgement.ts'
import { findLastWords } from './last-words.ts'
import { quoteWords } from './quote-words.ts'

export interface Probe {
  readonly stage: JudgeStage
  readonly places: ProbePlaces
  /** Kubelet's real ones. */
  readonly flags: readonly string[]
  readonly version: KubeletVersion
}

/** Since then it asks the runtime for its cgroup driver before it does anything else. */
const RUNTIME_FIRST = 28

const LOADING = /failed to load kubelet config file/i
const READING = /failed to read kubelet config file/i
/** Drop-ins of the node (`--config-dir`) are none of the candidate's. */
const DROP_INS = /kubelet dropin file|drop-in kubelet config file|failed to merge kubelet configs/i
const FLAGS =
  /failed to parse kubelet flag|unknown (?:shorthand )?flag|failed to validate kubelet flags|^unknown command|invalid argument ".*" for /i
const GATE = /(?:unrecognized feature gate: |cannot set feature gate |invalid value of )(\w+)/

/** What the sandbox, or the node, does to a kubelet whatever its config is. */
const SURROUNDINGS = new RegExp(
  [
    'permission denied|operation not permitted|operation not supported|read-only file system|no space left on device|input/output error',
    'too many open files|cannot allocate memory|resource temporarily unavailable|device or resource busy|address already in use',
    'network is unreachable|no route to host|connection refused|i/o timeout|deadline exceeded|address family not supported',
  ].join('|'),
  'i',
)

/** What kubelet says of a config while it starts. */
const REFUSALS = [
  // ValidateKubeletConfiguration; cm.NewContainerManager.
  /invalid configuration: |failed to validate kubelet configuration|initialize logging: /i,
  // featuregate.SetFromMap; whose gate it is has been looked at before.
  /unrecognized feature gate: |cannot set feature gate |invalid value of \w+/,
  // BuildAuth, InitializeTLS.
  /unable to load client CA (?:file|provider)|unknown authorization mode|Cipher suite .* not supported|unknown tls version|unknown curve/i,
  // parseResourceList, getReservedCPUs, ParseQOSReserved.
  /quantities must match the regular expression|unable to parse (?:quantity|numeric part)|-reserved value failed to parse|cannot reserve "/i,
  /resource quantity for .* cannot be negative|unable to parse reserved-cpus|Invalid cpuset|reserved-cpus: .* is not a subset|qos-?reserved|percentage expected/i,
  // eviction.ParseThresholdConfig.
  /unsupported eviction|eviction (?:percentage )?thresholds? .* must be|grace period .*soft eviction threshold|soft eviction threshold .*grace period/i,
  /negative eviction minimum reclaim|strconv\.Parse\w+: parsing|time: (?:invalid|unknown|missing)/i,
  // Managers of CPUs, memory, topology; swap.
  /running with swap on is not supported|swap feature is enabled and LimitedSwap|unknown policy: "|topology manager polic/i,
  /\[(?:cpu|memory)manager\]|unable to reserve the required amount of CPUs|reserved memory|static policy/i,
  // NewMainKubelet.
  /invalid sync frequency|is not a supported hairpin mode|failed to initialize (?:image|container log) manager|not a valid sysctl pattern/i,
]

/** @param output all that the probe said. */
export function classify(output: string, probe: Probe): KubeletJudgement {
  const kubelet = `kubelet ${formatVersion(probe.version)}`
  const words = findLastWords(output)
  if (words === undefined) return unjudged(`${kubelet} ended without a message that is known`)
  const quote = quoteWords(words, probe.places)
  if (isGoal(words, probe)) return { kind: 'accepted', detail: `${kubelet} ${describeGoal(probe)}` }
  if (FLAGS.test(words)) return unjudged(`${kubelet} does not take the flags of this node's kubelet: ${quote}`)
  if (DROP_INS.test(words)) return unjudged(`${kubelet} does not take the drop-ins of this node's config: ${quote}`)
  if (LOADING.test(words)) {
    if (READING.test(words)) return unjudged(`${kubelet} could not read the file that was made for it: ${quote}`)
    return { kind: 'refused', reason: 'load', words: quote }
  }
  const [, gate] = GATE.exec(words) ?? []
  if (gate !== undefined && namesGate(probe.flags, gate))
    return unjudged(`${kubelet} does not take the flags of this node's kubelet: ${quote}`)
  if (/invalid configuration: /.test(words)) return { kind: 'refused', reason: 'validate', words: quote }
  if (SURROUNDINGS.test(words) || isOutside(words, probe.places))
    return unjudged(`${kubelet} was hindered, perhaps by its sandbox: ${quote}`)
  if (REFUSALS.some((pattern) => pattern.test(words))) return { kind: 'refused', reason: 'validate', words: quote }
  return unjudged(`${kubelet} ended in a way that is not known: ${quote}`)
}

/** It came as far as it was let. */
function isGoal(words: string, { stage, places }: Probe): boolean {
  return words.includes(stage === 'load' ? places.kubeconfig : places.runtimeSocket)
}

function describeGoal({ stage, version }: Probe): string {
  if (stage === 'load') return 'loaded and validated it'
  const asFar = 'started with it as far as its container runtime'
  return version.minor < RUNTIME_FIRST ? asFar : `${asFar}, and so has not parsed reservations and eviction signals yet`
}

function unjudged(detail: string): KubeletJudgement {
  return { kind: 'unjudged', detail }
}

function namesGate(flags: readonly string[], gate: string): boolean {
  return flags.some((flag, at) => {
    const given = /^--feature[-_]gates=/.test(flag) || /^--feature[-_]gates$/.test(flags[at - 1] ?? '')
    return given && flag.split(/[=,]/).includes(gate)
  })
}

/** A file of the probe's own, other than the candidate's: a path that leads out of its folder, or one that the sandbox gives. */
function isOutside(words: string, { directory, candidate }: ProbePlaces): boolean {
  return words.replaceAll(`${candidate}/`, '').includes(directory) || /\/dev\/kmsg/.test(words)
}
