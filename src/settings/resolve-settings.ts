/**
 * Which value each setting has: flags before environment before config file before default. Every problem is collected, so that a
 * person corrects them in one go; nothing is guessed, and an unknown name is an error that says which known one is nearest. Pure:
 * the caller reads the file and parses its YAML.
 */
import { isObject } from '../values/is-object.ts'
import { nearest } from '../values/nearest.ts'
import type { Kind, Parsed } from './setting-kinds.ts'
import { fileKey, flagName, VARIABLE_PREFIX, variableName } from './setting-names.ts'
import { SETTING_NAMES, SETTINGS, type SettingName, type Settings } from './settings.ts'

export const CONFIG_API_VERSION = 'kubelet-cfg-agent.io/v1alpha1'
export const CONFIG_KIND = 'AgentConfiguration'

/** Flags that were given, as text; a switch without a value is `true`. */
export type Flags = Readonly<Partial<Record<SettingName, string>>>
export type Environment = Readonly<Record<string, string | undefined>>

/** The config file as its reader found it. */
export type ConfigFile =
  | { readonly kind: 'absent'; readonly path: string }
  | { readonly kind: 'unreadable'; readonly path: string; readonly detail: string }
  | { readonly kind: 'document'; readonly path: string; readonly value: unknown }

export type Origin = 'flag' | 'environment' | 'file' | 'default'
export type Origins = Readonly<Record<SettingName, Origin>>

export type SettingsResolution =
  | { readonly ok: true; readonly settings: Settings; readonly origins: Origins }
  | { readonly ok: false; readonly problems: readonly string[] }

export interface SettingsInput {
  readonly flags: Flags
  readonly env: Environment
  readonly file: ConfigFile
}

/** A value still to be read, and what to call the place it was found in. */
interface Given {
  readonly text: string
  readonly origin: Origin
  readonly where: string
}

/** Where the config file is, which must be known before it can be read. A bad path is reported by `resolveSettings`. */
export function configPath(flags: Flags, env: Environment): string {
  return flags.config ?? env[variableName('config')] ?? SETTINGS.config.initial
}

export function resolveSettings({ flags, env, file }: SettingsInput): SettingsResolution {
  const problems: string[] = []
  const values = new Map<SettingName, unknown>()
  const origins = new Map<SettingName, Origin>()
  problems.push(...unknownVariables(env))
  const fileValues = readFileValues(file, flags, env, problems)

  for (const property of SETTING_NAMES) {
    const found = findGiven(property, flags, env, fileValues)
    const parsed = found && parseGiven(SETTINGS[property].kind, found.text)
    if (found !== undefined && parsed?.ok === false) problems.push(`${found.where}: ${parsed.detail}`)
    values.set(property, parsed?.ok ? parsed.value : SETTINGS[property].initial)
    origins.set(property, found?.origin ?? 'default')
  }
  // Complete, and each of its type: every name of the table was set to what that name's own kind returned, or to its default.
  const settings = Object.fromEntries(values) as unknown as Settings
  problems.push(...findConflicts(settings))
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, settings, origins: Object.fromEntries(origins) as Origins }
}

/** What is wrong with a flag that no setting of this command has. */
export function describeUnknownFlag(flag: string, known: readonly string[]): string {
  const elsewhere = SETTING_NAMES.find((property) => flagName(property) === flag)
  if (elsewhere !== undefined) return `${flag}: only the command run takes this flag`
  return `${flag}: unknown flag${nearestOf(flag, known)}`
}

function findGiven(property: SettingName, flags: Flags, env: Environment, fileValues: ReadonlyMap<SettingName, Given>): Given | undefined {
  const flag = flags[property]
  if (flag !== undefined) return { text: flag, origin: 'flag', where: flagName(property) }
  const variable = env[variableName(property)]
  if (variable !== undefined) return { text: variable, origin: 'environment', where: variableName(property) }
  return fileValues.get(property)
}

function parseGiven(kind: Kind<unknown>, text: string): Parsed<unknown> {
  if (text === '' && kind.optional !== true) return { ok: false, detail: 'is empty: give a value, or leave it out for the default' }
  return kind.parse(text)
}

function unknownVariables(env: Environment): string[] {
  const known = SETTING_NAMES.map(variableName)
  return Object.keys(env)
    .filter((name) => name.startsWith(VARIABLE_PREFIX) && env[name] !== undefined && !known.includes(name))
    .map((name) => `${name}: unknown variable${nearestOf(name, known)}`)
}

function readFileValues(file: ConfigFile, flags: Flags, env: Environment, problems: string[]): ReadonlyMap<SettingName, Given> {
  const values = new Map<SettingName, Given>()
  if (file.kind === 'absent') {
    const namedBy = flags.config !== undefined ? flagName('config') : variableName('config')
    const named = flags.config !== undefined || env[variableName('config')] !== undefined
    if (named) problems.push(`${namedBy}: there is no file ${file.path}`)
    return values
  }
  if (file.kind === 'unreadable') {
    problems.push(`${file.path}: ${file.detail}`)
    return values
  }
  if (!isObject(file.value)) {
    problems.push(`${file.path}: has to be a mapping with apiVersion: ${CONFIG_API_VERSION} and kind: ${CONFIG_KIND}`)
    return values
  }
  const { apiVersion, kind, ...keys } = file.value
  if (apiVersion !== CONFIG_API_VERSION) problems.push(`${file.path}: apiVersion has to be ${CONFIG_API_VERSION}`)
  if (kind !== CONFIG_KIND) problems.push(`${file.path}: kind has to be ${CONFIG_KIND}`)

  // A file that names another settings file would leave open which of the two holds.
  const settable = SETTING_NAMES.filter((property) => property !== 'config')
  for (const [key, value] of Object.entries(keys)) {
    const where = `${file.path}: ${key}`
    const property = settable.find((name) => fileKey(name) === key)
    if (property === undefined) problems.push(`${where}: unknown key${nearestOf(key, settable.map(fileKey))}`)
    else if (isScalar(value)) values.set(property, { text: String(value), origin: 'file', where })
    else if (SETTINGS[property].kind.list === true && Array.isArray(value)) {
      if (value.every((one) => isScalar(one) && !String(one).includes(',')))
        values.set(property, { text: value.join(','), origin: 'file', where })
      else problems.push(`${where}: has to be a list of single values without commas`)
    } else problems.push(`${where}: ${value === null ? 'has no value: give one, or leave the line out' : 'has to be a single value'}`)
  }
  return values
}

/** What no single value shows. */
function findConflicts({ dynamicConfigDir, runtimeDir, envFile, manifestDir }: Settings): string[] {
  const conflicts: string[] = []
  const within = (path: string | undefined, directory: string) => path === directory || path?.startsWith(`${directory}/`) === true
  const checkpoints = `${dynamicConfigDir}/checkpoints`
  if (runtimeDir === dynamicConfigDir) conflicts.push(`${flagName('runtimeDir')}: is the same directory as ${flagName('dynamicConfigDir')}`)
  if (within(envFile, checkpoints)) conflicts.push(`${flagName('envFile')}: ${checkpoints} is for checkpoints alone`)
  if (within(manifestDir, dynamicConfigDir))
    conflicts.push(`${flagName('manifestDir')}: is inside ${dynamicConfigDir}, which is the agent's own`)
  return conflicts
}

function nearestOf(name: string, known: readonly string[]): string {
  const suggestion = nearest(name, known)
  return suggestion === undefined ? '' : `; the nearest known one is ${suggestion}`
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
