// SPDX-License-Identifier: Apache-2.0
/**
 * Turns the output of a probe into a judgement. Pure. Messages that the sandbox or the node may
 * have caused give `unjudged`. Messages about kubelet's own flags or drop-ins give `cannot-start`.
 * Every other message with which kubelet ends the load stage is a refusal, in whatever form: that
 * stage reads nothing but the config and the flags (cmd/kubelet/app/server.go and what it calls,
 * Kubernetes 1.20 to 1.37). In the deep stage a config is refused only for messages that are about
 * the config alone, and accepted where kubelet fails at what a sandbox has no more of.
 */
import type { Incomplete } from '../../subject/unit-state.ts'
import { formatVersion, isNewer, type KubeletVersion } from '../kubelet-version.ts'
import { findEffectiveConfig, findFinalMessage } from './final-message.ts'
import { type HowFar, howFar, type JudgeStage, type KubeletJudgement, type ProbePlaces, WAITS_FOR_RUNTIME } from './judgement.ts'

export interface Probe {
  readonly stage: JudgeStage
  readonly places: ProbePlaces
  /** Kubelet's real flags. */
  readonly flags: readonly string[]
  /** See `JudgeRequest`. */
  readonly incomplete?: Incomplete | undefined
  readonly version: KubeletVersion
}

const LOADING = /failed to load kubelet config file/i
const READING = /failed to read kubelet config file/i
/** Errors about the node's drop-ins (`--config-dir`), which are not part of the candidate. */
const DROP_INS = /kubelet dropin file|drop-in kubelet config file|failed to merge kubelet configs/i
const FLAGS = /failed to parse kubelet flag|unknown (?:shorthand )?flag|failed to validate kubelet flags|invalid argument ".*" for /i
const UNKNOWN_FLAG = /unknown (?:shorthand )?flag/
/** A word that is no flag. systemd shows a word that contains a space as two of them. */
const STRAY_WORD = /^unknown command/
/** The flag that a message of pflag is about. */
const FLAG_NAME = /unknown flag: --([\w-]+)|for "(?:-\w, )?--([\w-]+)" flag/
const GATE = /(?:unrecognized feature gate: |cannot set feature gate |invalid value of )(\w+)|(\w+) is enabled, but depends on features /g
/**
 * How kubelet panics over the gates of the config. It has set those of its flags by then
 * (`SetDefaults_KubeletConfiguration`).
 */
const GATES_OF_CONFIG = /while setting defaults/

/** Errors that the sandbox or the node may cause with any config. */
export const ENVIRONMENT_ERRORS = new RegExp(
  [
    'permission denied|operation not permitted|operation not supported|read-only file system|no space left on device|input/output error',
    'too many open files|cannot allocate memory|resource temporarily unavailable|device or resource busy|address already in use',
    // The Go runtime under the limits of the sandbox: `throw` and `newosproc`, package runtime.
    'out of memory|failed to create new OS thread|newosproc|pthread_create failed|bad system call',
    'network is unreachable|no route to host|connection refused|i/o timeout|deadline exceeded|address family not supported',
  ].join('|'),
  'i',
)

/** `listenAndServe...`, pkg/kubelet/server: net.Listen of Go. */
const PORT_TAKEN = /^listen tcp\S* \S+: bind: address already in use$/
/** The sandbox has the loopback addresses alone, and no capability for ports below 1024. */
const NOT_IN_SANDBOX = /^listen tcp\S* \S+: bind: (?:cannot assign requested address|permission denied)$/

