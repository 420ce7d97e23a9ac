/** SIGHUP: what of the settings can change while the agent runs, and what is only told. Pure but for the log it is handed. */
import type { Log } from '../ports/log.ts'
import type { SettingsResolution } from './resolve-settings.ts'
import { applyLive, changedSettings } from './setting-changes.ts'
import type { Settings } from './settings.ts'

export interface RereadLog extends Log {
  setLevel(level: Settings['logLevel']): void
}

/** Settings that are wrong leave the running ones as they are. */
export function rereadSettings(running: Settings, reread: () => SettingsResolution, log: RereadLog): Settings {
  const resolution = reread()
  if (!resolution.ok) {
    for (const problem of resolution.problems) log.error(`settings not reread: ${problem}`)
    return running
  }
  const { live, restart } = changedSettings(running, resolution.settings)
  for (const { name, from, to } of live) log.info(`setting ${name} changed`, { from, to })
  for (const { name } of restart) log.warn(`setting ${name} has changed and takes effect when the agent is restarted`)
  if (live.length + restart.length === 0) log.info('settings reread, none has changed')
  const next = applyLive(running, resolution.settings)
  log.setLevel(next.logLevel)
  return next
}
