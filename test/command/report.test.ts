// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { readSource, showSource } from '../../src/command/report.ts'

const show = (text: string, line: number, column: number, width = 100) => showSource(readSource(text), { line, column }, width, false)

t.test('underlines the place', async (t) => {
  t.same(show('a: 1\nmaxPods: 64\n', 2, 1), ['   2 | maxPods: 64', '     | ^~~~~~~'])
  t.same(show('  "max pods" : 1', 1, 3), ['   1 |   "max pods" : 1', '     |   ^~~~~~~~~~'])
  t.same(show('- 10.0.0.1:53 # x', 1, 3), ['   1 | - 10.0.0.1:53 # x', '     |   ^~~~~~~~~~~'])
  t.same(show('{"a":[true,false]}', 1, 7), ['   1 | {"a":[true,false]}', '     |       ^~~~'])
  t.same(show('a', 1, 2), ['   1 | a', '     |  ^'], 'the end of the line')
  t.same(show('a', 7, 1), [], 'no such line')
})

t.test('counts lines as editors do', async (t) => {
  t.same(show('a\r\nb: 1\r\n', 2, 1), ['   2 | b: 1', '     | ^'])
  t.same(show('\tb: 1', 1, 2), ['   1 |  b: 1', '     |  ^'], 'a tab takes one column')
})

t.test('shows only a part of a long line', async (t) => {
  const [line = '', mark = ''] = show(`{${'"x": 1, '.repeat(5000)}"here": 2, ${'"y": 1, '.repeat(5000)}}`, 1, 40002, 80)
  t.ok(line.length <= 80, line)
  t.match(line, /…/)
  t.equal(line.slice(mark.indexOf('^'), mark.lastIndexOf('~') + 1), '"here"')
})

t.test('does not show a line that may contain a secret', async (t) => {
  const text = [
    'maxPods: 1',
    'staticPodURLHeader:',
    '  Authorization:',
    '  - s3cret',
    '- odd',
    '# comment',
    'syncFrequency: 1m',
    'unknown: Bearer abcdefgh',
  ].join('\n')
  const shown = text.split('\n').map(
    (_, index) =>
      !show(text, index + 1, 1)
        .join()
        .includes('is not shown'),
  )
  t.same(shown, [true, false, false, false, false, false, true, false])
  t.match(
    show('{"a": 1, "staticPodURLHeader": {"A": ["s3cret"]},\n"b": 1}', 2, 1),
    [/is not shown/],
    'flow style: the end of the field is unclear',
  )
  t.match(show('x: &h {A: [s3cret]}\nstaticPodURLHeader: *h\n', 1, 1), [/is not shown/], 'an alias: the place of the value is unclear')
})

t.test('output never controls the terminal, and is never wider than it', async (t) => {
  const unit = fc.constantFrom('a', ' ', ':', '"', '\u001b', '\u0007', '\t', '\u009b', '\u202e', '\u2028', '\ud800', '😀', '\u0000', '[31m')
  fc.assert(
    fc.property(
      fc.string({ unit, maxLength: 300 }),
      fc.integer({ min: 1, max: 320 }),
      fc.integer({ min: 1, max: 120 }),
      (text, column, width) => {
        for (const line of show(text, 1, column, width)) {
          t.notMatch(line, /[^\P{Cc}]|[\u202e\u2028]/u)
          t.ok(line.length <= Math.max(47, width) || line.includes('^'), `${line.length} ${width}`)
        }
      },
    ),
    { numRuns: 300 },
  )
})
