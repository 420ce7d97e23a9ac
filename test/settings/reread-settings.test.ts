// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { applyLive, changedSettings, openLiveSettings, rereadSettings } from '../../src/settings/reread-settings.ts'
import type { SettingsResolution } from '../../src/settings/resolve-settings.ts'
import { SETTING_NAMES, SETTINGS, type Settings } from '../../src/settings/settings.ts'
import { defaults, origins } from './settled-settings.ts'

/** The settings after a reread, and what was logged. */
function reread(resolution: SettingsResolution): { settings: Settings; lines: string[]; level: string | undefined } {
  const lines: string[] = []
  let level: string | undefined
  const write = (severity: string) => (message: string) => void lines.push(`${severity} ${message}`)
  const log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    setLevel: (next: string) => {
      level = next
    },
  }
  return { settings: rereadSettings(defaults, resolution, log), lines, level }
}

t.test('applies live settings and names those that wait for a restart', async (t) => {
  const settings = { ...defaults, trialUs: 1800e6, logLevel: 'debug', envFile: '/x/kubelet.env' } as const
  t.same(reread({ ok: true, settings, origins }), {
    settings: { ...defaults, trialUs: 1800e6, logLevel: 'debug' },
    lines: [
      'info setting trial-duration changed',
      'info setting log-level changed',
      'warn setting kubelet-env-file changed and takes effect when the agent is restarted',
    ],
    level: 'debug',
  })
})

t.test('of two rereads, the later one counts, also where the earlier one takes longer, or fails', async (t) => {
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, setLevel: () => {} }
  for (const isRead of [true, false]) {
    const answers: ((why?: Error) => void)[] = []
    let times = 0
    const live = openLiveSettings(
      {
        settings: defaults,
        async reread() {
          times += 1
          const settings = { ...defaults, trialUs: times * 60e6 }
          if (times === 1) await new Promise<void>((resolve, reject) => answers.push((why) => (why ? reject(why) : resolve())))
          return { ok: true, settings, origins }
        },
      },
      log,
    )
    const [first, second] = [live.reread(), live.reread()]
    await Promise.resolve()
    answers[0]?.(isRead ? undefined : new Error('EIO'))
    await (isRead ? first : t.rejects(first, /EIO/))
    await second
    t.equal(live.current().trialUs, 120e6)
  }
})

t.test('logs that nothing changed', async (t) => {
  t.same(reread({ ok: true, settings: defaults, origins }).lines, ['info settings reread, none changed'])
})

t.test('keeps the running settings if any is invalid', async (t) => {
  const { settings, lines, level } = reread({
    ok: false,
    problems: ['--spread: is empty', '--adopt: is empty'],
    settings: { ...defaults },
    isAgentsAlone: true,
    isOfFlags: true,
  })
  t.equal(settings, defaults)
  t.same(lines, ['error settings were not reread: --spread: is empty', 'error settings were not reread: --adopt: is empty'])
  t.equal(level, undefined)
})

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
