// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { mergePart } from '../../src/overlay/merge-part.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { LOCAL_PATH, localConfig } from './local-configs.ts'

const HEADER = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
const baseOf = (text: string, ...parts: string[]) => ({
  root: { kind: 'local', name: LOCAL_PATH, text } as const,
  parts: parts.map((part, index) => ({ name: `ConfigMap ns/b${index}:k`, text: part })),
})
const merge = (base: string, part: string) => mergePart(baseOf(base), { kubelet: part }, 'kubelet', IN_PLACE)
const merged = async (base: string, part: string) => {
  const result = await merge(base, part)
  if (!result.ok) throw new Error(result.detail)
  return JSON.parse(result.rendered.data.kubelet ?? '')
}

t.test('objects are merged, null removes, lists and other values are replaced', async (t) => {
  const base = localConfig('maxPods: 110\nclusterDNS: [10.96.0.10]\nfeatureGates: {A: true, B: true}\nclusterDomain: cluster.local\n')
  const part = 'maxPods: 200\nclusterDNS: [10.0.0.1, 10.0.0.2]\nfeatureGates: {B: null, C: false}\n'
  t.same(await merged(base, part), {
    ...HEADER,
    maxPods: 200,
    clusterDNS: ['10.0.0.1', '10.0.0.2'],
    featureGates: { A: true, C: false },
    clusterDomain: 'cluster.local',
  })
})

t.test('apiVersion and kind may be in the part or not, and are those of the base', async (t) => {
  for (const part of ['maxPods: 200\n', localConfig('maxPods: 200\n'), `{"maxPods": 200}`])
    t.same(await merged(localConfig('podPidsLimit: 7\n'), part), { ...HEADER, podPidsLimit: 7, maxPods: 200 })
})

t.test('a relative path in the local config still starts at its directory, for kubelet reads the result elsewhere', async (t) => {
  const base = localConfig(
    'staticPodPath: manifests\nauthentication: {x509: {clientCAFile: ../pki/ca.crt}, anonymous: {enabled: false}}\n' +
      'tlsCertFile: /etc/a.crt\nresolvConf: ""\nvolumePluginDir: null\n',
  )
  const expected = {
    staticPodPath: '/var/lib/kubelet/manifests',
    authentication: { x509: { clientCAFile: '/var/lib/pki/ca.crt' }, anonymous: { enabled: false } },
    tlsCertFile: '/etc/a.crt',
    resolvConf: '',
  }
  t.match(await merged(base, '{}'), expected)
  t.match(await merged(base, 'maxPods: 2'), expected)
  t.match(await merged(base, 'staticPodPath: of-the-part'), { ...expected, staticPodPath: 'of-the-part' })
  const result = await mergePart(
    { root: { kind: 'config-map', name: 'ConfigMap ns/a:k', text: base }, parts: [] },
    { kubelet: 'maxPods: 2' },
    'kubelet',
    IN_PLACE,
  )
  t.match(result, { ok: true, rendered: { data: { kubelet: /"staticPodPath": "manifests"/ } } })
})

t.test('where kubelet itself merges the result over the local config, it has only what the parts say, and their nulls', async (t) => {
  const { root, parts } = baseOf(localConfig('maxPods: 110\nfeatureGates: {A: true, B: true}\n'), 'maxPods: 150\nfeatureGates: {B: null}')
  const layers = [{ name: 'ConfigMap ns/l:k', text: 'featureGates: {C: true}' }]
  const composed = async (text: string) => {
    const result = await mergePart({ root: { ...root, staysBelow: true }, parts, layers }, { kubelet: text }, 'kubelet', IN_PLACE)
    if (!result.ok) throw new Error(result.detail)
    return [JSON.parse(result.rendered.data.kubelet ?? ''), result.patches.length]
  }
  t.same(await composed('podPidsLimit: null\n'), [{ ...HEADER, maxPods: 150, featureGates: { B: null, C: true }, podPidsLimit: null }, 3])
  t.same(await composed('maxPods: null\n'), [{ ...HEADER, maxPods: null, featureGates: { B: null, C: true } }, 3])
  const alone = { root: { ...root, staysBelow: true }, parts: [] }
  t.match(await mergePart(alone, { kubelet: '{}' }, 'kubelet', IN_PLACE), { ok: true, rendered: { data: { kubelet: /^\{"apiVersion":/ } } })
  const broken = { root: { ...root, text: 'maxPods: [', staysBelow: true }, parts: [] }
  t.match(await mergePart(broken, { kubelet: '{}' }, 'kubelet', IN_PLACE), { ok: false, fault: 'local' })
})

t.test('the base may be JSON', async (t) => {
  t.same(await merged(JSON.stringify({ ...HEADER, maxPods: 1 }), 'maxPods: 2'), { ...HEADER, maxPods: 2 })
})

t.test('a part that changes nothing gives the base, byte for byte', async (t) => {
  const base = localConfig('maxPods: 110 # as kubeadm has it\n')
  for (const part of ['{}', 'maxPods: 110', 'podPidsLimit: null'])
    t.match(await merge(base, part), { ok: true, rendered: { data: { kubelet: base } } })
})

t.test('other keys of the ConfigMap stay as they are, and a missing key too', async (t) => {
  const data = { 'a.txt': 'maxPods: 1', kubelet: '{}', __proto__: 'x' }
  const base = localConfig('maxPods: 110\n')
  t.match(await mergePart(baseOf(base), data, 'kubelet', IN_PLACE), { ok: true, rendered: { data: { ...data, kubelet: base } } })
  t.match(await mergePart(baseOf(base), { other: '{}' }, 'kubelet', IN_PLACE), { ok: true, rendered: { data: { other: '{}' } } })
})

t.test('a part that is not a mapping of fields is refused, with its place', async (t) => {
  const base = localConfig('')
  const refused: readonly (readonly [string, RegExp])[] = [
    ['', /^kubelet: it is empty/],
    ['[]', /^kubelet: it is not a mapping/],
    ['a: [\n', /^kubelet: .* at line/],
    ['a: 1\na: 2\n', /^kubelet: duplicate key at line 2/],
    ['kind: Pod\n', /^kubelet: kind is not KubeletConfiguration/],
    ['a: 1\n---\nb: 2\n', /^kubelet: it has more than one document/],
    ['a: 9007199254740993\n', /^kubelet: integer beyond 2\^53/],
  ]
  for (const [part, detail] of refused) t.match(await merge(base, part), { ok: false, fault: 'part', detail })
})

t.test('a local config that kubelet would not read is refused, with its path', async (t) => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['', /config.yaml: it is not a mapping/],
    ['a: [\n', /config.yaml: .* at line/],
    ['{', /config.yaml: starts with \{ but is not valid JSON/],
    ['maxPods: 1\n', /config.yaml: kind must be KubeletConfiguration, but is not set/],
    ['apiVersion: v1\nkind: Pod\n', /config.yaml: kind must be KubeletConfiguration, but is "Pod"/],
    [localConfig('podPidsLimit: 9007199254740993\n'), /config.yaml: .* beyond 2\^53/],
  ]
  for (const [base, detail] of refused) t.match(await merge(base, 'maxPods: 2'), { ok: false, fault: 'local', detail })
})

