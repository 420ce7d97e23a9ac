// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the value of each setting: flags win over environment variables, these over the config
 * file, and that over defaults. Collects all problems, so an operator can correct them in one go.
 * Guesses nothing: an unknown name is an error, which names the nearest known one. Pure: the caller
 * reads the file and parses its YAML.
 */
import { isObject } from '../values/is-object.ts'
import { nearest } from '../values/nearest.ts'
import type { Kind, Parsed } from './setting-kinds.ts'
import { fileKey, flagName, SETTING_NAMES, SETTINGS, type SettingName, type Settings, VARIABLE_PREFIX, variableName } from './settings.ts'

export const CONFIG_API_VERSION = 'kubelet-cfg-agent.io/v1alpha1'
export const CONFIG_KIND = 'AgentConfiguration'

/** The given flags, as text; a switch without a value is `true`. */
export type Flags = Readonly<Partial<Record<SettingName, string>>>
export type Environment = Readonly<Record<string, string | undefined>>

/** The config file as its reader found it. */
export type ConfigFile =
  | { readonly kind: 'absent'; readonly path: string }
  | { readonly kind: 'unreadable'; readonly path: string; readonly detail: string }
  | { readonly kind: 'document'; readonly path: string; readonly value: unknown }

type Origin = 'flag' | 'environment' | 'file' | 'default'
export type Origins = Readonly<Record<SettingName, Origin>>

export type SettingsResolution =
  | { readonly ok: true; readonly settings: Settings; readonly origins: Origins }
  /**
   * `settings`: what could be used, and the defaults for what could not.
   * `isAgentsAlone`: the problems are with what only the agent itself takes, or with unknown names.
   * `isOfFlags`: one at least is with a flag.
   */
  | {
      readonly ok: false
      readonly problems: readonly string[]
      readonly settings: Settings
      readonly isAgentsAlone: boolean
      readonly isOfFlags: boolean
    }

export interface SettingsInput {
  readonly flags: Flags
  readonly env: Environment
  readonly file: ConfigFile
}

interface Problem {
  readonly text: string
  readonly isAgentsAlone: boolean
  readonly isOfFlag?: boolean
}

/** A value that is not parsed yet, and its place for messages. */
interface Given {
  readonly text: string
  readonly origin: Origin
  readonly where: string
}

/**
 * The path of the config file, which is needed before the file can be read. `resolveSettings`
 * reports an invalid path.
 */
export function configPath(flags: Flags, env: Environment): string {
  return flags.config ?? env[variableName('config')] ?? SETTINGS.config.initial
}

export function resolveSettings({ flags, env, file }: SettingsInput): SettingsResolution {
  const problems: Problem[] = []
  const values = new Map<SettingName, unknown>()
  const origins = new Map<SettingName, Origin>()
  problems.push(...unknownVariables(env).map((text) => ({ text, isAgentsAlone: true })))
  const fileValues = readFileValues(file, flags, env, problems)

  for (const property of SETTING_NAMES) {
    const found = findGiven(property, flags, env, fileValues)
    const parsed = found && parseGiven(SETTINGS[property].kind, found.text)
    if (found !== undefined && parsed?.ok === false)
      problems.push({ ...problemOf(property, `${found.where}: ${parsed.detail}`), isOfFlag: found.origin === 'flag' })
    values.set(property, parsed?.ok ? parsed.value : SETTINGS[property].initial)
    origins.set(property, found?.origin ?? 'default')
  }
  // Complete and well typed: the loop set each name of the table to what its own kind returned, or
  // to its default.
  const settings = Object.fromEntries(values) as unknown as Settings
  problems.push(...findConflicts(settings).map((text) => ({ text, isAgentsAlone: true })))
  if (problems.length > 0) {
    const isAgentsAlone = problems.every((problem) => problem.isAgentsAlone)
    const isOfFlags = problems.some(({ isOfFlag }) => isOfFlag === true)
    return { ok: false, problems: problems.map(({ text }) => text), settings, isAgentsAlone, isOfFlags }
  }
  return { ok: true, settings, origins: Object.fromEntries(origins) as Origins }
}

function problemOf(property: SettingName, text: string): Problem {
  return { text, isAgentsAlone: SETTINGS[property].commands !== 'all' }
}

function findGiven(property: SettingName, flags: Flags, env: Environment, fileValues: ReadonlyMap<SettingName, Given>): Given | undefined {
  const flag = flags[property]
  if (flag !== undefined) return { text: flag, origin: 'flag', where: flagName(property) }
  const variable = env[variableName(property)]
  if (variable !== undefined) return { text: variable, origin: 'environment', where: variableName(property) }
  return fileValues.get(property)
}

