// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { SWITCHED_CHANNELS } from '../../../src/decision/channels.ts'
import type { Channel } from '../../../src/decision/desired.ts'
import {
  type ChannelResolution,
  type ChannelSettings,
  type Fleet,
  needsFleet,
  resolveChannels,
} from '../../../src/source/channels/resolve.ts'

const LABEL = 'kubelet-cfg-agent.node-restriction.kubernetes.io/config'
const ANNOTATION = 'kubelet-cfg-agent.io/config-source'
const SETTINGS: ChannelSettings = {
  channels: SWITCHED_CHANNELS,
  namespace: 'cfg',
  key: 'kubelet',
  defaultConfigMap: { namespace: 'kube-system', name: 'kubelet-config', kubeletConfigKey: 'kubelet' },
}
const NO_FLEET: Fleet = { kind: 'known', members: [] }
const ref = (name: string, namespace = 'cfg', kubeletConfigKey = 'kubelet') => ({ namespace, name, kubeletConfigKey })

interface Facts {
  readonly configSource?: unknown
  readonly label?: string | undefined
  readonly annotation?: string | undefined
}

function node({ configSource, label, annotation }: Facts): object {
  const labels = { zone: 'a', ...(label === undefined ? {} : { [LABEL]: label }) }
  const annotations = annotation === undefined ? {} : { [ANNOTATION]: annotation }
  return { metadata: { name: 'n1', labels, annotations }, spec: configSource === undefined ? {} : { configSource } }
}

function fleetOf(selector: string): Fleet {
  return { kind: 'known', members: [{ name: 'of-fleet', selector, priority: undefined, problem: undefined }] }
}

const SOURCE = { configMap: ref('of-spec') }

t.test('each channel', async (t) => {
  const resolve = (facts: Facts, fleet: Fleet = NO_FLEET, settings = SETTINGS) => resolveChannels(node(facts), settings, fleet)
  t.same(resolve({ configSource: SOURCE }), { kind: 'config-map', channel: 'config-source', ref: ref('of-spec') })
  t.same(resolve({ label: 'of-label' }), { kind: 'config-map', channel: 'label', ref: ref('of-label') })
  t.same(resolve({ annotation: 'ns/of-annotation' }), { kind: 'config-map', channel: 'annotation', ref: ref('of-annotation', 'ns') })
  t.same(resolve({ annotation: 'ns/a:k' }), { kind: 'config-map', channel: 'annotation', ref: ref('a', 'ns', 'k') })
  const json = JSON.stringify({ configMap: ref('a', 'ns', 'k') })
  t.same(resolve({ annotation: ` ${json}` }), { kind: 'config-map', channel: 'annotation', ref: ref('a', 'ns', 'k') })
  t.same(resolve({}, fleetOf('zone=a')), { kind: 'config-map', channel: 'selector', ref: ref('of-fleet') })
  t.same(resolve({}, fleetOf('zone=b')), { kind: 'config-map', channel: 'default', ref: ref('kubelet-config', 'kube-system') })
  t.same(resolve({}, NO_FLEET, { ...SETTINGS, defaultConfigMap: undefined }), { kind: 'local' })
})

t.test('a channel that is switched off is ignored, even if malformed', async (t) => {
  const settings: ChannelSettings = { ...SETTINGS, channels: ['label'], defaultConfigMap: undefined }
  const facts = { configSource: {}, annotation: '!' }
  t.same(resolveChannels(node(facts), settings, { kind: 'unreadable', detail: 'no' }), { kind: 'local' })
  t.match(resolveChannels(node({ ...facts, label: 'x' }), settings, NO_FLEET), { channel: 'label' })
})

