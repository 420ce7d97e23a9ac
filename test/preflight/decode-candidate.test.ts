// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { decodeConfig } from '../../src/kubelet/decode.ts'
import { FIELDS } from '../../src/kubelet/fields.ts'
import { parseDocument } from '../../src/kubelet/yaml.ts'
import { decodeCandidate } from '../../src/preflight/document.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const source = { namespace: 'kube-system', name: 'c', kubeletConfigKey: 'kubelet', uid: 'u', resourceVersion: '1' }
const check = (text: string) => decodeCandidate({ source, data: { kubelet: text } }, IN_PLACE)

t.test('accepted, and refused', async (t) => {
  t.strictSame(await check(HEAD), { kind: 'accepted', remarks: [], drain: [] })
  t.match(await check('{0xdeadbeef}'), { kind: 'refused', reason: 'load', detail: 'starts with { but is not valid JSON' })
  t.match(await check(`${HEAD}kubeAPIQPS: -1\n`), { kind: 'accepted' }, 'it can be decoded')
  t.match(await check(`${HEAD}noSuchField: 1\n`), { kind: 'accepted', remarks: ['unknown field "noSuchField": kubelet ignores it'] })
  const other = { ...source, kubeletConfigKey: 'toString' }
  t.match(await decodeCandidate({ source: other, data: { kubelet: HEAD } }, IN_PLACE), {
    reason: 'load',
    detail: 'the ConfigMap has no key toString (its keys: kubelet)',
  })
})

t.test('a long key is cut in the reason', async (t) => {
  const detail = `featureGates.${'k'.repeat(67)}… must be true or false`
  const head = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
  const text = JSON.stringify({ ...head, featureGates: { ['k'.repeat(100_000)]: 'x' } })
  t.strictSame(await check(text), { kind: 'refused', reason: 'load', detail })
})

t.test('YAML and JSON', async (t) => {
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    syncFrequency: '1m30s',
    port: 10250,
    evictionHard: null,
  }
  t.strictSame(await check(JSON.stringify(config, undefined, '\t')), { kind: 'accepted', remarks: [], drain: [] })
  t.match(await check(`${HEAD}port: 1\nport: 2\n`), { kind: 'accepted', remarks: [/line 4, column 1/] })
  t.match(await check(`  {"kind": "KubeletConfiguration",}`), { reason: 'load' })
})

t.test('JSON of any depth', async (t) => {
  const nest = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  const head = '"apiVersion": "kubelet.config.k8s.io/v1beta1"'
  const whole = (kind: string, extra: string) => `{${head}, "kind": ${kind}, "extra": ${extra}}`
  t.match(await check(whole('"KubeletConfiguration"', nest(90))), { kind: 'accepted' })
  for (const depth of [110, 9_000, 100_000])
    t.match(await check(whole('"KubeletConfiguration"', nest(depth))), { reason: 'load', detail: 'nested more than 100 levels deep' })
  t.match(await check(whole('"KubeletConfiguration"', `${'['.repeat(500_000)}${']'.repeat(500_000)}`)), {
    detail: 'nested more than 100 levels deep',
  })
  t.match(await check(`{"extra": ${'['.repeat(1_000_000)}`), { reason: 'load', detail: 'starts with { but is not valid JSON' })
  t.match(await check(whole(nest(90), '1')), { reason: 'load', detail: 'kind must be a string' })
})