function parseGiven(kind: Kind<unknown>, text: string): Parsed<unknown> {
  if (text === '' && kind.optional !== true) return { ok: false, detail: 'is empty: give a value, or leave it out to use the default' }
  return kind.parse(text)
}

function unknownVariables(env: Environment): string[] {
  const known = SETTING_NAMES.map(variableName)
  return Object.keys(env)
    .filter((name) => name.startsWith(VARIABLE_PREFIX) && env[name] !== undefined && !known.includes(name))
    .map((name) => `${name}: unknown variable${nearestOf(name, known)}`)
}

function readFileValues(file: ConfigFile, flags: Flags, env: Environment, problems: Problem[]): ReadonlyMap<SettingName, Given> {
  const values = new Map<SettingName, Given>()
  const fail = (text: string, isOfFlag = false) => problems.push({ text, isAgentsAlone: false, isOfFlag })
  if (file.kind === 'absent') {
    const namedBy = flags.config !== undefined ? flagName('config') : variableName('config')
    const named = flags.config !== undefined || env[variableName('config')] !== undefined
    if (named) fail(`${namedBy}: ${file.path} does not exist`, flags.config !== undefined)
    return values
  }
  if (file.kind === 'unreadable') {
    fail(`${file.path}: ${file.detail}`)
    return values
  }
  if (!isObject(file.value)) {
    fail(`${file.path}: must be a mapping with apiVersion: ${CONFIG_API_VERSION} and kind: ${CONFIG_KIND}`)
    return values
  }
  const { apiVersion, kind, ...keys } = file.value
  if (apiVersion !== CONFIG_API_VERSION) fail(`${file.path}: apiVersion must be ${CONFIG_API_VERSION}`)
  if (kind !== CONFIG_KIND) fail(`${file.path}: kind must be ${CONFIG_KIND}`)

  // `config` is not a key: a config file that names another one would be ambiguous.
  const settable = SETTING_NAMES.filter((property) => property !== 'config')
  for (const [key, value] of Object.entries(keys)) {
    const where = `${file.path}: ${key}`
    const property = settable.find((name) => fileKey(name) === key)
    if (property === undefined)
      problems.push({ text: `${where}: unknown key${nearestOf(key, settable.map(fileKey))}`, isAgentsAlone: true })
    else if (isScalar(value)) values.set(property, { text: String(value), origin: 'file', where })
    else if (SETTINGS[property].kind.map === true && isObject(value)) {
      const items = Object.entries(value).map(([name, item]) => `${name}=${isScalar(item) ? item : ''}`)
      if (Object.keys(value).some((name) => /[,=]/.test(name)))
        problems.push(problemOf(property, `${where}: must be a mapping with keys without commas and =`))
      else values.set(property, { text: items.join(','), origin: 'file', where })
    } else if (SETTINGS[property].kind.list === true && Array.isArray(value)) {
      if (value.every((item) => isScalar(item) && !String(item).includes(',')))
        values.set(property, { text: value.join(','), origin: 'file', where })
      else problems.push(problemOf(property, `${where}: must be a list of single values without commas`))
    } else
      problems.push(
        problemOf(property, `${where}: ${value === null ? 'has no value: give one, or remove the line' : 'must be a single value'}`),
      )
  }
  return values
}

/** Problems between settings that are each valid. */
function findConflicts({ dynamicConfigDir, runtimeDir, envFile, manifestDir }: Settings): string[] {
  const conflicts: string[] = []
  const within = (path: string | undefined, directory: string) => path === directory || path?.startsWith(`${directory}/`) === true
  const checkpoints = `${dynamicConfigDir}/checkpoints`
  if (runtimeDir === dynamicConfigDir)
    conflicts.push(`${flagName('runtimeDir')}: must not be the directory of ${flagName('dynamicConfigDir')}`)
  if (within(envFile, checkpoints))
    conflicts.push(`${flagName('envFile')}: must not be inside ${checkpoints}, which holds only checkpoints`)
  if (within(manifestDir, dynamicConfigDir))
    conflicts.push(`${flagName('manifestDir')}: must not be inside ${dynamicConfigDir}, which belongs to the agent`)
  return conflicts
}

function nearestOf(name: string, known: readonly string[]): string {
  const suggestion = nearest(name, known)
  return suggestion === undefined ? '' : `; the nearest known one is ${suggestion}`
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
