// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { parseToml, tomlPath } from '../../src/values/toml.ts'

const read = (text: string) => Object.fromEntries([...parseToml(text)].map(([path, value]) => [JSON.parse(path).join('/'), value]))

t.test('tables, keys and values', async (t) => {
  const text = `
version = 2 # the second
imports = ["/a/*.toml",
  '/b.toml', # another
]
"quoted key" = 'C:\\no escape'
a.b . "c.d" = "tab\\t\\u0041"

[ plugins."io.containerd.grpc.v1.cri" . 'x' ]\t# a table
  on = true
  off = false
  nested = [[1, 2], []]
  when = 1979-05-27T07:32:00Z
[timeouts]
  "io.containerd.timeout" = "0s"`
  t.strictSame(read(text), {
    version: { word: '2' },
    imports: ['/a/*.toml', '/b.toml'],
    'quoted key': 'C:\\no escape',
    'a/b/c.d': 'tab\tA',
    'plugins/io.containerd.grpc.v1.cri/x/on': true,
    'plugins/io.containerd.grpc.v1.cri/x/off': false,
    'plugins/io.containerd.grpc.v1.cri/x/nested': [[{ word: '1' }, { word: '2' }], []],
    'plugins/io.containerd.grpc.v1.cri/x/when': { word: '1979-05-27T07:32:00Z' },
    'timeouts/io.containerd.timeout': '0s',
  })
  t.strictSame(read('a = 1\r\n[b]\r\nc = "x"\r\n'), { a: { word: '1' }, 'b/c': 'x' })
  t.strictSame(read(''), {})
})

t.test('what it does not understand throws', async (t) => {
  const cases: [text: string, why: RegExp][] = [
    ['a = {b = 1}', /line 1: a value/],
    ['\n\na = """x"""', /line 3: a string of one line/],
    ["a = '''x'''", /a string of one line/],
    ['[[a]]', /an array of tables/],
    ['a = 1\na = 2', /occurs twice/],
    ['[a]\n[a]', /occurs twice/],
    ['a = 1 b = 2', /the end of the line/],
    ['a', /= was expected/],
    ['a =', /a value/],
    ['= 1', /a key/],
    ['[a', /\] was expected/],
    ['a = "x', /a value/],
    ['a = "\\q"', /a value/],
    ['a = [1 2]', /, or \]/],
    ['a = [1,', /a value/],
    [`a = ${'['.repeat(30)}`, /fewer arrays/],
  ]
  for (const [text, why] of cases) t.throws(() => parseToml(text), why, text)
})

t.test('any text ends in entries or an error', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', '=', '"', "'", '[', ']', '\n', '.', '#', ' ', ',', '1', '\\', '{')).map((parts) => parts.join('')),
      (text) => {
        try {
          parseToml(text)
        } catch (error) {
          if (!(error instanceof Error) || !/expected|twice|tables/.test(error.message)) throw error
        }
      },
    ),
    { numRuns: 3000 },
  )
})

t.test('a string is read as it was written', async () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const [value] = [...parseToml(`x = ${JSON.stringify(text).replaceAll('\u007f', '\\u007f')}`).values()]
      return value === text
    }),
  )
})

t.test('a path names its keys', async (t) => {
  t.equal(parseToml('a."b.c" = true').get(tomlPath('a', 'b.c')), true)
})
