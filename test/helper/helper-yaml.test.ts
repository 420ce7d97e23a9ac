import t from 'tap'
import type { AskOptions, Helper } from '../../src/helper/helper-process.ts'
import { parseByHelper } from '../../src/helper/helper-yaml.ts'
import { isReport } from '../../src/helper/protocol.ts'
import { answerAll, answerFirst, fitsJson } from '../../src/kubelet/answer-yaml.ts'
import { isCheap } from '../../src/kubelet/bounded-yaml.ts'
import { parseDocuments, parseLocated } from '../../src/kubelet/yaml.ts'
import type { YamlReader } from '../../src/kubelet/yaml-document.ts'

const here: YamlReader = { first: async (text) => parseLocated(text), all: async (text) => parseDocuments(text) }
const NOBODY: YamlReader = {
  first: async () => ({ ok: false, detail: 'asked here', position: undefined }),
  all: async () => ({ ok: false, detail: 'asked here', position: undefined }),
}

/** Its answers went through JSON. */
function helperThat(answer: (method: string, args: readonly unknown[]) => unknown): Helper {
  return {
    async ask<T>(method: string, args: readonly unknown[], { check }: AskOptions<T>): Promise<T> {
      const result: unknown = JSON.parse(JSON.stringify(answer(method, args)))
      if (!check(result)) throw new Error('no valid answer')
      return result
    },
  }
}

const helper = helperThat((_, [mode, text]) => {
  const answer = mode === 'first' ? answerFirst(String(text)) : answerAll(String(text))
  return fitsJson(answer) ? answer : { kind: 'here' }
})

t.test('the result is the same as here', async (t) => {
  const yaml = parseByHelper(helper, NOBODY, isCheap)
  for (const text of ['a: {b: [1, c]}\nd: ~\n', 'a: 1\na: 2\n', 'a: [', '', '- 1\n---\n- 2\n', '"__proto__": {x: 1}\n']) {
    const [there, wanted] = [await yaml.first(text), parseLocated(text)]
    t.same(JSON.parse(JSON.stringify(there)), JSON.parse(JSON.stringify(wanted)), text)
    for (const path of [['a'], ['a', 'b', 1], ['d'], ['none']])
      if (there.ok && wanted.ok) t.same(there.locate(path), wanted.locate(path), `${text} ${path}`)
    t.same(await yaml.all(text), parseDocuments(text), text)
  }
})

t.test('a text that may be costly, and one whose values JSON cannot hold, are not for the helper', async (t) => {
  const yaml = parseByHelper(helper, NOBODY, isCheap)
  t.match(await yaml.first('a: &x 1\nb: *x\n'), { detail: 'asked here' })
  t.match(await yaml.all('a: &x 1\nb: *x\n'), { detail: 'asked here' })
  const values = parseByHelper(helper, here, isCheap)
  for (const text of ['a: .inf\n', 'a: [-.inf]\n', 'a: {b: .nan}\n']) t.same(await values.all(text), parseDocuments(text), text)
  t.same((await values.first('maxPods: .inf\n')).ok, parseLocated('maxPods: .inf\n').ok)
})

t.test('a helper that fails, or answers nonsense, refuses no text', async (t) => {
  const broken = helperThat(() => {
    throw new Error('killed')
  })
  for (const failing of [broken, helperThat(() => ({ kind: 'first' })), helperThat(() => 'yes')])
    t.match(await parseByHelper(failing, here, isCheap).first('a: 1\n'), { ok: true, value: { a: 1 } })
})

t.test('a report of another shape is none', async (t) => {
  const finding = { rule: 'fields/x', severity: 'warn', reason: 'load', path: ['a', 0], problem: 'p' }
  const report = { outcome: 'accepted', findings: [finding], parts: [{ part: 'fields', outcome: 'accepted', detail: 'd' }] }
  t.ok(isReport(report))
  t.notOk(isReport({ ...report, outcome: 'fine' }))
  t.notOk(isReport({ ...report, findings: undefined }))
  t.notOk(isReport({ ...report, findings: [{ ...finding, severity: 'none' }] }))
  t.notOk(isReport({ ...report, parts: [{ part: 'fields' }] }))
})
