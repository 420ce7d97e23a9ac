/** Settings for tests that are about something else. */
import { resolveSettings } from '../../src/settings/resolve-settings.ts'
import { SETTINGS, type Settings } from '../../src/settings/settings.ts'

/** What holds when nobody sets anything. */
export const defaults: Settings = resolveDefaults()

function resolveDefaults(): Settings {
  const resolution = resolveSettings({ flags: {}, env: {}, file: { kind: 'absent', path: SETTINGS.config.initial } })
  if (!resolution.ok) throw new Error(`the defaults are no valid settings: ${resolution.problems.join('; ')}`)
  return resolution.settings
}
