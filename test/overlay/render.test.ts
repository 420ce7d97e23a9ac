// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import * as yaml from '../../src/kubelet/yaml.ts'
import { type Patch, readPatch, render } from '../../src/overlay/render.ts'
import { mergePatch } from '../../src/values/merge-patch.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

const parse = (text: string) => yaml.parseLocated(text)
const lay = (text: string, ...patches: Patch[]) => render({ kubelet: text, other: 'as it is' }, 'kubelet', patches, parse)

t.test('YAML and JSON are rendered as JSON; other files stay as they are', async (t) => {
  const result = { ok: true, data: { kubelet: '{\n  "kind": "K",\n  "maxPods": 2\n}\n', other: 'as it is' } }
  t.strictSame(lay('kind: K # a comment\nmaxPods: 1\n', { maxPods: 2 }), result)
  t.strictSame(lay('{"kind":"K","maxPods":1}', { maxPods: 2 }), result)
})

t.test('patches apply in order: the last one wins', async (t) => {
  t.match(lay('a: 1\n', { a: 2, b: 1 }, { a: 3 }, { b: null }), { data: { kubelet: '{\n  "a": 3\n}\n' } })
})

t.test('a text that is not a config or is not changed stays as it is', async (t) => {
  for (const text of ['{0xdeadbeef}', 'a: [', '- 1\n', '', 'a: 1\n', '{"a": 1}']) {
    const data = { kubelet: text }
    const rendering = render(data, 'kubelet', [{ a: 1 }], parse)
    t.equal(rendering.ok && rendering.data, data, JSON.stringify(text))
  }
  const data = { other: 'a: 1\n' }
  const rendering = render(data, 'kubelet', [{ a: 2 }], parse)
  t.equal(rendering.ok && rendering.data, data, 'the key is missing')
})

t.test('a config that cannot be written back exactly is refused', async (t) => {
  t.match(lay('num: 9007199254740993\n', { a: 2 }), { ok: false, detail: /beyond 2\^53/ })
  t.match(lay('pids: 9007199254740993\n', { pids: 2 }), { ok: true, data: { kubelet: '{\n  "pids": 2\n}\n' } }, 'it is not written back')
  t.match(lay('pids: 9007199254740993\na: 1\n', { pids: null }), { ok: true, data: { kubelet: '{\n  "a": 1\n}\n' } })
  t.match(lay('pids: 9007199254740993\n', { a: null }), { ok: true, data: { kubelet: 'pids: 9007199254740993\n' } })
})

t.test('a config that is too deep stays as it is, and takes no memory: preflight refuses it', async (t) => {
  const text = `${'{"a":'.repeat(9_000)}{${Array.from({ length: 3_000 }, (_, index) => `"k${index}":1`).join()}}${'}'.repeat(9_000)}`
  const before = process.memoryUsage().rss
  t.strictSame(lay(text, { b: 2 }), { ok: true, data: { kubelet: text, other: 'as it is' } })
  t.ok(process.memoryUsage().rss - before < 100 << 20, 'the path of each value would take 200 MiB')
})

t.test('the result parses to the merged value, is the same text each time, and rendering it again changes nothing', async () => {
  const value = fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.boolean()))
  fc.assert(
    fc.property(value, value, (config, patch) => {
      const rendering = lay(JSON.stringify(config), patch)
      if (!rendering.ok) return false
      const text = rendering.data.kubelet ?? ''
      const again = lay(text, patch)
      const isMerged = JSON.stringify(JSON.parse(text)) === JSON.stringify(mergePatch(JSON.parse(JSON.stringify(config)), patch))
      return isMerged && again.ok && again.data.kubelet === text
    }),
  )
})

const read = (text: string | Buffer) => readPatch(Buffer.from(text), IN_PLACE)

t.test('a mapping is a patch, including null values', async (t) => {
  t.strictSame(await read('maxPods: 3\nfeatureGates: {a: null}\n'), { ok: true, patch: { maxPods: 3, featureGates: { a: null } } })
  t.strictSame(await read('{"maxPods": 3}'), { ok: true, patch: { maxPods: 3 } })
  t.strictSame(await read('{}'), { ok: true, patch: {} })
})

t.test('apiVersion and kind must be right, and are not part of the patch', async (t) => {
  const header = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
  t.strictSame(await read(`${header}maxPods: 3\n`), { ok: true, patch: { maxPods: 3 } })
  t.match(await read('maxPods: 3\nkind: Pod\n'), { ok: false, detail: /^kind is not KubeletConfiguration.* at line 2, column 1$/ })
  t.match(await read('kind: null\n'), { ok: false, detail: /^kind is not/ })
  t.match(await read('apiVersion: v1\n'), { ok: false, detail: /^apiVersion is not/ })
})

t.test('only the agent reads a patch, so kubelet may read it differently', async (t) => {
  t.strictSame(await read('a: !!str 1\nb: |2-\n  c'), { ok: true, patch: { a: '1', b: 'c' } })
  t.match(await read('a: .inf\n'), { ok: false, detail: /^JSON does not allow this number/ })
})

t.test('ambiguous files are refused, with the place', async (t) => {
  const wrong: readonly (readonly [string | Buffer, RegExp])[] = [
    ['', /empty/],
    ['# nothing but this\n', /empty/],
    ['- 1\n', /not a mapping/],
    ['just words\n', /not a mapping/],
    ['a: 1\nb: {c: 2\n', / at line \d+, column \d+$/],
    ['a: 1\na: 2\n', /^duplicate key at line 2, column 1$/],
    ['a: {b: 1, b: 2}\n', /^duplicate key at line 1, column 11$/],
    ['a: 1\n---\nb: 2\n', /more than one document/],
    [Buffer.from([0x61, 0x3a, 0x20, 0xff]), /UTF-8/],
    ['a: 1\nb:\n  c: [1, 9007199254740993]\n', /^integer beyond 2\^53.* at line 3, column 10$/],
    ['{"a": -9007199254740993}', /^integer beyond 2\^53.* at line 1, column 2$/],
    ['a: *nowhere\n', /./],
  ]
  for (const [text, detail] of wrong) t.match(await read(text), { ok: false, detail }, JSON.stringify(String(text)))
})
