import t from 'tap'
import { alignColumns, plainText, wantsColor } from '../../src/cli/terminal.ts'

t.test('columns line up, with or without colour', async (t) => {
  const rows = [
    [{ text: 'a', tone: 'strong' as const }, 'bb', 'c'],
    ['aaaa', { text: 'b', tone: 'bad' as const }, ''],
    ['', '', 'c'],
    ['a last cell may be as long as it likes'],
  ]
  t.same(alignColumns(rows, false), ['a     bb  c', 'aaaa  b', '          c', 'a last cell may be as long as it likes'])
  t.same(alignColumns(rows, true)[0], '\u001b[1ma\u001b[0m     bb  c')
})

t.test('one line, without control characters', async (t) => {
  t.equal(plainText('a\n  b\u001b[31m\u0000'), 'a b?[31m?')
})

t.test('colours on a terminal that can show them, unless the user says no', async (t) => {
  t.ok(wantsColor(true, {}))
  t.notOk(wantsColor(false, {}))
  t.notOk(wantsColor(true, { NO_COLOR: '1' }))
  t.ok(wantsColor(true, { NO_COLOR: '' }), 'no-color.org: only when not empty')
  t.notOk(wantsColor(true, { TERM: 'dumb' }))
})