t.test('a malformed channel is invalid', async (t) => {
  const resolve = (facts: Facts, fleet: Fleet = NO_FLEET) => resolveChannels(node(facts), SETTINGS, fleet)
  for (const configSource of [{}, 'x', [], { configMap: {} }, { configMap: ref('../x') }])
    t.match(resolve({ configSource, label: 'fine' }), { kind: 'invalid', channel: 'config-source' })
  for (const label of ['', 'A', 'a_b', '.', '..', 'a/b'])
    t.match(
      resolve({ label, annotation: 'ns/fine' }),
      { kind: 'invalid', channel: 'label', detail: /not a valid name of a ConfigMap/ },
      label,
    )
  const missing = (annotation: string) => {
    const { detail } = resolve({ annotation }) as { readonly detail: string }
    return detail.replace(/^.*config-source: /, '')
  }
  t.equal(
    missing('{"namespace":"ns","name":"a","kubeletConfigKey":"k"}'),
    'the key configMap is missing, as in {"configMap":{"namespace":"…","name":"…","kubeletConfigKey":"…"}}',
  )
  t.equal(missing('{"configMap":{"namespace":"ns","name":"a"}}'), 'invalid NodeConfigSource, configMap.kubeletConfigKey is missing')
  for (const annotation of [
    '',
    'x',
    'ns/',
    '{',
    '{}',
    '{"configMap":null}',
    '{"configMap":{"namespace":"ns","name":"x"}}',
    'null',
    'local',
  ])
    t.match(resolve({ annotation }, fleetOf('')), { kind: 'invalid', channel: 'annotation', detail: /^annotation / }, annotation)
  t.match(resolve({}, fleetOf('a=(')), { kind: 'invalid', channel: 'selector' })
  t.match(resolveChannels({ metadata: { labels: { a: 1 } } }, SETTINGS, NO_FLEET), { kind: 'invalid', channel: undefined })
  t.match(resolveChannels('no object', SETTINGS, NO_FLEET), { kind: 'invalid' })
})

t.test('the fleet: not known yet, or unreadable', async (t) => {
  t.same(resolveChannels(node({}), SETTINGS, { kind: 'pending' }), { kind: 'pending', channel: 'selector' })
  const unreadable: Fleet = { kind: 'unreadable', detail: 'configmaps is forbidden' }
  t.match(resolveChannels(node({}), SETTINGS, unreadable), {
    kind: 'invalid',
    channel: 'selector',
    detail: /cannot be listed: configmaps is forb/,
  })
  t.match(
    resolveChannels(node({}), SETTINGS, { kind: 'unreadable', reason: 'unreachable', detail: 'connection refused' }),
    { kind: 'pending', channel: 'selector', detail: /cannot be listed: connection refused/ },
    'an API server that does not answer says nothing about the assignment',
  )
  t.match(
    resolveChannels(node({ label: 'x' }), SETTINGS, unreadable),
    { kind: 'config-map' },
    'it does not matter if another channel decides',
  )
  t.ok(needsFleet(node({}), SETTINGS))
  t.notOk(needsFleet(node({ annotation: 'x' }), SETTINGS))
  t.notOk(needsFleet(node({}), { ...SETTINGS, channels: ['config-source', 'label', 'annotation'] }))
})

/** The value of one channel, and the expected result if this channel decides. */
const CASES: Readonly<Record<'config-source' | 'label' | 'annotation', readonly (readonly [unknown, ChannelResolution['kind']])[]>> = {
  'config-source': [
    [undefined, 'local'],
    [null, 'local'],
    [SOURCE, 'config-map'],
    [{ configMap: { ...ref('x'), uid: 'u' } }, 'invalid'],
    [{}, 'invalid'],
    [7, 'invalid'],
  ],
  label: [
    [undefined, 'local'],
    ['of-label', 'config-map'],
    ['Not_One', 'invalid'],
    ['', 'invalid'],
  ],
  annotation: [
    [undefined, 'local'],
    ['ns/of-annotation', 'config-map'],
    ['{"configMap":[]}', 'invalid'],
    ['nonsense', 'invalid'],
  ],
}
const FLEETS: readonly (readonly [Fleet, ChannelResolution['kind']])[] = [
  [NO_FLEET, 'local'],
  [fleetOf('zone=b'), 'local'],
  [fleetOf('zone=a'), 'config-map'],
  [fleetOf('zone=('), 'invalid'],
  [{ kind: 'unreadable', detail: 'no' }, 'invalid'],
  [{ kind: 'pending' }, 'pending'],
]

