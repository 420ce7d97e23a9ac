/**
 * The names of a setting as flag, variable and key: `--trial-duration`,
 * `KUBELET_CFG_AGENT_TRIAL_DURATION`, `trialDuration`. All three are derived from its name in the
 * table of settings. Pure.
 */
import { SETTINGS, type SettingName, type Settings } from './settings.ts'

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
