// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import {
  type ConfigFile,
  configPath,
  resolveSettings,
  type SettingsInput,
  type SettingsResolution,
} from '../../src/settings/resolve-settings.ts'
import {
  fileKey,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type Settings,
  showInitial,
  variableName,
} from '../../src/settings/settings.ts'

const PATH = '/etc/kubelet-cfg-agent/config.yaml'
const absent: ConfigFile = { kind: 'absent', path: PATH }
const head = { apiVersion: 'kubelet-cfg-agent.io/v1alpha1', kind: 'AgentConfiguration' }

function file(keys: Record<string, unknown>): ConfigFile {
  return { kind: 'document', path: PATH, value: { ...head, ...keys } }
}

function resolve(input: Partial<SettingsInput>): SettingsResolution {
  return resolveSettings({ flags: {}, env: {}, file: absent, ...input })
}

function problems(input: Partial<SettingsInput>): readonly string[] {
  const resolution = resolve(input)
  return resolution.ok ? [] : resolution.problems
}

function value<P extends SettingName>(property: P, input: Partial<SettingsInput>): Settings[P] | undefined {
  const resolution = resolve(input)
  return resolution.ok ? resolution.settings[property] : undefined
}

t.test('flags win over environment, file and default, in this order', async (t) => {
  const flags = { crashLimit: '4' }
  const env = { KUBELET_CFG_AGENT_CRASH_LIMIT: '5' }
  const inFile = file({ crashLimit: 6 })
  t.equal(value('crashLimit', { flags, env, file: inFile }), 4)
  t.equal(value('crashLimit', { env, file: inFile }), 5)
  t.equal(value('crashLimit', { file: inFile }), 6)
  t.equal(value('crashLimit', {}), 3)
})

t.test('reports the origin of each value', async (t) => {
  const resolution = resolve({ flags: { spreadUs: '0s' }, env: { KUBELET_CFG_AGENT_LOG_LEVEL: 'debug' }, file: file({ adopt: true }) })
  t.match(resolution, { ok: true, origins: { spreadUs: 'flag', logLevel: 'environment', adopt: 'file', trialUs: 'default' } })
})

t.test('every setting can be set as a flag, as a variable and in the file', async () => {
  fc.assert(
    fc.property(fc.constantFrom(...SETTING_NAMES), fc.constantFrom('flags', 'env', 'file'), (property, place) => {
      const text = showInitial(property)
      const input: Partial<SettingsInput> =
        place === 'flags'
          ? { flags: { [property]: text } }
          : place === 'env'
            ? { env: { [variableName(property)]: text } }
            : { file: file({ [fileKey(property)]: text }) }
      const resolution = resolve({ file: { kind: 'document', path: PATH, value: head }, ...input })
      if (property === 'config' && place === 'file') return !resolution.ok
      return resolution.ok && resolution.origins[property] === { flags: 'flag', env: 'environment', file: 'file' }[place]
    }),
  )
})

t.test('accepts a YAML number, boolean or string', async (t) => {
  t.equal(value('crashLimit', { file: file({ crashLimit: '4' }) }), 4)
  t.equal(value('adopt', { file: file({ adopt: 'true' }) }), true)
  t.equal(value('trialUs', { file: file({ trialDuration: '1m30s' }) }), 90e6)
  t.equal(value('metricsAddress', { file: file({ metricsAddress: '' }) }), undefined, 'empty: off')
})

t.test('accepts a list, or text with commas', async (t) => {
  t.same(value('allowChanges', { file: file({ allowChanges: ['maxPods', 'class:drain'] }) }), ['maxPods', 'class:drain'])
  t.same(value('allowChanges', { file: file({ allowChanges: 'maxPods,class:drain' }) }), ['maxPods', 'class:drain'])
  t.same(value('denyChanges', { env: { KUBELET_CFG_AGENT_DENY_CHANGES: 'port' }, file: file({ denyChanges: ['tls*'] }) }), ['port'])
  t.same(value('requireDrain', { file: file({ requireDrain: [] }) }), [])
  t.same(value('channels', { file: file({ channels: ['label', 'annotation'] }) }), ['label', 'annotation'])
  t.match(problems({ file: file({ channels: [] }) }), [/channels: is empty/])
  for (const requireDrain of [[['port']], [null], ['port,address'], {}])
    t.match(problems({ file: file({ requireDrain }) }), [/requireDrain: must be a/], JSON.stringify(requireDrain))
  t.match(problems({ file: file({ crashLimit: [3] }) }), [/crashLimit: must be a single value/])
  t.match(problems({ flags: { denyChanges: 'class:rebot' } }), ['--deny-changes: "class:rebot" is not a risk class'])
})

