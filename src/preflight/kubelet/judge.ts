// SPDX-License-Identifier: Apache-2.0
/**
 * Runs kubelet's own binary on a config, as a transient unit in a systemd sandbox. A kubelet runs
 * outside the sandbox in one case only: the user named it, systemd-run cannot be used, and the
 * stage is `load`, which exits before it touches anything. A probe leaves nothing behind: its files
 * are in its own directory, and its unit is stopped unless it was seen to end.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { checkData } from '../../decision/safe-names.ts'
import { type CommandResult, describeEnd, runCommand } from '../../process/run-command.ts'
import { CHILD_ENVIRONMENT, SYSTEMD_ENVIRONMENT } from '../../values/child-environment.ts'
import { errorMessage } from '../../values/errors.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import { cannotStart, classify, type Probe, unjudged } from './classify.ts'
import {
  CERTIFICATE_FILES,
  howFar,
  isPlainPath,
  type Judge,
  type JudgeRequest,
  type KubeletJudgement,
  placesIn,
  UNREACHABLE_KUBECONFIG,
  type VersionAnswer,
} from './judgement.ts'
import { probeFlags, WITHOUT_DOCKER } from './probe-flags.ts'
import { type JudgementFile, RememberedJudgements, requestKey, SharedRuns } from './remembered.ts'
import { readSandboxEnd, SANDBOX_LIMITS, type SandboxLimits, sandboxArguments } from './sandbox.ts'

export interface JudgeOptions {
  /** Reads the version of a kubelet binary. */
  version(binary: string): Promise<VersionAnswer>
  /** Paths of the commands. */
  readonly systemdRun: string
  readonly systemctl: string
  /**
   * For the files of probes. Other processes must see it at the same path: not in a private /tmp.
   */
  readonly directory: string
  /** The user named the kubelet: without systemd-run, run it directly as far as that is safe. */
  readonly direct: boolean
  /**
   * The program `stand-in.ts` as a command, for the deep stage of kubelets that look for Docker or
   * for their container runtime.
   */
  readonly standIn: readonly string[]
  readonly memory: JudgementFile
  readonly limits?: SandboxLimits
  /** How much longer systemd-run may take than its command. */
  readonly graceMs?: number
}

type NoVersion = Extract<VersionAnswer, { ok: false }>

const DIRECT_ENVIRONMENT = { ...CHILD_ENVIRONMENT, GOMAXPROCS: '2' }
/**
 * At its lowest verbosity kubelet prints about 50 KB. From 1.37 on it logs its config as well,
 * before it says why it exits: 16 MiB of a ConfigMap of 1 MiB that is full of `{}`.
 */
const MOST_OUTPUT = 1 << 20
const STOP_MS = 10_000
const COMMON = { maxOutputBytes: MOST_OUTPUT, keepsEnds: true, cwd: '/' }

export class KubeletJudge implements Judge {
  readonly #options: Required<JudgeOptions>
  readonly #remembered: RememberedJudgements
  readonly #probes = new SharedRuns<KubeletJudgement>()
  #swept = false

  constructor(options: JudgeOptions) {
    this.#options = { limits: SANDBOX_LIMITS, graceMs: 5_000, ...options }
    this.#remembered = new RememberedJudgements(options.memory)
  }

  async judge(request: JudgeRequest): Promise<KubeletJudgement> {
    try {
      return await this.#judge(request)
    } catch (error) {
      return notPrepared(error)
    }
  }

  forget(): void {
    this.#remembered.forget()
  }

