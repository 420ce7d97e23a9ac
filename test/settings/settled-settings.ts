// SPDX-License-Identifier: Apache-2.0
/** Settings for tests of other modules. */
import { type Origins, resolveSettings } from '../../src/settings/resolve-settings.ts'
import { SETTINGS, type Settings } from '../../src/settings/settings.ts'

const resolution = resolveSettings({ flags: {}, env: {}, file: { kind: 'absent', path: SETTINGS.config.initial } })
if (!resolution.ok) throw new Error(`the defaults are not valid settings: ${resolution.problems.join('; ')}`)

/** The defaults. */
export const defaults: Settings = resolution.settings
/** Of the defaults. */
export const origins: Origins = resolution.origins
