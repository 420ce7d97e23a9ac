// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { decodeText } from '../../src/kubelet/decode.ts'
import { explainYaml } from '../../src/kubelet/unreadable.ts'
import { readDocument } from '../../src/preflight/document.ts'
import { IN_PLACE } from './in-place-yaml.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const JSON_HEAD = '{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"'
const template = (mark: string) => `${mark} begins a template that was not rendered: render it first, and give the result`
const NOT_JSON = 'starts with { but is not valid JSON'

t.test('says why a text cannot be read in the words of whoever wrote it', async (t) => {
  const space = (code: string) =>
    `the character ${code} looks like a space or like nothing, and is neither: write a space in its place, or remove it`
  const quote = 'is not a quotation mark of YAML or JSON: write " or \' in its place'
  const line = 'neither a key with its value nor an item of a list: write "name: value", with a space behind the colon, or "- value"'
  const cases: [text: string, detail: string, line: number, column: number, unjudged?: true][] = [
    [`${HEAD}{{- if .x }}\nmaxPods: 1\n{{- end }}\n`, template('{{'), 3, 1],
    [`${HEAD}# {{ a comment }}\na: "{{ quoted }}"\nb: '{{ too }}'\n{{ .x }}\n`, template('{{'), 6, 1],
    [`${HEAD}# {{ a comment }}\na: 1 # {{ too }}\nmaxPods:110\n`.replaceAll('\n', '\r\n'), line, 5, 1],
    [`${HEAD}systemReserved:\n  {{ toYaml .Values.r | nindent 2 }}\n`, template('{{'), 4, 3, true],
    [`${HEAD}featureGates:\n{% for g in gates %}\n  {{ g }}: true\n`, template('{%'), 4, 1],
    [`${HEAD}%{ if x ~}\nmaxPods: 1\n%{ endif ~}\n`, template('%{'), 3, 1],
    [`%{ if x ~}\n${HEAD}`, template('%{'), 1, 1],
    [`${HEAD}maxPods: {{ n }}\n`, template('{{'), 3, 10, true],
    [`${HEAD}clusterDNS: [{{ dns }}]\n`, template('{{'), 3, 14, true],
    [`${HEAD}<% if @x %>\nmaxPods: 1\n`, template('<%'), 3, 1],
    [`{{- if .x }}\n${HEAD}`, `${NOT_JSON}: a template that was not rendered begins here: render it first, and give the result`, 1, 1],
    [`${HEAD}maxPods:\u00a0110\n`, space('U+00A0'), 3, 9],
    [`${HEAD}authentication:\n\u00a0\u00a0webhook: {}\n`, space('U+00A0'), 4, 1, true],
    [`${HEAD}maxPods:\u200b\n  110: 1\n  - 2\n`, space('U+200B'), 3, 9],
    [`${HEAD}a: [\u201cx\u201d\nb: 1\n`, `\u201c (U+201C) ${quote}`, 3, 5],
    [`${HEAD}clusterDNS:\n\u2013 1.2.3.4\n`, '\u2013 (U+2013) is not a hyphen: write - in its place', 4, 1],
    [`${HEAD}// why\nmaxPods: 1\n`, '// begins no comment of YAML: write # in its place', 3, 1],
    ['/* why */\n{"kind": 1}', '/* begins no comment of YAML: write # in its place', 1, 1],
    [`${HEAD}maxPods:110\n`, line, 3, 1],
    [`${HEAD}maxPods:110\nport: 1\n`, line, 3, 1],
    [`${JSON_HEAD}, // why\n"maxPods": 1}`, `${NOT_JSON}: remove this comment, JSON has none`, 1, 81],
    [`${JSON_HEAD},\n/* why */ "maxPods": 1}`, `${NOT_JSON}: remove this comment, JSON has none`, 2, 1],
    [`${JSON_HEAD},\n"maxPods": 1 # "why"\n}`, `${NOT_JSON}: remove this comment, JSON has none`, 2, 14],
    [`${JSON_HEAD},\n}`, `${NOT_JSON}: remove this comma, JSON has none behind the last value`, 1, 79],
    [`{'a': 1}`, `${NOT_JSON}: write " in place of ', JSON has no other quotation mark`, 1, 2],
    [`{\n maxPods : 1}`, `${NOT_JSON}: write this name in double quotes`, 2, 2],
    [`{"a": \u201cb\u201d}`, `${NOT_JSON}: write " in place of this quotation mark, JSON has no other`, 1, 7],
    [`{"a":\u00a01}`, `${NOT_JSON}: write a space in place of this character, which only looks like one`, 1, 6],
    [`{"a": {{ .x }}}`, `${NOT_JSON}: a template that was not rendered begins here: render it first, and give the result`, 1, 7],
  ]
  for (const [text, detail, at, column, unjudged] of cases) {
    const whole = `${detail} at line ${at}, column ${column}`
    t.match(
      await readDocument(text, IN_PLACE),
      { ok: false, detail: whole, position: { line: at, column }, unjudged },
      JSON.stringify(text),
    )
    t.match(await decodeText(text, IN_PLACE), { ok: false, detail: whole, unjudged }, 'the agent says the same')
  }
})

t.test('so does whatever else reads YAML', async (t) => {
  const failure = { ok: false, detail: `${template('{{')} at line 2, column 4`, position: { line: 2, column: 4 } } as const
  for (const read of [IN_PLACE.first, IN_PLACE.firstOfAny, IN_PLACE.all]) t.match(await read('a: 1\nb: {{ c }} d\n'), failure)
})

t.test('does not blame what is not at fault', async (t) => {
  const cases: [text: string, detail: RegExp][] = [
    [`${HEAD}a: [\n\n\nb: "{{ x }}"\n`, /^(?!.*template)/],
    [`${HEAD}a: "{{ x }}"\nb: [\n`, /^(?!.*template)/],
    [`${HEAD}a: \u00a0\n\n\n\nb: [\n`, /^(?!.*U\+00A0)/],
    [`${HEAD}b: [\n{{ x }}\n`, /template/],
    [`{"a": "// {{ x }} # \u201c"`, /valid JSON$/],
    ['{"a": [1,2}', /valid JSON$/],
    ['{"a": true, "b": nul}', /valid JSON$/],
  ]
  for (const [text, detail] of cases) t.match(await readDocument(text, IN_PLACE), { ok: false, detail }, JSON.stringify(text))
})

t.test('long texts take time that grows with their length', async (t) => {
  for (const unit of [
    'a',
    '"',
    '\\"',
    ' ',
    ',',
    ', ',
    '{{',
    '{',
    '#',
    '//',
    "'",
    'a ',
    'a:',
    '$',
    '\u00a0',
    '\n',
    '\u201c',
    '"\\',
    '\n{{ x',
    `\n"${'\\"'.repeat(900)}\\`,
    '\n# {{',
  ])
    for (const head of ['{"a": \\', '{"a": "', `${HEAD}a: [ `, '{1']) {
      const text = head + unit.repeat(200_000 / unit.length)
      t.equal(explainYaml(text, { ok: false, detail: 'no', position: { line: 150_000, column: 1 } }).ok, false)
      t.match(await readDocument(text, { first: async () => ({ ok: false, detail: 'no', position: undefined }) }), { ok: false })
    }
})
t.setTimeout(60_000)
