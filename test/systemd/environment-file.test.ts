// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { expandPath, parseEnvironmentFile, renderAssignment } from '../../src/systemd/environment-file.ts'

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

const TREE: Readonly<Record<string, readonly string[]>> = {
  '/': ['etc', 'run'],
  '/etc': ['kubelet.d', 'kubelet.env', 'other.d'],
  '/etc/kubelet.d': ['b.env', 'a.env', '.hidden.env', 'B.env', 'c.env~', 'a*b', 'x-y', '10.env', '2.env', ']'],
  '/etc/other.d': ['b.env', 'z.env'],
}
const expand = (path: string) => expandPath(path, (directory) => TREE[directory])

t.test('a path without wildcards is the path, whether the file exists or not', async (t) => {
  for (const path of ['/etc/kubelet.env', '/none', '/etc//kubelet.env', 'relative']) t.strictSame(expand(path), [path])
})

t.test('wildcards in any part of a path, sorted', async (t) => {
  const d = (...names: string[]) => names.map((name) => `/etc/kubelet.d/${name}`)
  const cases: [path: string, found: string[]][] = [
    ['/etc/kubelet.d/*.env', d('10.env', '2.env', 'B.env', 'a.env', 'b.env')],
    ['/etc/kubelet.d/?.env', d('2.env', 'B.env', 'a.env', 'b.env')],
    ['/etc/kubelet.d/[ab].env', d('a.env', 'b.env')],
    ['/etc/kubelet.d/[a-c].env*', d('a.env', 'b.env', 'c.env~')],
    ['/etc/kubelet.d/[!a-z].env', d('2.env', 'B.env')],
    ['/etc/kubelet.d/[^a-z].env', d('2.env', 'B.env')],
    ['/etc/kubelet.d/[[:upper:]0-9].env', d('2.env', 'B.env')],
    ['/etc/kubelet.d/[]]', d(']')],
    ['/etc/kubelet.d/x[,-]y', d('x-y')],
    ['/etc/kubelet.d/[z-a].env', []],
    ['/etc/kubelet.d/[a.env', []],
    ['/etc/kubelet.d/a\\*b', d('a*b')],
    ['/etc/kubelet.d/.*.env', d('.hidden.env')],
    ['/etc/kubelet.d/.h*', d('.hidden.env')],
    ['/etc/*.d/b.env', ['/etc/kubelet.d/b.env', '/etc/other.d/b.env']],
    ['/etc/*/z.env', ['/etc/other.d/z.env']],
    ['/etc/kubelet.d/./[b].env', d('b.env')],
    ['/none/*', []],
    ['/etc/kubelet.d/*.none', []],
  ]
  for (const [path, found] of cases) t.strictSame(expand(path), found, path)
})

t.test('the shell, which uses the same rules, finds the same', async (t) => {
  const dir = t.testdir({ one: { 'a.env': '', 'b c.env': '', '.d.env': '', '[x].env': '', 'a+b.env': '' }, two: { 'a.env': '' } })
  const list = (directory: string) => {
    try {
      return readdirSync(directory)
    } catch {
      return undefined
    }
  }
  for (const pattern of [
    '*/*.env',
    'one/?.env',
    '*/a*',
    'one/[[]x].env',
    'one/[!b]*.env',
    'one/.*env',
    'one/a+b.en?',
    'two/[[:alpha:]].env',
  ]) {
    const script = `set -f; p=$1; set +f; IFS=; for f in $p; do printf '%s\\n' "$f"; done`
    const found = execFileSync('/bin/sh', ['-c', script, 'sh', join(dir, pattern)], { env: { LC_ALL: 'C' }, encoding: 'utf8' })
    t.strictSame(expandPath(join(dir, pattern), list), found.trim().split('\n'), pattern)
  }
})
