// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { validateCommand } from '../../src/command/agent/commands/validate.ts'
import { readManifestText } from '../../src/command/manifest-text.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { execute, fakeNode } from './agent/fake-node.ts'

const CONFIG =
  'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n\nevictionHard:\n  memory.available: 100Mi\nmaxPod: 64\n'
const block = (text: string, indent: string) => text.replace(/^(?=.)/gm, indent)
const manifest = (config: string, key = 'kubelet') =>
  `# ours\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  other: |\n    ${key}: |\n  ${key}: |\n${block(config, '    ')}`

t.test('finds the config in a manifest, and its place', async (t) => {
  const reading = await readManifestText(manifest(CONFIG), IN_PLACE)
  t.match(reading, { kind: 'found', key: 'kubelet', data: { kubelet: CONFIG, other: 'kubelet: |\n' } })
  if (reading.kind === 'found') t.same(reading.place({ line: 6, column: 1 }, []), { line: 15, column: 5 })
})

t.test('only the agent reads a manifest: kubelet may read it differently, but not the config in it', async (t) => {
  for (const [text, config] of [
    [manifest(CONFIG).replace(/\n$/, ''), CONFIG.replace(/\n$/, '')],
    [manifest('').replace(/\|\n$/, '"maxPods:\n    \\ 110"\n'), 'maxPods:  110'],
  ] as const)
    t.match(await readManifestText(text, IN_PLACE), { kind: 'found', data: { kubelet: config } })
  const tagged = CONFIG.replace('maxPod: 64', 'maxPods: !!int 64')
  const node = fakeNode({ context: { readInput: async () => ({ kind: 'read', bytes: Buffer.from(manifest(tagged)) }) } })
  t.equal(await execute(validateCommand, node, {}, ['map.yaml']), 1)
  t.match(node.out(), /kubelet may read a tag differently/)
})

t.test('validate checks the config and shows lines of the file', async (t) => {
  const node = fakeNode({ context: { readInput: async () => ({ kind: 'read', bytes: Buffer.from(manifest(CONFIG)) }) } })
  t.equal(await execute(validateCommand, node, {}, ['map.yaml']), 0)
  t.match(
    node.out(),
    'map.yaml:15:5: warning: unknown field maxPod: kubelet ignores it [fields/unknown-key]\n  15 |     maxPod: 64\n     |     ^~~~~~\n',
  )
})

t.test('places are unknown in other notations', async (t) => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { kubelet: CONFIG } }
  for (const text of [
    JSON.stringify(object),
    `${JSON.stringify(object, null, 2)}\n`,
    manifest(CONFIG).replace('  kubelet: |\n    api', '  kubelet: >\n    api'),
  ]) {
    const reading = await readManifestText(text, IN_PLACE)
    t.match(reading, { kind: 'found', key: 'kubelet' })
    if (reading.kind === 'found') t.equal(reading.place({ line: 1, column: 1 }, []), undefined)
  }
})

t.test('accepts another key if it is the only one', async (t) => {
  const read = (data: unknown) =>
    readManifestText(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data }), IN_PLACE)
  t.match(await read({ 'config.yaml': 'a' }), { kind: 'found', key: 'config.yaml' })
  t.match(await read({ a: '', b: '' }), { kind: 'unclear', detail: /the keys a, b/ })
  t.match(await read({}), { kind: 'unclear', detail: /no data/ })
  t.match(await read({ a: 5 }), { kind: 'unclear', detail: /not a map of texts/ })
})

t.test('several documents in a file', async (t) => {
  const node = '---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\n'
  t.match(await readManifestText(`${node}---\n${manifest(CONFIG)}`, IN_PLACE), { kind: 'found' })
  t.match(await readManifestText(`${manifest(CONFIG)}---\n${manifest(CONFIG)}`, IN_PLACE), { kind: 'unclear', detail: /2 ConfigMaps/ })
})

t.test('other texts are not manifests', async (t) => {
  for (const text of [
    '',
    CONFIG,
    'kind: ConfigMap\na: [',
    '# kind: ConfigMap\n',
    'kind: ConfigMap\n',
    'kind: ConfigMapList\napiVersion: v1\n',
  ])
    t.same(await readManifestText(text, IN_PLACE), { kind: 'none' }, text)
})

t.test('maps every line of the config to the file', async (t) => {
  const line = fc.string({ unit: fc.constantFrom('a', ' ', ':', '#', '-', 'é'), maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), async (lines) => {
      const config = `x:\n${lines.join('\n')}\n`
      const text = manifest(config)
      const reading = await readManifestText(text, IN_PLACE)
      t.equal(reading.kind, 'found')
      if (reading.kind !== 'found') return
      for (const [index, line] of (reading.data.kubelet ?? '').split('\n').entries()) {
        const place = reading.place({ line: index + 1, column: 1 }, [])
        if (place !== undefined && line !== '') t.equal(text.split('\n')[place.line - 1]?.slice(place.column - 1), line)
      }
    }),
  )
})

t.test('reads the only ConfigMap of a list, as kubectl prints it', async (t) => {
  const one = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { kubelet: CONFIG } }
  const { apiVersion: _, kind: __, ...bare } = one
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }
  for (const list of [
    { apiVersion: 'v1', kind: 'List', items: [pod, one] },
    { apiVersion: 'v1', kind: 'ConfigMapList', items: [bare] },
  ])
    t.match(await readManifestText(JSON.stringify(list), IN_PLACE), { kind: 'found', key: 'kubelet', data: { kubelet: CONFIG } }, list.kind)
  const two = { apiVersion: 'v1', kind: 'List', items: [one, { ...one, metadata: { name: 'y' } }] }
  t.match(await readManifestText(JSON.stringify(two), IN_PLACE), {
    kind: 'unclear',
    detail: 'it contains 2 ConfigMaps: give one at a time (x, y)',
  })
  t.match(await readManifestText(JSON.stringify({ ...two, items: [pod], kind: 'List', x: 'kind: ConfigMap' }), IN_PLACE), { kind: 'none' })
  const text = `apiVersion: v1\nkind: List\nitems:\n- ${manifest(CONFIG).replace('# ours\n', '').trimEnd().replaceAll('\n', '\n  ')}\n`
  const reading = await readManifestText(text, IN_PLACE)
  if (reading.kind === 'found') t.same(reading.place({ line: 6, column: 1 }, []), { line: 17, column: 7 })
  else t.fail(reading.kind)
})
