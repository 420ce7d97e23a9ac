// SPDX-License-Identifier: Apache-2.0
/**
 * SIGHUP: applies the settings that can change while the agent runs, and logs the others, which
 * wait for the next start. Does nothing but log.
 */
import type { Log } from '../ports/log.ts'
import type { SettingsResolution } from './resolve-settings.ts'
import { SETTING_NAMES, SETTINGS, type SettingName, type Settings, showValue } from './settings.ts'

interface RereadLog extends Log {
  setLevel(level: Settings['logLevel']): void
}

/** The settings in force. */
export interface LiveSettings {
  readonly current: () => Settings
  reread(): Promise<void>
  /** @param react called when they have been reread, in place of what was given before */
  onReread(react: () => void): void
}

export function openLiveSettings(
  { settings, reread }: { readonly settings: Settings; reread(): Promise<SettingsResolution> },
  log: RereadLog,
): LiveSettings {
  let current = settings
  let onReread = () => {}
  let last = Promise.resolve()
  const apply = async () => {
    current = rereadSettings(current, await reread(), log)
    onReread()
  }
  return {
    current: () => current,
    // One after the other: what was read last has to be applied last.
    reread() {
      last = last.then(apply, apply)
      return last
    },
    onReread(react) {
      onReread = react
    },
  }
}

/** If any setting is invalid, the running settings stay as they are. */
export function rereadSettings(running: Settings, resolution: SettingsResolution, log: RereadLog): Settings {
  if (!resolution.ok) {
    for (const problem of resolution.problems) log.error(`settings were not reread: ${problem}`)
    return running
  }
  const { live, restart } = changedSettings(running, resolution.settings)
  for (const { name, from, to } of live) log.info(`setting ${name} changed`, { from, to })
  for (const { name } of restart) log.warn(`setting ${name} changed and takes effect when the agent is restarted`)
  if (live.length + restart.length === 0) log.info('settings reread, none changed')
  const next = applyLive(running, resolution.settings)
  log.setLevel(next.logLevel)
  return next
}

/** For the log. `name` as in `trial-duration`; the values as an operator writes them. */
interface SettingChange {
  readonly name: string
  readonly from: string
  readonly to: string
}

interface ChangedSettings {
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
