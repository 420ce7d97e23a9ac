// SPDX-License-Identifier: Apache-2.0
/**
 * Kubelet's unit under the real systemd, through the `systemctl` command and /proc. It never waits
 * for a job and never starts a unit that an operator stopped. It uses the command line of a process
 * only after systemd has named that process twice: just after a start, /proc/PID/cmdline can still
 * be that of systemd's own child. systemctl runs with an argument list, a time limit and an
 * environment of its own, without a shell and without the agent's NOTIFY_SOCKET.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { RestartOutcome } from '../decision/effects-of-answer.ts'
import type { Unit } from '../ports/unit.ts'
import { describeFailure, runCommand, succeeded } from '../process/run-command.ts'
import type { KnownUnit, KubeletProcess, UnitActivity, UnitState } from '../subject/unit-state.ts'
import { SYSTEMD_ENVIRONMENT } from '../values/child-environment.ts'
import { codedError } from '../values/errors.ts'
import type { ActivationChoice } from './activation-kinds.ts'
import type { BinaryIdentity, FileKubeletBinary } from './binary-identity.ts'
import { asArguments, flagValue } from './command-line.ts'
import { isKubeletInside } from './distribution.ts'
import { expandPath, listEnvironmentFiles } from './environment-file.ts'
import type { HeldAnswer } from './held-answer.ts'
import type { IdentifyMerged } from './merged-files.ts'
import { chooseVerb, classifyActivity, describeProcess, findWait, hasHitStartLimit, needsReset, summarizeState } from './unit-activity.ts'
import type { NextUnitStart, UnitDefinition } from './unit-definition.ts'
import { BOUND_PROPERTIES, findEndedUnit, parseUnitProperties, UNIT_PROPERTIES, type UnitProperties } from './unit-properties.ts'
import { describeKubelet, describeMissing, findNextWords, type KubeletFacts } from './wiring.ts'

export interface SystemctlOptions {
  /** Path of the command. */
  readonly systemctl: string
  readonly unit: string
  readonly envFile: string
  readonly activation: ActivationChoice
  /** The config directory of a kubelet whose unit does not name it. */
  readonly kubeletConfigDir?: string | undefined
  readonly dynamicConfigDir: string
  readonly binary: Pick<FileKubeletBinary, 'identify'>
  readonly identifyMerged?: IdentifyMerged
  /** undefined: systemd is asked at each observation. */
  readonly held?: HeldAnswer<UnitProperties> | undefined
  readonly procRoot?: string
  readonly timeoutMs?: number
}

const DROP_IN_NAME = '90-kubelet-cfg-agent.conf'
/** Where drop-ins are: systemd.unit(5), "System Unit Search Path". */
const UNIT_DIRECTORIES = [
  '/etc/systemd/system',
  '/run/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
]
const UNIT_NAME = /^[A-Za-z0-9:_.\\][A-Za-z0-9:_.\\@-]{0,240}\.service$/

/** A process that is kubelet according to both systemd and its own command line. */
interface KnownProcess {
  readonly kind: 'known'
  readonly invocationId: string
  readonly pid: number
  /**
   * Field 22 of /proc/PID/stat; together with the pid it identifies a process forever. Empty: it
   * cannot be read.
   */
  readonly startTime: string
  /** Empty: kubelet is a part of another program, whose command line says nothing of it. */
  readonly command: readonly string[]
}
type FoundProcess = KnownProcess | Extract<KubeletProcess, { kind: 'none' | 'unknown' }>
type Answer =
  | { readonly ok: true; readonly output: string }
  /** `wasCut`: a signal ended the command, as where the agent is stopped. */
  | { readonly ok: false; readonly output: string; readonly detail: string; readonly wasCut: boolean; readonly isLate: boolean }

type KnownBinary = Extract<BinaryIdentity, { kind: 'known' }>

const NO_BINARY: KnownBinary = { kind: 'known', identity: '', former: '' }
const MISSING = 'which does not exist: install kubelet, unless an upgrade is replacing it now'
const NOT_NEEDED: Answer = { ok: true, output: '' }

export class Systemctl implements Unit {
  readonly #options: Required<SystemctlOptions>
  /** The command line of a process never changes, so each is read once. */
  #known: KnownProcess | undefined
  /** The last observation, if it succeeded. */
  #last: { readonly activity: UnitActivity; readonly startLimited: boolean } | undefined

