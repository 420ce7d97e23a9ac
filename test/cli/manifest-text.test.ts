import fc from 'fast-check'
import t from 'tap'
import { validateCommand } from '../../src/cli/commands/validate.ts'
import { readManifestText } from '../../src/cli/manifest-text.ts'
import { execute, fakeNode } from './fake-node.ts'

const CONFIG =
  'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n\nevictionHard:\n  memory.available: 100Mi\nmaxPod: 64\n'
const block = (text: string, indent: string) => text.replace(/^(?=.)/gm, indent)
const manifest = (config: string, key = 'kubelet') =>
  `# ours\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  other: |\n    ${key}: |\n  ${key}: |\n${block(config, '    ')}`

t.test('the config in a manifest, and where it stands', async (t) => {
  const reading = await readManifestText(manifest(CONFIG))
  t.match(reading, { kind: 'found', key: 'kubelet', data: { kubelet: CONFIG, other: 'kubelet: |\n' } })
  if (reading.kind === 'found') t.same(reading.place({ line: 6, column: 1 }), { line: 15, column: 5 })
})

t.test('what is judged is the config, and what is shown is the file', async (t) => {
  const node = fakeNode({ context: { readInput: async () => ({ kind: 'read', bytes: Buffer.from(manifest(CONFIG)) }) } })
  t.equal(await execute(validateCommand, node, {}, { candidate: 'map.yaml' }), 0)
  t.match(
    node.out(),
    'map.yaml:15:5: warning: unknown field maxPod: kubelet ignores it [fields/unknown-key]\n  15 |     maxPod: 64\n     |     ^~~~~~\n',
  )
})

t.test('in another spelling, nothing is said of places', async (t) => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { kubelet: CONFIG } }
  for (const text of [
    JSON.stringify(object),
    `${JSON.stringify(object, null, 2)}\n`,
    manifest(CONFIG).replace('  kubelet: |\n    api', '  kubelet: >\n    api'),
  ]) {
    const reading = await readManifestText(text)
    t.match(reading, { kind: 'found', key: 'kubelet' })
    if (reading.kind === 'found') t.equal(reading.place({ line: 1, column: 1 }), undefined)
  }
})

t.test('a key of another name, if it is the only one', async (t) => {
  const of = (data: unknown) => readManifestText(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data }))
  t.match(await of({ 'config.yaml': 'a' }), { kind: 'found', key: 'config.yaml' })
  t.match(await of({ a: '', b: '' }), { kind: 'unclear', detail: /the keys a, b/ })
  t.match(await of({}), { kind: 'unclear', detail: /no data/ })
  t.match(await of({ a: 5 }), { kind: 'unclear', detail: /not text by key/ })
})

t.test('several documents', async (t) => {
  const node = '---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\n'
  t.match(await readManifestText(`${node}---\n${manifest(CONFIG)}`), { kind: 'found' })
  t.match(await readManifestText(`${manifest(CONFIG)}---\n${manifest(CONFIG)}`), { kind: 'unclear', detail: /2 ConfigMaps/ })
})

t.test('anything else is a config, or none', async (t) => {
  for (const text of [
    '',
    CONFIG,
    'kind: ConfigMap\na: [',
    '# kind: ConfigMap\n',
    'kind: ConfigMap\n',
    'kind: ConfigMapList\napiVersion: v1\n',
  ])
    t.same(await readManifestText(text), { kind: 'none' }, text)
})

t.test('every line is found again, however deep it stands', async (t) => {
  const line = fc.string({ unit: fc.constantFrom('a', ' ', ':', '#', '-', 'é'), maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), async (lines) => {
      const config = `x:\n${lines.join('\n')}\n`
      const text = manifest(config)
      const reading = await readManifestText(text)
      t.equal(reading.kind, 'found')
      if (reading.kind !== 'found') return
      for (const [index, one] of (reading.data.kubelet ?? '').split('\n').entries()) {
        const place = reading.place({ line: index + 1, column: 1 })
        if (place !== undefined && one !== '') t.equal(text.split('\n')[place.line - 1]?.slice(place.column - 1), one)
      }
    }),
  )
})