t.test('the first channel that is set decides, whatever the later ones contain', async () => {
  const channels = fc.subarray([...SWITCHED_CHANNELS])
  const cases = fc.record({
    'config-source': fc.constantFrom(...CASES['config-source']),
    label: fc.constantFrom(...CASES.label),
    annotation: fc.constantFrom(...CASES.annotation),
    selector: fc.constantFrom(...FLEETS),
  })
  fc.assert(
    fc.property(channels, cases, fc.boolean(), (channels, cases, hasDefault) => {
      const settings = { ...SETTINGS, channels, defaultConfigMap: hasDefault ? SETTINGS.defaultConfigMap : undefined }
      const [label, annotation] = [cases.label[0], cases.annotation[0]]
      const facts = { configSource: cases['config-source'][0], label: textOf(label), annotation: textOf(annotation) }
      const resolution = resolveChannels(node(facts), settings, cases.selector[0])
      const first = SWITCHED_CHANNELS.find((channel) => channels.includes(channel) && cases[channel][1] !== 'local')
      const expected = first === undefined ? (hasDefault ? 'config-map' : 'local') : cases[first][1]
      const channel: Channel | undefined = first ?? (hasDefault ? 'default' : undefined)
      return resolution.kind === expected && ('channel' in resolution ? resolution.channel : undefined) === channel
    }),
    { numRuns: 2000 },
  )
})

t.test('a set channel never means local, however malformed; and names are safe in paths', async () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('ns/x', 'a', '{"configMap":{"namespace":"../a","name":"b","kubeletConfigKey":"c"}}'),
    fc.json(),
  )
  fc.assert(
    fc.property(
      fc.option(fc.jsonValue(), { nil: undefined }),
      fc.option(text, { nil: undefined }),
      fc.option(text, { nil: undefined }),
      (configSource, label, annotation) => {
        const resolution = resolveChannels(
          node({ configSource, label, annotation }),
          { ...SETTINGS, defaultConfigMap: undefined },
          NO_FLEET,
        )
        if (resolution.kind === 'local')
          return (configSource === undefined || configSource === null) && label === undefined && annotation === undefined
        if (resolution.kind !== 'config-map') return resolution.kind === 'invalid' && resolution.detail !== ''
        return /^[a-z0-9-]+ [a-z0-9.-]+ (?!\.)[-._a-zA-Z0-9]+$/.test(
          Object.values(ref(resolution.ref.name, resolution.ref.namespace, resolution.ref.kubeletConfigKey)).join(' '),
        )
      },
    ),
    { numRuns: 2000 },
  )
})

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

t.test('a refused list names what helps', (t) => {
  const detailOf = (fleet: Fleet) => {
    const resolution = resolveChannels(node({}), SETTINGS, fleet)
    return resolution.kind === 'invalid' || resolution.kind === 'pending' ? resolution.detail : resolution.kind
  }
  const long = 'x'.repeat(500)
  t.match(detailOf({ kind: 'unreadable', reason: 'forbidden', detail: long }), /x; deploy\/rbac\/node-fleet-selector\.yaml grants it$/)
  t.match(detailOf({ kind: 'unreadable', reason: 'unauthenticated', detail: '401' }), /does not accept the identity of the kubeconfig$/)
  t.notMatch(detailOf({ kind: 'unreadable', detail: 'a manifest' }), 'deploy/rbac')
  t.end()
})

t.test('only an answer about the list makes the assignment invalid: another one may follow in a moment', (t) => {
  const kindOf = (reason: 'forbidden' | 'unauthenticated' | 'unreachable') =>
    resolveChannels(node({}), SETTINGS, { kind: 'unreadable', reason, detail: '' }).kind
  t.equal(kindOf('forbidden'), 'invalid')
  t.equal(kindOf('unauthenticated'), 'pending')
  t.equal(kindOf('unreachable'), 'pending')
  t.end()
})
