import fc from 'fast-check'
import t from 'tap'
import { parseDocument, parseDocuments } from '../../src/kubelet/yaml.ts'

const readValue = (text: string) => {
  const parsed = parseDocument(text)
  return parsed.ok ? parsed.value : parsed
}
const readDetail = (text: string) => {
  const parsed = parseDocument(text)
  return parsed.ok ? undefined : parsed.detail
}

t.test('YAML 1.1, as gopkg.in/yaml.v2 has it', async (t) => {
  t.strictSame(readValue('a: yes\nb: off\nc: 0777\nd: 1_000\ne: ~\nf: "yes"\ng: 0x1F\n'), {
    a: true,
    b: false,
    c: 511,
    d: 1000,
    e: null,
    f: 'yes',
    g: 31,
  })
  t.strictSame(
    readValue('time: 12:30:45\ndate: 2001-12-14\n'),
    { time: '12:30:45', date: '2001-12-14' },
    'neither sexagesimal nor timestamps',
  )
  t.strictSame(readValue('base: &b {k: 1, z: 2}\nc:\n  <<: *b\n  k: 3\n'), { base: { k: 1, z: 2 }, c: { k: 3, z: 2 } })
  t.strictSame(readValue('{"a":\t1,\n\t"b": [true, null]}'), { a: 1, b: [true, null] }, 'JSON')
  t.strictSame(readValue('a: 1\n---\nb: 2\n'), { a: 1 }, 'the first document counts')
  t.equal(readValue(''), null)
  t.equal(readValue('# nothing\n'), null)
})

t.test('of two equal keys the last one counts, and it is said where', async (t) => {
  t.strictSame(parseDocument('a: 1\na: 2\nb:\n  x: 1\n  x: 2\n'), {
    ok: true,
    value: { a: 2, b: { x: 2 } },
    remarks: ['the same key again at line 2, column 1: the last one counts', 'the same key again at line 5, column 3: the last one counts'],
  })
})

t.test('what is wrong is said with its place, and without the text', async (t) => {
  t.match(readDetail('ok: 1\nsecret: "abc\n'), /at line \d+, column \d+$/)
  t.notMatch(readDetail('ok: 1\nsecret: "abc\n'), 'abc')
  t.match(readDetail('a: [1\n'), 'line 2, column 1')
  t.match(readDetail('a: *nope'), 'Unresolved alias')
  t.match(readDetail('a: &x [1]\nc: {<<: *x}\n'), 'Merge sources')
  t.match(readDetail('a: 1\nb: \x00\n'), 'control characters are not allowed (at line 2)')
})

t.test('a text cannot cost more than it should', async (t) => {
  const ten = (name: string) => Array(9).fill(`*${name}`).join(', ')
  t.match(
    readDetail(
      `a: &a [${Array(9).fill('x').join(', ')}]\nb: &b [${ten('a')}]\nc: &c [${ten('b')}]\nd: &d [${ten('c')}]\ne: [${ten('d')}]\n`,
    ),
    'alias',
  )
  t.match(readDetail('a: &x\n  b: *x\n'), 'within itself')
  t.match(readDetail(`a: ${'['.repeat(150)}${']'.repeat(150)}`), 'deep')
  t.type(readDetail('['.repeat(20_000)), 'string')
  t.type(readDetail('- '.repeat(20_000)), 'string')
  t.match(readDetail('x'.repeat((4 << 20) + 1)), '4 MiB')
})

t.test('several documents', async (t) => {
  t.strictSame(parseDocuments('---\na: 1\n---\n# empty\n---\nb: 2\nb: 3\n...\n'), {
    ok: true,
    documents: [
      { value: { a: 1 }, remarks: [] },
      { value: { b: 3 }, remarks: ['the same key again at line 7, column 1: the last one counts'] },
    ],
  })
  t.match(parseDocuments('a: 1\n---\nb: [\n'), { ok: false })
  t.strictSame(parseDocuments(''), { ok: true, documents: [] })
})

t.test('no text makes it throw, and JSON reads as JSON', async () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'{}[]:-,&*!|>\'"%@`# \n\ta0?<~') })),
      (text) => typeof parseDocument(text).ok === 'boolean',
    ),
  )
  const plain = fc.jsonValue({ maxDepth: 4 })
  fc.assert(
    fc.property(plain, (value) => {
      const parsed = parseDocument(JSON.stringify(value, undefined, 1))
      return !parsed.ok || JSON.stringify(parsed.value) === JSON.stringify(value)
    }),
  )
})
