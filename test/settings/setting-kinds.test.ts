// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { checkDirectory } from '../../src/checkpoint/layout.ts'
import { SWITCHED_CHANNELS } from '../../src/decision/channels.ts'
import {
  changePatternsKind,
  channelsKind,
  choiceKind,
  configMapKeyKind,
  configMapKind,
  countKind,
  durationKind,
  guardsKind,
  type Kind,
  listenAddressKind,
  namespaceKind,
  nodeNameKind,
  orNone,
  pathKind,
  plainPathKind,
  publicationsKind,
  serviceKind,
  switchKind,
  textfileKind,
} from '../../src/settings/setting-kinds.ts'
import { SETTINGS } from '../../src/settings/settings.ts'
import { toChannelSettings } from '../../src/settings/source-settings.ts'
import { defaults } from './settled-settings.ts'

/** The value, or why it was refused. */
function read<T>(kind: Kind<T>, text: string): T | string {
  const parsed = kind.parse(text)
  return parsed.ok ? parsed.value : `refused: ${parsed.detail}`
}

t.test('durations and counts have a range', async (t) => {
  t.equal(read(durationKind(1e6, 60e6), '1m'), 60e6)
  t.match(read(durationKind(1e6, 60e6), '61s'), 'refused: 61s is out of range: from 1s to 1m')
  t.match(read(durationKind(1e6, 60e6), '999ms'), 'out of range')
  t.equal(read(countKind(1, 10), '10'), 10)
  t.match(read(countKind(1, 10), '11'), 'refused: 11 is out of range: from 1 to 10')
  for (const text of ['1.5', '-1', '1e3', 'three', ' 1', '0x1', '']) t.match(read(countKind(1, 10), text), 'is not a whole number', text)
})

t.test('paths', async (t) => {
  t.equal(read(pathKind, '/var/lib//x/'), '/var/lib/x', 'normalises a path')
  t.equal(read(pathKind, '/'), '/')
  t.match(read(pathKind, 'var/lib'), 'not an absolute path')
  t.match(read(pathKind, '/a\nb'), 'control character')
  t.equal(read(pathKind, '/with space'), '/with space')
  t.equal(read(textfileKind, '/var/lib//node/agent.prom'), '/var/lib/node/agent.prom')
  for (const bad of ['/var/lib/agent.txt', '/var/lib/.prom', '/var/lib/agent.prom/x'])
    t.match(read(textfileKind, bad), 'does not end in .prom', bad)
  t.match(read(textfileKind, 'agent.prom'), 'not an absolute path')
  for (const bad of [' ', '\t', "'", '"', '`', '\\', '$', '%', 'ä']) {
    t.match(read(plainPathKind, `/a${bad}b`), 'refused', JSON.stringify(bad))
  }
  t.match(read(plainPathKind, '/a b'), 'contains " ", which systemd may not pass to kubelet unchanged')
  t.match(read(plainPathKind, '/'), 'cannot be used')
  t.equal(read(plainPathKind, '/var/lib/x-_.,:@+/'), '/var/lib/x-_.,:@+')
})

t.test('checkDirectory accepts every directory that plainPathKind accepts', async () => {
  const text = fc.string({ unit: fc.constantFrom('/', '.', '-', '@', 'a', ' ', '$', 'é'), minLength: 1 }).map((rest) => `/${rest}`)
  fc.assert(
    fc.property(text, (text) => {
      const parsed = plainPathKind.parse(text)
      return !parsed.ok || checkDirectory(parsed.value).ok
    }),
  )
})

t.test('publications', async (t) => {
  t.same(read(publicationsKind, 'annotation, condition'), ['condition', 'annotation'], 'in any order')
  t.same(read(publicationsKind, ''), [])
  t.equal(read(publicationsKind, 'config,events'), 'refused: "events" is not one of config, condition, annotation, label, rollout-events')
})

t.test('guards', async (t) => {
  t.same(read(guardsKind, 'static-pods, healthz'), ['static-pods', 'healthz'])
  t.same(read(guardsKind, ''), [])
  t.match(read(guardsKind, 'static-pod'), 'refused: "static-pod" is not one of run-once, ')
})

t.test('unit names', async (t) => {
  for (const name of ['kubelet.service', 'snap.microk8s.daemon-kubelet.service', 'kubelet@1.service', 'a\\x2db.service']) {
    t.equal(read(serviceKind, name), name)
  }
  for (const name of ['kubelet', 'kubelet.socket', '']) t.match(read(serviceKind, name), 'the name must end in .service', name)
  for (const name of ['a b.service', '../x.service', '--now.service', '.service', `${'a'.repeat(250)}.service`]) {
    t.match(read(serviceKind, name), 'is not a valid name of a service unit', name)
  }
})

t.test('node names', async (t) => {
  for (const name of ['worker-1', 'ip-10-0-0-1.eu.internal', '1']) t.equal(read(nodeNameKind, name), name)
  for (const name of ['Worker', 'a_b', '-a', 'a-', 'a..b', '.a', 'a/b', 'a'.repeat(254)])
    t.match(read(nodeNameKind, name), 'is not a valid node name', name)
})

t.test('listening addresses', async (t) => {
  t.same(read(listenAddressKind, '127.0.0.1:10270'), { host: '127.0.0.1', port: 10270 })
  t.same(read(listenAddressKind, '[::1]:0'), { host: '::1', port: 0 })
  t.match(read(listenAddressKind, '10270'), 'is not host:port')
})

t.test('choices and switches', async (t) => {
  const kind = choiceKind('auto', 'env')
  t.equal(read(kind, 'env'), 'env')
  t.match(read(kind, 'ENV'), 'is not one of auto, env')
  t.equal(read(switchKind, 'true'), true)
  t.match(read(switchKind, 'yes'), 'neither true nor false')
})

t.test('optional: empty means none', async (t) => {
  t.equal(read(orNone(nodeNameKind), ''), undefined)
  t.equal(orNone(nodeNameKind).show(undefined), '')
  t.match(read(orNone(nodeNameKind), 'A'), 'is not a valid node name')
})

t.test('lists of changes', async (t) => {
  t.same(read(changePatternsKind, ''), [])
  t.same(read(changePatternsKind, 'maxPods, class:reboot,tls*'), ['maxPods', 'class:reboot', 'tls*'])
  t.match(read(changePatternsKind, 'maxPods,'), 'contains an empty item')
  t.match(read(changePatternsKind, 'maxPod'), 'the nearest one is maxPods')
  t.match(read(changePatternsKind, 'class:rebot'), 'the nearest one is class:reboot')
  t.equal(changePatternsKind.show(['maxPods', 'port']), 'maxPods,port')
})

t.test('no message passes a control character to the terminal', async () => {
  const kinds: Kind<unknown>[] = [
    countKind(1, 2),
    changePatternsKind,
    choiceKind('a'),
    switchKind,
    pathKind,
    plainPathKind,
    serviceKind,
    nodeNameKind,
    listenAddressKind,
  ]
  const nasty = fc.string({ unit: fc.constantFrom('\u001b', '\u009b', '\n', '/', 'a', ' ', "'"), minLength: 1 })
  fc.assert(
    fc.property(fc.constantFrom(...kinds), nasty, (kind, text) => {
      const parsed = kind.parse(text)
      return parsed.ok || !/\p{Cc}/u.test(parsed.detail)
    }),
  )
})

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
