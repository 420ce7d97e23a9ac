// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { alignColumns, plainText, wantsColor } from '../../src/command/terminal.ts'

t.test('aligns columns, with and without colour', async (t) => {
  const rows = [
    [{ text: 'a', tone: 'strong' as const }, 'bb', 'c'],
    ['aaaa', { text: 'b', tone: 'bad' as const }, ''],
    ['', '', 'c'],
    ['a last cell does not widen its column'],
  ]
  t.same(alignColumns(rows, false), ['a     bb  c', 'aaaa  b', '          c', 'a last cell does not widen its column'])
  t.same(alignColumns(rows, true)[0], '\u001b[1ma\u001b[0m     bb  c')
})

t.test('plain text is one line without control characters', async (t) => {
  t.equal(plainText('a\n  b\u001b[31m\u0000'), 'a b?[31m?')
})

t.test('uses colours on a terminal that supports them, unless the user disables them', async (t) => {
  t.ok(wantsColor(true, {}))
  t.notOk(wantsColor(false, {}))
  t.notOk(wantsColor(true, { NO_COLOR: '1' }))
  t.ok(wantsColor(true, { NO_COLOR: '' }), 'no-color.org: an empty NO_COLOR does not count')
  t.notOk(wantsColor(true, { TERM: 'dumb' }))
})
