import t from 'tap'
import { applyLive, changedSettings } from '../../src/agent/setting-changes.ts'
import { defaults } from './settled-settings.ts'

t.test('limits and log level change live, the rest waits for a restart', async (t) => {
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
  t.same(changedSettings(applied, after).live, [], 'nothing live is left over')
})

t.test('the same settings have not changed', async (t) => {
  t.same(changedSettings(defaults, { ...defaults }), { live: [], restart: [] })
})

t.test('every live setting is taken', async (t) => {
  const after = {
    ...defaults,
    changePolicy: 'guarded',
    allowChanges: ['port'],
    denyChanges: ['class:reboot'],
    requireDrain: ['class:drain'],
  } as const
  const applied = applyLive(defaults, { ...after, unknownFields: 'refuse' })
  t.match(applied, { ...after, unknownFields: 'refuse' })
  t.same(changedSettings(defaults, after).restart, [])
})
