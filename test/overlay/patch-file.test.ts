import t from 'tap'
import { readPatch } from '../../src/overlay/patch-file.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

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