/** Errors about the config, while kubelet starts. */
const CONFIG_ERRORS = [
  // ValidateKubeletConfiguration; cm.NewContainerManager.
  /invalid configuration: |failed to validate kubelet configuration|initialize logging: /i,
  // featuregate.SetFromMap; gates of flags have been handled before.
  /unrecognized feature gate: |cannot set feature gate |invalid value of \w+/,
  // BuildAuth, InitializeTLS.
  /unable to load client CA (?:file|provider)|unknown authorization mode|Cipher suite .* not supported|unknown tls version|unknown curve/i,
  // parseResourceList, getReservedCPUs, ParseQOSReserved.
  /quantities must match the regular expression|unable to parse (?:quantity|numeric part)|-reserved value failed to parse|cannot reserve "/i,
  /resource quantity for .* cannot be negative|unable to parse reserved-cpus|Invalid cpuset|reserved-cpus: .* is not a subset|qos-?reserved|percentage expected/i,
  // eviction.ParseThresholdConfig.
  /unsupported eviction|eviction (?:percentage )?thresholds? .* must be|grace period .*soft eviction threshold|soft eviction threshold .*grace period/i,
  /negative eviction minimum reclaim|eviction percentage minimum reclaim|invalid eviction grace period/i,
  // Percentages and grace periods, bare. Behind other words, a file of the node may be meant.
  /^(?:failed to (?:run kubelet|create kubelet): )*(?:strconv\.Parse\w+: parsing|time: (?:invalid|unknown|missing))/i,
  // Managers of CPUs, memory, topology; swap.
  /running with swap on is not supported|LimitedSwap(?:,? but it)? is only supported with cgroupv2|unknown policy: "|topology manager polic/i,
  // Options of their policies.
  /None policy: received unsupported options|manager policy options .* require feature gates|manager policy (?:alpha|beta)-level options not enabled/i,
  /unknown (?:cpu|topology) manager policy option|unsupported (?:cpu|topology)manager option|bad value for option "|static policy options /i,
  /is incompatible with CPUManager|Align by socket is not compatible|unable to convert policy option to integer|the minimum value of "/i,
  /\[(?:cpu|memory)manager\]|unable to reserve the required amount of CPUs|reserved memory|static policy/i,
  /the total amount .* is not equal to the value .* determined by Node Allocatable/,
  /unsupported on machines with more than \d+ NUMA Nodes/,
  // ListenAndServeKubeletServer: no address, no cipher suite for HTTP/2, no pair of certificate and
  // key (tls.LoadX509KeyPair).
  /^listen tcp: lookup <nil>: |^http2: TLSConfig\.CipherSuites |^tls: /,
  // NewRemoteRuntimeService; a source of pods.
  /connectionTimeout must be positive|non-positive interval for NewTicker/,
  // NewMainKubelet. As many IDs as the node gives its pods, maxPods has to do with.
  /user assigned IDs are not enough to support/,
  /failed to initialize file based certificate manager: |failed to load certificate: |unknown configmap and secret manager mode/,
  /iptables-(?:masquerade|drop)-bit is not valid|iptables-masquerade-bit and iptables-drop-bit must be different/,
  /invalid sync frequency|is not a supported hairpin mode|failed to initialize (?:image|container log) manager|not a valid sysctl pattern|not known to be namespaced|sysctl "\S+" must have at most/i,
]

/** @param output everything that the probe printed */
export function classify(output: string, probe: Probe): KubeletJudgement {
  const kubelet = `kubelet ${formatVersion(probe.version)}`
  const goal = howFar(probe.stage, probe.version)
  const message = new RegExp(`^${WAITS_FOR_RUNTIME}$`, 'm').test(output) ? WAITS_FOR_RUNTIME : findFinalMessage(output)
  if (message === undefined) return unjudged(`${kubelet} exited without a known message`)
  const quote = quoteMessage(message, probe.places)
  const reached = describeGoal(message, goal, probe.places)
  if (reached !== undefined) {
    const effective = findEffectiveConfig(output)
    return {
      kind: 'accepted',
      detail: `${kubelet} ${reached}`,
      ...(isNewer(probe.version) && { ignored: listIgnored(output) }),
      ...(effective !== undefined && { effective }),
    }
  }
  const blameNode = probe.incomplete === undefined ? cannotStart : unjudged
  if (STRAY_WORD.test(message)) return unjudged(`${kubelet} does not accept the words of the probe: ${quote}`)
  if (FLAGS.test(message)) {
    if (isOfProbe(message, probe.flags)) return unjudged(`${kubelet} does not accept the flags of the probe: ${quote}`)
    // More words do not make kubelet know a flag.
    const blameFlags = probe.incomplete === 'more' && UNKNOWN_FLAG.test(message) ? cannotStart : blameNode
    return blameFlags(`${kubelet} does not accept the flags of this node's kubelet: ${quote}`)
  }
  if (DROP_INS.test(message)) {
    const detail = `${kubelet} does not accept the config drop-ins of this node: ${quote}`
    return ENVIRONMENT_ERRORS.test(message) ? unjudged(detail) : blameNode(detail)
  }
  if (LOADING.test(message)) {
    if (READING.test(message)) return unjudged(`${kubelet} could not read the config file of the probe: ${quote}`)
    return { kind: 'refused', reason: 'load', message: quote }
  }
  if (!GATES_OF_CONFIG.test(message) && gatesIn(message).some((gate) => namesGate(probe.flags, gate)))
    return blameNode(`${kubelet} does not accept the flags of this node's kubelet: ${quote}`)
  if (/invalid configuration: /.test(message)) return { kind: 'refused', reason: 'validate', message: quote }
  // Nobody else listens in the network of the sandbox.
  if (goal === 'beside-runtime' && PORT_TAKEN.test(message)) return { kind: 'refused', reason: 'validate', message: quote }
  if (ENVIRONMENT_ERRORS.test(message) || isOutside(message, probe.places))
    return unjudged(`${kubelet} failed, perhaps because of its sandbox: ${quote}`)
  if (CONFIG_ERRORS.some((pattern) => pattern.test(message))) return { kind: 'refused', reason: 'validate', message: quote }
  if (probe.stage === 'load') return { kind: 'refused', reason: 'validate', message: quote }
  return unjudged(`${kubelet} exited with an unknown message: ${quote}`)
}

