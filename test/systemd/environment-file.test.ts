import fc from 'fast-check'
import t from 'tap'
import { parseEnvironmentFile, renderAssignment } from '../../src/systemd/environment-file.ts'

/** Each value is what systemd 252 sets in the environment of a service for this line. */
const MEASURED: readonly (readonly [line: string, value: string | undefined])[] = [
  ['V=plain', 'plain'],
  ['  V=lead', 'lead'],
  ['export V=1', undefined],
  [`V='single \\n $x "dq"'`, 'single \\n $x "dq"'],
  [`V="dq \\$x \\"in\\" \\\\ \\\` \\n 'sq'"`, `dq $x "in" \\ \` \\n 'sq'`],
  ['V=one \\\n two \\\nthree', 'one  two three'],
  [`V=a\\ b\\nc $x "q" 'z'`, `a bnc $x "q" 'z'`],
  [`V=a"b c"'d e'f`, `a"b c"'d e'f`],
  ['V=trail   ', 'trail'],
  ['V=', ''],
  ['V WITH SPACE=1', undefined],
  ['BAD-V=2', undefined],
  ['V="line1\nline2"', 'line1\nline2'],
  ['V="line1 \\\nline2"', 'line1 line2'],
  ['V=a#b # c', 'a#b # c'],
  ['V="x" y', 'xy'],
  ['V = v', 'v'],
  ['V=1\nV=2', '2'],
  ['V=\ta\tb\t', 'a\tb'],
  ['V=crlf\r\n', 'crlf'],
  ['# V=1', undefined],
  ['; V=1', undefined],
  ['V', undefined],
]

t.test('parses lines as systemd does', async (t) => {
  for (const [line, value] of MEASURED) t.equal(parseEnvironmentFile(`${line}\n`).get('V'), value, JSON.stringify(line))
  for (const [line, value] of MEASURED)
    t.equal(parseEnvironmentFile(line).get('V'), value, `${JSON.stringify(line)} at the end of the file`)
})

t.test('an ignored line does not affect the next one', async (t) => {
  const text = '# comment \\\nA=1\nNOEQ\nB=2\n\nexport C=3\nD="4'
  t.strictSame(
    [...parseEnvironmentFile(text)],
    [
      ['A', '1'],
      ['B', '2'],
      ['D', '4'],
    ],
  )
})

t.test('any value survives rendering and parsing', async () => {
  const value = fc.string({ unit: fc.oneof(fc.constantFrom(...'"\'\\$`# \n\t='), fc.string({ minLength: 1, maxLength: 1 })) })
  fc.assert(
    fc.property(value, value, (a, b) => {
      const read = parseEnvironmentFile(renderAssignment('A', a) + renderAssignment('B', b))
      return read.get('A') === a && read.get('B') === b && read.size === 2
    }),
  )
})
