/**
 * SIGHUP: applies the settings that can change while the agent runs, and logs the others. Does
 * nothing but log.
 */
import type { Log } from '../ports/log.ts'
import type { SettingsResolution } from './resolve-settings.ts'
import { applyLive, changedSettings } from './setting-changes.ts'
import type { Settings } from './settings.ts'

export interface RereadLog extends Log {
  setLevel(level: Settings['logLevel']): void
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
