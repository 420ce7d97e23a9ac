/**
 * Compares settings that were reread (SIGHUP) with the running ones: which changes apply at once,
 * and which wait for the next start. Pure.
 */
import { showValue } from './setting-names.ts'
import { SETTING_NAMES, SETTINGS, type SettingName, type Settings } from './settings.ts'

/** For the log. `name` as in `trial-duration`; the values as an operator writes them. */
export interface SettingChange {
  readonly name: string
  readonly from: string
  readonly to: string
}

export interface ChangedSettings {
  readonly live: readonly SettingChange[]
  readonly restart: readonly SettingChange[]
}

export function changedSettings(before: Settings, after: Settings): ChangedSettings {
  const changed = SETTING_NAMES.filter((property) => showValue(property, before[property]) !== showValue(property, after[property]))
  const changedOf = (changes: 'live' | 'restart') => changed.filter((property) => SETTINGS[property].changes === changes)
  const describe = (property: SettingName): SettingChange => ({
    name: SETTINGS[property].name,
    from: showValue(property, before[property]),
    to: showValue(property, after[property]),
  })
  return { live: changedOf('live').map(describe), restart: changedOf('restart').map(describe) }
}

/** The agent's settings after a reread: live settings are new, the others stay. */
export function applyLive(running: Settings, reread: Settings): Settings {
  const live = SETTING_NAMES.filter((property) => SETTINGS[property].changes === 'live')
  return Object.assign({ ...running }, ...live.map((property) => ({ [property]: reread[property] })))
}
