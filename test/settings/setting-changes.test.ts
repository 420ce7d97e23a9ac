import t from 'tap'
import { applyLive, changedSettings } from '../../src/settings/setting-changes.ts'
import { SETTING_NAMES, SETTINGS } from '../../src/settings/settings.ts'
import { defaults } from './settled-settings.ts'

t.test('limits and the log level change live, the others wait for a restart', async (t) => {
  const after = { ...defaults, trialUs: 1800e6, logLevel: 'debug', metricsAddress: undefined, envFile: '/x/kubelet.env' } as const
  t.same(changedSettings(defaults, after), {
    live: [
      { name: 'trial-duration', from: '10m', to: '30m' },
      { name: 'log-level', from: 'info', to: 'debug' },
    ],
    restart: [
      { name: 'kubelet-env-file', from: '/var/lib/kubelet-cfg-agent/kubelet.env', to: '/x/kubelet.env' },
      { name: 'metrics-address', from: '127.0.0.1:10270', to: '' },
    ],
  })
  const applied = applyLive(defaults, after)
  t.same(applied, { ...defaults, trialUs: 1800e6, logLevel: 'debug' })
  t.same(changedSettings(applied, after).live, [], 'no live change is left over')
})

t.test('equal settings have no changes', async (t) => {
  t.same(changedSettings(defaults, { ...defaults }), { live: [], restart: [] })
})

t.test('applies every live setting and no other', async (t) => {
  for (const property of SETTING_NAMES) {
    const reread = Object.assign({}, defaults, { [property]: 'another value' })
    const isLive = SETTINGS[property].changes === 'live'
    t.equal(applyLive(defaults, reread)[property], isLive ? 'another value' : defaults[property], property)
  }
  t.same(changedSettings(defaults, { ...defaults, changePolicy: 'guarded', preflight: 'rules' }).restart, [])
})
