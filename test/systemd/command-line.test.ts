// SPDX-License-Identifier: Apache-2.0
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax is that of systemd
import fc from 'fast-check'
import t from 'tap'
import { asArguments, expandArguments, findFlag, flagValue, joinWords, splitWords } from '../../src/systemd/command-line.ts'

t.test('splits words as systemd 252 does', async (t) => {
  const text = `a"b c"d  \\q e\\ f "g\\"h" "" x"" "back\\\\slash" i\\\\j $PLAIN \${PLAIN} % tab\tsep\nnl 'i\\'j' 'sq "in"' "unterminated 'q`
  const words = [
    'ab cd',
    'q',
    'e f',
    'g"h',
    '',
    'x',
    'back\\slash',
    'i\\j',
    '$PLAIN',
    '${PLAIN}',
    '%',
    'tab',
    'sep',
    'nl',
    "i'j",
    'sq "in"',
  ]
  t.strictSame(splitWords(text), [...words, "unterminated 'q"])
  t.strictSame(splitWords(' \t'), [])
  t.strictSame(splitWords('trail\\'), ['trail'])
})

t.test('joined words split into the same words', async () => {
  const word = fc.string({ unit: fc.oneof(fc.constantFrom(...'"\'\\$ \n\t='), fc.string({ minLength: 1, maxLength: 1 })) })
  fc.assert(fc.property(fc.array(word), (words) => JSON.stringify(splitWords(joinWords(words))) === JSON.stringify(words)))
})

t.test('expands variables as systemd 252 does', async (t) => {
  const variables = new Map([
    ['PLAIN', '1'],
    ['MANY', 'a "b c"'],
    ['EMPTY', ''],
  ])
  const words = [
    'x',
    'pre$PLAIN',
    'pre${PLAIN}post',
    '$$PLAIN',
    '$MANY',
    '${MANY}',
    '$EMPTY',
    '$NOSUCH',
    '${NOSUCH}',
    'x$${PLAIN}',
    '$PLAIN-x',
  ]
  const expected = ['x', 'pre$PLAIN', 'pre1post', '$PLAIN', 'a', 'b c', 'a "b c"', '', 'x${PLAIN}']
  const expanded = expandArguments(words, variables)
  t.strictSame(
    expanded.map(({ text }) => text),
    expected,
  )
  t.strictSame(
    expanded.filter(({ text }) => text === 'b c'),
    [{ text: 'b c', at: 4, variable: 'MANY' }],
  )
  t.equal(expanded.find(({ text }) => text === 'pre1post')?.variable, 'PLAIN')
  t.equal(expanded.find(({ text }) => text === 'x${PLAIN}')?.variable, undefined)
})

t.test('finds a flag in both spellings', async (t) => {
  const command = asArguments([
    'kubelet',
    '--config=/a',
    '--config-dir=/d',
    '--config',
    '/b',
    '-config=/x',
    '--v=2',
    '--root_dir=/r',
    '--config',
  ])
  t.strictSame(
    findFlag(command, 'config').map(({ value, first, end }) => [value, first, end]),
    [
      ['/a', 1, 2],
      ['/b', 3, 5],
    ],
  )
  t.equal(flagValue(command, 'config-dir'), '/d')
  t.equal(flagValue(command, 'root-dir'), '/r', 'kubelet treats _ like -')
  t.equal(flagValue(command, 'nope'), undefined)
  t.equal(flagValue(asArguments(['--x=a=b']), 'x'), 'a=b')
})
