// SPDX-License-Identifier: Apache-2.0
/**
 * Activation through kubelet.env: the file names the checkpoint that kubelet starts with next;
 * without the file, kubelet starts with its local config. The fallback's version of the file is
 * written beside it in advance: falling back is then one rename or one unlink, and works on a full
 * disk. Files that kubeadm or the administrator owns are never changed.
 */

import { checkDirectory, layoutOf } from '../checkpoint/layout.ts'
import { checkSource } from '../decision/safe-names.ts'
import type { ActivationState, Withdrawal } from '../ports/activation.ts'
import type { Files } from '../ports/files.ts'
import { type ConfigMapSource, type ConfigSource, isConfigMapSource } from '../subject/config-source.ts'
import type { ReadyWiring } from '../subject/unit-state.ts'
import { codedError } from '../values/errors.ts'
import { parseJson } from '../values/json-shape.ts'
import type { ActivationParts, InPlace, KindOfActivation } from './activation-kind.ts'
import { asArguments, findFlag, joinWords, splitWords } from './command-line.ts'
import { parseEnvironmentFile, renderAssignment } from './environment-file.ts'
import { CONFIG_VARIABLE } from './unit-definition.ts'

/** systemd reads it, and so do operators who want to know what kubelet starts with next. */
const MODE = 0o644

export class EnvActivation implements KindOfActivation {
  readonly #files: Files
  readonly #envFile: string
  readonly #stagedFile: string
  readonly #pathOf: (source: ConfigMapSource) => string

  /** The file is read every few seconds and changes rarely. */
  #lastRead: { readonly text: string; readonly configArgs: string; readonly state: ActivationState } | undefined

  constructor({ files, dynamicConfigDir, envFile }: Pick<ActivationParts, 'files' | 'dynamicConfigDir' | 'envFile'>) {
    const check = checkDirectory(dynamicConfigDir)
    if (!check.ok) throw codedError(check.reason, `--dynamic-config-dir cannot be written to ${envFile}: ${check.detail}`)
    this.#files = files
    this.#envFile = envFile
    this.#stagedFile = `${envFile}.fallback`
    this.#pathOf = layoutOf(dynamicConfigDir).file
  }

  read(wiring: ReadyWiring): ActivationState {
    const bytes = this.#files.read(this.#envFile)
    if (bytes === undefined) return { kind: 'local', since: undefined }
    const text = bytes.toString()
    if (this.#lastRead?.text === text && this.#lastRead.configArgs === wiring.configArgs) return this.#lastRead.state
    const state = this.#parse(text, wiring)
    this.#lastRead = { text, configArgs: wiring.configArgs, state }
    return state
  }

  #parse(text: string, wiring: ReadyWiring): ActivationState {
    const reading = readEnvFile(text, wiring.configArgs, this.#pathOf)
    if (!reading.ok) return { kind: 'unknown', detail: `${this.#envFile} ${reading.detail}` }
    const check = checkSource(reading.source)
    if (!check.ok) return { kind: 'unknown', detail: `${this.#envFile}: ${check.detail}` }
    return { kind: 'checkpoint', source: reading.source, since: undefined }
  }

  readLocal(_wiring: ReadyWiring, localConfigPath: string): Buffer | undefined {
    return this.#files.read(localConfigPath)
  }

  stage(fallback: ConfigSource, wiring: ReadyWiring): void {
    if (fallback === 'local') this.#files.remove(this.#stagedFile)
    else this.#write(this.#stagedFile, this.#render(fallback, wiring))
  }

  activate(target: ConfigSource, wiring: ReadyWiring): void {
    if (target === 'local') {
      this.#files.remove(this.#envFile)
      return
    }
    const text = this.#render(target, wiring)
    if (this.#holds(this.#envFile, text)) return
    if (this.#holds(this.#stagedFile, text)) this.#files.rename(this.#stagedFile, this.#envFile)
    else this.#write(this.#envFile, text)
  }

  /** The agent's file names a checkpoint of its own directory, and is of no use without it. */
  findOutside(): readonly string[] {
    return []
  }

  listInPlace(): readonly InPlace[] {
    return this.#files.stat(this.#envFile) === undefined ? [] : [{ path: this.#envFile, fault: undefined }]
  }

  withdraw(extent: Withdrawal): void {
    if (extent === 'everything') this.#files.remove(this.#envFile)
  }

  #render(source: ConfigMapSource, wiring: ReadyWiring): string {
    const check = checkSource(source)
    if (!check.ok) throw codedError(check.reason, `cannot write ${this.#envFile}: ${check.detail}`)
    return renderEnvFile(source, this.#pathOf(source), wiring.configArgs)
  }

  #write(path: string, text: string): void {
    if (!this.#holds(path, text)) this.#files.replace(path, text, { mode: MODE })
  }

  #holds(path: string, text: string): boolean {
    return this.#files.read(path)?.equals(Buffer.from(text)) === true
  }
}

const SOURCE_LINE = /^# source: (\{.*\})$/m

/**
 * The text of kubelet.env: the unit's own KUBELET_CONFIG_ARGS with only `--config` replaced, and a
 * comment with the complete source, because the path contains neither the namespace nor the
 * ConfigMap's name. systemd reads the file at each start of kubelet, so the text is quoted by
 * systemd's rules, twice: for the file, and for the words of the variable.
 * @param configArgs the unit's own value of the variable
 */
export function renderEnvFile(source: ConfigMapSource, configPath: string, configArgs: string): string {
  const { namespace, name, uid, resourceVersion, kubeletConfigKey, overlay } = source
  const comment = [
    '# Written by kubelet-cfg-agent: what kubelet starts with next. Without this file it starts with its local config.',
    `# source: ${JSON.stringify({ namespace, name, uid, resourceVersion, kubeletConfigKey, overlay })}`,
  ]
  return `${comment.join('\n')}\n${renderAssignment(CONFIG_VARIABLE, replaceConfigFlag(configArgs, configPath))}`
}

type EnvFileReading = { readonly ok: true; readonly source: ConfigMapSource } | { readonly ok: false; readonly detail: string }

/**
 * Accepts only what `renderEnvFile` would write for this unit, comments aside; anything else is to
 * be rewritten.
 */
export function readEnvFile(text: string, configArgs: string, pathOf: (source: ConfigMapSource) => string): EnvFileReading {
  const source = parseJson(Buffer.from(SOURCE_LINE.exec(text)?.[1] ?? ''), isConfigMapSource)
  if (source === undefined) return { ok: false, detail: 'does not name its ConfigMap' }
  const variables = parseEnvironmentFile(text)
  const found = variables.get(CONFIG_VARIABLE)
  if (found === undefined || variables.size > 1) return { ok: false, detail: `must set ${CONFIG_VARIABLE} and nothing else` }
  const expected = replaceConfigFlag(configArgs, pathOf(source))
  if (joinWords(splitWords(found)) === expected) return { ok: true, source }
  return { ok: false, detail: `makes kubelet start with ${found}, but its unit and the checkpoint require ${expected}` }
}

function replaceConfigFlag(configArgs: string, configPath: string): string {
  const words = splitWords(configArgs)
  const uses = findFlag(asArguments(words), 'config')
  const others = words.filter((_, index) => !uses.some(({ first, end }) => first <= index && index < end))
  return joinWords([`--config=${configPath}`, ...others])
}
