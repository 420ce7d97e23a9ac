import t from 'tap'
import * as yaml from '../../src/kubelet/yaml.ts'
import { hashOverlay, isOverlayName, readOverlay } from '../../src/overlay/read-overlay.ts'

const filesOf = (files: Readonly<Record<string, string>>) => new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]))

t.test('which names count', async (t) => {
  for (const name of ['10-a.yaml', 'a.yml']) t.ok(isOverlayName(name), name)
  for (const name of ['.a.yaml', 'a.yaml~', 'a.yaml.swp', '.#a.yaml', '#a.yaml#', 'a.yaml.dpkg-new', 'README', 'a.json', '4913'])
    t.notOk(isOverlayName(name), name)
})

t.test('the hash tells names, order and bytes apart', async (t) => {
  const all = [{ a: '1' }, { b: '1' }, { a: '2' }, { a: '1', b: '' }, { a: '', b: '1' }, { ab: '1' }].map((files) =>
    hashOverlay(filesOf(files)),
  )
  t.equal(new Set(all).size, all.length)
  for (const hash of all) t.match(hash, /^[0-9a-f]{16}$/)
  t.equal(hashOverlay(filesOf({ a: '1' })), all[0])
})

t.test('no files are no overlay; one bad file spoils all', async (t) => {
  t.strictSame(readOverlay(new Map(), yaml), { kind: 'none' })
  const files = filesOf({ '1.yaml': 'a: 1\n', '2.yaml': 'a: [\n' })
  t.match(readOverlay(files, yaml), { kind: 'faulty', detail: /^2\.yaml: .* at line/ })
})

t.test('a rendering is made once for the same data', async (t) => {
  const view = readOverlay(filesOf({ '1.yaml': 'a: 2\n', '2.yaml': 'b: 3\n' }), yaml)
  if (view.kind !== 'present') return t.fail('there is an overlay')
  const data = { kubelet: 'a: 1\n', other: 'a: 1\n' }
  const rendering = view.render(data, 'kubelet')
  t.strictSame(rendering, { ok: true, data: { kubelet: '{\n  "a": 2,\n  "b": 3\n}\n', other: 'a: 1\n' } })
  t.equal(view.render(data, 'kubelet'), rendering)
  t.match(view.render(data, 'other'), { data: { kubelet: 'a: 1\n' } })
  t.same(view.files, ['1.yaml', '2.yaml'])
})
