// SPDX-License-Identifier: Apache-2.0
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

t.test('YAML 1.1 as in gopkg.in/yaml.v2', async (t) => {
  t.strictSame(readValue('a: yes\nb: off\nc: 0777\nd: 1000\ne: ~\nf: "yes"\ng: 0x1F\n'), {
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

t.test('of duplicate keys the last one counts, with a remark', async (t) => {
  t.strictSame(parseDocument('a: 1\na: 2\nb:\n  x: 1\n  x: 2\n'), {
    ok: true,
    value: { a: 2, b: { x: 2 } },
    remarks: ['duplicate key at line 2, column 1: the last one counts', 'duplicate key at line 5, column 3: the last one counts'],
  })
})

t.test('errors have a position and do not quote the text', async (t) => {
  t.match(readDetail('ok: 1\nsecret: "abc\n'), /at line \d+, column \d+$/)
  t.notMatch(readDetail('ok: 1\nsecret: "abc\n'), 'abc')
  t.match(readDetail('a: [1\n'), 'line 2, column 1')
  t.match(readDetail('a: *nope'), 'Unresolved alias')
  t.match(readDetail('a: &x [1]\nc: {<<: *x}\n'), 'Merge sources')
  t.match(readDetail('a: 1\nb: \x00\n'), 'control characters are not allowed (at line 2)')
})

t.test('the cost of a text is bounded', async (t) => {
  const ten = (name: string) => Array(9).fill(`*${name}`).join(', ')
  t.match(
    readDetail(
      `a: &a [${Array(9).fill('x').join(', ')}]\nb: &b [${ten('a')}]\nc: &c [${ten('b')}]\nd: &d [${ten('c')}]\ne: [${ten('d')}]\n`,
    ),
    'alias',
  )
  t.match(readDetail('a: &x\n  b: *x\n'), 'contains itself')
  t.match(readDetail(`a: ${'['.repeat(150)}${']'.repeat(150)}`), 'deep')
  t.match(readDetail('x'.repeat((4 << 20) + 1)), '4 MiB')
})

t.test('too much depth is refused before anything recurses', async (t) => {
  const deep = 100_000
  const indented = (levels: number) => Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}a:\n`).join('')
  for (const [name, text] of Object.entries({
    'flow sequences': `a: ${'['.repeat(deep)}${']'.repeat(deep)}`,
    'flow sequences left open': '['.repeat(deep),
    'flow maps': `${'{a: '.repeat(deep)}1${'}'.repeat(deep)}`,
    'pairs within flow sequences': `${'[a: '.repeat(deep)}1${']'.repeat(deep)}`,
    'block sequences': `${'- '.repeat(deep)}x`,
    'keys within keys': `${'? '.repeat(deep)}x`,
    'block maps': indented(2_000),
    'the second document': `a: 1\n---\n${'['.repeat(deep)}`,
  })) {
    const documents = parseDocuments(text)
    t.match(documents.ok ? 'accepted' : documents.detail, /^nested more than 100 levels deep at line \d+, column \d+$/, name)
  }
  t.equal(readDetail(`a: ${'['.repeat(99)}${']'.repeat(99)}`), undefined)
  t.equal(readDetail(`${indented(99)}${' '.repeat(99)}a: 1\n`), undefined)
  t.match(readDetail(`a: ${'['.repeat(100)}${']'.repeat(100)}`), 'nested more than 100 levels deep')
  t.match(readDetail(indented(101)), 'nested more than 100 levels deep')
})

t.test('the cost of keys and anchors is linear', async (t) => {
  const each = (count: number, line: (index: number) => string) => Array.from({ length: count }, (_, index) => line(index)).join('')
  const costMs = (text: string) => {
    const before = process.cpuUsage()
    parseDocument(text)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  // If each key were compared with every other, this would take more than half a minute.
  const plain = costMs(each(60_000, (index) => `- key${index}\n`))
  t.ok(costMs(each(60_000, (index) => `key${index}: 1\n`)) < plain * 10 + 1_000, 'keys')
  t.match(readDetail(`${each(1_001, (index) => `- &a${index} x\n`)}${each(1_001, (index) => `- *a${index}\n`)}`), 'more than 1000 aliases')
  t.equal(readDetail(each(1_001, () => '- "*a"\n- |\n  *a\n')), undefined, 'a string that starts with a star is not an alias')
})

t.test('several documents', async (t) => {
  t.strictSame(parseDocuments('---\na: 1\n---\n# empty\n---\nb: 2\nb: 3\n...\n'), {
    ok: true,
    documents: [
      { value: { a: 1 }, remarks: [] },
      { value: { b: 3 }, remarks: ['duplicate key at line 7, column 1: the last one counts'] },
    ],
  })
  t.match(parseDocuments('a: 1\n---\nb: [\n'), { ok: false })
  t.strictSame(parseDocuments(''), { ok: true, documents: [] })
})

t.test('no text makes it throw, and JSON is read as JSON', async () => {
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