t.test('an unknown name is rejected with the nearest known one', async (t) => {
  t.same(problems({ env: { KUBELET_CFG_AGENT_TRAIL_DURATION: '1m' } }), [
    'KUBELET_CFG_AGENT_TRAIL_DURATION: unknown variable; the nearest known one is KUBELET_CFG_AGENT_TRIAL_DURATION',
  ])
  t.same(problems({ file: file({ trailDuration: '1m' }) }), [`${PATH}: trailDuration: unknown key; the nearest known one is trialDuration`])
  t.same(problems({ env: { PATH: '/bin', KUBELET_CFG_AGENTX: '1' } }), [], 'ignores variables of other programs')
})

t.test('reports all problems at once, each with its place', async (t) => {
  const found = problems({
    flags: { crashLimit: '0', kubeletUnit: 'kubelet' },
    env: { KUBELET_CFG_AGENT_SPREAD: '2', KUBELET_CFG_AGENT_LOG_LEVEL: '' },
    file: {
      kind: 'document',
      path: PATH,
      value: { kind: 'Agent', startDeadline: '2m', restartsPerHour: [6], keepCheckpoints: null, x: 1 },
    },
  })
  t.matchSnapshot(found.join('\n'))
  t.equal(found.length, 9)
})

t.test('an invalid value that is overridden is not a problem', async (t) => {
  t.same(problems({ flags: { crashLimit: '4' }, file: file({ crashLimit: 'many' }) }), [])
})

t.test('checks the config file', async (t) => {
  t.same(problems({}), [], 'it need not exist')
  t.same(problems({ flags: { config: '/x' }, file: { kind: 'absent', path: '/x' } }), ['--config: /x does not exist'])
  t.same(problems({ env: { KUBELET_CFG_AGENT_CONFIG: '/x' }, file: { kind: 'absent', path: '/x' } }), [
    'KUBELET_CFG_AGENT_CONFIG: /x does not exist',
  ])
  t.same(problems({ file: { kind: 'unreadable', path: PATH, detail: 'line 3: bad indentation' } }), [`${PATH}: line 3: bad indentation`])
  for (const value of [null, [], 'text', 7]) t.match(problems({ file: { kind: 'document', path: PATH, value } })[0], 'must be a mapping')
  t.match(problems({ file: file({ config: '/other' }) })[0], 'config: unknown key')
  t.equal(configPath({}, {}), SETTINGS.config.initial)
  t.equal(configPath({}, { KUBELET_CFG_AGENT_CONFIG: '/e' }), '/e')
  t.equal(configPath({ config: '/f' }, { KUBELET_CFG_AGENT_CONFIG: '/e' }), '/f')
})

t.test('rejects settings that conflict', async (t) => {
  t.match(problems({ flags: { runtimeDir: '/var/lib/kubelet-cfg-agent/' } })[0], 'must not be the directory of --dynamic-config-dir')
  t.match(problems({ flags: { envFile: '/var/lib/kubelet-cfg-agent/checkpoints/kubelet.env' } })[0], 'which holds only checkpoints')
  t.match(problems({ flags: { manifestDir: '/var/lib/kubelet-cfg-agent/manifests' } })[0], 'which belongs to the agent')
  t.same(problems({ flags: { manifestDir: '/var/lib/kubelet-cfg-agent-manifests' } }), [])
})

t.test('never throws, whatever the file contains', async () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      resolve({ file: { kind: 'document', path: PATH, value } })
    }),
  )
})