  constructor(options: SystemctlOptions) {
    if (!UNIT_NAME.test(options.unit)) throw codedError('unit-name', `${options.unit} is not the name of a service unit`)
    this.#options = {
      procRoot: '/proc',
      timeoutMs: 10_000,
      kubeletConfigDir: undefined,
      identifyMerged: () => '',
      held: undefined,
      ...options,
    }
  }

  async observe(): Promise<UnitState> {
    this.#last = undefined
    const asked = this.#options.held?.begin()
    const held = this.#findHeld()
    const shown = held ?? (await this.#show())
    if (typeof shown === 'string') return { kind: 'unknown', detail: shown }
    const { exec } = shown
    const binary = exec === undefined ? NO_BINARY : await this.#options.binary.identify(exec.path)
    if (binary.kind !== 'known') {
      // A package upgrade removes the file for a moment. That must count neither as another
      // kubelet, on which every config would get a new trial, nor as a failure of the config.
      const why = binary.kind === 'missing' ? MISSING : 'which is being read to see whether it is another kubelet than before'
      return { kind: 'unknown', detail: `${this.#options.unit} starts ${exec?.path}, ${why}` }
    }
    const process = await this.#findProcess(shown)
    const activity = await this.#findActivity(shown)
    this.#last = { activity, startLimited: shown.startLimited }
    // systemd signals by a unit's own name, and not by an alias.
    if (held === undefined && activity === 'running' && process.kind === 'known' && shown.id === this.#options.unit) asked?.keep(shown)
    const kubelet = this.#describeKubelet(shown, binary, process.kind === 'known' ? process.command : undefined)
    return {
      kind: 'known',
      activity,
      summary: summarizeState(shown),
      invocationId: shown.invocationId,
      nRestarts: shown.nRestarts,
      startLimitHit: hasHitStartLimit(shown),
      startedAtUs: shown.startedAtUs,
      killedBy: shown.killedBy,
      ...findWait(shown, activity),
      ...(await this.#findDown(shown, activity)),
      ...{ hazards: shown.hazards, setsStatesAside: shown.setAsidePrograms.some((paths) => paths.every((path) => existsSync(path))) },
      process: process.kind === 'known' ? this.#describeProcess(process, kubelet) : process,
      ...kubelet,
    }
  }

  stillRuns(seen: UnitState): boolean {
    const known = this.#known
    return seen.kind === 'known' && known !== undefined && seen.invocationId === known.invocationId && this.#isAlive(known)
  }

  /**
   * The command line that systemd starts kubelet with, without its own name. undefined: not known.
   * @param inherited the environment of a process that the unit starts
   */
  async readNextStart(inherited: Readonly<Record<string, string | undefined>>): Promise<NextUnitStart | undefined> {
    const shown = await this.#show()
    if (typeof shown === 'string' || shown.exec === undefined) return undefined
    const words = findNextWords({ ...shown.exec, environment: shown.environment, environmentFiles: readEnvironment(shown) }, inherited)
    return words && { words, mainPid: shown.mainPid }
  }

  async restart(activity: 'failed' | 'other'): Promise<RestartOutcome | undefined> {
    const { unit } = this.#options
    const last = this.#last
    this.#options.held?.drop()
    const resets = needsReset(last?.activity, last?.startLimited ?? true)
    // Another `show` costs time, and where nothing is reset, no unit looks stopped by it.
    const verb = chooseVerb(activity, resets ? await this.#show() : activity)
    // If reset-failed fails, the restart may still work: exits are counted from a recorded baseline
    // anyway.
    const reset: Answer = resets ? await this.#run(['reset-failed', unit]) : NOT_NEEDED
    const answer = await this.#run([verb, '--no-block', unit])
    if (answer.ok) return { ok: true }
    if (answer.wasCut) return undefined
    const detail = reset.ok ? answer.detail : `${answer.detail} (before that, ${reset.detail})`
    return { ok: false, detail, ...(answer.isLate && { mayBeTaken: true }) }
  }

  async #show(): Promise<UnitProperties | string> {
    const answer = await this.#run(['show', '-p', UNIT_PROPERTIES.join(','), this.#options.unit])
    if (!answer.ok) return answer.detail
    return parseUnitProperties(answer.output) ?? `systemctl show ${this.#options.unit} printed something unexpected`
  }

  /** Where a signal was lost, the process itself still tells that it has ended. */
  #findHeld(): UnitProperties | undefined {
    return this.#known !== undefined && this.#isAlive(this.#known) ? this.#options.held?.get() : undefined
  }

  #isAlive({ pid, startTime }: KnownProcess): boolean {
    return startTime !== '' && this.#readStartTime(pid) === startTime
  }

  async #findProcess(shown: UnitProperties): Promise<FoundProcess> {
    const { mainPid: pid, invocationId, exec } = shown
    if (pid === 0) return { kind: 'none' }
    if (this.#known?.pid === pid && this.#known.invocationId === invocationId) return this.#known
    const isInside = isKubeletInside(exec)
    const command = isInside ? [] : this.#readCommand(pid)
    if (command === undefined)
      return { kind: 'unknown', detail: `process ${pid} of ${this.#options.unit} has no command line: it is starting or exiting` }
    if (!isInside && command[0] !== exec?.path && command[0] !== exec?.words[0]) {
      return {
        kind: 'unknown',
        detail: `process ${pid} is ${command[0]}, not ${exec?.path}: it is still starting, or ExecStart is a wrapper`,
      }
    }
    const again = await this.#show()
    if (typeof again === 'string') return { kind: 'unknown', detail: again }
    if (again.mainPid !== pid || again.invocationId !== invocationId)
      return { kind: 'unknown', detail: `${this.#options.unit} is being restarted` }
    this.#known = { kind: 'known', pid, invocationId, startTime: this.#readStartTime(pid), command }
    return this.#known
  }

  #readCommand(pid: number): string[] | undefined {
    const text = readText(join(this.#options.procRoot, String(pid), 'cmdline'))
    return text ? text.replace(/\0$/, '').split('\0') : undefined
  }

  /** Empty for a zombie. proc_pid_stat(5): the name before the state may contain any character. */
  #readStartTime(pid: number): string {
    const text = readText(join(this.#options.procRoot, String(pid), 'stat')) ?? ''
    const [state = 'X', ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return /[ZXx]/.test(state) ? '' : (fields[18] ?? '')
  }

  #describeProcess({ pid, command }: KnownProcess, { localConfigPath }: KubeletFacts): KubeletProcess {
    const configPath = command.length === 0 ? localConfigPath : flagValue(asArguments(command), 'config')
    return describeProcess(this.#options.dynamicConfigDir, pid, configPath)
  }

  /**
   * A system that shuts down stops kubelet too, which is not a failure. Checked only where it could
   * look like one.
   */
  async #findActivity(shown: UnitProperties): Promise<UnitActivity> {
    const activity = classifyActivity(shown)
    if (activity === 'running' || activity === 'stopping' || activity === 'not-found') return activity
    const { output } = await this.#run(['is-system-running'])
    return output.trim() === 'stopping' ? 'stopping' : activity
  }

  async #findDown(shown: UnitProperties, activity: UnitActivity): Promise<Pick<KnownUnit, 'down'>> {
    if (activity !== 'stopped' && activity !== 'left-down') return {}
    const { down, startedAtUs, hazards } = shown
    const { unit } = this.#options
    const { output } =
      hazards.bindsTo.length > 0 ? await this.#run(['show', '-p', BOUND_PROPERTIES.join(','), unit, ...hazards.bindsTo]) : NOT_NEEDED
    return { down: { ...down, name: unit, endedWith: findEndedUnit(output, { startedAtUs, activeExitUs: down.activeExitUs }) } }
  }

  #describeKubelet(shown: UnitProperties, binary: KnownBinary, command: readonly string[] | undefined): KubeletFacts {
    const { exec } = shown
    if (exec === undefined) {
      return {
        wiring: describeMissing(this.#options.unit, shown),
        localConfigPath: undefined,
        runtimeEndpoint: undefined,
        healthzFlags: {},
        kubeletIdentity: 'none',
        command: undefined,
      }
    }
    const definition: UnitDefinition = {
      path: exec.path,
      words: exec.words,
      environment: shown.environment,
      environmentFiles: readEnvironment(shown),
      needDaemonReload: shown.needDaemonReload,
      dropIn: this.#findDropIn(shown.dropInPaths),
      dropInNames: shown.dropInPaths
        .filter((path) => basename(path) === DROP_IN_NAME)
        .flatMap((path) => listEnvironmentFiles(readText(path) ?? '')),
      ...{ binaryIdentity: binary.identity, formerBinaryIdentity: binary.former, isBinaryUnread: binary.unread },
    }
    const { envFile, activation, kubeletConfigDir, identifyMerged } = this.#options
    return describeKubelet(definition, envFile, activation, command, kubeletConfigDir, identifyMerged)
  }

  #findDropIn(loaded: readonly string[]): UnitDefinition['dropIn'] {
    if (loaded.some((path) => basename(path) === DROP_IN_NAME)) return 'loaded'
    return UNIT_DIRECTORIES.some((directory) => existsSync(join(directory, `${this.#options.unit}.d`, DROP_IN_NAME))) ? 'on-disk' : 'absent'
  }

  /** Never rejects. */
  async #run(parameters: readonly string[]): Promise<Answer> {
    const { systemctl, timeoutMs } = this.#options
    const result = await runCommand(systemctl, parameters, { timeoutMs, maxOutputBytes: 1 << 20, env: SYSTEMD_ENVIRONMENT })
    const { end, stdout: output } = result
    if (succeeded(result)) return { ok: true, output }
    const wasCut = end.kind === 'signalled' || end.kind === 'aborted'
    return { ok: false, output, detail: `systemctl ${parameters[0]}: ${describeFailure(result)}`, wasCut, isLate: end.kind === 'timed-out' }
  }
}

/**
 * undefined: the file does not exist or cannot be read. systemd treats both alike for an optional
 * environment file.
 */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function readEnvironment({ environmentFiles }: UnitProperties): UnitDefinition['environmentFiles'] {
  return environmentFiles.flatMap(({ path }) => findFiles(path)).map((path) => ({ path, text: readText(path) }))
}

/**
 * systemd.exec(5), "EnvironmentFile=": a path may have wildcards. A pattern that no file matches is
 * kept, like the path of a file that does not exist.
 */
function findFiles(path: string): readonly string[] {
  const found = expandPath(path, listNames)
  return found.length === 0 ? [path] : found
}

function listNames(directory: string): readonly string[] | undefined {
  try {
    return readdirSync(directory)
  } catch {
    return undefined
  }
}