/**
 * The fields that strict decoding does not know: `DecodeKubeletConfiguration`,
 * pkg/kubelet/kubeletconfig/util/codec, decodes leniently then, and logs why.
 */
function listIgnored(output: string): string[] {
  const lines = output.split('\n').filter((line) => /lenient decoding as strict decoding failed/i.test(line))
  return lines.flatMap((line) => [...line.matchAll(/unknown field \\*"([^"\\]+)/g)].map(([, name = '']) => name))
}

/** How far kubelet came, where that is the end of its probe. undefined: it ended elsewhere. */
function describeGoal(message: string, goal: HowFar, { kubeconfig, runtimeSocket }: ProbePlaces): string | undefined {
  const started = 'started with the config until it needed its container runtime'
  switch (goal) {
    case 'to-kubeconfig':
      return message.includes(kubeconfig) ? 'loaded and validated the config' : undefined
    case 'to-runtime':
      return message.includes(runtimeSocket) ? started : undefined
    case 'not-far':
      return message.includes(runtimeSocket) ? `${started}, before it parses reservations and eviction signals` : undefined
    case 'beside-runtime':
      if (message === WAITS_FOR_RUNTIME) return 'started with the config until it waited for its container runtime'
      if (NOT_IN_SANDBOX.test(message))
        return 'started with the config until it listened at an address or a port that its sandbox does not have'
      return message.includes(runtimeSocket) ? started : undefined
  }
}

export function unjudged(detail: string): KubeletJudgement {
  return { kind: 'unjudged', detail }
}

export function cannotStart(detail: string): KubeletJudgement {
  return { kind: 'cannot-start', detail }
}

/** A later kubelet may not know a flag that only the probe adds. */
function isOfProbe(message: string, flags: readonly string[]): boolean {
  const [, unknown, invalid] = FLAG_NAME.exec(message) ?? []
  const name = (unknown ?? invalid)?.replaceAll('_', '-')
  return name !== undefined && !flags.some((flag) => flag.split('=', 1)[0]?.replaceAll('_', '-') === `--${name}`)
}

/** The gates that the message is about. */
function gatesIn(message: string): string[] {
  return [...message.matchAll(GATE)].map(([, wrong, needy]) => wrong ?? needy ?? '')
}

function namesGate(flags: readonly string[], gate: string): boolean {
  return flags.some((flag, at) => {
    const given = /^--feature[-_]gates=/.test(flag) || /^--feature[-_]gates$/.test(flags[at - 1] ?? '')
    return given && flag.split(/[=,]/).includes(gate)
  })
}

/**
 * Whether the message is about a file of the probe that is not the candidate's: a relative path
 * that leads out of the candidate's directory, or a file that the sandbox provides.
 */
function isOutside(message: string, { directory, candidate }: ProbePlaces): boolean {
  return message.replaceAll(`${candidate}/`, '').includes(directory) || /\/dev\/kmsg/.test(message)
}

/**
 * Makes a message of kubelet safe to quote: in one line, bounded, without the paths of the probe,
 * and without the parts of the config that kubelet prints and that could hold a secret
 * (`staticPodURLHeader`).
 */
const LONGEST = 400

/**
 * After these follows a part of the config's text (github.com/json-iterator/go, `ReportError`), or
 * the whole config as Go prints a struct.
 */
const CONFIG_FOLLOWS = /(?<= is missing) in '|, error found in #\d+ byte of \.\.\.|, path: &/

function quoteMessage(message: string, { directory, candidate, scratch }: ProbePlaces): string {
  const [before = ''] = message.split(CONFIG_FOLLOWS, 1)
  const plain = before
    .replaceAll(`${candidate}/`, '')
    .replaceAll(`${scratch}/`, '')
    .replaceAll(`${directory}/`, '')
    // Decoders may quote binary data.
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{FFFD}\s]+/gu, ' ')
    .trim()
  return plain.length <= LONGEST ? plain : `${plain.slice(0, LONGEST - 3)}...`
}