t.test('configs that kubelet cannot load', async (t) => {
  const cases: [text: string, detail: string][] = [
    ['', 'the config is empty'],
    ['  \n', 'the config is empty'],
    ['# only a comment\n', 'the config is not an object'],
    ['- a\n', 'the config is not an object'],
    ['a: [\n', 'line 2'],
    [HEAD.replace('kind', 'sort'), 'kind must be KubeletConfiguration, but is not set'],
    [HEAD.replace('v1beta1', 'v1'), 'apiVersion must be kubelet.config.k8s.io/v1beta1, but is "kubelet.config.k8s.io/v1"'],
    [HEAD.replace('Kubelet', 'KubeProxy'), 'kind must be KubeletConfiguration, but is "KubeProxyConfiguration"'],
    [`${HEAD}port: "10250"\n`, 'port must be a 32 bit integer'],
    [`${HEAD}port: 3000000000\n`, 'port must be a 32 bit integer'],
    [`${HEAD}port: 1.5\n`, 'port must be'],
    [`${HEAD}enableServer: "yes"\n`, 'enableServer must be true or false'],
    [`${HEAD}clusterDomain: 5\n`, 'clusterDomain must be a string'],
    [`${HEAD}syncFrequency: 60\n`, 'syncFrequency must be a duration'],
    [`${HEAD}syncFrequency: 1 minute\n`, 'syncFrequency must be a duration'],
    [`${HEAD}clusterDNS: 10.0.0.10\n`, 'clusterDNS must be a list of strings'],
    [`${HEAD}clusterDNS: [1]\n`, 'clusterDNS[0] must be a string'],
    [`${HEAD}systemReserved: {cpu: 1}\n`, 'systemReserved.cpu must be a string'],
    [`${HEAD}featureGates: {A: "true"}\n`, 'featureGates.A must be true or false'],
    [`${HEAD}authentication: []\n`, 'authentication must be an object'],
    [`${HEAD}staticPodURLHeader: {a: b}\n`, 'staticPodURLHeader.a must be a list of strings'],
    [`${HEAD}memoryThrottlingFactor: .inf\n`, 'JSON does not allow this number at line 3'],
    [`${HEAD}syncFrequency:\n`, 'syncFrequency must be a duration'],
    [`${HEAD}authentication: {webhook: {enabled: "false"}}\n`, 'authentication.webhook.enabled must be true or false'],
  ]
  for (const [text, detail] of cases) {
    const result = await check(text)
    t.match(result, { kind: 'refused', reason: 'load' }, JSON.stringify(text))
    t.match(result.kind === 'refused' && result.detail, detail)
  }
})

t.test('a text that does not start with { is YAML, with comments and trailing commas', async (t) => {
  const loose = `${JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }).slice(0, -1)}, # why\n "port": 1,}`
  t.match(await check(loose), { kind: 'refused', detail: 'starts with { but is not valid JSON' })
  t.match(await check(`${' '.repeat(2048)}${loose}`), { kind: 'refused', detail: 'starts with { but is not valid JSON' })
  for (const before of ['# a comment\n', '---\n', '\ufeff']) t.match(await check(`${before}${loose}`), { kind: 'accepted' })
  t.match(await check('{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "port": 1.0}'), {
    detail: 'port must be an integer without a fraction or an exponent',
  })
  t.match(await check(HEAD.replace('kind', 'Kind').replace('api', 'API')), { kind: 'accepted' })
})

t.test('durations in the syntax of Go', async (t) => {
  const fits = (text: string) =>
    decodeConfig(
      JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', syncFrequency: text }),
      parseDocument,
    ).ok
  for (const text of ['0', '0s', '1h2m3.5s', '-1.5h', '.5s', '1.s', '100ms', '1us', '1µs', '+5m']) t.ok(fits(text), text)
  for (const text of ['', '5', 's', '.s', '1d', '1m 30s', '--1s']) t.notOk(fits(text), text)
})

t.test('an accepted config may have remarks; a ConfigMap without keys is refused', async (t) => {
  t.strictSame(await check(`${HEAD}x: 1`), { kind: 'accepted', remarks: ['unknown field "x": kubelet ignores it'], drain: [] })
  t.match(await decodeCandidate({ source, data: {} }, IN_PLACE), { kind: 'refused', reason: 'load', detail: '(its keys: none)' })
})

t.test('the table has all fields of upstream, from 1.20 to 1.38', async (t) => t.equal(Object.keys(FIELDS).length, 128))
