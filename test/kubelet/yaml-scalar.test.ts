import t from 'tap'
import { parseDocument } from '../../src/kubelet/yaml.ts'
import { findBadText, readScalar } from '../../src/kubelet/yaml-scalar.ts'

const read = (text: string) => {
  const parsed = parseDocument(text)
  return parsed.ok ? parsed.value : parsed.detail
}

t.test('a text has to be what its tag says', async (t) => {
  t.strictSame(read('a: !!null ~\nb: !!null "Null"\nc: !!null\nd: !!bool yes\ne: !!int "0x1F"\nf: !!float 1\n'), {
    ...{ a: null, b: null, c: null, d: true },
    ...{ e: 31, f: 1 },
  })
  for (const tagged of ['!!null x', '!!bool x', '!!bool 1', '!!int x', '!!int 1.5', '!!int .5', '!!int 99999999999999999999', '!!float x'])
    t.match(read(`a: ${tagged}\n`), /^this is not what the tag !!\w+ says at line 1, column \d+$/, tagged)
  t.match(read('!!null x: 1\n'), /this is not what the tag !!null says/, 'as a key')
  t.match(read('a: !!float .inf\n'), /JSON does not allow this number/)
  t.strictSame(read('a: !foo x\nb: !!str null\nc: !!timestamp 2001-12-14\n'), { a: 'x', b: 'null', c: '2001-12-14' })
})

t.test('!!binary is decoded', async (t) => {
  t.strictSame(read('a: !!binary aGVsbG8=\nb: !!binary |\n  aGVs\n  bG8=\nc: !!binary ""\n'), { a: 'hello', b: 'hello', c: '' })
  t.strictSame(read('!!binary cG9ydA==: 1\n'), { port: 1 })
  for (const wrong of ['"@"', 'aGVsbG8', '"aGVs bG8="', '===='])
    t.match(read(`a: !!binary ${wrong}\n`), /^this is not base64, as the tag !!binary says at line 1/, wrong)
  t.notMatch(read('a: !!binary s3cret!\n'), /s3cret/)
})

t.test('escapes of halves of a surrogate pair, alone or together', async (t) => {
  for (const escaped of ['"\\ud800"', '"x\\uDFFFx"', '"\\ud83d\\ude00"', '"\\U0000d800"', '"\\\\\\ud800"'])
    t.match(read(`a: ${escaped}\n`), /half a surrogate pair is no character at line 1, column 4/, escaped)
  t.match(read('"\\ud800": 1\n'), /half a surrogate pair/, 'in a key')
  t.strictSame(read('a: "\\\\ud800"\nb: \'\\ud800\'\nc: \\ud800\nd: "\\u00e9\\U0001F600"\n'), {
    ...{ a: '\\ud800', b: '\\ud800' },
    ...{ c: '\\ud800', d: 'é😀' },
  })
  t.strictSame(read('a: &x "\\u0041"\nb: *x\n'), { a: 'A', b: 'A' })
})

t.test('a tab where a key or an indentation may begin', async (t) => {
  for (const text of [
    'a: 1\n\t\nb: 2\n',
    'a: "x" # c\n\t \nb: 2\n',
    '\t\na: 1\n',
    'a: 1\n\t',
    'a: 1\n\t# c\n',
    'a: [1]\n\t\nb: 2\n',
    'a:\n\t\n  b: 1\n',
  ])
    t.match(read(text), /^a line begins with a tab at line \d+, column 1$/, JSON.stringify(text))
  for (const text of ['a: "x"\n \t\nb: 2\n', 'a: [1]\n \t \nb: 2\n', 'a:\n \t\n  b: 1\n', ' \t\na: 1\n', 'a: 1 # c\n \t# d\n'])
    t.match(read(text), /^a line begins with a tab at line \d+, column \d$/, JSON.stringify(text))
  t.match(read('a: |\n  \tx\n'), /^a tab stands where the indentation is looked for/)
  t.strictSame(read('a: {b: [1,\n\t\n  2]}\nc: |\n  x\n  \t\n  y\nd: 1\t\n'), { a: { b: [1, 2] }, c: 'x\n\t\ny\n', d: 1 })
  t.strictSame(read('a: x{\nb: "["\nc: [ "]", \'}\',\n\t\n  z ]\nd: |2\n  \tx\n'), {
    ...{ a: 'x{', b: '[' },
    ...{ c: [']', '}', 'z'], d: '\tx\n' },
  })
  t.strictSame(read('a: x\n \t\nb: 1\n'), { a: 'x', b: 1 })
})

t.test('other scalars are as the library has them', async (t) => {
  t.strictSame(readScalar({ tag: undefined, source: 'x', value: 7 }), { ok: true, value: 7 })
  t.strictSame(readScalar({ tag: '!int', source: 'x', value: 7 }), { ok: true, value: 7 })
  t.equal(findBadText('plain \\ud800'), undefined)
  t.equal(findBadText(''), undefined)
})
