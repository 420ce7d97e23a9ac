// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { parseLocated } from '../../src/kubelet/yaml.ts'
import { isOverlayName, readOverlay } from '../../src/overlay/read-overlay.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

const filesOf = (files: Readonly<Record<string, string>>) => new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]))

t.test('which file names count', async (t) => {
  for (const name of ['10-a.yaml', 'a.yml']) t.ok(isOverlayName(name), name)
  for (const name of ['.a.yaml', 'a.yaml~', 'a.yaml.swp', '.#a.yaml', '#a.yaml#', 'a.yaml.dpkg-new', 'README', 'a.json', '4913'])
    t.notOk(isOverlayName(name), name)
})

t.test('no files mean no overlay; one faulty file makes the whole overlay faulty', async (t) => {
  t.strictSame(await readOverlay(new Map(), IN_PLACE, parseLocated), { kind: 'none' })
  const files = filesOf({ '1.yaml': 'a: 1\n', '2.yaml': 'a: [\n' })
  t.match(await readOverlay(files, IN_PLACE, parseLocated), { kind: 'faulty', detail: /^2\.yaml: .* at line/ })
})

t.test('a rendering is computed once for the same data', async (t) => {
  const view = await readOverlay(filesOf({ '1.yaml': 'a: 2\n', '2.yaml': 'b: 3\n' }), IN_PLACE, parseLocated)
  if (view.kind !== 'present') return t.fail('there is an overlay')
  const data = { kubelet: 'a: 1\n', other: 'a: 1\n' }
  const rendering = view.render(data, 'kubelet')
  t.match(rendering, { rendered: { data: { kubelet: '{\n  "a": 2,\n  "b": 3\n}\n', other: 'a: 1\n' } } })
  t.equal(view.render(data, 'kubelet'), rendering)
  t.match(view.render(data, 'other'), { rendered: { data: { kubelet: 'a: 1\n' } } })
  t.same(view.files, ['1.yaml', '2.yaml'])
})

t.test('a rendering is named by its result: another result has another name', async (t) => {
  const data = { kubelet: 'a: 1\n', other: 'a: 1\n' }
  const name = async (text: string, key = 'kubelet', from: Readonly<Record<string, string>> = data) => {
    const view = await readOverlay(filesOf({ '1.yaml': text }), IN_PLACE, parseLocated)
    const rendering = view.kind === 'present' ? view.render(from, key) : undefined
    return rendering?.ok === true ? rendering.rendered.overlay : 'none'
  }
  const all = [
    await name('a: 2\n'),
    await name('a: 2\n', 'other'),
    await name('a: 2\n', 'gone'),
    await name('a: 3\n'),
    await name('a: 2\n', 'kubelet', { ...data, other: 'a: 4\n' }),
    await name('a: 2\n', 'kubelet', { ...data, kubelet: 'b: 1\n' }),
  ]
  t.equal(new Set(all).size, all.length)
  for (const one of all) t.match(one, /^[0-9a-f]{16}$/)
  t.equal(await name('{"a": 2} # the same\n'), all[0])
})
