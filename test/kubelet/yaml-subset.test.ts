// SPDX-License-Identifier: Apache-2.0
/**
 * Texts that are refused since kubelet's readers and the library read them differently, and texts
 * that are not. `npm run yaml:differ` compares very many texts with upstream's decoders.
 */
import t from 'tap'
import { parseDocuments, parseLocated, parseUncommon } from '../../src/kubelet/yaml.ts'

const read = (text: string) => {
  const parsed = parseLocated(text)
  return parsed.ok ? parsed.value : parsed
}

/** Without the line ends that end a line of TAP. */
const nameOf = (text: string) => encodeURI(text.slice(0, 80))

const REFUSED: readonly [text: string, why: RegExp, line: number, column: number][] = [
  ['{?authorization: {mode: AlwaysAllow}}', /text without quotes/, 1, 2],
  ['a: [?b]\n', /text without quotes/, 1, 5],
  ['a: {b?: 1}\n', /text without quotes/, 1, 5],
  ['a: [::1]\n', /text without quotes/, 1, 5],
  ['? a\n: b\n', /a question mark before a key/, 1, 1],
  ['a: {? b: c}\n', /a question mark before a key/, 1, 5],
  ['?a: b\n', /text without quotes/, 1, 1],
  ['\ufeff\ufeffa: 1\n', /the character U\+FEFF/, 1, 2],
  ['a: 1\n\ufeffb: 1\n', /the character U\+FEFF/, 2, 1],
  ['\ufeff a: 1\n', /the character U\+FEFF/, 1, 1],
  ['a: {c:}\n', /a key in braces without a space and a value/, 1, 5],
  ['a: {b, c: 1}\n', /a key in braces without a space and a value/, 1, 5],
  ['a: {b:[]}\n', /a key in braces without a space and a value/, 1, 5],
  ['a: [b: c]\n', /a pair within brackets/, 1, 5],
  ['a: [b:]\n', /a pair within brackets/, 1, 5],
  ['a: &a:x 1\n', /the name of this anchor/, 1, 4],
  ['a: &é 1\n', /the name of this anchor/, 1, 4],
  ['a: &x 1\nb: [*x:y]\n', /Unresolved alias|the name of this anchor/, 2, 5],
  ['a: !!str 1\n', /a tag/, 1, 4],
  ['!!str 1: a\n1: b\n', /a tag/, 1, 1],
  ['--- |\n  a: b\n', /a document that is only a block of text/, 1, 5],
  ['a: |2-\n  b\n', /a block of text that begins like this/, 1, 4],
  ['a: |\n  b', /no line feed at its end/, 1, 4],
  ['a: |\nb: 1\n', /no line feed at its end/, 1, 4],
  ['a: >-\r\n \r\n \tb\r\n', /a tab or a longer empty line/, 1, 4],
  ['a: |\n  \tb\n', /a tab or a longer empty line/, 1, 4],
  ['a: "b\u2028c"\n', /the character U\+2028/, 1, 6],
  ["a: 'b\u0085c'\n", /the character U\+0085/, 1, 6],
  ['a: "b\rc"\n', /the character U\+000D/, 1, 6],
  ['a: "\\ud83d\\ude00"\n', /such an escape/, 1, 4],
  ['a: "\\/"\n', /such an escape/, 1, 4],
  ['a: "b\\\n\n  c"\n', /such an escape/, 1, 4],
  ['a: "b\\"\nc: ["d"]\n', /such an escape/, 1, 4],
  ["a: 'b''\nc: ['d']\n", /such an escape/, 1, 4],
  ['a: .1_000\n', /text without quotes/, 1, 4],
  ['a: 1_000\n', /text without quotes/, 1, 4],
  ['a: 0x10000000000000000\n', /text without quotes/, 1, 4],
  [`a: {${'k'.repeat(1000)}${' '.repeat(25)}: 1}\n`, /a key that is neither/, 1, 5],
  ['[a]: b\n', /a key that is neither/, 1, 1],
  ['a: &x b\n*x : c\n', /a key that is neither/, 2, 1],
  ['&x a: b\n', /a key that is neither/, 1, 1],
  ['a: {b\n   : c}\n', /a key that is neither/, 1, 5],
  ['%YAML 1.1\n---\na: b\n', /a directive/, 1, 1],
]

