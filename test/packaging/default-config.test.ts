// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { parse } from 'yaml'
import { SETTING_ROWS } from '../../scripts/command-line-table.ts'
import { defaultConfigFile, defaultEnvironmentFile } from '../../scripts/package/default-config.ts'
import { type Environment, resolveSettings } from '../../src/settings/resolve-settings.ts'
import { SETTING_NAMES, SETTINGS } from '../../src/settings/settings.ts'

const DEFAULTS = Object.fromEntries(SETTING_NAMES.map((property) => [property, SETTINGS[property].initial]))
const path = '/etc/kubelet-cfg-agent/config.yaml'

function resolve(text: string, env: Environment) {
  return resolveSettings({ flags: {}, env, file: { kind: 'document', path, value: parse(text) } })
}

t.test('the installed config.yaml is valid and changes nothing', async (t) => {
  const resolution = resolve(defaultConfigFile(), {})
  t.match(resolution, { ok: true, settings: DEFAULTS })
  t.same(resolution.ok && Object.values(resolution.origins).filter((origin) => origin !== 'default'), [])
})

t.test('every uncommented line sets the default', async (t) => {
  const uncommented = defaultConfigFile().replace(/^#(?=\w)/gm, '')
  const resolution = resolve(uncommented, {})
  t.match(resolution, { ok: true, settings: DEFAULTS })
  const fromFile = resolution.ok ? SETTING_NAMES.filter((property) => resolution.origins[property] === 'file') : []
  t.same(
    fromFile,
    SETTING_NAMES.filter((property) => property !== 'config'),
    'every setting but the path of this file',
  )
})

t.test('the environment file has every variable with its default', async (t) => {
  const installed = defaultEnvironmentFile()
  t.same(
    installed.split('\n').filter((line) => line !== '' && !line.startsWith('#')),
    [],
    'only comments',
  )
  const env: Record<string, string> = {}
  for (const [, name, value] of installed.matchAll(/^#([A-Z_]+)=(.*)$/gm)) env[name ?? ''] = value ?? ''
  t.same(Object.keys(env).sort(), SETTING_ROWS.map(({ variable }) => variable).sort())
  t.match(resolve(defaultConfigFile(), env), { ok: true, settings: DEFAULTS })
})
