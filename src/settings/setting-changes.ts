/** What a running agent makes of settings that were read again (SIGHUP): which of them hold at once, and which wait for its next start. Pure. */
import { showValue } from './setting-names.ts'
import { SETTING_NAMES, SETTINGS, type SettingName, type Settings } from './settings.ts'

/** For the log. `name` as in `trial-duration`; the values as a person would write them. */
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
  const ofKind = (kind: 'live' | 'restart') => changed.filter((property) => SETTINGS[property].changes === kind)
  const describe = (property: SettingName): SettingChange => ({
    name: SETTINGS[property].name,
    from: showValue(property, before[property]),
    to: showValue(property, after[property]),
  })
  return { live: ofKind('live').map(describe), restart: ofKind('restart').map(describe) }
}

/** The running agent's settings after a reread: the live ones new, the others as they were. */
export function applyLive(running: Settings, reread: Settings): Settings {
  const live = SETTING_NAMES.filter((property) => SETTINGS[property].changes === 'live')
  return Object.assign({ ...running }, ...live.map((property) => ({ [property]: reread[property] })))
}