  async #judge(request: JudgeRequest): Promise<KubeletJudgement> {
    const { binary, files, key } = request
    if (!Object.hasOwn(files, key)) return { kind: 'refused', reason: 'load', message: `the ConfigMap has no key ${key.slice(0, 253)}` }
    const names = checkData(files)
    if (!names.ok) return unjudged(names.detail)
    if (!isPlainPath(this.#options.directory))
      return unjudged(`${this.#options.directory} contains characters that are not safe in a property of a systemd unit`)
    const answer = await this.#options.version(binary)
    if (!answer.ok) return judgeWithoutVersion(answer, request)
    if (answer.inside === true)
      return unjudged(`kubelet is a part of ${binary} and cannot be run alone, so kubelet itself did not check the config`)
    // Of kubelet's own flags, `--config` names another file after each change.
    const given = probeFlags(request.flags, request.stage, placesIn('/', key, request.stage), answer.version)
    const requested = requestKey({ ...request, flags: given }, answer.identity)
    const known = this.#remembered.recall(requested)
    if (known !== undefined) return known
    const probe = (signal: AbortSignal) => this.#probe({ ...request, signal }, answer.version).catch(notPrepared)
    const judgement = await this.#probes.share(requested, request.signal, probe, unjudged('kubelet was interrupted: aborted'))
    this.#remembered.remember(requested, request.stage, judgement)
    return judgement
  }

  async #probe(request: JudgeRequest, version: KubeletVersion): Promise<KubeletJudgement> {
    const { stage, key, flags, incomplete, binary } = request
    this.#sweep()
    mkdirSync(this.#options.directory, { recursive: true, mode: 0o700 })
    const directory = mkdtempSync(join(this.#options.directory, `judge-${process.pid}-`))
    try {
      const places = placesIn(directory, key, stage)
      const probe: Probe = { stage, places, flags, incomplete, version }
      for (const folder of [places.candidate, places.scratch, places.certificates]) mkdirSync(folder, { mode: 0o700 })
      for (const [name, text] of Object.entries(request.files)) writeFileSync(join(places.candidate, name), text, { mode: 0o600 })
      for (const name of CERTIFICATE_FILES) writeFileSync(join(places.certificates, name), '', { mode: 0o600 })
      if (stage === 'deep') writeFileSync(places.kubeconfig, UNREACHABLE_KUBECONFIG, { mode: 0o600 })
      const command = [binary, ...probeFlags(flags, stage, places, version)]
      return await this.#runProbe([...this.#standIn(probe), ...command], probe, request.signal)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  }

  /** The command that runs kubelet beside the services that it looks for. */
  #standIn({ stage, version, places }: Probe): readonly string[] {
    const { standIn } = this.#options
    if (howFar(stage, version) === 'beside-runtime') return [...standIn, 'runtime', places.runtimeSocket, readlinkSync('/proc/self/ns/net')]
    return stage === 'deep' && version.minor < WITHOUT_DOCKER ? [...standIn, 'docker'] : []
  }

  async #runProbe(command: readonly string[], probe: Probe, signal: AbortSignal): Promise<KubeletJudgement> {
    const { stage, places } = probe
    const { limits, graceMs, systemdRun, direct } = this.#options
    const unit = `kubelet-cfg-agent-${basename(places.directory)}.service`
    const timeoutMs = limits.seconds[stage] * 1000 + graceMs
    const args = sandboxArguments(unit, howFar(stage, probe.version), places.scratch, command, limits)
    const result = await runCommand(systemdRun, args, { ...COMMON, timeoutMs, env: SYSTEMD_ENVIRONMENT, signal })
    const interrupted = describeInterruption(result)
    const end = readSandboxEnd(result.stderr)
    if (interrupted !== undefined) {
      await this.#stop(unit)
      if (end.kind !== 'not-started') return unjudged(`kubelet was interrupted: ${interrupted}`)
    }
    switch (end.kind) {
      case 'ended':
        return classify(`${result.stdout}\n${result.stderr}`, probe)
      case 'interrupted':
        return unjudged(`kubelet was interrupted: ${end.detail}`)
      case 'not-started': {
        const why = `systemd-run cannot be used: ${interrupted ?? end.detail}`
        // Systemd may start the unit although systemd-run was killed.
        if (!direct || !['exited', 'not-started'].includes(result.end.kind)) return unjudged(why)
        if (stage !== 'load') return unjudged(`${why}; this stage is not safe without the sandbox`)
        return this.#runDirectly(command, probe, signal)
      }
    }
  }

  async #runDirectly([binary = '', ...args]: readonly string[], probe: Probe, signal: AbortSignal): Promise<KubeletJudgement> {
    const timeoutMs = this.#options.limits.seconds.load * 1000
    const result = await runCommand(binary, args, { ...COMMON, timeoutMs, env: DIRECT_ENVIRONMENT, signal })
    const interrupted = describeInterruption(result)
    if (interrupted !== undefined) return unjudged(`kubelet was interrupted: ${interrupted}`)
    return classify(`${result.stdout}\n${result.stderr}`, probe)
  }

  async #stop(unit: string): Promise<void> {
    await runCommand(this.#options.systemctl, ['stop', unit], { ...COMMON, timeoutMs: STOP_MS, env: SYSTEMD_ENVIRONMENT })
  }

  /** Removes the files of agents that ended before their probes. */
  #sweep(): void {
    if (this.#swept || !existsSync('/proc/self')) return
    this.#swept = true
    const names = existsSync(this.#options.directory) ? readdirSync(this.#options.directory) : []
    for (const name of names) {
      const [, pid] = /^judge-(\d+)-\w+$/.exec(name) ?? []
      if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(this.#options.directory, name), { recursive: true, force: true })
    }
  }
}

function judgeWithoutVersion({ detail, cannotRun }: NoVersion, { ownEnvironment }: JudgeRequest): KubeletJudgement {
  if (cannotRun === undefined) return unjudged(detail)
  if (cannotRun === 'without-environment' && ownEnvironment === true)
    return unjudged(`${detail}; perhaps it needs the variables that its unit sets`)
  return cannotStart(detail)
}

/**
 * undefined: the command exited by itself. Its exit code does not matter: the messages tell what
 * happened.
 */
function describeInterruption({ end }: CommandResult): string | undefined {
  return end.kind === 'exited' ? undefined : describeEnd(end)
}

function notPrepared(error: unknown): KubeletJudgement {
  return unjudged(`cannot prepare the files of the probe: ${errorMessage(error)}`)
}