t.test('what readers take differently is refused, with its place and what to write instead', async (t) => {
  for (const [text, why, line, column] of REFUSED) {
    const parsed = read(text)
    t.match(parsed, { ok: false, detail: why, position: { line, column } }, nameOf(text))
    t.match(parsed, { detail: new RegExp(`at line ${line}, column ${column}$`) }, nameOf(text))
  }
  for (const text of ['1: a\n', 'yes: a\n', '~: a\n', '? [a]:\n  <<: x\n', '1.5: a\n', ': a\n'])
    t.match(read(text), { ok: false, unjudged: true }, text)
})

t.test('a merge under a key that is no text throws nothing', async (t) => {
  for (const text of ['? [a]:\n  <<: x\n', '? {<<: x}\n: 1\n', '? - <<: 1\n', '[{<<: x}]: 1\n']) t.match(read(text), { ok: false }, text)
})

t.test('an anchor within itself or unknown, also where another key replaces it', async (t) => {
  t.match(read('a: &x\n  b: *x\n  b: 1\n'), { ok: false, detail: 'anchor contains itself at line 2, column 6' })
  t.match(read('a: *b\n<<: {a: 1}\n'), { ok: false, detail: 'Unresolved alias at line 1, column 4' })
})

t.test('a tab behind a dash is one at the start of a line', async (t) => {
  for (const text of ['x:\n-\ta\n', '- \ta\n', '- - \ta\n', '-\t\n- a\n'])
    t.match(read(text), { ok: false, detail: /^a line begins with a tab/ }, nameOf(text))
  for (const text of ['a:\t-1\n', '- -1\t\n', '- a\t# b\n', 'a: [-1,\t-2]\n']) t.not((read(text) as { ok?: false }).ok, false, nameOf(text))
})

t.test('a tab within braces is refused on the lines behind text without quotes', async (t) => {
  for (const text of ['x: [a\n\t]\n', 'x: {a: 1\n \n\t}\n', '- [\n  a,\n  b \n\t]\n', '# c\nx: {\n  a: {b: 1\n\t\t}}\n'])
    t.match(read(text), { ok: false, detail: /^a line begins with a tab/ }, nameOf(text))
  for (const text of ['x: {\n \ta: "b"\n \t}\n', 'x: [a,\n \tb]\n', 'x: [a # c\n \t]\n', '# c\n--- \n{\n\ta: {b: 1\n\t}\n}\n'])
    t.not((read(text) as { ok?: false }).ok, false, nameOf(text))
})

t.test('a text that is broken is none of them', async (t) => {
  for (const text of ['a: [b\n', 'a: "b\n', 'a: b: c\n']) t.match(read(text), { ok: false, unjudged: undefined }, text)
})

t.test('a text that only the agent reads may be any', async (t) => {
  const text = '%YAML 1.1\n---\na: !!str 1\nb: |\n  c'
  const value = { a: '1', b: 'c' }
  t.match(parseDocuments(text), { ok: true, documents: [{ value }] })
  t.match(parseUncommon(text), { ok: true, value })
  for (const wrong of ['a: .inf\n', 'a: &x [*x]\n', 'a: *x\n']) t.match(parseDocuments(wrong), { ok: false }, wrong)
})

t.test('configs as people write them are read', async (t) => {
  t.strictSame(
    read(`\ufeff# The config.
a: &hard # of all
  memory.available: 100Mi
  "nodefs.available": 10%
b: {<<: *hard, c: [10.96.0.10, fd00::10, "x", 'it''s',], d: http://x:80/, }
e:
- -1
- --flag=x
- - 0.5
f: |-
  one
    two

g: >
  one
  two
h: one
  two
i: "one \\u00e9\\n
  two"
j:
k: 0777
l: "?x"
'm': a?b
o: 9223372036854775807
p: ::1
q:
- :80
\r
`),
    {
      a: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
      b: { 'memory.available': '100Mi', 'nodefs.available': '10%', c: ['10.96.0.10', 'fd00::10', 'x', "it's"], d: 'http://x:80/' },
      e: [-1, '--flag=x', [0.5]],
      f: 'one\n  two',
      g: 'one two\n',
      h: 'one two',
      i: 'one é\n two',
      j: null,
      k: 511,
      l: '?x',
      m: 'a?b',
      o: 2 ** 63,
      p: '::1',
      q: [':80'],
    },
  )
  t.match(parseDocuments('---\na: 1\n--- # two\n{"b": [true]}\n...\n'), {
    ok: true,
    documents: [{ value: { a: 1 } }, { value: { b: [true] } }],
  })
})
