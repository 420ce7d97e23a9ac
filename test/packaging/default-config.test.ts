import t from 'tap'
import { parse } from 'yaml'
import { defaultConfigFile, defaultEnvironmentFile } from '../../scripts/package/default-config.ts'
import { SETTING_ROWS } from '../../scripts/package/surface.ts'
import { type Environment, resolveSettings } from '../../src/settings/resolve-settings.ts'
import { SETTING_NAMES, SETTINGS } from '../../src/settings/settings.ts'

const DEFAULTS = Object.fromEntries(SETTING_NAMES.map((property) => [property, SETTINGS[property].initial]))
const path = '/etc/kubelet-cfg-agent/config.yaml'

function resolve(text: string, env: Environment) {
  return resolveSettings({ flags: {}, env, file: { kind: 'document', path, value: parse(text) } })
}

t.test('config.yaml is valid as it is installed, and changes nothing', async (t) => {
  const resolution = resolve(defaultConfigFile(), {})
  t.match(resolution, { ok: true, settings: DEFAULTS })
  t.same(resolution.ok && Object.values(resolution.origins).filter((origin) => origin !== 'default'), [])
})

t.test('every line of it, uncommented, sets what is the default anyway', async (t) => {
  const uncommented = defaultConfigFile().replace(/^#(?=\w)/gm, '')
  const resolution = resolve(uncommented, {})
  t.match(resolution, { ok: true, settings: DEFAULTS })
  const fromFile = resolution.ok ? SETTING_NAMES.filter((property) => resolution.origins[property] === 'file') : []
  t.same(
    fromFile,
    SETTING_NAMES.filter((property) => property !== 'config'),
    'each setting but the one that says where this file is',
  )
})

t.test('the environment file likewise, with every variable', async (t) => {
  const installed = defaultEnvironmentFile()
  t.same(
    installed.split('\n').filter((line) => line !== '' && !line.startsWith('#')),
    [],
    'nothing but comments',
  )
  const env: Record<string, string> = {}
  for (const [, name, value] of installed.matchAll(/^#([A-Z_]+)=(.*)$/gm)) env[name ?? ''] = value ?? ''
  t.same(Object.keys(env).sort(), SETTING_ROWS.map(({ variable }) => variable).sort())
  t.match(resolve(defaultConfigFile(), env), { ok: true, settings: DEFAULTS })
})
