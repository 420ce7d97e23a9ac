import fc from 'fast-check'
import t from 'tap'
import { SWITCHED_CHANNELS } from '../../src/decision/channels.ts'
import { channelsKind, configMapKeyKind, configMapKind, namespaceKind } from '../../src/settings/channel-kinds.ts'
import { SETTINGS } from '../../src/settings/settings.ts'
import { toChannelSettings } from '../../src/settings/source-settings.ts'
import { defaults } from './settled-settings.ts'

t.test('takes channels in any order, each once, and rejects an unknown name with the nearest known one', async (t) => {
  t.same(channelsKind.parse('label'), { ok: true, value: ['label'] })
  t.same(channelsKind.parse('selector, config-source,label,label'), { ok: true, value: ['config-source', 'label', 'selector'] })
  t.match(channelsKind.parse('label,anotation'), { ok: false, detail: '"anotation" is not a channel; the nearest known one is annotation' })
  t.match(channelsKind.parse('label,'), { ok: false, detail: /"" is not a channel/ })
  t.match(channelsKind.parse('default'), { ok: false })
  fc.assert(
    fc.property(fc.subarray([...SWITCHED_CHANNELS], { minLength: 1 }), (channels) => {
      const parsed = channelsKind.parse(channelsKind.show(channels))
      return parsed.ok && parsed.value.join() === channels.join()
    }),
  )
})

t.test('checks names of namespaces, keys and ConfigMaps', async (t) => {
  t.match(namespaceKind.parse('kube-system'), { ok: true })
  for (const text of ['Kube', 'a.b', '../x', 'a/b']) t.match(namespaceKind.parse(text), { ok: false }, text)
  t.match(configMapKeyKind.parse('kubelet.yaml'), { ok: true })
  for (const text of ['..', 'a/b', 'a b']) t.match(configMapKeyKind.parse(text), { ok: false }, text)
  for (const text of ['kube-system/kubelet-config', 'kube-system/kubelet-config-1.20:kubelet']) {
    const parsed = configMapKind.parse(text)
    t.equal(parsed.ok && configMapKind.show(parsed.value), text)
  }
  t.match(configMapKind.parse('kubelet-config'), { ok: false, detail: /namespace\/name/ })
})

t.test('derives the settings of the sources', async (t) => {
  t.same(toChannelSettings(defaults), {
    channels: ['config-source', 'label', 'annotation'],
    namespace: 'kube-system',
    key: 'kubelet',
    defaultConfigMap: undefined,
  })
  const named = { namespace: 'ns', name: 'x', key: undefined }
  const { defaultConfigMap } = toChannelSettings({ ...defaults, configKey: 'k', defaultConfigMap: named })
  t.same(defaultConfigMap, { namespace: 'ns', name: 'x', kubeletConfigKey: 'k' })
  t.equal(toChannelSettings({ ...defaults, defaultConfigMap: { ...named, key: 'own' } }).defaultConfigMap?.kubeletConfigKey, 'own')
  t.notOk(SETTINGS.channels.initial.includes('selector'), 'the selector needs a right to list ConfigMaps, so it is off by default')
})
