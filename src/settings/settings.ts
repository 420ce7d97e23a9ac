/**
 * The table of settings. Flags, environment variables, config file keys, help texts, man pages and
 * defaults are all derived from it. Each group of settings has its own file.
 * `resolve-settings.ts` finds the values. Pure: reads neither files nor environment.
 */
import type { Policy } from '../decision/policy.ts'
import { DISK_SETTINGS } from './disk-settings.ts'
import { KUBELET_SETTINGS } from './kubelet-settings.ts'
import { PREFLIGHT_SETTINGS } from './preflight-settings.ts'
import { REPORT_SETTINGS } from './report-settings.ts'
import type { SettingTable, ValuesOf } from './setting-kinds.ts'
import { SOURCE_SETTINGS } from './source-settings.ts'
import { TRIAL_SETTINGS } from './trial-settings.ts'

const TABLE = {
  ...SOURCE_SETTINGS,
  ...DISK_SETTINGS,
  ...KUBELET_SETTINGS,
  ...PREFLIGHT_SETTINGS,
  ...TRIAL_SETTINGS,
  ...REPORT_SETTINGS,
}

/** Every setting with its value as the agent uses it. */
export type Settings = ValuesOf<typeof TABLE>
export type SettingName = keyof Settings

export const SETTINGS: SettingTable<Settings> = TABLE

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]

/** How long a pass waits for an answer. A longer pass would make each gap look like an outage. */
export function mostWaitMs({ toleranceUs }: Settings): number {
  return Math.min(2000, Math.ceil(toleranceUs / 4000))
}

export function toPolicy(settings: Settings): Policy {
  const { trialUs, startDeadlineUs, toleranceUs, crashLimit, spreadUs, restartsPerHour, whenRefused, keepCheckpoints, evidence } = settings
  return { trialUs, startDeadlineUs, toleranceUs, crashLimit, spreadUs, restartsPerHour, whenRefused, keepCheckpoints, evidence }
}

/** `--trial-duration` for `trialUs`: flag, variable and key follow from the name in the table. */
export function flagName(property: SettingName): string {
  return `--${SETTINGS[property].name}`
}

export const VARIABLE_PREFIX = 'KUBELET_CFG_AGENT_'

export function variableName(property: SettingName): string {
  return VARIABLE_PREFIX + SETTINGS[property].name.replaceAll('-', '_').toUpperCase()
}

/** The key in the config file. */
export function fileKey(property: SettingName): string {
  return SETTINGS[property].name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** A value as an operator writes it; empty for none. */
export function showValue<P extends SettingName>(property: P, value: Settings[P]): string {
  return SETTINGS[property].kind.show(value)
}

export function showInitial(property: SettingName): string {
  return showValue(property, SETTINGS[property].initial)
}