t.test('other parts under it are merged in their order, and a fault names the one', async (t) => {
  const root = localConfig('maxPods: 1\npodPidsLimit: 1\nfeatureGates: {A: true}\n')
  const data = { kubelet: 'maxPods: 4\n' }
  const result = await mergePart(
    baseOf(root, 'maxPods: 2\npodPidsLimit: 2\n', 'podPidsLimit: 3\nfeatureGates: {B: true}\n'),
    data,
    'kubelet',
    IN_PLACE,
  )
  t.same(JSON.parse(result.ok ? (result.rendered.data.kubelet ?? '') : ''), {
    ...HEADER,
    maxPods: 4,
    podPidsLimit: 3,
    featureGates: { A: true, B: true },
  })
  t.match(await mergePart(baseOf(root, '{}', 'a: [\n'), data, 'kubelet', IN_PLACE), {
    ok: false,
    fault: 'base',
    detail: /^ConfigMap ns\/b1:k: /,
  })
  const cluster = { root: { kind: 'config-map', name: 'ConfigMap ns/b:k', text: 'maxPods: 1' }, parts: [] } as const
  t.match(await mergePart(cluster, data, 'kubelet', IN_PLACE), { ok: false, fault: 'base', detail: /^ConfigMap ns\/b:k: kind must be/ })
})

t.test('layers are merged over a part, or over a whole config, in their order', async (t) => {
  const layers = [
    { name: 'ConfigMap ns/l0:k', text: 'maxPods: 3\npodPidsLimit: 3\n' },
    { name: 'ConfigMap ns/l1:k', text: 'podPidsLimit: 4\nclusterDomain: null\n' },
  ]
  const fieldsOf = async (...args: Parameters<typeof mergePart>) => {
    const result = await mergePart(...args)
    return result.ok ? JSON.parse(result.rendered.data.kubelet ?? '') : result
  }
  const part = { ...baseOf(localConfig('maxPods: 1\nclusterDomain: a.example\n')), layers }
  t.same(await fieldsOf(part, { kubelet: 'maxPods: 2\neventQPS: 2\n' }, 'kubelet', IN_PLACE), {
    ...HEADER,
    maxPods: 3,
    eventQPS: 2,
    podPidsLimit: 4,
  })
  const whole = { root: undefined, parts: [], layers }
  const data = { kubelet: localConfig('maxPods: 1\nstaticPodPath: manifests\n'), other: 'x' }
  t.same(await fieldsOf(whole, data, 'kubelet', IN_PLACE), { ...HEADER, maxPods: 3, staticPodPath: 'manifests', podPidsLimit: 4 })
  const broken = { kubelet: 'maxPods: [\n' }
  t.match(await mergePart(whole, broken, 'kubelet', IN_PLACE), { ok: true, rendered: { data: broken } }, 'preflight refuses it')
  t.match(await mergePart({ ...whole, layers: [...layers, { name: 'ConfigMap ns/l2:k', text: 'a: [\n' }] }, data, 'kubelet', IN_PLACE), {
    ok: false,
    fault: 'layer',
    detail: /^ConfigMap ns\/l2:k: /,
  })
})
